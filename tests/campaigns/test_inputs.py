"""Random samples of articles for a campaign."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.campaigns.item_files import sampled_items, with_gold
from postil.campaigns.models import Item
from postil.campaigns.rubric import Rubric
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from pathlib import Path

ITEMS = [Item(item=f"a{n}", system=system, text="") for n in range(10) for system in "xyz"]


def articles(items: list[Item], count: int, seed: int) -> set[str]:
    return {item.item for item in sampled_items(items, count, seed)[0]}


def test_every_sample_is_as_likely_as_any_other() -> None:
    """Over 4,000 seeds, within 4 standard errors: each article is in 3 of 10, each pair in 1 of 15."""
    drawn = [articles(ITEMS, 3, seed) for seed in range(4000)]
    for size, share in ((1, 3 / 10), (2, 3 / 45)):
        counts = Counter(some for sample in drawn for some in combinations(sorted(sample), size))
        error = (4000 * share * (1 - share)) ** 0.5
        assert all(
            abs(counts[some] - 4000 * share) < 4 * error
            for some in combinations(sorted(f"a{n}" for n in range(10)), size)
        )


@given(st.permutations(ITEMS), st.integers(1, 10), st.integers(1, 10), st.integers(0, 99))
@examples(25)
def test_samples_of_one_seed_are_nested_whatever_the_order(items: list[Item], one: int, two: int, seed: int) -> None:
    smaller, larger = sorted((one, two))
    sampled, there = sampled_items(items, larger, seed)
    assert (len(sampled), there) == (3 * larger, 10)
    assert sampled == [item for item in items if item in sampled]
    assert articles(items, smaller, seed) <= articles(ITEMS, larger, seed)


def test_gold_items_stay_and_count_for_nothing() -> None:
    gold = [Item(item="g", system="x", text="", gold=3.0), Item(item="a0", system="w", text="", gold=1.0)]
    for seed in range(20):
        sampled, there = sampled_items([*gold, *ITEMS], 2, seed)
        assert there == 10
        assert sampled[:2] == gold
        assert len({item.item for item in sampled if item.gold is None}) == 2
    with pytest.raises(UsageError, match="from 1 to 10, the number of articles"):
        sampled_items([*gold, *ITEMS], 11, 1)


YES = ("true", "TRUE", "True", "1", "1.0", "WAHR", "wahr", "VRAI", "VERDADERO", "yes", "Ja", " true ", "ИСТИНА")
NO = ("false", "FALSE", "0", "FALSCH", "FAUX", "no", "")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_attention_checks_can_be_written_in_tables(tmp_path: Path, delimiter: str) -> None:
    items = [Item(item=f"a{n}", system="x", text="t") for n in range(len(YES + NO))]
    lines = [("item", "system", "grade", "attention")]
    lines += [(f"a{n}", "x", "2", word) for n, word in enumerate(YES + NO)]
    path = tmp_path / ("gold.tsv" if delimiter == "\t" else "gold.csv")
    path.write_text("".join(f"{delimiter.join(line)}\n" for line in lines), encoding="utf-8")
    found = with_gold(items, str(path), Rubric.default())
    assert [item.purpose for item in found] == ["attention"] * len(YES) + [""] * len(NO)


def test_attention_checks_can_be_written_in_workbooks(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    values = (True, "TRUE", 1, "WAHR", False, 0, None)
    book = openpyxl.Workbook()
    book.active.append(["item", "system", "grade", "attention"])
    for number, value in enumerate(values):
        book.active.append([f"a{number}", "x", 2, value])
    book.save(tmp_path / "gold.xlsx")
    items = [Item(item=f"a{n}", system="x", text="t") for n in range(len(values))]
    found = with_gold(items, str(tmp_path / "gold.xlsx"), Rubric.default())
    assert [item.purpose for item in found] == ["attention"] * 4 + [""] * 3


def test_what_is_neither_true_nor_false_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("item,system,grade,attention\na1,x,2,true\na2,x,2,maybe\n")
    problem = 'gold.csv:3: attention: expected true or false, got "maybe"; write TRUE or FALSE, or 1 or 0'
    with pytest.raises(InvalidInput, match=problem):
        with_gold(ITEMS, str(tmp_path / "gold.csv"), Rubric.default())
