"""`postil.correlate`: columns of any make, rows for data frames, and messages that name the argument and the place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

import postil
from postil.cli.main import app
from postil.data.row_files import write
from postil.data.rows import Judgement, Score
from postil.meta.coefficient_kinds import Kind

if TYPE_CHECKING:
    from postil.correlation.result import CorrelationResult
    from postil.meta.coefficients import By
    from postil.meta.column_correlations import Texts
    from postil.meta.resampling import Counts, Draws, Replicates

# See tests/correlation/test_command.py: r = .8, people's r = 3 / sqrt(11 * 3)
SCORES = {"meteor": [0.1, 0.2, 0.3, 0.4] * 3, "length": [40, 30, 20, 10] * 3}
GRADES: list[object] = [[1, 1], [1, 3], [5, 3], [3, 3]] * 3
FEW = postil.CorrelateOptions(resamples=100, permutations=200)


def values(found: CorrelationResult) -> dict[tuple[str, str], float]:
    return {(row.metric, row.coefficient): row.value for row in found.correlations}


def test_numbers_by_hand() -> None:
    found = postil.correlate(SCORES, GRADES, options=FEW)
    assert values(found)["meteor", "pearson"] == pytest.approx(0.8)
    assert values(found)["length", "kendall-b"] == pytest.approx(-2 / 3)
    assert found.human.reliability == pytest.approx(3 / 33**0.5)
    assert [(row.first, row.second) for row in found.differences if row.coefficient == "pearson"] == [
        ("meteor", "length")
    ]


def test_every_coefficient_is_resampled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    once = Kind.resampled

    def counted(self: Kind, texts: Texts, counts: Counts, by: By, draws: Draws) -> Replicates:
        if texts.scores.shape == (len(GRADES), len(SCORES)):
            calls.append(self.name)
        return once(self, texts, counts, by, draws)

    monkeypatch.setattr(Kind, "resampled", counted)
    found = postil.correlate(SCORES, GRADES, options=FEW)
    assert {row.coefficient for row in found.differences} == set(found.settings.coefficients)
    assert calls == list(found.settings.coefficients)


def test_it_is_what_the_command_says(tmp_path: object) -> None:
    items, systems = [f"i{n // 4}" for n in range(12)], [f"s{n % 4}" for n in range(12)]
    rows = list(zip(items, systems, strict=True))
    write(
        f"{tmp_path}/s.jsonl",
        (
            Score(*row, metric, value, "by hand")
            for metric, column in SCORES.items()
            for row, value in zip(rows, column, strict=True)
        ),
    )
    write(
        f"{tmp_path}/j.jsonl",
        (
            Judgement(*row, who + 1, grade)  # type: ignore[arg-type]  # rows take integers
            for row, several in zip(rows, GRADES, strict=True)
            for who, grade in enumerate(several)  # type: ignore[arg-type, var-annotated]
        ),
    )
    command = ["correlate", f"{tmp_path}/s.jsonl", "--judgements", f"{tmp_path}/j.jsonl", "--format", "json"]
    made = json.loads(CliRunner().invoke(app, [*command, "--resamples", "100", "--permutations", "200"]).stdout)
    signatures = dict.fromkeys(SCORES, "by hand")
    found = postil.correlate(SCORES, GRADES, items=items, systems=systems, signatures=signatures, options=FEW)
    assert made["settings"].pop("command").startswith(f"postil correlate {tmp_path}/s.jsonl --judgements")
    assert made == json.loads(json.dumps(msgspec.structs.replace(found, points=None).to_dict()))


def test_columns_of_any_make() -> None:
    pa = pytest.importorskip("pyarrow")
    plain = postil.correlate(SCORES, GRADES, options=FEW).to_dict()
    numpy = postil.correlate({name: np.array(column) for name, column in SCORES.items()}, np.array(GRADES), options=FEW)
    arrow = postil.correlate({name: pa.array(column) for name, column in SCORES.items()}, pa.array(GRADES), options=FEW)
    assert plain == numpy.to_dict() == arrow.to_dict()


def test_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**SCORES, "grade": [1, 2, 4, 3] * 3})
    found = postil.correlate({name: frame[name] for name in SCORES}, frame["grade"], options=FEW)
    table = pandas.DataFrame(found.to_rows()).pivot(index="metric", columns="coefficient", values="value")
    assert table.loc["meteor", "pearson"] == pytest.approx(0.8)
    columns = "metric coefficient by value low high p n dropped sd"
    assert list(pandas.DataFrame(found.to_rows()).columns) == columns.split()


def test_one_grade_a_text() -> None:
    found = postil.correlate(SCORES, [1, 2, 4, 3] * 3, options=FEW)
    assert values(found)["meteor", "pearson"] == pytest.approx(0.8)
    assert (found.human.rows, found.agreement) == ((), None)
    assert found.human.reason == "the only annotator is 1, so there is nobody to agree with"


def test_a_missing_grade_is_not_filled_in() -> None:
    some: list[object] = [[1, None], [1, 3], [None, 4], [None, None], 3, None, *GRADES[6:]]
    found = postil.correlate(SCORES, some, options=FEW)
    assert found.data.texts == 10
    assert found.points.grades[:4] == (1, 2, 4, 3)
    (left_out,) = found.data.left_out
    assert (left_out.why, left_out.n, left_out.examples) == (
        "scored but not judged",
        2,
        ("item 3 by system", "item 5 by system"),
    )


def test_items_and_systems() -> None:
    alone = postil.correlate(SCORES, GRADES, options=FEW)
    assert (alone.data.items, alone.data.systems) == (12, 1)
    items = [n // 4 for n in range(12)]
    numbered = postil.correlate(SCORES, GRADES, items=items, options=FEW)
    assert (numbered.data.items, [row.system for row in numbered.systems]) == (3, ["1", "2", "3", "4"])
    named = postil.correlate(SCORES, GRADES, items=items, systems=list("abcd") * 3, options=FEW)
    assert [row.system for row in named.systems] == list("abcd")
    assert values(alone) == pytest.approx(values(named))
    # three times the same item: every resample is the same
    same, wide = named.correlations[0], alone.correlations[0]
    assert same.low == pytest.approx(same.high)
    assert wide.low < wide.high


def test_what_score_returns_is_what_correlate_takes() -> None:
    result = postil.score(
        ["a cat sat", "a dog barked", "birds", "the sun"],
        [["a cat", "dogs"], ["a dog", "x"], ["bird", "birds sing"], ["a moon"]],
        weights=[[1, 0.5], [0.2, 1], [1, 0.5], [1.0]],
        metrics=["rouge-l", "w-rouge-l"],
        controls=postil.ControlOptions(draws=3),
    )
    found = postil.correlate(result.items, [4, 2, 5, 1], signatures=result.signatures, options=FEW)
    assert list(found.signatures)[:2] == ["rouge-l", "w-rouge-l"]
    assert {row.metric for row in found.correlations} - set(found.signatures) == {"control:shuffled(w-rouge-l)"}
    assert found.signatures["w-rouge-l"] == result.signatures["w-rouge-l"]


def test_options_take_one_name_or_several() -> None:
    one = postil.CorrelateOptions(coefficients="pearson", metrics="meteor", lower_is_better="length")  # type: ignore[arg-type]
    several = postil.CorrelateOptions(
        coefficients=["pearson", "pearson"],  # type: ignore[arg-type]
        metrics=("meteor",),
        lower_is_better=("length", "length"),
    )
    assert one == several
    found = postil.correlate(SCORES, GRADES, options=one)
    assert list(values(found)) == [("meteor", "pearson")]


GOOD = {"scores": {"meteor": [0.1, 0.2, 0.4]}, "grades": [1, 2, 3]}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"scores": {"meteor": [0.1]}}, "meteor: expected an entry for each of 3 texts, got 1"),
        ({"scores": {"meteor": 0.1}}, "meteor: expected a list or a column, got float"),
        ({"scores": {"meteor": [0.1, None, 0.2]}}, "meteor:2: expected a number, got null"),
        ({"scores": {"meteor": [0.1, float("nan"), 0.2]}}, "meteor:2: expected a number, got NaN"),
        ({"scores": {"meteor": [0.1, "x", 0.2]}}, 'meteor:2: expected a number, got "x"'),
        ({"scores": {"meteor": [0.1, 1e200, 0.2]}}, "meteor:2: expected a number from -1e+100 to 1e+100, got 1e+200"),
        ({"grades": []}, "grades: expected at least one grade, got none"),
        ({"grades": [None, None, None]}, "grades: expected at least one grade, got none"),
        ({"grades": "abc"}, "grades: expected a list or a column, got str"),
        ({"grades": ["4", 2, 3]}, 'grades:1: expected a number, got "4"'),
        ({"grades": [[1], [2, "x"], [3]]}, 'grades:2: expected a number, got "x"'),
        ({"grades": [1, float("inf"), 2]}, "grades:2: expected a number, got inf"),
        ({"grades": [1, 2, -1e300]}, "grades:3: expected a number from -1e+100 to 1e+100, got -1e+300"),
        ({"grades": [1, {"ann": 2}, 3]}, "grades:2: expected a list or a column, got dict"),
        ({"grades": [1, 9, 3]}, "grades:2: grade: expected a number from 1 to 5, got 9"),
        ({"items": ["a"]}, "items: expected an entry for each of 3 texts, got 1"),
        ({"items": ["a", None, "b"]}, "items:2: expected text or an integer, got null"),
        ({"items": [["a"], ["b"], ["c"]]}, "items:1: expected text or an integer, got an array"),
        ({"items": [1.0, 2.0, 3.0]}, "items:1: expected text or an integer, got 1.0"),
        ({"systems": [True, False, True]}, "systems:1: expected text or an integer, got true"),
        ({"items": [1, 1, 2], "systems": ["a", "a", "a"]}, 'scores:2: metric: a second score of item "1" by system'),
    ],
)
def test_bad_input_says_where(change: dict[str, object], problem: str) -> None:
    arguments = {**GOOD, "options": postil.CorrelateOptions(scale=postil.Scale(1, 5)), **change}
    with pytest.raises(postil.InvalidInput) as error:
        postil.correlate(**arguments)  # type: ignore[arg-type]
    assert str(error.value).startswith(problem)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"coefficients": ("pearsn",)}, "unknown coefficient 'pearsn'; did you mean 'pearson'?"),
        ({"coefficients": ()}, "no coefficient: expected at least one of pearson, spearman, kendall-b, kendall-c"),
        ({"by": "text"}, "unknown level 'text'"),
        ({"resamples": 0}, "resamples: expected a whole number from 1 up, got 0"),
        ({"permutations": 1.5}, "permutations: expected a whole number from 1 up, got 1.5"),
        ({"seed": None}, "seed: expected a whole number from 0 up, got None"),
        ({"worst": -1}, "worst: expected a whole number from 0 up, got -1"),
        ({"jobs": True}, "jobs: expected a whole number from 1 up, got True"),
        ({"disagree": ("meteor", "meteor")}, "disagree: expected two different metrics, got meteor and meteor"),
        ({"disagree": ("meteor", "bleu")}, "unknown metric 'bleu'. Known: meteor"),
        ({"metrics": ("metor",)}, "unknown metric 'metor'; did you mean 'meteor'?"),
        ({"lower_is_better": ("metor",)}, "unknown metric 'metor'; did you mean 'meteor'?"),
        ({"aspect": "style"}, "aspect: the grades are of one question"),
    ],
)
def test_wrong_usage(options: dict[str, object], problem: str) -> None:
    with pytest.raises(postil.UsageError) as error:
        postil.correlate(**GOOD, options=postil.CorrelateOptions(**options))  # type: ignore[arg-type]
    assert str(error.value).startswith(problem)


def test_no_metric() -> None:
    with pytest.raises(postil.UsageError, match="no metric: expected at least one column of scores"):
        postil.correlate({}, [1, 2])
