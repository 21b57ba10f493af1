"""Campaigns of pairs: which texts are compared, on which side they stand, and what the exports say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

pytest.importorskip("sqlalchemy", reason="needs the web extra")

from campaign_work import join, rate
from postil.campaigns.add import add
from postil.campaigns.calls import agreement_of, estimate_so_far, remove
from postil.campaigns.export import codebook, export_files
from postil.campaigns.item_assignment import generator
from postil.campaigns.models import Context, Item, Refused
from postil.campaigns.options import AddOptions, PlanOptions, RemoveOptions
from postil.campaigns.pairs import balanced_sides, pair_items, single_texts
from postil.campaigns.planning import plan
from postil.campaigns.quality import inferred_grades
from postil.campaigns.rubric import Rubric
from postil.campaigns.store import Store
from postil.comparison.preferences import preferred_systems
from postil.errors import InvalidInput, UsageError
from postil.meta.resampling import Draws
from postil.raters.calls import AgreementOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.campaigns.models import Presentation

SYSTEMS = ("base", "human", "new", "old")


HINT = (Context(name="hint", text="x"),)


def texts(articles: int, systems: Sequence[str] = SYSTEMS, start: int = 0) -> list[Item]:
    return [
        Item(item=f"a{article}", system=system, text=f"{system} on {article}")
        for article in range(start, start + articles)
        for system in systems
    ]


def pair(item: Item) -> frozenset[str]:
    return frozenset((item.system, item.other_system))


@pytest.mark.parametrize(("per_item", "pairs"), [(0, 6), (1, 1), (2, 2), (9, 6)])
def test_pairs_of_systems_are_compared_equally_often_and_each_is_first_equally_often(per_item: int, pairs: int) -> None:
    found = pair_items(texts(15), per_item, seed=3)
    assert Counter(item.item for item in found) == dict.fromkeys((f"a{n}" for n in range(15)), pairs)
    counts = Counter(map(pair, found))
    assert max(counts.values()) - min(counts.values()) <= 1
    for one in counts:
        first = Counter(item.system for item in found if pair(item) == one)
        assert abs(2 * max(first.values()) - counts[one]) <= 1
    assert all(item.text.startswith(item.system) and item.other_text.startswith(item.other_system) for item in found)
    assert pair_items(texts(15), per_item, seed=3) == found != pair_items(texts(15), per_item, seed=4)
    assert {item.system for item in single_texts(found)} == set(SYSTEMS)


@pytest.mark.parametrize(
    ("some", "said"),
    [
        (texts(2, ["base"]), "expected texts of two systems or more, got one for a"),
        ([*texts(1), Item(item="a0", system="old", text="x", sample=2)], "got several of old for a0"),
        ([*texts(1), Item(item="a0", system="x", text="x", context=HINT)], "the same context for all texts of a0"),
    ],
)
def test_texts_that_make_no_pairs(some: list[Item], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        pair_items(some, 0, seed=1)


def test_sides_are_balanced_and_repeated_pairs_exchange_them() -> None:
    orders: list[list[Presentation]] = [
        [(item, 1) for item in range(60) if (item + person) % 3] + [(0, 2)] * (person > 0) for person in range(3)
    ]
    names = {item: f"pair {item % 5}" for item in range(60)}
    made = balanced_sides(orders, names, generator(1, "sides", 1))
    assert set(made.values()) == {0, 1}
    for person in range(3):
        mine = [made[person, item, 1] for item, again in orders[person] if again == 1]
        assert abs(2 * sum(mine) - len(mine)) <= 4
        for name in set(names.values()):
            of_pair = [made[person, item, 1] for item, again in orders[person] if again == 1 and names[item] == name]
            assert abs(2 * sum(of_pair) - len(of_pair)) <= 4
    both = [sum(made[person, item, 1] for person in range(3) if (item + person) % 3) for item in range(60)]
    assert both == [1] * 60  # each text is on the left for one of its two annotators
    assert made[1, 0, 2] == 1 - made[1, 0, 1]
    assert balanced_sides(orders, {}, generator(1, "sides", 1)) == {}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"words": ["a", "b"]}, "words: expected three texts"),
        ({"ties": False, "words": ["a", "b", "c"]}, None),
        ({"ties": False, "words": ["a"]}, "words: expected two texts"),
        ({"examples": [["x"]]}, "examples: expected none"),
        ({"ties": 3}, "ties: Expected `bool`, got `int`"),
        ({"kind": "pairs"}, "kind: expected grade, spans or pair, got 'pairs'"),
    ],
)
def test_rubrics_of_pairs(tmp_path: Path, fields: dict[str, object], said: str | None) -> None:
    file = tmp_path / "rubric.json"
    file.write_text(json.dumps({"name": "n", "question": "q?", "kind": "pair"} | fields))
    if said is None:
        assert Rubric.read(file).grades == (1, 3)
        return
    with pytest.raises(InvalidInput) as caught:
        Rubric.read(file)
    assert str(caught.value).startswith(f"{file}: {said}")


def test_a_rubric_of_pairs_survives_its_json() -> None:
    rubric = Rubric(name="n", question="q?", kind="pair", ties=False, words=("left", "right"))
    assert (rubric.meaning(1), rubric.meaning(3), rubric.grades) == ("left", "right", (1, 3))
    assert msgspec.json.decode(msgspec.json.encode(rubric), type=Rubric) == rubric
    assert Rubric.default("zh", "pair").question == "两段文字哪一段更好？"


class Made:
    """A campaign of pairs of made-up candidates, whose annotators prefer the system that comes first in `SYSTEMS`."""

    def __init__(self, folder: Path, *, articles: int = 10, **options: object) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.url = folder, str(folder / "pairs.db")
        self.file = self.write("texts.jsonl", texts(articles))
        settings = PlanOptions(**{"annotators": 3, "context": "none", "pairs": "all"} | options)  # type: ignore[arg-type]
        self.result = plan(self.file, self.url, settings)

    def write(self, name: str, items: Sequence[Item]) -> str:
        rows = [{"item": item.item, "system": item.system, "text": item.text} for item in items]
        return self.lines(name, rows)

    def lines(self, name: str, rows: Sequence[object]) -> str:
        (self.folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return str(self.folder / name)

    def rate(self, names: Sequence[str] = ("Ann", "Bob", "Cem"), most: int = 1000) -> None:
        with Store.open(self.url) as store:
            for name in names:
                person = join(store, name)
                for _ in range(most):
                    task = store.grading.next(person)
                    if task is None:
                        break
                    (left, if_left), (right, if_right) = task.sides
                    better = if_left if SYSTEMS.index(left.split()[0]) < SYSTEMS.index(right.split()[0]) else if_right
                    value = 2 if {left.split()[0], right.split()[0]} == {"new", "old"} else better
                    store.grading.rate(person, task.assignment, value, idempotency_key=f"{task.assignment}")


def test_from_texts_to_strengths(tmp_path: Path) -> None:
    made = Made(tmp_path, pairs="3")
    assert made.result.texts == 30
    made.rate()
    with Store.open(made.url) as store:
        files = export_files(store, inferred_grades)
        items, ratings, campaign, rubric = store.items(), store.results.ratings(), store.campaign(), store.rubric()
    assert campaign.pairs == 3
    rows = files["preferences.jsonl"]
    assert len(rows) == 60
    for row in rows:  # the preference goes by systems, whatever the side
        order = SYSTEMS.index(row.system_a) - SYSTEMS.index(row.system_b)  # type: ignore[union-attr]
        tie = {row.system_a, row.system_b} == {"new", "old"}  # type: ignore[union-attr]
        assert row.preference == ("tie" if tie else "a" if order < 0 else "b")  # type: ignore[union-attr]
    assert abs(sum(row.left == "a" for row in rows) - 30) <= 4  # type: ignore[union-attr]
    found = preferred_systems(rows, draws=Draws(resamples=20))  # type: ignore[arg-type]
    assert [row.system for row in found.systems][:2] == ["base", "human"]
    judgements = {(row.item, row.system, row.annotator): row.grade for row in files["judgements.jsonl"]}  # type: ignore[union-attr]
    assert {grade for (_, system, _), grade in judgements.items() if system == "base"} == {1.0}
    table = files["ratings.csv"][0]
    assert (table.preference, table.left) == (rows[0].preference, rows[0].left)  # type: ignore[union-attr]
    assert (table.text_a, table.text_b) == (items[0].text, items[0].other_text)  # type: ignore[union-attr]
    resolved = files["resolved.csv"]
    assert len(resolved) == 30
    assert {(row.annotators, row.a + row.ties + row.b, row.adjudicated) for row in resolved} == {(2, 2, False)}  # type: ignore[union-attr]
    assert "preference" in codebook(campaign, rubric, {})["columns"]  # type: ignore[operator]
    agreed = agreement_of(ratings, rubric, AgreementOptions(resamples=5)).agreement
    assert agreed is not None
    assert agreed.estimates["agreement"].value == 1.0
    assert estimate_so_far(ratings, campaign, 10).preferences is not None
    few = [one for one in ratings if one.item in {"a1", "a2"}]
    assert estimate_so_far(few, campaign, 10).reason == "it needs 8 rated items, and there are 2"


def test_ties_are_refused_where_the_rubric_has_none(tmp_path: Path) -> None:
    rubric = tmp_path / "rubric.json"
    rubric.write_text('{"name": "n", "question": "q?", "kind": "pair", "ties": false}')
    made = Made(tmp_path, rubric=str(rubric), pairs=None)
    with Store.open(made.url) as store:
        ann = join(store, "Ann")
        with pytest.raises(Refused, match="expected 1 or 3, got 2"):
            rate(store, ann, 0, 2)
        rate(store, ann, 0, 3)
        assert store.results.ratings()[0].grade == 3


def test_gold_preferences_go_by_systems_and_are_always_there(tmp_path: Path) -> None:
    gold = {"item": "a1", "system_a": "old", "system_b": "human", "preference": "a"}
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(gold))
    made = Made(tmp_path, pairs="1", gold=str(path))
    with Store.open(made.url) as store:
        labelled = [item for item in store.items() if item.gold is not None]
    assert [(item.item, pair(item)) for item in labelled] == [("a1", {"old", "human"})]
    assert labelled[0].gold == (1 if labelled[0].system == "old" else 3)
    assert made.result.gold == 1
    settings = PlanOptions(annotators=2, context="none", pairs="all", gold=str(path))
    path.write_text(json.dumps(gold | {"preference": "c"}))
    with pytest.raises(InvalidInput, match=r'gold\.jsonl:1: preference: expected a, tie or b, got "c"'):
        plan(made.file, str(tmp_path / "x.db"), settings)
    path.write_text(json.dumps(gold | {"system_b": "none"}))
    with pytest.raises(UsageError, match="there is no pair of old and none of a1"):
        plan(made.file, str(tmp_path / "x.db"), settings)


def test_new_articles_are_paired_as_the_others(tmp_path: Path) -> None:
    made = Made(tmp_path, pairs="2")
    made.rate(["Ann"], most=5)
    file = made.write("more.jsonl", [*texts(2), *texts(5, start=50)])
    done = add(made.url, [file], AddOptions())
    assert (done.added, done.known) == (10, 8)
    with Store.open(made.url) as store:
        new = store.items()[20:]
    assert Counter(item.item for item in new) == dict.fromkeys((f"a{n}" for n in range(50, 55)), 2)
    assert all(item.other_text for item in new)
    all_pairs = Made(tmp_path / "all")
    other = made.write("other.jsonl", texts(1, ["newest"]))
    with pytest.raises(InvalidInput, match=r"other\.jsonl:1: \w+: the campaign has all pairs of the texts of a0, and"):
        add(all_pairs.url, [other], AddOptions())


def test_gold_preferences_of_added_pairs(tmp_path: Path) -> None:
    made = Made(tmp_path)
    file = made.write("more.jsonl", texts(1, start=50))
    label = {"item": "a50", "system_a": "old", "system_b": "new", "preference": "tie"}
    gold = made.lines("gold.jsonl", [label])
    assert add(made.url, [file], AddOptions(gold=gold)).added == 6
    assert add(made.url, [file], AddOptions(gold=gold)).added == 0  # the label is known
    with Store.open(made.url) as store:
        assert [item.gold for item in store.items() if item.gold is not None] == [2.0]
    gold = made.lines("gold.jsonl", [label | {"preference": "a"}])
    with pytest.raises(UsageError, match="the campaign has the pair of old and new of a50 without this label"):
        add(made.url, [file], AddOptions(gold=gold))


def test_an_empty_text_is_in_no_pair(tmp_path: Path) -> None:
    made = Made(tmp_path, articles=1)

    texts = {"a": ("So.", "", "Yes."), "b": ("So.", " ", "Yes."), "c": (None, "", "Yes.")}
    rows = [
        {"item": item, "system": system, "text": text}
        for item, found in texts.items()
        for system, text in zip(("x", "old", "new"), found, strict=True)
        if text is not None
    ]
    labels = [
        {"item": item, "system_a": "new", "system_b": other, "preference": "a"}
        for item, other in (("a", "x"), ("a", "old"), ("c", "old"))
    ]
    gold = made.lines("gold.jsonl", labels)
    url, said = str(tmp_path / "c.db"), list[str]()
    file = made.lines("t.jsonl", rows)
    plan(file, url, PlanOptions(annotators=2, context="none", pairs="all", gold=gold), on_message=said.append)
    with Store.open(url) as store:
        assert [(item.item, pair(item)) for item in store.items()] == [("a", {"x", "new"}), ("b", {"x", "new"})]
        assert [item.gold is None for item in store.items()] == [False, True]
    places = ", ".join(f"old of {item} ({file}:{line})" for item, line in (("a", 2), ("b", 5), ("c", 7)))
    assert said[-2] == f"3 texts are empty or white space, left out: {places}"
    assert said[-1] == "1 item has one text left, so there is no pair of it: c"
    more, told = made.lines("more.jsonl", [{**row, "item": f"{row['item']}2"} for row in rows]), list[str]()
    label = made.lines("gold.jsonl", [{**row, "item": f"{row['item']}2"} for row in labels])
    done = add(url, [more], AddOptions(gold=label), on_message=told.append)
    assert (done.added, done.empty, told[-1]) == (2, 3, said[-1].replace(": c", ": c2"))


def test_pairs_of_a_removed_annotator_have_sides(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.rate(["Ann"], most=3)
    remove(made.url, "Ann", RemoveOptions())
    made.rate(["Bob", "Cem"])
    with Store.open(made.url) as store:
        ratings = store.results.ratings()
    assert {one.annotator for one in ratings} == {"A1", "A2", "A3"}
    for name in ("A1", "A2", "A3"):
        swapped = [one.swapped for one in ratings if one.annotator == name]
        assert len(swapped) == 3 or 0.3 < sum(swapped) / len(swapped) < 0.7


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    file = Made(tmp_path).file
    articles = tmp_path / "articles.jsonl"
    articles.write_text('{"id": "a", "title": "t", "comments": [{"id": "c", "text": "x"}]}\n')
    for path, options, said in (
        (file, {"pairs": "some"}, "pairs: expected all, or the number of pairs per item, got 'some'"),
        (file, {"pairs": "0"}, "pairs: expected all"),
        (str(articles), {"pairs": "all", "context": None}, "pairs are texts of two systems: give candidate rows"),
    ):
        settings = PlanOptions(**{"annotators": 2, "context": "none"} | options)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=said):
            plan(path, str(tmp_path / "x.db"), settings)
    rubric = tmp_path / "rubric.toml"
    rubric.write_text('name = "n"\nquestion = "q?"\n')
    with pytest.raises(UsageError, match='pairs needs a rubric of kind = "pair", got grade'):
        plan(file, str(tmp_path / "x.db"), PlanOptions(annotators=2, context="none", pairs="all", rubric=str(rubric)))
    assert not Path(tmp_path / "x.db").exists()
