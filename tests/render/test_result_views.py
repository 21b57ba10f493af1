"""Results in data frames and notebooks: `Result.to_rows`, ``_repr_html_`` and `repr`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import postil
from postil.errors import UsageError
from postil.records.results import CorpusMetadata, Result, SplitSize, SystemScore
from postil.render.views import MODULES


def scored(system: str = "a") -> postil.ScoreResult:
    row = SystemScore(system=system, metric="rouge-l", score=0.5, n=2, signature="rouge-l|postil")
    return postil.ScoreResult(scores=(row,), aggregation="corpus", items={"rouge-l": np.zeros(1000)})


def test_every_kind_but_the_metadata_of_a_corpus_has_a_view() -> None:
    kinds = {str(cls.__struct_config__.tag) for cls in Result.__subclasses__()}
    assert kinds - {"corpus"} == set(MODULES)


def test_rows_are_those_of_csv() -> None:
    row = {"system": "a", "metric": "rouge-l", "score": 0.5, "n": 2, "signature": "rouge-l|postil"}
    assert scored().to_rows() == [row]


def test_html_is_the_first_table_and_escaped() -> None:
    html = scored("<b>&\n")._repr_html_()
    assert html is not None
    assert html.startswith("<table><thead><tr><th>system</th>")
    assert "<td>&lt;b&gt;&amp; </td>" in html
    assert "<b>" not in html


def test_what_has_no_rows_says_so() -> None:
    options: dict[str, str | int | float | tuple[str, ...]] = {"tokenizer": "words", "vocab_size": 3}
    sizes = dict.fromkeys(("train", "dev", "test"), SplitSize(articles=1, comments=1, files=1))
    made = CorpusMetadata(
        format=2, postil="0", options=options, tokenizer="words", inputs=(), langs=(), seen={}, splits=sizes, words=3
    )
    assert made._repr_html_() is None
    with pytest.raises(UsageError, match="CorpusMetadata has no rows"):
        made.to_rows()


def test_repr_is_short_however_large_the_result_is() -> None:
    n = 300
    grades = [[1 + place % 5, 1 + place % 4] for place in range(n)]
    found = postil.correlate(
        {"bleu-4": np.arange(n) % 5}, grades, options=postil.CorrelateOptions(resamples=5, permutations=5)
    )
    assert len(repr(found)) < 600
    assert repr(found).startswith("CorrelationResult(correlations=<3>, absent=<1>, human=HumanAgreement(…)")


def test_views_are_loaded_at_the_first_use() -> None:
    code = (
        "import sys, postil; r = postil.score(['a b'], [['a b']], metrics=['rouge-l']);"
        "assert 'postil.render.views' not in sys.modules; assert r.to_rows()[0]['score'] == 1"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)  # noqa: S603 - our own code
