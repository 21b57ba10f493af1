"""postil label: from suggestions to labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

from postil.annotation.store import Store
from postil.records import read, write
from postil.records.labels import Label
from retrieval_models import article, train_retrievers

if TYPE_CHECKING:
    from conftest import Postil
    from postil.annotation.models import AnnotationTask

NEW = range(100, 112)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = train_retrievers(tmp_path_factory.mktemp("models"), kinds=("ir-tc",))
    write(str(folder / "new.jsonl"), [article(number) for number in NEW])
    return folder


def answer(campaign: str, tasks: list[AnnotationTask]) -> None:
    """Everybody answers everything: to show the comments that say something, and else the keys in turn."""
    with Store.open(campaign) as store:
        for person in store.people.everyone():
            if not person.name:
                store.people.invite(f"Person {person.id}", "annotator")
            while (task := store.grading.next(person)) is not None:
                grade = 1 if task.text.startswith("All about") else task.position % 8 + 2
                store.grading.rate(person, task.assignment, grade, idempotency_key=f"r{task.position}")
                tasks.append(task)


@pytest.mark.parametrize("name", ["l.jsonl", "l.csv", "l.parquet"])
def test_answers_become_labels(postil: Postil, models: Path, name: str) -> None:
    pytest.importorskip("pyarrow")
    given = ("label", models / "new.jsonl", "--model", models / "tc", "--out", name, "--no-serve", "--articles", 6)
    planned = postil(*given)
    assert planned.code == 0, planned.err
    assert "l.db: 18 suggestions for 6 articles" in planned.err
    assert "no labels yet" in planned.err
    tasks: list[AnnotationTask] = []
    answer("l.db", tasks)
    # The page shows neither rank nor source.
    assert {task.title for task in tasks} <= {article(number).title for number in NEW}
    written = postil(*given)
    assert written.code == 0, written.err
    assert "continued" in written.err
    assert f"written: {name} (18 labels)" in written.err
    rows = list(read(name, Label))
    assert [row.show for row in rows] == [row.text.startswith("All about") for row in rows]
    assert {row.rank for row in rows} == {1, 2, 3}
    assert all((row.reason is None) == row.show for row in rows)
    assert all(row.source_article and row.source_comment and row.model_hash and row.title for row in rows)


def test_the_draw_depends_on_the_seed_alone(postil: Postil, models: Path) -> None:
    drawn = []
    for name, seed, count in (("a", 1, 4), ("b", 1, 8), ("c", 2, 4)):
        out = postil(
            *("label", models / "new.jsonl", "--model", models / "tc", "--out", f"{name}.jsonl", "--no-serve"),
            *("--articles", count, "--seed", seed, "--per-article", 1),
        )
        assert out.code == 0, out.err
        with Store.open(f"{name}.db", read_only=True) as store:
            drawn.append({item.item for item in store.items()})
    small, large, other = drawn
    assert small < large
    assert small != other


def test_several_annotators_answer_for_themselves_and_a_lead_decides(postil: Postil, models: Path) -> None:
    given = ("label", models / "new.jsonl", "--model", models / "tc", "--out", "l.jsonl", "--no-serve")
    assert postil(*given, "--articles", 4, "--annotators", 2, "--annotators-per-item", 2).code == 0
    answer("l.db", [])
    with Store.open("l.db") as store:
        token = store.people.invite("Lee", "lead")
        lead = store.people.accept(token).person
        store.results.adjudicate(lead, 0, 1, "good after all", idempotency_key="k")
    assert postil(*given).code == 0
    rows = list(read("l.jsonl", Label))
    assert len(rows) == 1 + 2 * 11
    assert rows[0].show
    assert rows[0].annotator == "lead 1"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--out", "l.txt"), "l.txt"),
        (("--out", "l.jsonl", "--annotators-per-item", 2), "annotators per item"),
        (("--out", "l.jsonl", "--per-article", 0), "per-article"),
    ],
)
def test_wrong_usage_makes_no_campaign(postil: Postil, models: Path, more: tuple[object, ...], said: str) -> None:
    done = postil("label", models / "new.jsonl", "--model", models / "tc", "--no-serve", *more)
    assert done.code == 2
    assert said in done.err
    assert not Path("l.db").exists()


def test_another_campaign_is_refused(postil: Postil, models: Path) -> None:
    postil("annotate", "plan", models / "new.jsonl", "l.db", "--annotators", 2)
    done = postil("label", models / "new.jsonl", "--model", models / "tc", "--out", "l.jsonl", "--no-serve")
    assert done.code == 3
    assert "l.db: not a campaign of labels; postil label makes one" in done.err


def test_a_model_without_suggestions_is_told(postil: Postil, models: Path) -> None:
    write("other.jsonl", [article(1).__class__("z", "nothing shared", ())])
    done = postil("label", "other.jsonl", "--model", models / "tc", "--out", "l.jsonl", "--no-serve")
    assert done.code == 3
    assert "suggests nothing" in done.err
