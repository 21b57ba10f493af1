"""The filter learned from labels: thresholds, selection and its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.comments.show_filter import SIGNALS, Selection, ShowFilter, Threshold, text_signals
from postil.data.rows import Article
from postil.data.suggestions import Provenance, Source, Suggestion, Suggestions
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def learned(depth: int = 3) -> ShowFilter:
    return ShowFilter(
        format=1,
        columns=("score",),
        mean=(1.0,),
        scale=(2.0,),
        weights=(0.5,),
        intercept=-0.25,
        slope=2.0,
        offset=0.5,
        depth=depth,
        thresholds=(
            Threshold(threshold=0.6, coverage=0.25, precision=0.8),
            Threshold(threshold=0.4, coverage=0.5, precision=0.7),
            Threshold(threshold=0.0, coverage=1.0, precision=0.3),
        ),
        labels=60,
        labels_hash="abcd",
    )


def suggested(*probabilities: float) -> Suggestions:
    rows = [
        Suggestion(
            f"text {rank}", 9.0 - rank, rank, Provenance.retrieved("ir-t", "h", [Source("a", str(rank))]), chance
        )
        for rank, chance in enumerate(probabilities, 1)
    ]
    return Suggestions("a1", tuple(rows))


def test_probabilities_are_those_of_the_formula() -> None:
    (found,) = learned().probabilities(np.array([[3.0]]))
    assert found == pytest.approx(1 / (1 + np.exp(-(2 * (0.5 - 0.25) + 0.5))))


@pytest.mark.parametrize(
    ("asked", "threshold"),
    [
        (Selection(coverage=0.1), 0.6),
        (Selection(coverage=0.25), 0.6),
        (Selection(coverage=0.3), 0.4),
        (Selection(coverage=1.0), 0.0),
        (Selection(precision=0.8), 0.6),
        (Selection(precision=0.75), 0.6),
        (Selection(precision=0.5), 0.4),
        (Selection(precision=0.3), 0.0),
    ],
)
def test_a_threshold_gives_as_much_as_is_asked(asked: Selection, threshold: float) -> None:
    assert asked.threshold(learned(), "model") == threshold


def test_a_list_that_was_empty_before_keeps_its_reason() -> None:
    empty = Suggestions("a1", (), (), "all 2 candidates are filtered out")
    assert Selection(coverage=0.5).apply(empty, learned(), 0.4, 3).reason == empty.reason
    assert Selection(coverage=0.5).apply(suggested(0.9), learned(), 0.4, 3).reason is None


def test_a_precision_out_of_reach_names_the_highest() -> None:
    said = r"m: by its 60 labels no threshold gives precision \.90; the highest is \.80, at coverage \.25"
    with pytest.raises(UsageError, match=said):
        Selection(precision=0.9).threshold(learned(), "m")


@pytest.mark.parametrize("given", [{}, {"precision": 0.5, "coverage": 0.5}, {"coverage": 0.0}, {"precision": 1.1}])
def test_a_wrong_request_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="expected"):
        Selection(**given)


def test_the_probable_come_first_and_the_others_have_a_reason() -> None:
    found = Selection(coverage=0.5).apply(suggested(0.45, 0.1, 0.7, 0.9), learned(), 0.4, k=5)
    # The fourth is beyond what was labeled.
    assert [(one.text, one.rank, one.probability) for one in found.suggestions] == [
        ("text 3", 1, 0.7),
        ("text 1", 2, 0.45),
    ]
    (dropped,) = found.filtered
    assert dropped.reason == "probability .10 of being worth showing, below .40 for coverage .50"
    assert dropped.source == Source("a", "2")
    assert found.reason is None


def test_further_suggestions_need_the_precision_themselves() -> None:
    found = Selection(precision=0.7).apply(suggested(0.65, 0.5, 0.75), learned(), 0.4, k=5)
    assert [one.probability for one in found.suggestions] == [0.75]
    assert [one.reason.partition(", ")[2] for one in found.filtered] == ["below .70 for precision .70"] * 2
    assert len(Selection(coverage=0.5).apply(suggested(0.65, 0.5, 0.75), learned(), 0.4, k=5).suggestions) == 3


def test_k_bounds_what_is_shown() -> None:
    assert len(Selection(coverage=0.5).apply(suggested(0.5, 0.6), learned(), 0.4, k=1).suggestions) == 1


def test_nothing_confident_is_an_empty_list_with_a_reason() -> None:
    found = Selection(precision=0.8).apply(suggested(0.2, 0.3), learned(), 0.6, k=5)
    assert found.suggestions == ()
    best = "probability .30 of being worth showing, below .60 for precision .80"
    assert found.reason == f"nothing is probably worth showing: the best has {best}"
    assert Selection(precision=0.8).apply(suggested(), learned(), 0.6, k=5).reason is None


def test_the_file_gives_the_same_filter(tmp_path: Path) -> None:
    file = tmp_path / "filter.json"
    file.write_bytes(learned().encoded())
    again = ShowFilter.open(file)
    assert again.encoded() == learned().encoded()
    rows = np.array([[0.3], [7.0]])
    assert again.probabilities(rows).tolist() == learned().probabilities(rows).tolist()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"format": 1', b'"format": 2'),
        (b'"depth": 3', b'"depth": 0'),
        (b'"depth": 3', b'"depth": "x"'),
        (b'"score"', b'"score", "more"'),
        (b"2.0\n ],", b"0.0\n ],"),
        (b"{", b""),
        (b'"labels": 60', b'"labels": 60, "other": 1'),
        (b"abcd", b"\xff"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    content = learned().encoded()
    assert old in content
    file = tmp_path / "filter.json"
    file.write_bytes(content.replace(old, new, 1))
    with pytest.raises(InvalidInput, match="calibrate"):
        ShowFilter.open(file)


def test_signals_of_texts() -> None:
    article = Article("a", "Rain in town", (), content="It will pour.")
    rows = text_signals(article, ["Rain! RAIN again? 7", "lol pour", "", "下雨了。"])
    by_name = [dict(zip(SIGNALS, row, strict=True)) for row in rows.round(3).tolist()]
    assert by_name[0] == {
        "log_words": 1.609,
        "log_sentences": 1.099,
        "distinct_words": 0.75,
        "capitals": 0.385,
        "digits": 1,
        "exclamation": 1,
        "question": 1,
        "lower_start": 0,
        "open_end": 1,
        "in_title": 0.333,
        "in_article": 0.333,
    }
    assert by_name[1]["lower_start"] == 1
    assert by_name[1]["in_article"] == 0.5
    assert by_name[2] == {name: float(name == "open_end") for name in SIGNALS}
    assert by_name[3]["log_words"] == 1.386
    assert by_name[3]["open_end"] == 0
