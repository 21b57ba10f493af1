"""State of a campaign: paused, closed, its deadline, and the log of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy")

from campaign_work import join, rate
from postil.campaigns.export import codebook
from postil.campaigns.models import Annotation, CampaignState, Refused
from postil.campaigns.state import GRACE, parse_moment
from postil.campaigns.store import Store

if TYPE_CHECKING:
    from conftest import Clock
    from postil.campaigns.models import AnnotationTask, Session


def joined(store: Store, name: str = "Ann") -> Session:
    return store.people.accept(store.people.invite(name, "annotator"))


def status(store: Store) -> str:
    return store.state.current().status


def task_of(store: Store, session: Session) -> AnnotationTask:
    task = store.grading.next(session.person)
    assert task is not None
    return task


def test_a_campaign_runs_until_a_lead_says_otherwise(store: Store) -> None:
    assert store.state.current() == CampaignState()
    assert store.state.changes() == []


def test_a_pause_stores_answers_and_hands_out_nothing(store: Store, clock: Clock) -> None:
    ann = joined(store)
    first = task_of(store, ann)
    version = store.version()
    assert store.state.pause(" Back on Monday. ").after.message == "Back on Monday."
    assert store.version() != version  # caches are told
    assert store.grading.next(ann.person) is None
    assert store.grading.upcoming(ann.person, first.position, 2).tasks == ()
    given = Annotation(assignment=first.assignment, idempotency_key="r0", value=4.0, revision=0)
    ahead = store.grading.submit(ann.token, given, after=0, wanted=2).result()
    assert ahead is not None
    assert (ahead.progress.done, ahead.tasks) == (1, ())
    assert ahead.state == CampaignState(status="paused", message="Back on Monday.", since=clock.now)
    undone = store.grading.undo(ann.person, idempotency_key="u")
    assert undone is not None
    store.grading.rate(ann.person, undone.assignment, 5, idempotency_key="r1")
    assert store.state.resume().before.status == "paused"
    assert task_of(store, ann).position == 1
    assert len(store.grading.upcoming(ann.person, 0, 2).tasks) == 2


def test_a_closed_campaign_stores_nothing_new_and_a_reopened_one_does(store: Store) -> None:
    ann = joined(store)
    tasks = [store.grading.task(ann.person, place) for place in range(2)]
    event = store.grading.rate(ann.person, tasks[0].assignment, 4, idempotency_key="r0")
    store.state.close("Thank you.")
    for attempt in (
        lambda: store.grading.rate(ann.person, tasks[1].assignment, 4, idempotency_key="r1"),
        lambda: store.grading.skip(ann.person, tasks[1].assignment, "why", idempotency_key="r1"),
        lambda: store.grading.undo(ann.person, idempotency_key="u"),
        lambda: store.grading.submit(
            ann.token, Annotation(assignment=tasks[1].assignment, idempotency_key="r1", value=4.0)
        ).result(),
    ):
        with pytest.raises(Refused, match=r"the campaign is closed: Thank you\.") as refused:
            attempt()
        assert refused.value.kind == "closed"
    # An answer whose acknowledgement was lost is acknowledged again.
    assert store.grading.rate(ann.person, tasks[0].assignment, 4, idempotency_key="r0") == event
    with pytest.raises(Refused, match="nothing to pause"):
        store.state.pause()
    with pytest.raises(Refused, match="resume it before"):
        store.state.set_deadline(9e9)
    assert store.state.resume().after.status == "running"
    store.grading.rate(ann.person, tasks[1].assignment, 4, idempotency_key="r1")
    assert len(store.results.events()) == 2


def test_what_changes_nothing_is_not_logged(store: Store) -> None:
    store.state.resume()
    store.state.set_deadline(None)
    for _ in range(2):
        store.state.pause("one")
    store.state.pause("other")
    for _ in range(2):
        store.state.close()
    assert [(one.kind, one.detail.get("message")) for one in store.state.changes()] == [
        ("paused", "one"),
        ("paused", "other"),
        ("closed", ""),
    ]


def test_after_the_deadline_there_is_a_grace_and_then_no_answer(store: Store, clock: Clock) -> None:
    ann = joined(store)
    first = task_of(store, ann)
    until = clock.now + 100
    store.state.set_deadline(until)
    assert task_of(store, ann) == first
    clock.now = until
    assert status(store) == "ending"
    assert store.grading.next(ann.person) is None
    store.grading.rate(ann.person, first.assignment, 4, idempotency_key="r0")
    second = store.grading.task(ann.person, 1)
    clock.now = until + GRACE
    with pytest.raises(Refused, match="closed"):
        store.grading.rate(ann.person, second.assignment, 4, idempotency_key="r1")
    assert store.state.current().lapsed
    clock.now = until - 50
    assert status(store) == "closed"  # a clock that goes back reopens nothing
    kinds = [one.kind for one in store.state.changes()]
    assert kinds == ["deadline", "ended", "closed"]
    reopened = store.state.resume()
    assert (reopened.before.lapsed, reopened.after.status, reopened.after.deadline) == (True, "running", None)
    store.grading.rate(ann.person, second.assignment, 4, idempotency_key="r1")


def test_a_deadline_that_was_seen_to_pass_has_passed(store: Store, clock: Clock) -> None:
    ann = joined(store)
    until = clock.now + 100
    store.state.set_deadline(until)
    clock.now = until + 1
    assert store.grading.next(ann.person) is None
    clock.now = until - 1
    assert (status(store), store.grading.next(ann.person)) == ("ending", None)
    assert store.state.set_deadline(until + 500).after.status == "running"  # a later one reopens
    assert store.grading.next(ann.person) is not None
    clock.now = until + 500 + GRACE
    assert status(store) == "closed"
    with pytest.raises(Refused, match="has passed; close the campaign"):
        store.state.set_deadline(clock.now)
    assert store.state.set_deadline(None).after.status == "running"
    assert [one.kind for one in store.state.changes()].count("ended") == 2


def test_a_pause_outlasts_a_deadline_that_is_moved(store: Store, clock: Clock) -> None:
    store.state.pause("hold")
    store.state.set_deadline(clock.now + 1)
    clock.now += 2
    assert status(store) == "ending"
    moved = store.state.set_deadline(clock.now + 100).after
    assert (moved.status, moved.message) == ("paused", "hold")


def test_leads_alone_change_the_state_and_exports_name_pseudonyms(store: Store, clock: Clock) -> None:
    lead = join(store, "Lee", "lead")
    with pytest.raises(Refused, match="for leads"):
        store.state.pause(by=joined(store).person)
    store.state.pause("wait", by=lead)
    store.state.set_deadline(clock.now + 3600)
    found = codebook(store.campaign(), store.rubric(), {}, store.state.changes())["changes"]
    assert found == [
        {"time": "1970-01-12T13:46:40Z", "kind": "paused", "by": "lead 1", "message": "wait"},
        {"time": "1970-01-12T13:46:40Z", "kind": "deadline", "by": None, "until": "1970-01-12T14:46:40Z"},
    ]
    assert "Lee" not in str(found)


def test_a_reader_of_a_campaign_after_its_deadline_logs_nothing(store: Store, url: str, clock: Clock) -> None:
    store.state.set_deadline(clock.now + 1)
    clock.now += 2
    with Store.open(url, read_only=True, clock=clock) as reader:
        assert status(reader) == "ending"
    assert len(store.state.changes()) == 1


def test_the_end_is_projected_from_the_latest_ratings(store: Store, clock: Clock) -> None:
    people = [joined(store, name).person for name in ("Ann", "Bob", "Cid")]
    for person in people:
        for place in range(3 if person == people[0] else 4):
            assert store.state.projection() is None or place  # none before ten ratings
            rate(store, person, place, 4)
            clock.now += 60
    found = store.state.projection()
    assert found is not None
    assert (found.open, round(found.per_hour), found.end) == (1, 60, clock.now + 60)
    last = store.grading.next(people[0])
    assert last is not None
    store.grading.rate(people[0], last.assignment, 4, idempotency_key="r3")
    assert store.state.projection() is None  # nothing is open


def test_no_end_is_projected_that_no_calendar_has(store: Store, clock: Clock) -> None:
    for name in ("Ann", "Bob", "Cid"):
        person = joined(store, name).person
        for place in range(4 if name != "Cid" else 3):
            rate(store, person, place, 4)
    clock.now += 60
    assert store.state.projection() is not None
    clock.now += 9_000 * 365 * 86_400  # as little was rated in so long a time, as of a clock that was wrong
    assert store.state.projection() is None


def test_a_closed_campaign_gets_another_message(store: Store, clock: Clock) -> None:
    store.state.set_deadline(clock.now + 60)
    clock.now += 60 + GRACE
    assert store.state.close().after.lapsed  # nothing changed
    said = store.state.close("Thank you!").after
    assert (said.status, said.message, said.lapsed) == ("closed", "Thank you!", False)
    assert store.state.close().after == said


@pytest.mark.parametrize(
    "text",
    [
        *("2026-12-01", "2026-12-01T18:00", "18:00+01:00", "tomorrow", "", "none at all"),
        *("9999-12-31T23:59-12:00", "0001-01-01T00:00+12:00"),  # in UTC these years have no number
    ],
)
def test_a_deadline_needs_a_time_and_a_zone(text: str) -> None:
    with pytest.raises(Refused, match=r"with a time zone, such as 2026-12-01T18:00\+01:00, got '"):
        parse_moment(text)
