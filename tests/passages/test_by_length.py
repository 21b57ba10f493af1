"""Rankings by the length of the passages: correlations, thirds of lists, and the command's tables."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.row_files import write
from postil.data.rows import Passage
from postil.meta.resampling import bootstrap_counts
from postil.passages.by_length import LengthCorrelations, ListThirds, PooledThirds, length_correlations, length_thirds
from postil.passages.calls import find_gains
from postil.passages.gain import normalized_gains
from postil.passages.options import PassagesOptions
from postil.passages.result import NcgResult
from postil.results.base import Result
from postil.results.page.chapters import chapter
from postil.results.page.report import csv_tables
from postil.results.views import show
from postil.studies.passages.figures import ENTITIES
from postil.studies.passages.paper import anchors_stage

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.passages.result import GainByLength


QUICK = PassagesOptions(resamples=20, pool="topic", k=(1,), strata_k=1)

TEXTS = (
    ("the duck", 0),
    ("a topic", 1),
    ("a duck of a pond", 0),
    ("the topic of the duck", 2),
    ("the topic of the duck of ponds", 3),
    ("a duck in a pond in a town", 0),
)


def rows(topics: int = 2) -> list[Passage]:
    """Topics of six passages of two lengths a third; those that say topic are informative."""
    return [
        Passage(f"t{t}", f"p{i}", text, anchors=tuple(text.split()[:1]) * (1 + i), grade=float(grade))
        for t in range(topics)
        for i, (text, grade) in enumerate(TEXTS)
    ]


def found(given: list[Passage] | None = None, **options: object) -> NcgResult:
    return find_gains(given or rows(), replace(QUICK, **options))[0]  # type: ignore[arg-type]


def only(result: NcgResult, name: str) -> GainByLength:
    (row,) = (each for each in result.by_length if each.name == name)
    return row


def sizes(row: GainByLength) -> list[tuple[int, int | None, int | None]]:
    return [(third.n, third.shortest, third.longest) for third in row.thirds]


def test_a_measure_that_merely_prefers_long_passages_gains_less_within_thirds() -> None:
    long, f1 = found(measures=("length(inverse=false)", "f1-1")).by_length
    assert sizes(long) == sizes(f1) == [(4, 2, 2), (4, 5, 5), (4, 7, 8)]
    # Ties of two passages in the short and the middle third; the longest of all has grade 0.
    assert [third.ncg for third in long.thirds] == [0.5, 0.5, 0.0]
    assert (long.ncg.value, long.ncg.low, long.ncg.high, long.k) == (*[pytest.approx(1 / 3)] * 3, 1)
    assert (long.with_length.value, long.with_length.lists) == (1.0, 2)
    assert long.partial.reason == "scores in the order of the lengths"
    # "the duck" and "a topic" have one F1, as both have half of their words in the reference.
    assert (f1.ncg.value, [third.ncg for third in f1.thirds]) == (pytest.approx(5 / 6), [0.5, 1.0, 1.0])
    assert f1.partial.value is not None
    assert f1.partial.value > 0.7
    assert {long.spearman.reason, f1.spearman.reason, f1.partial.reason, f1.with_length.reason} == {None}


def test_one_list_has_thirds_of_its_own() -> None:
    one = only(found(pool="all", measures=("length(inverse=false)",)), "length(inverse=false)")
    assert sizes(one) == [(4, 2, 2), (4, 5, 5), (4, 7, 8)]
    assert [third.ncg for third in one.thirds] == [0.5, 0.5, 0.0]
    assert one.with_length.lists == 1


def test_words_are_counted_with_stop_words_and_anchors_as_words() -> None:
    stopped = only(found(measures=("f1-1",), stop="en"), "f1-1")
    assert sizes(stopped) == [(4, 2, 2), (4, 5, 5), (4, 7, 8)]
    linked = only(found(measures=("f1-1",), anchors=True), "f1-1")
    assert sizes(linked) == [(4, 1, 2), (4, 3, 4), (4, 5, 6)]


def test_every_ranking_has_a_row_in_the_order_of_the_gains() -> None:
    result = found(measures=("f1-1", "w-f1-1", "random"), leave_one_out=True)
    assert [row.name for row in result.by_length] == list(dict.fromkeys(row.name for row in result.gains))
    random = only(result, "random")
    assert random.ncg.value == pytest.approx(0.5)
    assert [each.reason for each in (random.spearman, random.partial, random.with_length)] == ["equal scores"] * 3


def test_notes_on_cutoffs_and_on_topics_without_correlations() -> None:
    given = [
        *rows(2),
        *(Passage("few", f"p{i}", "a topic", grade=1.0) for i in range(3)),
        *(Passage("same", f"p{i}", "a topic " * i, grade=1.0) for i in range(1, 6)),
    ]
    result = found(given, measures=("f1-1",), strata_k=3)
    assert result.notes[-2:] == (
        (
            "no third of a list by length has more than 3 passages, so nCG@3 by length is 1 for every ranking; "
            "choose a lower strata_k"
        ),
        "rank correlations leave out 2 of 4 topics: 1 with fewer than 4 passages, 1 with equal grades",
    )
    assert only(result, "f1-1").spearman.lists == 2
    assert not any("third" in note for note in found(given, measures=("f1-1",), strata_k=2).notes)


def test_formats() -> None:
    result = found(measures=("f1-1", "length", "random"))
    text = show("table", result)
    head = next(line for line in text.splitlines() if line.startswith("by length"))
    assert head.split("  ")[0] == "by length"
    assert head.split()[2:] == ["nCG@1", "in", "thirds", "Spearman", "given", "length", "with", "length"]
    shown = {line.split()[0]: line.split()[1:] for line in text[text.index("by length") :].splitlines()[2:5]}
    assert shown["random"] == [".500", "[.500,", ".500]", "-", "-", "-"]
    assert shown["length"][-4:] == ["-", "-1.000", "[-1.000,", "-1.000]"]
    assert "undefined: length, given length: scores in the order of the lengths\nundefined: random: equal" in text
    first, *_ = csv.DictReader(io.StringIO(str(show("csv", result))))
    row = only(result, "f1-1")
    assert (float(first["strata_ncg"]), float(first["partial_spearman_low"])) == (row.ncg.value, row.partial.low)
    assert Result.from_json(result.to_json()) == result
    table = csv_tables(result, chapter(result, "1-"))["1-by-length.csv"].decode()
    assert [each["middle_n"] for each in csv.DictReader(io.StringIO(table))] == ["4"] * 3


def test_a_result_of_an_earlier_version_is_read() -> None:
    result = found(measures=("f1-1", "random"))
    old = json.loads(result.to_json())
    del old["by_length"], old["settings"]["strata_k"]
    read = Result.from_dict(old)
    assert read == msgspec.structs.replace(
        result, by_length=(), settings=msgspec.structs.replace(result.settings, strata_k=5)
    )
    assert "by length" not in show("table", read)
    assert "1-by-length.csv" not in csv_tables(read, chapter(read, "1-"))


def test_the_study_has_anchors_and_whole_passages_by_the_same_words(tmp_path: Path) -> None:
    write(str(tmp_path / "p.jsonl"), rows(3))
    target = tmp_path / "anchors.json"
    options = PassagesOptions(resamples=5, reference="topic", strata_k=1)
    anchors_stage(target, tmp_path / "p.jsonl", options, [], []).work()
    result = Result.from_json(target.read_text(encoding="utf-8"))
    assert isinstance(result, NcgResult)
    whole, anchors = only(result, "f1-1"), only(result, f"f1-1{ENTITIES}")
    assert sizes(whole) == sizes(anchors) == [(6, 2, 2), (6, 5, 5), (6, 7, 8)]
    assert whole.ncg.value != anchors.ncg.value


NONE = np.zeros((0, 1), np.int32)


def of_list(scores: list[float], grades: list[float], words: list[int]) -> LengthCorrelations:
    """The correlations of one list."""
    (found,) = length_correlations(
        np.array(scores, np.float64)[:, None],
        np.array(grades, np.float64),
        np.array(words, np.float64),
        np.zeros(len(scores), np.int64),
        NONE,
        pool="all",
    )
    return found


def test_five_passages_by_hand() -> None:
    # d² of ranks: scores and grades 4, grades and words 14, scores and words 10: 1 - 6 Σd² / 120.
    found = of_list([1, 2, 3, 5, 4], [2, 1, 3, 4, 5], [10, 30, 50, 20, 40])
    r, grades, words = 1 - 6 * 4 / 120, 1 - 6 * 14 / 120, 1 - 6 * 14 / 120
    assert (found.spearman.value, found.with_length.value) == pytest.approx((r, words))
    assert found.partial.value == pytest.approx((r - words * grades) / math.sqrt((1 - words**2) * (1 - grades**2)))
    assert (found.spearman.lists, found.spearman.low, found.partial.reason) == (1, None, None)


@pytest.mark.parametrize(
    ("scores", "grades", "words", "reasons"),
    [
        ([1, 2, 3], [1, 2, 0], [5, 4, 6], ["fewer than 4 passages"] * 3),
        ([1, 2, 3, 4], [2, 2, 2, 2], [5, 4, 6, 1], ["equal grades", "equal grades", None]),
        ([0.3, 0.1 + 0.2, 0.3, 0.3], [1, 2, 3, 0], [5, 4, 6, 1], ["equal scores"] * 3),
        ([-math.inf] * 4, [1, 2, 3, 0], [5, 4, 6, 1], ["equal scores"] * 3),
        ([1, 2, 3, 4], [1, 0, 2, 0], [5, 5, 5, 5], [None, "equal numbers of words", "equal numbers of words"]),
        ([5, 4, 6, 1], [1, 0, 2, 2], [50, 40, 60, 10], [None, "scores in the order of the lengths", None]),
        ([-5, -4, -6, -1], [1, 0, 2, 2], [50, 40, 60, 10], [None, "scores in the order of the lengths", None]),
        ([1, 0, 2, 2], [5, 4, 6, 1], [50, 40, 60, 10], [None, "grades in the order of the lengths", None]),
    ],
)
def test_what_is_undefined_has_a_reason(
    scores: list[float], grades: list[float], words: list[int], reasons: list[str | None]
) -> None:
    found = of_list(scores, grades, words)
    assert [each.reason for each in (found.spearman, found.partial, found.with_length)] == reasons
    for each in (found.spearman, found.partial, found.with_length):
        assert (each.value is None, each.lists) == (each.reason is not None, int(each.reason is None))


def test_lists_without_a_coefficient_are_left_out_of_the_mean() -> None:
    # 0: three passages; 1: equal grades; 2: a correlation of .8; 3: of -1.
    groups = np.repeat([0, 1, 2, 3], [3, 4, 4, 4])
    scores = np.array([1, 2, 3, 1, 2, 3, 4, 1, 3, 2, 4, 4, 3, 2, 1.0])
    grades = np.array([1, 2, 3, 1, 1, 1, 1, 1, 2, 3, 4, 1, 2, 3, 4.0])
    words = np.array([3, 4, 5, 7, 7, 7, 7, 1, 2, 8, 4, 1, 2, 8, 4.0])
    counts = np.array([[0, 0, 4, 0], [1, 1, 2, 0], [4, 0, 0, 0]], np.int32)
    both = np.column_stack([scores, np.zeros(15)])
    found, constant = length_correlations(both, grades, words, groups, counts, pool="topic")
    assert found.spearman.value == pytest.approx((0.8 - 1) / 2)
    assert (found.spearman.lists, found.partial.lists, found.with_length.lists) == (2, 2, 2)
    assert (found.spearman.low, found.spearman.high) == pytest.approx((0.8, 0.8))
    reason = "no topic has one: fewer than 4 passages (1), equal grades (1), equal scores (2)"
    assert (constant.partial.value, constant.spearman.reason) == (None, reason)


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 3), st.integers(1, 6)), min_size=1, max_size=30
)


@given(ROWS, st.sampled_from(["topic", "all"]), st.randoms(use_true_random=False))
def test_order_of_rows_and_monotone_scores_do_not_matter(rows, pool, random) -> None:  # type: ignore[no-untyped-def]
    def found(table: list[tuple[int, ...]], stretched: bool) -> LengthCorrelations:
        group, score, grade, words = np.array(table, np.float64).T
        groups = np.unique(group, return_inverse=True)[1]
        scores = np.exp(score) * 1e-3 - 7 if stretched else score
        counts = bootstrap_counts(int(groups.max()) + 1, 20, seed=1)
        return length_correlations(scores[:, None], grade, words, groups, counts, pool=pool)[0]

    one, other = found(rows, stretched=False), found(random.sample(rows, len(rows)), stretched=True)
    for a, b in ((one.spearman, other.spearman), (one.partial, other.partial), (one.with_length, other.with_length)):
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-12)
        assert a.value is None or -1 <= a.value <= 1


ROW = st.tuples(
    st.integers(0, 3),  # group
    st.integers(0, 6),  # words
    st.sampled_from([-math.inf, 0.0, 0.3, 0.1 + 0.2, 1.0]),
    st.sampled_from([0.0, 0.5, 1.0, 3.0]),
)
LISTS = st.lists(ROW, min_size=1, max_size=30).filter(lambda rows: any(grade for *_, grade in rows))


def columns(rows: list[tuple[int, int, float, float]]) -> tuple[NDArray[np.int64], ...]:
    """Groups without a gap, words, scores, grades."""
    group, words, scores, grades = map(np.array, zip(*rows, strict=True))
    return np.unique(group, return_inverse=True)[1], words, scores.astype(np.float64), grades.astype(np.float64)


def one_list(words: list[int]) -> list[int]:
    return length_thirds(np.array(words), np.zeros(len(words), np.int64)).tolist()


def plainly(scores: NDArray[np.float64], grades: NDArray[np.float64], thirds: NDArray[np.int64], k: int) -> list[float]:
    """The nCG at k of each third that has a grade above 0."""
    found = []
    for third in range(3):
        rows = np.flatnonzero(thirds == third)
        if grades[rows].any():
            found.append(float(normalized_gains(scores[rows], grades[rows])[min(k, len(rows)) - 1]))
    return found


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_the_third_is_that_of_the_average_rank(words: list[int]) -> None:
    n, found = len(words), one_list(words)
    for each, third in zip(words, found, strict=True):
        average_rank = (sum(other < each for other in words) + sum(other <= each for other in words) + 1) / 2
        assert third == math.floor(3 * (average_rank - 0.5) / n)
    assert one_list([-each for each in words]) == [2 - third for third in found] or len(set(words)) < n


@given(LISTS, st.randoms(use_true_random=False))
def test_lists_are_cut_each_for_itself_in_any_order(rows: list[tuple[int, int, float, float]], random) -> None:  # type: ignore[no-untyped-def]
    group, words, *_ = columns(rows)
    found = length_thirds(words, group)
    for each in set(group.tolist()):
        assert found[group == each].tolist() == one_list(words[group == each].tolist())
    order = np.array(random.sample(range(len(rows)), len(rows)))
    assert length_thirds(words[order], group[order]).tolist() == found[order].tolist()


def test_gains_of_thirds_by_hand() -> None:
    # Short: 1 word, grades 0 and 2, tied: 1/2. Middle: no grade above 0, left out. Long: the worse one first: 1/3.
    words = np.array([1, 1, 5, 6, 9, 8])
    grades = np.array([0.0, 2.0, 0.0, 0.0, 1.0, 3.0])
    scores = np.array([0.5, 0.5, 9.0, 8.0, 2.0, 1.0])
    lists = np.zeros(6, np.int64)
    thirds = length_thirds(words, lists)
    assert thirds.tolist() == [0, 0, 1, 1, 2, 2]
    for kind in (ListThirds, PooledThirds):
        samples, shares = kind(grades, lists, thirds, np.ones((2, 1), np.int32), 1).gains(scores)
        assert samples.tolist() == pytest.approx([(1 / 2 + 1 / 3) / 2] * 3)
        assert shares.tolist() == pytest.approx([1 / 2, math.nan, 1 / 3], nan_ok=True)


@given(LISTS, st.integers(1, 8))
def test_lists_of_their_own_are_those_written_out(rows: list[tuple[int, int, float, float]], k: int) -> None:
    group, words, scores, grades = columns(rows)
    kept = (np.bincount(group, grades) > 0)[group]
    group, words, scores, grades = columns([row for row, keep in zip(rows, kept, strict=True) if keep])
    thirds, lists = length_thirds(words, group), int(group.max()) + 1
    counts = bootstrap_counts(lists, 5, seed=3)
    samples, shares = ListThirds(grades, group, thirds, counts, k).gains(scores)
    means = [np.mean(plainly(scores[group == g], grades[group == g], thirds[group == g], k)) for g in range(lists)]
    np.testing.assert_allclose(samples, [np.mean(means), *(counts @ means / lists)], rtol=1e-12)
    of_short = [
        plainly(scores[some], grades[some], thirds[some], k)[0]
        for g in range(lists)
        if grades[some := (group == g) & (thirds == 0)].any()
    ]
    assert shares[0] == pytest.approx(np.mean(of_short) if of_short else math.nan, nan_ok=True)


@given(LISTS, st.integers(1, 8))
def test_resamples_of_one_list_are_those_written_out(rows: list[tuple[int, int, float, float]], k: int) -> None:
    group, words, scores, grades = columns(rows)
    thirds = length_thirds(words, np.zeros_like(group))
    counts = bootstrap_counts(int(group.max()) + 1, 5, seed=3)
    samples, shares = PooledThirds(grades, group, thirds, counts, k).gains(scores)
    for found, drawn in zip(samples, [np.ones_like(counts[0]), *counts], strict=True):
        copies = np.repeat(np.arange(len(rows)), drawn[group])
        expected = plainly(scores[copies], grades[copies], thirds[copies], k)
        assert found == pytest.approx(np.mean(expected) if expected else math.nan, nan_ok=True)
    assert shares[~np.isnan(shares)].tolist() == pytest.approx(plainly(scores, grades, thirds, k))


def test_a_list_whose_best_passages_are_all_of_one_group() -> None:
    # Where that group is not drawn, the cutoff lies far below the rows that are looked at first.
    rng = np.random.default_rng(5)
    group = np.repeat([0, 1, 2], [900, 300, 5])
    scores = np.concatenate([rng.random(900) + 9, rng.random(300), np.full(5, -1.0)])
    grades = rng.integers(0, 4, len(group)).astype(np.float64)
    thirds = np.zeros(len(group), np.int64)
    counts = np.array([[0, 3, 0], [0, 0, 3], [1, 1, 1], [0, 1, 2]], np.int32)
    samples, _ = PooledThirds(grades, group, thirds, counts, 7).gains(scores)
    for found, drawn in zip(samples[1:], counts, strict=True):
        copies = np.repeat(np.arange(len(group)), drawn[group])
        assert [found] == pytest.approx(plainly(scores[copies], grades[copies], thirds[copies], 7))
