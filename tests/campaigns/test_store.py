"""Stores of campaigns: people, actions of annotators, results, and many at once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

pytest.importorskip("sqlalchemy", reason="needs the web extra")


from campaign_work import join, rate, rate_all
from postil.campaigns.models import Annotation, Campaign, Context, Item, Person, Progress, Refused, Upcoming
from postil.campaigns.people import DAY
from postil.campaigns.plan import Plan, plan
from postil.campaigns.rubric import Rubric
from postil.campaigns.store import Store
from postil.errors import InvalidInput, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from conftest import Clock
    from postil.campaigns.models import Purpose


def loads(of: Plan) -> dict[str, int]:
    return {one.annotator: one.texts for one in of.statistics().annotators}


class TestCampaign:
    def test_comes_back_as_it_was(self, make: Callable[..., Store]) -> None:
        texts = [
            Item(item="a", system="x", text="one", title="A", content="of a", lang="zh-Hans", gold=3.0),
            Item(item="a", system="y", text="", title="A", content="of a", lang="zh-Hans"),
            Item(item="b", system="x", text="三", title="B"),
            Item(item="b", system="x", text="四", title="B", sample=2, context=(Context(name="note", text="数"),)),
        ]
        rubric = Rubric.default("zh")
        store = make(rubric, texts, annotators=2, each=1)
        assert store.items() == texts
        assert store.rubric() == rubric
        assert store.campaign() == Campaign(
            name="grading", item_type="outputs", annotators_per_item=1, seed=20181, created=store.campaign().created
        )
        assert store.plan() == plan([("a", "x"), ("a", "y"), ("b", "x"), ("b", "x")], 2, 1, gold=[0])

    def test_the_plan_must_be_of_its_texts(self, store: Store, tmp_path: Path) -> None:
        with Store.open(str(tmp_path / "other.db"), make=True) as other, pytest.raises(UsageError, match="other items"):
            other.create(store.campaign(), store.items()[1:], store.plan(), store.rubric())

    def test_a_version_that_is_not_known(self, tmp_path: Path) -> None:
        path = tmp_path / "old.db"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE campaign (id INTEGER, schema INTEGER)")
            connection.execute("INSERT INTO campaign VALUES (1, 99)")
        with pytest.raises(InvalidInput, match=r"another version of postil \(tables 99, not 3\); install a newer"):
            Store.open(str(path))
        with connection:
            connection.execute("UPDATE campaign SET schema = 1")
        connection.close()
        with pytest.raises(InvalidInput, match="export it with the version that made it"):
            Store.open(str(path), read_only=True, earlier=True)

    def test_a_campaign_of_the_version_before_is_upgraded(self, tmp_path: Path) -> None:
        path = tmp_path / "old.db"
        rubric = Rubric.default("en")
        with Store.open(str(path), make=True) as store:
            texts = [Item(item="a", system="x", text="one"), Item(item="b", system="x", text="two")]
            settings = Campaign(name="c", item_type="comments", annotators_per_item=1, seed=1)
            store.create(settings, texts, plan([("a", "x"), ("b", "x")], 1, 1), rubric)
            ann = join(store, "Ann")
            store.grading.rate(ann, 1, 4.0, idempotency_key="k" * 8)
            before = store.results.ratings()
        with closing(sqlite3.connect(path)) as connection, connection:
            for column in ("sample", "context", "purpose", "golds", "other_system", "other_text"):
                connection.execute(f"ALTER TABLE item DROP COLUMN {column}")
            connection.execute("ALTER TABLE event DROP COLUMN grades")
            connection.execute("ALTER TABLE assignment DROP COLUMN swapped")
            connection.execute("DROP TABLE change")
            connection.execute("UPDATE campaign SET schema = 2")
        problem = r"another version of postil \(tables 2, not 3\); 'postil annotate upgrade'"
        with pytest.raises(InvalidInput, match=problem):
            Store.open(str(path), read_only=True)
        (tmp_path / "copy.db").touch()
        with Store.open(str(path), read_only=True, earlier=True) as store:  # to be copied as it is
            store.copy(str(tmp_path / "copy.db"))
            assert store.people.totals()[0].done == 1
        with closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
            assert copy.execute("SELECT schema FROM campaign").fetchall() == [(2,)]
        with Store.open(str(path)) as store:
            assert store.results.ratings() == before
            assert [item.text for item in store.items()] == ["one", "two"]
            store.grading.rate(ann, 2, 5.0, idempotency_key="l" * 8)
        with Store.open(str(path), read_only=True) as store:
            assert len(store.results.ratings()) == 2

    @pytest.mark.parametrize(
        "address",
        ["", "mysql://here/db", "sqlite://", "sqlite:///:memory:", "://", "/no/such/folder/c.db", "postgresql://h:x/d"],
    )
    def test_addresses_that_make_no_sense(self, address: str) -> None:
        with pytest.raises(UsageError):
            Store.open(address, make=True)

    def test_a_server_that_is_not_there(self) -> None:
        pytest.importorskip("psycopg")
        with pytest.raises(PostilError, match="cannot be opened") as caught:
            Store.open("postgresql://me:secret@127.0.0.1:1/none")
        assert "secret" not in str(caught.value)


class TestPeople:
    def test_an_invitation_works_once(self, store: Store) -> None:
        token = store.people.invite("Ann", "annotator")
        session = store.people.accept(token)
        assert session.person.name == "Ann"
        assert session.person.pseudonym in {"A1", "A2", "A3"}
        with pytest.raises(Refused, match="already used") as caught:
            store.people.accept(token)
        assert caught.value.kind == "used"
        assert store.people.session(session.token) == session.person

    def test_of_many_who_try_at_once_one_gets_in(self, store: Store) -> None:
        token = store.people.invite("Ann", "annotator")

        def attempt(_: int) -> bool:
            try:
                store.people.accept(token)
            except Refused:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(attempt, range(8))) == 1

    def test_expires(self, store: Store, clock: Clock) -> None:
        token = store.people.invite("Ann", "annotator", days=2)
        session = store.people.accept(store.people.invite("Bob", "annotator"), days=1)
        clock.now += 1.5 * DAY
        assert store.people.session(session.token) is None
        clock.now += DAY
        with pytest.raises(Refused, match="expired"):
            store.people.accept(token)

    def test_what_nobody_made(self, store: Store) -> None:
        for token in ("", "x" * 100_000, "\ud800", "../../etc/passwd"):
            assert store.people.session(token) is None
            with pytest.raises(Refused, match="no such invitation"):
                store.people.accept(token)

    def test_sign_out(self, store: Store) -> None:
        session, other = (store.people.accept(store.people.invite(name, "annotator")) for name in ("Ann", "Bob"))
        store.people.end(session.token)
        assert store.people.session(session.token) is None
        assert store.people.session(other.token) == other.person

    def test_a_new_invitation_replaces_older_ones_and_ends_their_sessions(self, store: Store) -> None:
        bob = store.people.accept(store.people.invite("Bob", "annotator"))
        session = store.people.accept(store.people.invite("Ann", "annotator"))
        older, newer = (store.people.invite("Ann", "annotator") for _ in range(2))
        assert store.people.session(session.token) is None
        task = store.grading.task(session.person, 0)
        given = Annotation(assignment=task.assignment, idempotency_key="r", value=4.0)
        assert store.grading.submit(session.token, given).result() is None
        with pytest.raises(Refused, match="a newer invitation replaced this one") as caught:
            store.people.accept(older)
        assert caught.value.kind == "expired"
        again = store.people.accept(newer)
        assert again.person == session.person
        assert store.people.session(again.token) == again.person
        assert store.people.session(bob.token) == bob.person
        kept = store.people.invite("Ann", "annotator", keep=again.token)
        assert store.people.session(again.token) == again.person  # whoever asks stays signed in
        with pytest.raises(Refused, match="already used"):
            store.people.accept(newer)
        assert store.people.accept(kept).person == again.person

    def test_places_are_as_many_as_planned(self, store: Store) -> None:
        places = {join(store, name).pseudonym for name in ("Ann", "Bob", "Cid")}
        assert places == {"A1", "A2", "A3"}
        with pytest.raises(Refused, match="no free slot"):
            store.people.invite("Dee", "annotator")
        assert [person.name for person in store.people.everyone() if person.role == "lead"] == []
        lead = join(store, "Lee", "lead")
        assert (lead.role, lead.pseudonym) == ("lead", "lead 1")
        with pytest.raises(Refused, match="already, as lead"):
            store.people.invite("Lee", "annotator")

    def test_names_may_be_markup_and_any_script(self, store: Store) -> None:
        for name in ("", "  \n", "x" * 201):
            with pytest.raises(Refused, match="name"):
                store.people.invite(name, "annotator")
        for name in ("<script>alert(1)</script>", "王小明", "Robert'); DROP TABLE person;--"):
            assert join(store, name).name == name
        assert store.people.invite("line\nbreak\x00", "lead")
        assert store.people.everyone()[-1].name == "line break"

    def test_tokens_are_not_in_the_database(self, store: Store, url: str) -> None:
        token = store.people.invite("Ann", "annotator")
        session = store.people.accept(token)
        if "://" not in url:
            store.close()
            for file in Path(url).parent.glob(f"{Path(url).name}*"):
                assert token.encode() not in file.read_bytes()
                assert session.token.encode() not in file.read_bytes()


class TestGrading:
    def test_from_first_to_last(self, store: Store) -> None:
        ann = join(store, "Ann")
        order = dict(zip(store.plan().annotators, store.plan().orders, strict=True))[ann.pseudonym]
        texts = store.items()
        for place, (item, again) in enumerate(order):
            task = store.grading.next(ann)
            assert task is not None
            assert (task.position, task.round, task.total) == (place, again, len(order))
            assert (task.state, task.grade) == ("open", None)
            assert (task.text, task.title, task.content) == (texts[item].text, texts[item].title, texts[item].content)
            event = store.grading.rate(
                ann, task.assignment, 1 + place, idempotency_key=f"r{place}", revision=task.revision, seconds=2.5
            )
            assert (event.kind, event.grade, event.seconds) == ("rate", 1 + place, 2.5)
            assert event.assignment == task.assignment
            assert store.grading.progress(ann) == Progress(done=place + 1, total=len(order), skipped=0)
        assert store.grading.next(ann) is None
        assert {(one.number, one.grade, one.order) for one in store.results.ratings()} == {
            (item, 1.0 + place, place) for place, (item, _) in enumerate(order)
        }

    def test_sent_twice_is_stored_once(self, store: Store) -> None:
        ann = join(store, "Ann")
        task = store.grading.task(ann, 0)
        with ThreadPoolExecutor(8) as pool:
            sent = [
                pool.submit(store.grading.rate, ann, task.assignment, 4, idempotency_key="same", revision=task.revision)
                for _ in range(8)
            ]
            events = [each.result() for each in sent]
        assert len(set(events)) == 1
        assert len(store.results.events()) == 1
        assert store.grading.rate(ann, task.assignment, 2, idempotency_key="same").grade == 4
        other = store.grading.next(ann)
        assert other is not None
        with pytest.raises(Refused, match="another item"):
            store.grading.rate(ann, other.assignment, 4, idempotency_key="same")
        with pytest.raises(Refused, match="something else"):
            store.grading.skip(ann, task.assignment, "why", idempotency_key="same")

    def test_a_stale_page_is_refused(self, store: Store) -> None:
        ann = join(store, "Ann")
        task = store.grading.task(ann, 0)
        store.grading.rate(ann, task.assignment, 4, idempotency_key="one", revision=task.revision)
        with pytest.raises(Refused, match="rated in another window") as caught:
            store.grading.rate(ann, task.assignment, 1, idempotency_key="two", revision=task.revision)
        assert caught.value.kind == "stale"
        with pytest.raises(Refused, match="rated in another window"):
            store.grading.skip(ann, task.assignment, "why", idempotency_key="three", revision=task.revision)
        now = store.grading.task(ann, task.position)
        assert now.grade == 4
        store.grading.rate(ann, task.assignment, 1, idempotency_key="four", revision=now.revision)
        assert store.grading.task(ann, task.position).grade == 1

    def test_skip_and_come_back(self, store: Store) -> None:
        ann = join(store, "Ann")
        first = store.grading.task(ann, 0)
        event = store.grading.skip(ann, first.assignment, "not my language\x07", idempotency_key="s")
        assert (event.kind, event.reason, event.grade) == ("skip", "not my language", None)
        second = store.grading.next(ann)
        assert second is not None
        assert second.position == 1
        assert store.grading.progress(ann) == Progress(done=0, total=first.total, skipped=1)
        again = store.grading.task(ann, 0)
        assert (again.state, again.reason) == ("skipped", "not my language")
        store.grading.rate(ann, first.assignment, 3, idempotency_key="r", revision=again.revision)
        assert store.grading.progress(ann) == Progress(done=1, total=first.total, skipped=0)
        for reason in ("", "  ", "x" * 2_001):
            with pytest.raises(Refused, match=r"say why|reason"):
                store.grading.skip(ann, second.assignment, reason, idempotency_key=f"bad{len(reason)}")

    def test_undo_goes_back_step_by_step(self, store: Store) -> None:
        ann = join(store, "Ann")
        tasks = [store.grading.task(ann, place) for place in range(3)]
        rate(store, ann, 0, 1)
        store.grading.skip(ann, tasks[1].assignment, "why", idempotency_key="r1")
        rate(store, ann, 2, 3)
        rate(store, ann, 0, 5, "r3")  # thought again
        back = store.grading.undo(ann, idempotency_key="u0")
        assert back is not None
        assert (back.position, back.grade, back.state) == (0, 1.0, "graded")
        for place, key in ((2, "u1"), (1, "u2"), (0, "u3")):
            back = store.grading.undo(ann, idempotency_key=key)
            assert back is not None
            assert (back.position, back.state, back.revision) == (place, "open", 0)
            assert store.grading.next(ann) == back
        assert store.grading.undo(ann, idempotency_key="u4") is None
        assert store.results.ratings() == []
        assert store.grading.progress(ann).done == store.grading.progress(ann).skipped == 0
        events = store.results.events()
        assert [event.kind for event in events] == ["rate", "skip", "rate", "rate", "undo", "undo", "undo", "undo"]
        assert [event.undoes for event in events[4:]] == [event.id for event in reversed(events[:4])]
        store.grading.rate(ann, tasks[0].assignment, 2, idempotency_key="r4")
        assert store.grading.undo(ann, idempotency_key="u5") == tasks[0]

    def test_an_undo_sent_twice_is_one(self, store: Store) -> None:
        ann = join(store, "Ann")
        for place in range(2):
            rate(store, ann, place, 4)
        assert store.grading.undo(ann, idempotency_key="u") == store.grading.undo(ann, idempotency_key="u")
        assert store.grading.progress(ann).done == 1

    def test_others_texts_are_not_mine(self, store: Store) -> None:
        ann, bob, lead = join(store, "Ann"), join(store, "Bob"), join(store, "Lee", "lead")
        theirs = store.grading.task(bob, 0)
        for who, number in ((ann, theirs.assignment), (lead, theirs.assignment), (ann, 0), (ann, -1), (ann, 2**70)):
            with pytest.raises(Refused, match="not assigned to you") as caught:
                store.grading.rate(who, number, 4, idempotency_key="r")
            assert caught.value.kind == "unknown"
        for place in (-1, 99, 2**70):
            with pytest.raises(Refused, match="there is no item"):
                store.grading.task(ann, place)
        assert store.results.events() == []

    def test_what_makes_no_answer(self, store: Store) -> None:
        ann = join(store, "Ann")
        task = store.grading.task(ann, 0)
        bad: list[object] = [0, 6, 2.5, True, "4", None, float("nan"), [(0, 1)], 10**30]
        for grade in bad:
            with pytest.raises(Refused, match="whole number from 1 to 5"):
                store.grading.rate(ann, task.assignment, grade, idempotency_key="r")  # type: ignore[arg-type]
        for key in ("", "x" * 101, "schlüssel", "a\nb"):
            with pytest.raises(Refused, match="idempotency_key"):
                store.grading.rate(ann, task.assignment, 4, idempotency_key=key)
            with pytest.raises(Refused, match="idempotency_key"):
                store.grading.undo(ann, idempotency_key=key)
        for seconds in (-1, float("nan"), float("inf")):
            with pytest.raises(Refused, match="seconds"):
                store.grading.rate(ann, task.assignment, 4, idempotency_key="r", seconds=seconds)
        assert store.grading.next(ann) == task

    def test_marks(self, make: Callable[..., Store]) -> None:
        store = make(Rubric.default("en", "spans"))
        ann = join(store, "Ann")
        task = store.grading.task(ann, 0)
        event = store.grading.rate(ann, task.assignment, [(4, 6), (0, 2), (1, 3)], idempotency_key="r")
        assert event.spans == ((0, 3), (4, 6))
        assert store.grading.task(ann, 0).spans == event.spans
        assert event.grade == pytest.approx(3 / sum(not letter.isspace() for letter in task.text))
        assert store.grading.rate(ann, task.assignment, [], idempotency_key="none").grade == 0
        long = len(task.text)
        spans = [(0, long + 1)], [(2, 2)], [(-1, 2)], [(0.0, 1)], [(0,)], [(True, 2)], [(0, 1)] * 1_001
        for bad in (*spans, ["ab"], 4, "abc"):
            with pytest.raises(Refused, match="spans"):
                store.grading.rate(ann, task.assignment, bad, idempotency_key="bad")  # type: ignore[arg-type]


class TestResults:
    def test_conflicts_and_decisions(self, store: Store, clock: Clock) -> None:
        people = [join(store, name) for name in ("Ann", "Bob", "Cid")]
        lead = join(store, "Lee", "lead")
        for person, grade in zip(people, (1, 3, 5), strict=True):
            rate_all(store, person, grade)
        apart = store.results.apart(2)
        found = store.results.cases(apart)
        assert [one.number for one in found] == apart
        assert [one.distance for one in found] == [4.0, 4.0, 2.0, 2.0, 2.0, 2.0]
        assert store.results.apart(3) == apart[:2]
        assert store.results.cases(apart[::-1]) == found[::-1]
        case = found[0]
        assert case.text == store.items()[case.number].text
        assert sorted(grade for _, grade in case.ratings) == [1, 5]
        assert case.adjudication is None
        version = store.version()
        first = store.results.adjudicate(lead, case.number, 3, "in between", idempotency_key="d1")
        clock.now += 60
        assert store.version() != version
        assert store.results.adjudicate(lead, case.number, 3, "in between", idempotency_key="d1") == first
        second = store.results.adjudicate(lead, case.number, 4, "", idempotency_key="d2")
        assert store.results.adjudications() == [first, second]
        assert store.results.conflict(case.number).adjudication == second
        assert sorted(grade for _, grade in store.results.conflict(case.number).ratings) == [1, 5]
        assert Counter(one.grade for one in store.results.ratings()) == {1.0: 4, 3.0: 4, 5.0: 4}

    @pytest.mark.parametrize("purpose", ["", "training", "attention"])
    def test_texts_with_a_known_grade_are_in_no_conflict(self, make: Callable[..., Store], purpose: Purpose) -> None:
        gold = [Item(item=f"a{n}", system="x", text=f"text {n}", gold=3.0, purpose=purpose) for n in range(2)]
        items = [*gold, *(Item(item=f"a{n}", system="x", text=f"text {n}") for n in range(2, 6))]
        store = make(Rubric.default(), items, annotators=2, each=2)
        for name, grade in (("Ann", 1), ("Bob", 5)):
            rate_all(store, join(store, name), grade)
        assert [store.items()[number].gold for number in store.results.apart(2)] == [None] * 4

    def test_who_may_decide_what(self, store: Store) -> None:
        ann, lead = join(store, "Ann"), join(store, "Lee", "lead")
        with pytest.raises(Refused, match="only a lead") as write_error:
            store.results.adjudicate(ann, 0, 3, "", idempotency_key="d")
        assert write_error.value.kind == "forbidden"
        with pytest.raises(Refused, match="no item 99"):
            store.results.adjudicate(lead, 99, 3, "", idempotency_key="d")
        for number in (-1, 6, 2**70):
            with pytest.raises(Refused, match=f"no item {number}"):
                store.results.cases([0, number])
        with pytest.raises(Refused, match="whole number"):
            store.results.adjudicate(lead, 0, 7, "", idempotency_key="d")
        store.results.adjudicate(lead, 0, 3, "", idempotency_key="d")
        with pytest.raises(Refused, match="another item"):
            store.results.adjudicate(lead, 1, 3, "", idempotency_key="d")

    def test_standings(self, store: Store, clock: Clock) -> None:
        ann = join(store, "Ann")
        for place, seconds in enumerate((2.0, 8.0, 4.0)):
            clock.now += 10
            rate(store, ann, place, 4, seconds=seconds)
        found = {one.person.pseudonym: one for one in store.people.annotator_progress()}
        mine = found.pop(ann.pseudonym)
        assert (mine.progress.done, mine.seconds, mine.last) == (3, 4.0, clock.now)
        assert all((one.progress.done, one.seconds, one.last) == (0, None, None) for one in found.values())

    def test_totals_and_health(self, store: Store) -> None:
        ann, bob, lee = join(store, "Ann"), join(store, "Bob"), join(store, "Lee", "lead")
        rate_all(store, ann)
        store.people.remove(bob)
        join(store, "Cid")
        assert lee.role == "lead"
        progress, annotators = store.people.totals()
        assert (progress.done, progress.skipped, annotators) == (4, 0, 2)
        assert progress.total == sum(one.progress.total for one in store.people.annotator_progress())
        assert store.check().result(20) is None
        store.close()
        with pytest.raises(PostilError, match="the campaign is closed"):
            store.check()

    def test_the_version_changes_with_what_is_shown(self, store: Store) -> None:
        seen = [store.version()]
        ann = join(store, "Ann")
        seen.append(store.version())
        task = store.grading.task(ann, 0)
        store.grading.rate(ann, task.assignment, 4, idempotency_key="r")
        seen.append(store.version())
        store.grading.undo(ann, idempotency_key="u")
        seen.append(store.version())
        store.people.remove(ann)
        seen.append(store.version())
        assert len(set(seen)) == len(seen)
        assert store.version() == seen[-1]


class TestLeaving:
    def test_others_take_over(self, make: Callable[..., Store]) -> None:
        store = make(texts=None, annotators=4)
        ann, bob = join(store, "Ann"), join(store, "Bob")
        session = store.people.accept(store.people.invite("Ann", "annotator"))
        tasks = [store.grading.task(ann, place) for place in range(3)]
        store.grading.rate(ann, tasks[0].assignment, 2, idempotency_key="r0")
        store.grading.skip(ann, tasks[1].assignment, "why", idempotency_key="r1")
        front = store.grading.next(bob)
        assert front is not None
        before = store.plan()
        done = store.people.remove(ann)
        after = store.plan()
        assert (done.moved, done.short) == (2, 0)
        assert after.short == 0
        assert loads(after)[ann.pseudonym] == 1
        assert sum(loads(after).values()) == sum(loads(before).values())
        for person in store.people.everyone():
            if person.role == "annotator" and not person.left:
                order = dict(zip(after.annotators, after.orders, strict=True))[person.pseudonym]
                assert store.grading.progress(person) == Progress(done=0, total=len(order), skipped=0)
                places = [store.grading.task(person, place).position for place in range(len(order))]
                assert places == list(range(len(order)))
        now = store.grading.next(bob)
        assert now is not None
        assert now.assignment == front.assignment
        assert store.people.session(session.token) is None
        assert [one.grade for one in store.results.ratings()] == [2.0]
        for attempt in (
            lambda: store.grading.rate(ann, tasks[2].assignment, 4, idempotency_key="r2"),
            lambda: store.grading.undo(ann, idempotency_key="u"),
            lambda: store.people.invite("Ann", "annotator"),
            lambda: store.people.remove(ann),
        ):
            with pytest.raises(Refused, match="has left"):
                attempt()

    def test_someone_new_takes_over(self, make: Callable[..., Store]) -> None:
        store = make(texts=[Item(item=f"a{number}", system="x", text="text") for number in range(8)], annotators=2)
        people = [join(store, "Ann"), join(store, "Bob")]
        tasks = [store.grading.task(people[0], place) for place in range(8)]
        store.grading.rate(people[0], tasks[0].assignment, 2, idempotency_key="r0")
        store.grading.skip(people[0], tasks[1].assignment, "why", idempotency_key="r1")
        assert store.people.remove(people[0], reserve=True).moved == 7
        new = join(store, "Cid")
        assert new.pseudonym == "A3"
        assert store.grading.progress(new) == Progress(done=0, total=7, skipped=0)
        first = store.grading.next(new)
        assert first is not None
        assert (first.assignment, first.state, first.position) == (tasks[1].assignment, "open", 0)
        for person in (new, people[1]):
            rate_all(store, person, 4)
        assert Counter((one.annotator, one.grade) for one in store.results.ratings()) == {
            (people[0].pseudonym, 2.0): 1,
            ("A3", 4.0): 7,
            (people[1].pseudonym, 4.0): 8,
        }
        assert store.plan().short == 0
        undone = store.grading.undo(new, idempotency_key="u")
        assert undone is not None
        assert undone.position == 6

    def test_an_invitation_that_is_open_is_void(self, store: Store) -> None:
        ann = join(store, "Ann")
        token = store.people.invite("Ann", "annotator")
        store.people.remove(ann)
        with pytest.raises(Refused, match="has left"):
            store.people.accept(token)

    def test_a_lead_can_leave_too(self, store: Store) -> None:
        session = store.people.accept(store.people.invite("Lee", "lead"))
        assert store.people.remove(session.person).moved == 0
        assert store.people.session(session.token) is None


def test_many_at_once_lose_nothing(make: Callable[..., Store]) -> None:
    texts = [Item(item=f"a{number}", system="x", text="text") for number in range(40)]
    store = make(texts=texts, annotators=8)
    people = [join(store, f"P{number}") for number in range(8)]

    def work(person: Person) -> int:
        count = 0
        while (task := store.grading.next(person)) is not None:
            store.grading.rate(
                person, task.assignment, 1 + count % 5, idempotency_key=f"r{count}", revision=task.revision
            )
            if count % 4 == 3:  # some go wrong, beside the others
                with pytest.raises(Refused):
                    store.grading.rate(person, task.assignment, 9, idempotency_key=f"bad{count}")
            count += 1
        return count

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(work, people))
    assert counts == [10] * 8
    assert len(store.results.ratings()) == len(store.results.events()) == 80
    assert all(count == 2 for count in Counter(one.number for one in store.results.ratings()).values())


class TestAnswering:
    """An answer, its session and what comes next in one transaction."""

    def test_says_how_far_one_is_and_what_comes(self, store: Store) -> None:
        session = store.people.accept(store.people.invite("Ann", "annotator"))
        tasks = [store.grading.task(session.person, place) for place in range(4)]
        given = Annotation(assignment=tasks[0].assignment, idempotency_key="r0", value=4.0, revision=0, seconds=1.5)
        for _ in range(2):  # sent twice
            ahead = store.grading.submit(session.token, given, after=1, wanted=2).result()
            assert ahead == Upcoming(progress=Progress(done=1, total=4, skipped=0), tasks=tuple(tasks[2:4]))
        assert [(event.grade, event.seconds) for event in store.results.events()] == [(4.0, 1.5)]
        skipped = Annotation(assignment=tasks[2].assignment, idempotency_key="r1", reason="why")
        ahead = store.grading.submit(session.token, skipped, after=0, wanted=3).result()
        assert ahead == Upcoming(progress=Progress(done=1, total=4, skipped=1), tasks=(tasks[1],))
        assert store.grading.upcoming(session.person, 0, 3) == ahead
        assert store.grading.upcoming(session.person, 3, 3).tasks == ()
        with pytest.raises(Refused, match="another window"):
            store.grading.submit(session.token, msgspec.structs.replace(given, idempotency_key="r2")).result()
        with pytest.raises(Refused, match="not assigned to you"):
            store.grading.submit(session.token, msgspec.structs.replace(given, assignment=10**6)).result()

    def test_needs_a_session(self, store: Store, clock: Clock) -> None:
        session = store.people.accept(store.people.invite("Ann", "annotator"), days=1)
        task = store.grading.task(session.person, 0)
        given = Annotation(assignment=task.assignment, idempotency_key="r", value=4.0)
        assert store.grading.submit("nobody's", given).result() is None
        clock.now += 1.5 * DAY
        assert store.grading.submit(session.token, given).result() is None
        other = store.people.accept(store.people.invite("Ann", "annotator"))
        store.people.remove(other.person)
        assert store.grading.submit(other.token, given).result() is None
        assert store.results.events() == []

    def test_of_two_answers_at_once_one_stands(self, store: Store) -> None:
        session = store.people.accept(store.people.invite("Ann", "annotator"))
        task = store.grading.task(session.person, 0)
        sent = [
            store.grading.submit(
                session.token,
                Annotation(assignment=task.assignment, idempotency_key=f"r{n}", value=float(n), revision=0),
            )
            for n in range(1, 6)
        ]
        assert sum(each.exception() is None for each in sent) == 1
        assert all(isinstance(each.exception(), Refused | None) for each in sent)
        assert len(store.results.events()) == 1


@pytest.mark.integration
@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_restored_dump_of_postgresql_is_the_campaign(store: Store, url: str, tmp_path: Path) -> None:
    import psycopg  # noqa: PLC0415 - the server is not there without it

    ann = join(store, "Ann")
    task = store.grading.task(ann, 0)
    store.grading.rate(ann, task.assignment, 4, idempotency_key="before")
    with psycopg.connect(url, autocommit=True) as connection:
        name = f"{connection.info.dbname}_restored"
        connection.execute(f"CREATE DATABASE {name}".encode())
        restored = url.replace(connection.info.dbname, name)
    for command in (
        ["pg_dump", "--format", "custom", "--file", f"{tmp_path}/dump", url],
        ["pg_restore", "--dbname", restored, f"{tmp_path}/dump"],
    ):
        subprocess.run(command, check=True)  # noqa: S603 - our own server
    with Store.open(restored) as other:
        assert other.results.ratings() == store.results.ratings()
        rate_all(other, ann)
        assert join(other, "Bob").pseudonym != ann.pseudonym  # numbers go on where they were


@pytest.mark.integration
@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_late_annotator_waits_for_another_change_of_the_plan(store: Store, url: str) -> None:
    import psycopg  # noqa: PLC0415 - the server is not there without it

    for name in ("Ann", "Bob"):
        join(store, name)
    with psycopg.connect(url) as other, Store.open(f"{url}&options=-c%20lock_timeout%3D50") as impatient:
        other.execute("SELECT id FROM campaign FOR UPDATE")  # as where texts are added
        with pytest.raises(PostilError, match="lock timeout"):
            impatient.people.invite_late("Eve")
    assert "Eve" not in {person.name for person in store.people.everyone()}


CHILD = """
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from postil.campaigns.store import Store

store = Store.open(sys.argv[1])
people = [store.people.accept(store.people.invite(f"P{number}", "annotator")).person for number in range(8)]

def work(person):
    number = 0
    while (task := store.grading.next(person)) is not None:
        store.grading.rate(person, task.assignment, 1 + number % 5, idempotency_key=f"r{number}")
        sys.stdout.write(f"{person.id} {task.assignment} {1 + number % 5}\\n")  # acknowledged
        sys.stdout.flush()
        number += 1

with ThreadPoolExecutor(8) as pool:
    list(pool.map(work, people))
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [50, 211, 402])
def test_what_was_acknowledged_survives_a_kill(make: Callable[..., Store], url: str, after: int) -> None:
    texts = [Item(item=f"a{number}", system="x", text="text") for number in range(4_000)]
    store = make(texts=texts, annotators=8)
    command = [sys.executable, "-c", CHILD, url]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own code
    assert child.stdout is not None
    lines = [child.stdout.readline() for _ in range(after)]
    child.kill()
    rest = child.stdout.read().splitlines(keepends=True)
    child.stdout.close()
    assert child.wait() == -9
    acknowledged = {tuple(map(int, line.split())) for line in [*lines, *rest] if line.endswith("\n")}
    assert len(acknowledged) >= after
    stored = {(event.person, event.assignment, int(event.grade or 0)) for event in store.results.events()}
    assert acknowledged <= stored
    assert len(stored) <= len(acknowledged) + 8  # at most what each was waiting for
    assert (
        sum(one.progress.done for one in store.people.annotator_progress())
        == len(store.results.ratings())
        == len(stored)
    )


def test_one_that_fails_leaves_the_others(store: Store) -> None:
    """Changes that wait together share a commit in a file, also where SQLAlchemy is in between."""

    def change(statement: str) -> Callable[[Connection], object]:
        return lambda connection: connection.exec_driver_sql(statement).rowcount

    statements = "UPDATE person SET name = 'Bea' WHERE id = 1", "DELETE FROM nowhere", "DELETE FROM session"
    first, second, third = (store._database.submit(change(statement)) for statement in statements)
    with pytest.raises(PostilError, match=r"the database reports an error: .*nowhere"):
        second.result(10)
    assert (first.result(10), third.result(10)) == (1, 0)
    assert "Bea" in {person.name for person in store.people.everyone()}
