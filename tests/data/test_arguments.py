"""Arguments of public functions: options as keywords, and columns of any make."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest

import postil
from postil.data.arguments import options_of
from postil.data.frames import as_list
from postil.errors import InvalidInput, UsageError
from postil.meta.rated import JudgedKeywords

SCORES = {"m": [0.2, 0.9, 0.4, 0.6]}
GRADES = [[1.0, 2.0], [5.0, 4.0], [3.0, 3.0], [4.0, 2.0]]


READ = ("apply_combination", "budget", "correlate", "estimate", "fit_combination")
"""The functions that take data in columns or tables."""


@pytest.mark.parametrize("name", READ)
def test_keywords_of_the_other_form_are_refused(name: str) -> None:
    """Each way to read data is of columns or of tables: it is refused where the data are the other."""
    rows = [{"item": 1, "system": "a", "metric": "m", "score": 1.0}]
    model = name == "apply_combination"
    for field, declared in JudgedKeywords.__annotations__.items():
        hint = declared.__forward_arg__
        of_columns = field in {"items", "systems", "signatures"}
        value: object = {"grade": "a"} if "Mapping" in hint else "a" if hint.startswith("str") else ["a"]
        data = (rows, "none.jsonl") if of_columns else (SCORES, "none" if model else GRADES)
        problem = "scores are a table; name its columns" if of_columns else "only for tables; expected none with scores"
        with pytest.raises(UsageError, match=f"^{field}: {problem}"):
            getattr(postil, name)(*data, **{field: value})


def test_a_keyword_is_as_good_as_an_options_object() -> None:
    options = postil.CorrelateOptions(by="pool", coefficients=("kendall-b",), resamples=50)
    assert postil.correlate(SCORES, GRADES, by="pool", coefficients=("kendall-b",), resamples=50) == postil.correlate(
        SCORES, GRADES, options=options
    )


def test_wrong_keywords_are_refused_in_the_words_of_python() -> None:
    with pytest.raises(UsageError, match=r"^unknown option 'bi'; did you mean 'by'\?"):
        postil.correlate(SCORES, GRADES, bi="pool")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match=r"^by: options are given too; put it there$"):
        postil.correlate(SCORES, GRADES, options=postil.CorrelateOptions(), by="pool")
    with pytest.raises(UsageError, match=r"^by, worst: options are given too; put them there$"):
        options_of(postil.CorrelateOptions, postil.CorrelateOptions(), {"by": "pool", "worst": 1})
    with pytest.raises(UsageError, match=r"^missing: model$"):
        postil.judge([{"item": 1, "text": "a"}], endpoint="http://127.0.0.1:1/v1")
    with pytest.raises(UsageError, match=r"^resamples: expected a whole number"):
        postil.correlate(SCORES, GRADES, resamples="many")  # type: ignore[arg-type]


class Frame:
    """A column as Polars and pandas have it."""

    def to_list(self) -> list[object]:
        return ["a", "b"]


@pytest.mark.parametrize("column", [["a", "b"], ("a", "b"), np.array(["a", "b"]), Frame()])
def test_columns(column: object) -> None:
    assert as_list(column, "candidates") == ["a", "b"]
    pa = pytest.importorskip("pyarrow")
    assert as_list(pa.array(["a", "b"]), "candidates") == ["a", "b"]
    assert as_list(pa.chunked_array([["a"], ["b"]]), "candidates") == ["a", "b"]


@pytest.mark.parametrize("column", ["ab", b"ab", 3, None, {"a": 1}, repeat("a"), np.array(3)])
def test_what_is_no_column(column: object) -> None:
    with pytest.raises(InvalidInput, match=r"^candidates: expected a list or a column, got "):
        as_list(column, "candidates")
