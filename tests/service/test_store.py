"""The store: nothing that was acknowledged is lost, nothing is stored twice, and what is erased is gone."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from postil.data import sqlite_file
from postil.data.rows import Decision
from postil.data.suggestions import Impression, Label
from postil.erasure.store import KIND, TABLES
from postil.errors import InvalidInput, PostilError, UsageError
from postil.service import store as stores
from postil.service.store import Outcome, ServiceStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator
    from pathlib import Path
    from typing import TypeVar

    T = TypeVar("T")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ServiceStore]:
    opened = ServiceStore.open(tmp_path / "data")
    yield opened
    opened.close()


def done(work: Awaitable[T]) -> T:
    async def wait() -> T:
        return await work

    return asyncio.run(wait())


def label(number: int, text: str = "", **fields: str) -> Label:
    return Label(f"a{number}", text or f"Comment {number}.", show=number % 2 == 0, **fields)  # type: ignore[arg-type]


def all_bytes(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def test_a_sender_takes_labels_back_and_reads_those_of_an_article(store: ServiceStore) -> None:
    labels = [label(1, "One."), label(1, "Two.", reason="unkind"), label(2, "一件外套\0")]
    assert done(store.add_labels(labels, sender="ann", ids=["x", None, "z"])) == 3
    assert done(store.add_labels(labels[:1], sender="bob", ids=["x"])) == 1
    assert store.labels_of("a1", sender="ann") == [("x", labels[0]), (None, labels[1])]
    assert store.labels_of("a2", sender="ann") == [("z", labels[2])]
    assert done(store.withdraw_labels(["x", "x", "unknown"], sender="ann")) == 1
    assert store.labels_of("a1", sender="ann") == [(None, labels[1])]
    assert store.labels_of("a1", sender="bob") == [("x", labels[0])]
    assert store.labels_of("a1") == []
    assert done(store.add_labels(labels[:1], sender="ann", ids=["x"])) == 1  # an id that was taken back is free


def test_labels_are_read_as_they_were_stored(store: ServiceStore, tmp_path: Path) -> None:
    labels = [label(1, "一件外套\0 \U0001f9e5", annotator="ann", reason="unkind"), label(2), label(2)]
    assert done(store.add_labels(labels[:1])) == 1
    assert done(store.add_labels(labels[1:])) == 2
    assert list(store.labels()) == labels
    store.close()
    again = ServiceStore.open(tmp_path / "data")
    assert list(again.labels()) == labels
    again.close()
    assert sorted(file.name for file in (tmp_path / "data").iterdir()) == ["lock", "service.db"]
    assert stat.S_IMODE((tmp_path / "data" / "service.db").stat().st_mode) == 0o600


DECISION = Decision("Du Depp!", "hold", "insult", date="2026-01-02", article="a1", id="c1", lang="de")


def test_the_last_decision_on_a_comment_is_kept(store: ServiceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "PAGE", 2)
    other = Decision("Du Depp!", "hold", article="a2", id="c1")
    without = Decision("Rain today.", "hold", "spam")
    for one in (DECISION, other, without, Decision(" rain TODAY.", "keep")):
        done(store.add_decisions([one], sender="coral"))
    done(store.add_decisions([DECISION], sender="blog"))
    changed = Decision("Du Depp", "keep", article="a1", id="c1")
    done(store.add_decisions([changed], sender="coral"))
    kept = [other, Decision(" rain TODAY.", "keep"), DECISION, changed]
    assert list(store.decisions()) == kept
    assert store.counts().decisions == 4


def test_decisions_are_read_by_article_and_taken_back_by_who_sent_them(store: ServiceStore) -> None:
    of = {
        article: Decision("A text.", "hold", article=article, id="c1") for article in ("a1", "a10", 'a1","', "a", "é")
    }
    done(
        store.add_decisions([DECISION, *of.values(), Decision("A text.", "keep", article="a1", id="c2")], sender="ann")
    )
    done(store.add_decisions([Decision("A text.", "keep", article="a1"), Decision("Rain.", "hold")], sender="ann"))
    done(store.add_decisions([DECISION], sender="bob"))
    assert [(one.id, one.decision) for one in store.decisions_of("a1", sender="ann")] == [
        ("c1", "hold"),
        ("c2", "keep"),
    ]
    for article in ("a10", 'a1","', "a", "é"):
        assert store.decisions_of(article, sender="ann") == [of[article]]
    assert store.decisions_of("a1", sender="bob") == [DECISION]
    assert store.decisions_of("a1", sender="eve") == []
    taken = [Decision("", "keep", article="a1", id="c1"), Decision(" RAIN. ", "keep"), Decision("None.", "keep")]
    assert done(store.withdraw_decisions(taken, sender="ann")) == 2
    assert [one.id for one in store.decisions_of("a1", sender="ann")] == ["c2"]
    assert store.decisions_of("a1", sender="bob") == [DECISION]
    assert store.counts().decisions == 7


def test_decisions_on_what_is_erased_are_in_no_file(store: ServiceStore, tmp_path: Path) -> None:
    gone = [
        DECISION,
        Decision("An answer in the thread.", "keep", article="https://news.example/rain", id="c1"),
        Decision("A text without its article.", "keep", id="c1"),
        Decision("du depp! ", "keep", article="a9", id="c9"),
        Decision("The words of an erased comment.", "hold"),
    ]
    kept = [Decision("Rain today.", "keep", article="a2", id="c1"), Decision("Rain tomorrow.", "keep")]
    for one in (*gone, *kept):
        done(store.add_decisions([one]))
    erased = done(store.forget({("a1", "c1")}, ["the words of an erased comment."]))
    assert (erased.decisions, erased.labels) == (5, 0)
    assert list(store.decisions()) == kept
    for one in gone:
        assert one.text.encode() not in all_bytes(tmp_path / "data")


def test_many_labels_are_read_in_pages(store: ServiceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "PAGE", 2)
    labels = [label(number) for number in range(5)]
    done(store.add_labels(labels))
    reading = store.labels()
    first = [next(reading), next(reading)]
    done(store.add_labels([label(5)]))
    assert [*first, *reading] == [*labels, label(5)]


def test_an_id_that_a_sender_repeats_is_stored_once(store: ServiceStore) -> None:
    labels = [label(1), label(2), label(3)]
    assert done(store.add_labels(labels, sender="cms", ids=["x", None, "y"])) == 3
    assert done(store.add_labels([*labels, label(4)], sender="cms", ids=["x", None, "y", "z"])) == 2
    assert done(store.add_labels(labels[:1], sender="desk", ids=["x"])) == 1
    assert [one.article for one in store.labels()] == ["a1", "a2", "a3", "a2", "a4", "a1"]


def test_writes_that_wait_share_a_commit(store: ServiceStore) -> None:
    commits = []

    async def add(number: int) -> None:
        await store.add_labels([label(number)])

    async def together() -> None:
        await asyncio.gather(*(add(number) for number in range(200)))

    writer = store._writer
    commit = writer._commit
    writer._commit = lambda works: (commits.append(len(works)), commit(works))[1]  # type: ignore[method-assign]
    asyncio.run(together())
    assert sum(commits) == 200
    assert len(list(store.labels())) == 200
    assert max(commits) > 1


def test_one_that_fails_leaves_the_others_of_its_group(store: ServiceStore) -> None:
    impression = done(store.add_impression("a1", ("base", "new"), (0, 1)))

    async def together() -> list[object]:
        return await asyncio.gather(
            store.add_labels([label(1)]),
            store.add_outcomes([Outcome(impression, "clicked", 1), Outcome("none", "clicked", 1)]),
            store.add_labels([label(2)]),
            return_exceptions=True,
        )

    first, failed, second = asyncio.run(together())
    assert (first, second) == (1, 1)
    assert str(failed).startswith("outcomes[1].impression: there is no impression with this id")
    assert len(list(store.labels())) == 2
    assert [one.clicked for one in store.outcomes()] == [()]


async def test_a_caller_that_has_gone_stops_nothing(store: ServiceStore) -> None:
    tasks = [asyncio.create_task(store.add_labels([label(number)])) for number in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    stored = {one.article for one in store.labels()}
    assert stored >= {f"a{number}" for number in range(1, 20, 2)}


def test_outcomes_become_the_log_of_impressions(store: ServiceStore) -> None:
    one, other = (done(store.add_impression(f"a{number}", ("base", "new"), (0, 1, None))) for number in (1, 2))
    done(store.add_outcomes([Outcome(one, "shown"), Outcome(one, "clicked", 2), Outcome(one, "clicked", 1)]))
    done(store.add_outcomes([Outcome(one, "clicked", 2), Outcome(one, "hidden", 3), Outcome(one, "answered", 1)]))
    assert list(store.outcomes()) == [
        Impression(one, "a1", ("base", "new"), (0, 1, None), clicked=(1, 2), shown=True, answered=(1,), hidden=(3,)),
        Impression(other, "a2", ("base", "new"), (0, 1, None), clicked=(), shown=False),
    ]
    assert (store.counts().labels, store.counts().impressions) == (0, 2)


@pytest.mark.parametrize(
    ("event", "rank", "problem"),
    [
        ("clicked", None, "expected a rank from 1 to 2 with clicked, got null"),
        ("clicked", 0, "expected a rank from 1 to 2 with clicked, got 0"),
        ("hidden", 3, "expected a rank from 1 to 2 with hidden, got 3"),
        ("answered", 2**63, "expected a rank from 1 to 2 with answered, got 9223372036854775808"),
        ("shown", 1, "expected no rank with shown, got 1"),
    ],
)
def test_a_rank_that_is_none_is_refused(store: ServiceStore, event: str, rank: int | None, problem: str) -> None:
    impression = done(store.add_impression("a1", ("base", "new"), (0, 1)))
    with pytest.raises(InvalidInput, match=rf"^outcomes\[0\].rank: {problem}$"):
        done(store.add_outcomes([Outcome(impression, event, rank)]))  # type: ignore[arg-type]


def test_deliveries_wait_are_tried_again_and_end(store: ServiceStore) -> None:
    now = time.time()
    first, second, third = (done(store.add_delivery(b'{"n": %d}' % number)) for number in range(3))
    assert [(one.id, one.body, one.attempts) for one in store.due_deliveries(now + 60)] == [
        (first, b'{"n": 0}', 0),
        (second, b'{"n": 1}', 0),
        (third, b'{"n": 2}', 0),
    ]
    assert len(store.due_deliveries(now + 60, most=1)) == 1
    assert store.due_deliveries(now - 60) == []
    done(store.settle(first, delivered=True))
    done(store.settle(second, delivered=False, again=now + 100, problem="timed out"))
    done(store.settle(third, delivered=False, problem="410 Gone"))
    done(store.settle(first, delivered=False, again=now, problem="late"))
    assert store.due_deliveries(now + 60) == []
    assert [(one.id, one.attempts) for one in store.due_deliveries(now + 200)] == [(second, 1)]
    assert store.counts().deliveries == {"waiting": 1, "delivered": 1, "failed": 1}


KILLED = """
import asyncio, sys
from postil.data.suggestions import Label
from postil.service.store import ServiceStore

async def write(store, worker):
    for number in range(100_000):
        await store.add_labels([Label(f"{worker}-{number}", "text", True)])
        print(f"{worker}-{number}", flush=True)

async def main(store):
    await asyncio.gather(*(write(store, worker) for worker in range(8)))

asyncio.run(main(ServiceStore.open(sys.argv[1])))
"""


def test_deliveries_survive_a_restart_and_those_that_ended_have_no_content(tmp_path: Path) -> None:
    store = ServiceStore.open(tmp_path)
    waits, ended = done(store.add_delivery(b'"a text that waits"')), done(store.add_delivery(b'"a text that went"'))
    done(store.settle(ended, delivered=True))
    store.close()
    assert b"a text that waits" in all_bytes(tmp_path)
    assert b"a text that went" not in all_bytes(tmp_path)
    store = ServiceStore.open(tmp_path)
    assert [one.id for one in store.due_deliveries(time.time() + 60)] == [waits]
    store.close()


@pytest.mark.parametrize("text", ["Bring a coat, it is cold in Springfield.", "带上外套，斯普林菲尔德很冷。"])
def test_what_is_erased_is_in_no_file(store: ServiceStore, tmp_path: Path, text: str) -> None:
    labels = [label(number, text.upper(), source_article="a7", source_comment="c1") for number in range(40)]
    labels += [label(number, f"{text}  ") for number in range(40)]
    kept = [label(number, source_article="a7", source_comment="c2") for number in range(80)]
    for one in zip(labels, kept, strict=True):
        done(store.add_labels(one))
    bodies = [
        b'{"text": "He said: %s"}' % text.encode() if len(text) >= 30 else b'"%s"' % text.encode(),
        b'{"suggestions": [{"text": "Else.", "sources": [{"article": "a7", "comment": "c1"}]}]}',
        b'{"article": {"id": "a7", "comments": [{"id": "c2", "text": "Comment"}]}}',
        b'[["No.", 1, null]]',
    ]
    for body in bodies:
        done(store.add_delivery(body))
    done(store.settle(done(store.add_delivery(bodies[0])), delivered=True))
    assert text.encode() in all_bytes(tmp_path / "data")
    erased = done(store.forget({("a7", "c1")}, ["no"]))
    assert (erased.labels, erased.deliveries) == (80, 2)
    assert list(store.labels()) == kept
    assert [one.body for one in store.due_deliveries(time.time() + 60)] == bodies[2:]
    assert text.encode() not in all_bytes(tmp_path / "data")
    assert text.upper().encode() not in all_bytes(tmp_path / "data")
    assert done(store.forget(set(), ["NO. ", ""])).deliveries == 1
    assert store.counts().deliveries == {"waiting": 1, "delivered": 1, "failed": 3}


def test_an_id_that_is_a_number_or_an_object_harms_nothing(store: ServiceStore) -> None:
    done(store.add_delivery(b'{"article": {"id": 1}, "comment": [2]}'))
    done(store.add_delivery(b'{"article": 7, "comment": 1}'))
    assert done(store.forget({("7", "1")}, [])).deliveries == 1


def test_erasing_waits_for_nobody_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY", 0.01)
    store = ServiceStore.open(tmp_path / "data")
    done(store.add_labels([label(1)]))
    with closing(sqlite3.connect(tmp_path / "data" / "service.db")) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM labels").fetchone()
        with pytest.raises(PostilError, match="another program is reading it, so its write-ahead log still has"):
            done(store.forget(set(), ["comment 1."]))
    assert list(store.labels()) == []
    assert done(store.forget(set(), ["comment 1."])).labels == 0
    assert b"Comment 1." not in all_bytes(tmp_path / "data")
    store.close()


def test_one_service_uses_a_folder_at_a_time(store: ServiceStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="another service stores its data there; name another folder"):
        ServiceStore.open(tmp_path / "data")
    store.close()
    ServiceStore.open(tmp_path / "data").close()


def make_database(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_other_files_are_refused_and_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "service.db"
    newer = f"PRAGMA application_id = {KIND.application}"
    for statements, problem in (
        (("CREATE TABLE campaign (id)",), "this database is no store of postil serve; name another folder"),
        ((newer, "PRAGMA user_version = 3"), r"made by a newer version of postil \(tables 3, not 2\); upgrade postil"),
    ):
        make_database(file, *statements)
        content = file.read_bytes()
        with pytest.raises(InvalidInput, match=problem):
            ServiceStore.open(tmp_path)
        assert file.read_bytes() == content
        file.unlink()
    file.write_bytes(b"a text, and no database at all\n" * 100)
    with pytest.raises(InvalidInput, match=r"this is no store of postil serve .* restore a copy"):
        ServiceStore.open(tmp_path)
    file.unlink()
    ServiceStore.open(tmp_path).close()


def test_a_file_of_an_earlier_version_gets_what_it_lacks(tmp_path: Path) -> None:
    statements = [*TABLES.split(";"), f"PRAGMA application_id = {KIND.application}", "PRAGMA user_version = 1"]
    make_database(tmp_path / "service.db", *statements)
    store = ServiceStore.open(tmp_path)
    done(store.add_decisions([DECISION]))
    assert list(store.decisions()) == [DECISION]
    assert done(store.add_labels([label(1)])) == 1
    store.close()


def test_what_cannot_be_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "none" / "none"):
        with pytest.raises(PostilError, match=r"cannot be written|expected a folder, got a file"):
            ServiceStore.open(folder)
    (tmp_path / "data" / "service.db").mkdir(parents=True)
    with pytest.raises(PostilError, match="the database reports an error: unable to open database file"):
        ServiceStore.open(tmp_path / "data")


def test_a_closed_store_says_so(store: ServiceStore) -> None:
    store.close()
    store.close()
    with pytest.raises(PostilError, match="the store is closed"):
        done(store.add_labels([label(1)]))


def test_an_error_of_the_database_reaches_the_caller(store: ServiceStore, tmp_path: Path) -> None:
    """Also of one that fails at the commit: nobody is told that it is stored."""
    make_database(tmp_path / "data" / "service.db", "ALTER TABLE labels RENAME TO others")
    with pytest.raises(PostilError, match=r"service.db: the database reports an error: no such table"):
        done(store.add_labels([label(1)]))
    make_database(tmp_path / "data" / "service.db", "ALTER TABLE others RENAME TO labels")

    def broken(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        connection.execute("INSERT INTO outcomes VALUES (17, 'clicked', 1)")

    async def together() -> list[object]:
        both = store._write(broken), store.add_labels([label(1)])
        return await asyncio.gather(*both, return_exceptions=True)

    failed = asyncio.run(together())
    assert "FOREIGN KEY constraint failed" in str(failed[0])
    assert len(list(store.labels())) == (0 if isinstance(failed[1], PostilError) else 1)
    assert done(store.add_labels([label(2)])) == 1


def test_no_thread_is_left(tmp_path: Path) -> None:
    store = ServiceStore.open(tmp_path)
    assert "postil-writer" in {thread.name for thread in threading.enumerate()}
    store.close()
    assert "postil-writer" not in {thread.name for thread in threading.enumerate()}
