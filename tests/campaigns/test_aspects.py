"""Several aspects of one item: rubric, grades, gold labels, exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy", reason="needs the web extra")

from campaign_work import join, rate_all
from postil.campaigns.export import export_files
from postil.campaigns.models import Item, Refused
from postil.campaigns.planning import with_gold
from postil.campaigns.quality import inferred_grades
from postil.campaigns.rubric import Rubric, ratings_by_aspect, ratings_of
from postil.data.rows import Judgement
from postil.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postil.campaigns.store import Store

TWO = """
name = "summary"
question = "Judge this summary."
[[aspects]]
name = "fluency"
question = "How well does it read?"
high = 3
words = ["badly", "so-so", "well"]
[[aspects]]
name = "truth"
question = "Does the source say so?"
low = 0
high = 1
"""


@pytest.fixture
def rubric(tmp_path: Path) -> Rubric:
    (tmp_path / "two.toml").write_text(TWO)
    return Rubric.read(tmp_path / "two.toml")


def test_each_aspect_is_a_rubric_of_its_own(rubric: Rubric) -> None:
    fluency, truth = rubric.scales
    assert (fluency.name, fluency.grades, fluency.words[0]) == ("fluency", (1, 2, 3), "badly")
    assert (truth.question, truth.grades) == ("Does the source say so?", (0, 1))
    assert rubric.grades == fluency.grades
    assert Rubric.default().scales == (Rubric.default(),)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("high = 3", "high = 12"), "aspects.fluency.high: expected grades of one digit"),
        (('"badly", "so-so", "well"', '"x"'), "aspects.fluency.words: expected one entry per grade"),
        (('name = "truth"', 'name = "fluency"'), "distinct names, got fluency, fluency"),
        (('name = "summary"', 'name = "summary"\nlow = 2'), "low: each aspect has a scale of its own"),
        (('name = "truth"', 'nmae = "truth"'), r"aspects\[1\]"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, change: tuple[str, str], problem: str) -> None:
    (tmp_path / "two.toml").write_text(TWO.replace(*change))
    with pytest.raises(InvalidInput, match=problem):
        Rubric.read(tmp_path / "two.toml")


def test_grades_of_all_aspects_are_one_rating(make: Callable[..., Store], rubric: Rubric) -> None:
    store = make(rubric, annotators=2, each=2)
    ann, bob = (join(store, name) for name in ("Ann", "Bob"))
    rate_all(store, ann, (3, 0))
    rate_all(store, bob, (1, 1))
    assert store.grading.task(ann, 0).grades == (3, 0)
    store.grading.undo(ann, idempotency_key="undo")
    assert store.grading.task(ann, 5).grades == ()
    task = store.grading.task(ann, 5)
    for wrong, problem in (
        ([3], "one grade for each of fluency, truth"),
        (3.0, "one grade for each"),
        ([3, 2], "truth: expected a whole number from 0 to 1, got 2"),
        ([3, None], "truth: this aspect has no grade yet"),
    ):
        with pytest.raises(Refused, match=problem):
            store.grading.rate(ann, task.assignment, wrong, idempotency_key="x")  # type: ignore[arg-type]
    store.grading.rate(ann, task.assignment, [2, 1], idempotency_key="again")
    assert store.results.events()[-1].grades == (2, 1)

    ratings = store.results.ratings()
    assert len(ratings) == 12
    (fluency, of_fluency), (truth, of_truth) = ratings_by_aspect(ratings, rubric)
    assert (fluency.name, truth.name) == ("fluency", "truth")
    assert sorted(one.grade for one in of_fluency) == [1] * 6 + [2] + [3] * 5
    assert sorted(one.grade for one in of_truth) == [0] * 5 + [1] * 7
    assert {one.aspect for one in of_truth} == {"truth"}
    with pytest.raises(UnknownName, match="unknown aspect 'trust'; did you mean 'truth'"):
        ratings_of(ratings, rubric, "trust")

    files = export_files(store, inferred_grades, table_format="jsonl")
    assert len(files["ratings.jsonl"]) == 24
    lowest = {(row.aspect, row.lowest) for row in files["resolved.jsonl"] if row.item == "a1"}  # type: ignore[union-attr]
    assert lowest <= {("fluency", 1.0), ("truth", 0.0), ("truth", 1.0)}
    judged = [row for row in files["judgements.jsonl"] if isinstance(row, Judgement)]
    assert [row.aspect for row in judged] == ["fluency"] * 12 + ["truth"] * 12
    assert json.loads(str(files["codebook.json"]))["rubric"]["aspects"][1]["name"] == "truth"


def gold(path: Path, *labels: tuple[str, str | None, float]) -> str:
    rows = [{"item": item, "system": "s", "grade": grade, "aspect": of} for item, of, grade in labels]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def test_gold_labels_are_of_the_first_aspect_or_of_a_named_one(
    make: Callable[..., Store], rubric: Rubric, tmp_path: Path
) -> None:
    items = [Item(item=name, system="s", text="t") for name in "abc"]
    labels = (("a", None, 3.0), ("a", "truth", 1.0), ("b", "fluency", 2.0))
    found = with_gold(items, gold(tmp_path / "g.jsonl", *labels), rubric)
    assert [(item.gold, item.golds) for item in found] == [(3, (3, 1)), (2, (2, None)), (None, ())]
    store = make(rubric, found, annotators=1, each=1)
    assert store.items() == found
    ann = join(store, "Ann")
    rate_all(store, ann, (1, 0))
    (_, of_fluency), (_, of_truth) = ratings_by_aspect(store.results.ratings(), rubric)
    assert [(one.item, one.gold) for one in of_fluency] == [("a", 3), ("b", 2), ("c", None)]
    assert [(one.item, one.gold) for one in of_truth] == [("a", 1), ("c", None)], "no gold label, and not to be counted"

    files = export_files(store, inferred_grades, table_format="jsonl")
    known = {("a", "fluency"): 3, ("b", "fluency"): 2, ("a", "truth"): 1}
    unknown = {("c", "fluency"), ("c", "truth")}
    every = {(item, aspect) for item in "abc" for aspect in ("fluency", "truth")}
    for name in ("ratings.jsonl", "resolved.jsonl"):
        table = {(row.item, row.aspect): row for row in files[name]}  # type: ignore[union-attr]
        assert set(table) == every
        assert {key: row.gold for key, row in table.items() if row.gold is not None} == known
        assert {key for key, row in table.items() if row.purpose == "gold"} == every - unknown
    assert {(row.item, row.aspect) for row in files["judgements.jsonl"]} == unknown  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        (("a", "trust", 1.0), "g.jsonl:1: aspect: expected one of fluency, truth, got 'trust'"),
        (("a", "truth", 3.0), "g.jsonl:1: grade: expected a whole number from 0 to 1, got 3"),
        (("a", "truth", 1.0), "g.jsonl: aspect: expected a label of the first aspect, fluency, for a as well"),
    ],
)
def test_gold_labels_that_fit_no_aspect_are_refused(
    rubric: Rubric, tmp_path: Path, label: tuple[str, str | None, float], problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        with_gold([Item(item="a", system="s", text="t")], gold(tmp_path / "g.jsonl", label), rubric)
