"""A campaign that is paused, closed or at its deadline, as annotators and leads see it."""

from __future__ import annotations

import re
from typing import Any

from campaign_work import join, rate
from postil.campaigns.models import Item
from postil.campaigns.pages.site import AHEAD
from postil.campaigns.people import SPARED
from postil.campaigns.state import GRACE

Make = Any
JSON = {"accept": "application/json"}


def test_a_pause_shows_the_message_and_the_page_looks_again(place: Make) -> None:
    here = place()
    ann, lead = here.visitor("Ann"), here.visitor("Lee", "lead")
    form = ann.form()
    done = lead.post("/lead/state", action="pause", message="Back on <b>Monday</b>.")
    assert (done.status_code, done.headers["location"]) == (303, "/lead")
    answered = ann.ask("/rate", **form, grade="4", want="2", after="0")
    assert (answered.status_code, answered.json()["ahead"]) == (200, [])
    page = ann.get("/grade").text
    for text in (page, answered.json()["task"], ann.client.get("/task", headers=JSON).json()["task"]):
        assert "The campaign is paused" in text
        assert "Back on &lt;b&gt;Monday&lt;/b&gt;." in text
        assert 'data-again="30"' in text
        assert "data-assignment" not in text
    assert '<noscript><meta http-equiv="refresh" content="30"></noscript>' in page
    assert "text 0" not in page
    back = ann.ask("/undo").json()  # an answer can be corrected
    assert "data-assignment" in back["task"]
    lead.post("/lead/state", action="resume")
    page = ann.get("/grade").text
    assert "data-assignment" in page
    assert 'http-equiv="refresh"' not in page


def test_a_closed_campaign_refuses_answers_by_a_status_of_its_own(place: Make) -> None:
    here = place()
    ann, lead = here.visitor("Ann"), here.visitor("Lee", "lead")
    form = ann.form()
    lead.post("/lead/state", action="close", message="Thanks: all of you.")
    refused = ann.ask("/rate", **form, grade="4")
    assert (refused.status_code, refused.json()["problem"]) == (423, "The campaign is closed. Thanks: all of you.")
    plain = ann.post("/rate", **form, grade="4")
    assert (plain.status_code, "Thanks: all of you." in plain.text) == (423, True)
    assert "The campaign is closed" in ann.get("/grade").text
    assert here.store.results.events() == []
    lead.post("/lead/state", action="resume")
    assert ann.ask("/rate", **form, grade="4").status_code == 200


def test_the_end_of_a_deadline_is_logged_by_whoever_sees_it(place: Make) -> None:
    here = place()
    ann = here.visitor("Ann")
    form = ann.form()
    here.store.state.set_deadline(here.clock.now + 10)
    assert "<p>Deadline: 2023-11-14 22:13 UTC</p>" in ann.get("/grade").text
    here.clock.now += 11
    answered = ann.ask("/rate", **form, grade="4")
    assert (answered.status_code, "The campaign is closed" in answered.json()["task"]) == (200, True)
    assert [one.kind for one in here.store.state.changes()] == ["deadline", "ended"]
    here.clock.now += GRACE
    assert ann.ask("/rate", **form | {"idempotency_key": "other"}, grade="4").status_code == 423


def test_leads_see_the_state_and_every_change(place: Make) -> None:
    here = place()
    lead = here.visitor("Lee", "lead")
    page = lead.get("/lead").text
    assert '<strong class="status running">Running</strong>' in page
    assert "No deadline" in page
    assert "Changes (" not in page
    late = lead.post("/lead/state", action="deadline", when="2033-05-18T05:33", zone="+02:00")
    assert late.status_code == 303
    lead.post("/lead/state", action="pause", message="wait")
    here.store.state.resume()
    page = lead.get("/lead").text
    assert "Deadline: 2033-05-18 03:33 UTC" in page
    assert "Changes (3)" in page
    assert page.count("<bdi>Lee</bdi>") == 2
    assert "command line" in page
    assert "deadline: 2033-05-18 03:33 UTC" in page
    lead.post("/lead/state", action="no-deadline")
    assert "deadline: none" in lead.get("/lead").text
    lead.post("/lead/state", action="close")
    page = lead.get("/lead").text
    assert "Reopen now" in page
    assert re.findall(r'name="action" value="([a-z-]+)"', page) == ["resume"]


def test_leads_are_told_what_more_ratings_would_take(place: Make) -> None:
    here = place()
    for name in ("Ann", "Bob"):
        person = join(here.store, name)
        for n in range(6 if name == "Ann" else 5):
            rate(here.store, person, n, 3)
            here.clock.now += 3600
    lead = here.visitor("Lee", "lead")
    told = "At the rate of the latest ratings, 1 per hour, all that are open (1) are done by 2023-11-15 10:13 UTC."
    assert told in lead.get("/lead").text
    here.store.state.set_deadline(here.clock.now + 60)
    assert "That is after the deadline." in lead.get("/lead").text


def test_others_cannot_and_nonsense_is_refused_in_a_sentence(place: Make) -> None:
    here = place()
    ann, lead = here.visitor("Ann"), here.visitor("Lee", "lead")
    assert ann.post("/lead/state", action="pause").status_code == 403
    assert lead.client.post("/lead/state", data={"action": "pause"}).status_code == 403  # no token
    for fields, problem in (
        ({"action": "stop"}, "expected pause, resume, close, deadline or no-deadline"),
        ({"action": "deadline", "when": "2033-05-18T05:33"}, "with a time zone"),
        ({"action": "deadline", "when": "2003-05-18T05:33", "zone": "+00:00"}, "has passed"),
        ({"action": "pause", "message": "x" * 2001}, "at most 2000 characters"),
    ):
        answer = lead.post("/lead/state", **fields)
        assert (answer.status_code, problem in answer.text) == (422, True)
    assert here.store.state.changes() == []


def test_texts_that_a_browser_may_hold_are_not_given_to_late_annotators(place: Make) -> None:
    """A browser without a connection answers what it holds; meanwhile the server may have sent as many again."""
    assert SPARED >= 1 + 2 * AHEAD
    here = place([Item(item=f"a{n}", system="s", text=f"text {n}") for n in range(12)])
    lead, ann = here.visitor("Lee", "lead"), here.visitor("Ann")
    assert lead.post("/lead/invite", name="Eve", late="1").status_code == 422  # there is a free slot
    here.visitor("Bob")
    held = re.findall(r'data-assignment="(\d+)"', ann.get("/grade").text)
    page = lead.post("/lead/invite", name="Eve", late="1")
    assert (page.status_code, "8 open items are for Eve; each of the others has 8 left." in page.text) == (
        200,
        True,
    )
    assert "joined late: A3, 8 open items" in page.text
    for number, assignment in enumerate(held):
        fields = {"assignment": assignment, "revision": "0", "idempotency_key": f"k{number}"}
        assert ann.ask("/rate", **fields, grade="3").status_code == 200
    assert lead.post("/lead/invite", name="Mo", role="lead", late="1").status_code == 422
