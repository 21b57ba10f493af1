"""`postil passages`: rankings by the length of the passages."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from postil.data.row_files import write
from postil.data.rows import Passage
from postil.errors import UsageError
from postil.page.chapters import chapter
from postil.page.report import csv_tables
from postil.passages.calls import PassagesOptions, find_gains
from postil.passages.result import NcgResult
from postil.results.base import Result
from postil.results.views import show
from postil.studies.passages.figures import ENTITIES
from postil.studies.passages.paper import anchors_stage

if TYPE_CHECKING:
    from pathlib import Path

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


def test_threads_and_the_other_numbers_do_not_change_it() -> None:
    given, asked = rows(5), {"measures": ("f1-1", "kl-1"), "pool": "all"}
    one = found(given, **asked)
    assert found(given, **asked, jobs=3) == one
    other = found(given, **asked, k=(2, 3), strata_k=7)
    assert [row.spearman for row in other.by_length] == [row.spearman for row in one.by_length]
    assert [row.ncg for row in other.by_length] != [row.ncg for row in one.by_length]


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


def test_a_cutoff_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="strata_k: expected at least 1, got 0"):
        found(strata_k=0)


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
    first, *_ = csv.DictReader(io.StringIO(show("csv", result)))
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
