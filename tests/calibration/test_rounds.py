"""postil label in rounds: what labels are worth as they come, and which suggestions come next."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from postil.calibration.labels import drawing_order, plan_labels
from postil.calibration.options import LabelOptions
from postil.calibration.rounds import Rounds, most_teaching
from postil.campaigns.store import Store
from postil.comments.retrieval import Retriever
from postil.data.row_files import read, write
from postil.data.suggestions import Label
from postil.errors import PostilError
from retrieval_models import article, train_retrievers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conftest import Postil
    from postil.comments.show_filter import ShowFilter

MOST = 34
"""Number of articles that the rounds end at: 20, then 8, then 6."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = train_retrievers(tmp_path_factory.mktemp("models"), kinds=("ir-tc",))
    write(str(folder / "new.jsonl"), [article(number) for number in range(100, 140)])
    return folder


def answer(campaign: str) -> int:
    """The annotator answers everything that is open, by chance and mostly by what a text says; returns how many."""
    count = 0
    with Store.open(campaign) as store:
        (person,) = [one for one in store.people.everyone() if one.role == "annotator"]
        if not person.name:
            store.people.invite("Ann", "annotator")
        while (task := store.grading.next(person)) is not None:
            chance = np.random.default_rng([*task.text.encode(), task.position]).random()
            show = chance < (0.85 if task.text.startswith("All about") else 0.15)
            store.grading.rate(person, task.assignment, 1 if show else 2, idempotency_key=f"r{task.assignment}")
            count += 1
    return count


def asked(campaign: str) -> dict[str, list[int]]:
    """Ranks of the suggestions that a campaign asks about, by article."""
    with Store.open(campaign, read_only=True) as store:
        ranks: dict[str, list[int]] = {}
        for item in store.items():
            ranks.setdefault(item.item, []).append(json.loads(item.system)[0])
    return ranks


def test_rounds_ask_until_the_articles_are_asked_about(postil: Postil, models: Path) -> None:
    command = ("label", models / "new.jsonl", "--model", models / "tc", "--out", "l.jsonl", "--no-serve", "--teach")
    said, sizes = [], []
    for _ in range(5):
        done = postil(*command, "--articles", MOST)
        assert done.code == 0, done.err
        said.append(done.err)
        sizes.append(len(asked("l.db")))
        answer("l.db")
    assert sizes == [20, 28, MOST, MOST, MOST]
    assert "60 suggestions for 20 articles" in said[0]
    assert "60 labels: what to expect: with --coverage 0.3" in said[1]
    assert max(Counter(map(len, asked("l.db").values()))) == 3
    rows = list(read("l.jsonl", Label))
    assert len(rows) == 3 * MOST
    # A larger number goes on where the rounds ended, with articles that come next in the same order.
    before = set(asked("l.db"))
    assert postil(*command, "--articles", MOST + 3).code == 0
    assert len(asked("l.db")) == MOST + 3
    assert before < set(asked("l.db"))
    order = drawing_order([f"a{number}" for number in range(100, 140)], LabelOptions(out="l.jsonl"))
    assert list(asked("l.db")) == order[: MOST + 3]  # whatever the answers are, the articles are drawn at random


def test_a_round_asks_about_what_the_filter_would_show(models: Path, tmp_path: Path) -> None:
    options = LabelOptions(out=str(tmp_path / "l.jsonl"), sample=28, teach=True)
    made = plan_labels(str(models / "new.jsonl"), str(models / "tc"), options)
    assert isinstance(made.commenter, Retriever)
    assert answer(str(tmp_path / "l.db")) == 60
    first = set(asked(str(tmp_path / "l.db")))
    rounds = Rounds(made.commenter, made.articles, options)
    rounds.step()
    with Store.open(str(tmp_path / "l.db"), read_only=True) as store:
        new = [item for item in store.items() if item.item not in first]
    assert len({item.item for item in new}) == 8
    good = Counter(item.item for item in new if item.text.startswith("All about"))
    assert len(good) == 8  # such a text is the most probable one of each
    assert all(1 in ranks for name, ranks in asked(str(tmp_path / "l.db")).items() if name not in first)
    rounds.step()  # nothing is asked while enough is open
    assert len(asked(str(tmp_path / "l.db"))) == 28


def test_new_labels_are_noticed_while_people_answer(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postil.calibration.rounds._LOOKS", 0.01)
    options = LabelOptions(out=str(tmp_path / "l.jsonl"), sample=28, teach=True)
    made = plan_labels(str(models / "new.jsonl"), str(models / "tc"), options)
    assert isinstance(made.commenter, Retriever)
    said: list[str] = []
    with Rounds(made.commenter, made.articles, options, on_message=said.append).watching():
        answer(str(tmp_path / "l.db"))
        until = time.monotonic() + 60
        while len(asked(str(tmp_path / "l.db"))) < 28 and time.monotonic() < until:
            time.sleep(0.05)
    assert len(asked(str(tmp_path / "l.db"))) == 28
    assert any("labels: " in one for one in said)


def test_rounds_go_on_after_a_failure(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.calibration.rounds._LOOKS", 0.01)
    options = LabelOptions(out=str(tmp_path / "l.jsonl"), sample=28, teach=True)
    made = plan_labels(str(models / "new.jsonl"), str(models / "tc"), options)
    assert isinstance(made.commenter, Retriever)
    said: list[str] = []
    rounds = Rounds(made.commenter, made.articles, options, on_message=said.append)
    failures = iter([PostilError("no answer")] * 3)
    step = rounds.step

    def failing() -> None:
        for failure in failures:
            raise failure
        step()

    monkeypatch.setattr(rounds, "step", failing)
    answer(str(tmp_path / "l.db"))
    with rounds.watching():
        until = time.monotonic() + 60
        while len(asked(str(tmp_path / "l.db"))) < 28 and time.monotonic() < until:
            time.sleep(0.05)
    assert len(asked(str(tmp_path / "l.db"))) == 28
    assert said.count("no answer") == 1


def test_answers_that_are_no_labels_are_not_fitted_again(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = LabelOptions(out=str(tmp_path / "l.jsonl"), sample=25, per_article=1, annotators_per_item=2, annotators=2)
    made = plan_labels(str(models / "new.jsonl"), str(models / "tc"), options)
    assert isinstance(made.commenter, Retriever)
    with Store.open(str(tmp_path / "l.db")) as store:
        for name, grade in (("Ann", 1), ("Ben", 2)):
            store.people.invite(name, "annotator")
            (person,) = [one for one in store.people.everyone() if one.name == name]
            while (task := store.grading.next(person)) is not None:
                store.grading.rate(person, task.assignment, grade, idempotency_key=f"r{task.assignment}")
        store.people.invite("Lea", "lead")
        (lead,) = [one for one in store.people.everyone() if one.role == "lead"]
        store.results.adjudicate(lead, 0, 1, "", idempotency_key="a")
        assert store.people.totals()[0].done == 50
    said: list[str] = []
    rounds = Rounds(made.commenter, made.articles, options, on_message=said.append)
    rounds.step()
    assert len(said) == 1
    assert said[0].startswith("49 labels")
    monkeypatch.setattr("postil.calibration.rounds.fit_model_labels", pytest.fail)
    rounds.step()


def test_labels_of_one_kind_ask_at_random(models: Path, tmp_path: Path) -> None:
    options = LabelOptions(out=str(tmp_path / "l.jsonl"), sample=28, teach=True)
    made = plan_labels(str(models / "new.jsonl"), str(models / "tc"), options)
    assert isinstance(made.commenter, Retriever)
    with Store.open(str(tmp_path / "l.db")) as store:
        (person,) = store.people.everyone()
        store.people.invite("Ann", "annotator")
        while (task := store.grading.next(person)) is not None:
            store.grading.rate(person, task.assignment, 2, idempotency_key=f"r{task.assignment}")
    said: list[str] = []
    Rounds(made.commenter, made.articles, options, on_message=said.append).step()
    assert len(asked(str(tmp_path / "l.db"))) == 28
    assert len(said) == 1
    assert "60 labels: no filter: 60 labels of 20 articles, 0 to show and 60 not" in said[0]


def test_a_campaign_stays_as_it_was_made(postil: Postil, models: Path) -> None:
    command = ("label", models / "new.jsonl", "--model", models / "tc", "--no-serve")
    assert postil(*command, "--out", "l.jsonl", "--teach", "--articles", 28, "--per-article", 2).code == 0
    assert answer("l.db") == 40
    done = postil(*command, "--out", "l.jsonl", "--articles", 28, "--per-article", 1, "--seed", 5)
    assert done.code == 0
    assert "stays as it was made: drawn in rounds, as --teach says; --per-article 2, not 1; --seed" in done.err
    ranks = asked("l.db")
    assert list(ranks) == drawing_order([f"a{number}" for number in range(100, 140)], LabelOptions(out="l.jsonl"))[:28]
    assert {len(each) for each in ranks.values()} == {2}
    # Articles of another file are not asked about, and a campaign at once gets no rounds.
    answer("l.db")
    write("others.jsonl", [article(number) for number in range(200, 240)])
    others = postil("label", "others.jsonl", *command[2:], "--out", "l.jsonl", "--teach", "--articles", 40)
    assert "drawn from other articles than these" in others.err
    assert "nothing new is drawn" in others.err
    assert asked("l.db") == ranks
    assert postil(*command, "--out", "o.jsonl", "--articles", 10).code == 0
    before = asked("o.db")
    answer("o.db")
    done = postil(*command, "--out", "o.jsonl", "--teach", "--articles", 30)
    assert "drawn at once, as --teach says; --articles 10, not 30" in done.err
    assert asked("o.db") == before


def test_what_another_process_asked_meanwhile_is_not_asked_again(models: Path, tmp_path: Path) -> None:
    options = LabelOptions(out=str(tmp_path / "l.jsonl"), sample=28, teach=True)
    made = plan_labels(str(models / "new.jsonl"), str(models / "tc"), options)
    assert isinstance(made.commenter, Retriever)
    answer(str(tmp_path / "l.db"))
    first, second = (Rounds(made.commenter, made.articles, options) for _ in range(2))
    fit = first._fit

    def slow(labels: Sequence[Label]) -> ShowFilter | None:
        second.step()
        return fit(labels)

    first._fit = slow  # type: ignore[method-assign]
    first.step()
    with Store.open(str(tmp_path / "l.db"), read_only=True) as store:
        names = Counter((item.item, item.text) for item in store.items())
    assert max(names.values()) == 1
    assert len({name for name, _ in names}) == 28


@pytest.mark.parametrize(
    ("probabilities", "wanted", "chosen"),
    [([], 3, []), ([0.9], 3, [0]), ([0.2, 0.1, 0.6, 0.45], 3, [2, 0, 3]), ([0.7, 0.1, 0.45], 2, [0, 2])],
)
def test_what_teaches_most(probabilities: list[float], wanted: int, chosen: list[int]) -> None:
    assert most_teaching(np.array(probabilities), wanted) == chosen
