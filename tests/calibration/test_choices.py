from __future__ import annotations

import pytest

from postil.calibration.choices import first_choices
from postil.data.suggestions import Label, Provenance, Suggestion, Suggestions
from postil.errors import Undefined
from postil.meta.significance import wilson_interval

ORIGIN = Provenance.retrieved("ir-t", "8d0c", [])


def suggested(article: str, *texts: str) -> Suggestions:
    return Suggestions(article, tuple(Suggestion(text, 0.0, rank, ORIGIN) for rank, text in enumerate(texts, 1)))


def test_only_the_first_counts_and_only_under_its_article() -> None:
    rows = [suggested("a", "good", "bad"), suggested("b", "bad", "good"), suggested("c"), suggested("d", "new")]
    labels = [Label("a", "good", show=True), Label("a", "bad", show=False), Label("b", "good", show=True)]
    labels += [Label("b", "bad", show=show, annotator=name) for name, show in (("x", True), ("y", False), ("z", False))]
    found = first_choices(rows, [*labels, Label("e", "new", show=True)])
    assert (found.articles, found.suggested, found.labeled, found.shown, found.precision) == (4, 3, 2, 1, 0.5)
    assert (found.low, found.high) == wilson_interval(1, 2)


def test_without_a_label_there_is_no_precision() -> None:
    tied = [Label("a", "good", show=show) for show in (True, False)]
    with pytest.raises(Undefined, match="none of 1 first suggestions has a label"):
        first_choices([suggested("a", "good")], tied)
