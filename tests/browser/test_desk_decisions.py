"""Decisions at the desk on comments of a thread that screening would hold: by key, by button, taken back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="needs the web extra")

from browser_window import DESKTOP, PHONE
from desk_stub import COMMENTS
from desk_window import READY, DeskWindow
from postil.data.rows import Decision
from postil.web.tokens import AddTokenOptions, Tokens, add_token

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Chromium
    from desk_stub import DeskStub

Start = Any
HELD = {"c2": {"insult": 0.8, "spam": 0.1}, "c3": {"insult": 0.2}}
"""Reasons of comments that are marked; the third one is a copy of the first one, and folded under it."""


def at_the_thread(start: Start, chromium: Chromium, size: tuple[int, int] = DESKTOP) -> tuple[DeskStub, DeskWindow]:
    stub = start()
    stub.held = HELD
    window = DeskWindow.opened(chromium, stub, size=size)
    window.click("#tab-thread")
    return stub, window


def row(at: int, decision: Any, reason: str | None = None) -> Decision:
    """The decision on a comment of the first article."""
    one = COMMENTS[at]
    return Decision(one.text, decision, reason, date=one.date, article="a1", id=one.id, lang="en")


def answers(window: DeskWindow) -> dict[str, tuple[str, str, str]]:
    """Buttons that are pressed on each marked comment, and the words beside them."""
    pressed = "one.querySelector('.%s').getAttribute('aria-pressed')"
    what = f"[one.dataset.comment, {pressed % 'agree'}, {pressed % 'disagree'}, one.lastChild.textContent]"
    return {id_: (agree, disagree, said) for id_, agree, disagree, said in window.all(".verdict", what)}


NONE, HOLD, KEEP = (
    ("false", "false", ""),
    ("true", "false", "Decided: hold · stored"),
    ("false", "true", "Decided: keep · stored"),
)


def test_a_key_decides_on_the_marked_comment_where_the_reader_is(start: Start, chromium: Chromium) -> None:
    stub, window = at_the_thread(start, chromium)
    assert answers(window) == {"c2": NONE, "c3": NONE}
    assert window.text(".item[data-comment=c2] .held").startswith("moderators would hold it: probability 0.93")
    window.key("j")
    window.until("document.activeElement.dataset.comment === 'c1'")
    window.key("a")
    assert window.text("#said").strip() == "This comment is not marked."
    window.focus("#tab-thread")
    window.key("x")  # the reader is at no comment: goes to the first one that is marked, and decides nothing
    window.until("document.activeElement.dataset.comment === 'c3'")
    assert window.seen("[data-comment=c3]")  # which was folded under the first one
    window.keys("s", "d", "j")
    window.until("document.activeElement.dataset.comment === 'c2'")
    assert answers(window) == {"c2": NONE, "c3": NONE}
    window.key("a")
    window.stored()
    assert stub.decisions() == [row(1, "hold", "insult")]
    assert answers(window) == {"c2": HOLD, "c3": NONE}
    window.key("a")  # the same again is no other decision
    window.key("x")
    window.stored()
    assert stub.decisions() == [row(1, "keep")]
    assert answers(window) == {"c2": KEEP, "c3": NONE}
    window.key("u")
    window.stored()
    assert (stub.decisions(), answers(window)["c2"]) == ([row(1, "hold", "insult")], HOLD)
    window.key("u")
    window.stored()
    assert (stub.decisions(), answers(window)["c2"]) == ([], NONE)
    assert window("document.querySelector('#undo').hidden")
    assert (stub.labels(), window.complaints()) == ([], [])


def test_a_comment_is_decided_on_by_finger(start: Start, chromium: Chromium) -> None:
    stub, window = at_the_thread(start, chromium, PHONE)
    window.click("#thread-list summary")
    for selector in ("[data-does=agree][data-comment=c3]", "[data-does=disagree][data-comment=c2]"):
        window(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")
        window.tap(selector)
    window.stored()
    assert stub.decisions() == [row(2, "hold"), row(1, "keep")]  # a reason of .2 is none of the editor's
    assert answers(window) == {"c2": KEEP, "c3": HOLD}
    assert window("document.documentElement.scrollWidth <= innerWidth")
    sizes = window.all(".verdict button", "[one.clientHeight >= 40, one.textContent]")
    assert sizes == [[True, "aAgree: hold"], [True, "xDisagree: keep"]] * 2
    for dark in (False, True):
        window.look(PHONE, dark=dark)
        window.shoot(f"desk-decided-phone-{'dark' if dark else 'light'}")
    window("document.querySelector('#thread-list details').open = false")
    window.click("#tab-suggestions")
    window.click("#undo")
    window.click("#undo")
    window.stored()
    assert (stub.decisions(), window("document.activeElement.dataset.comment")) == ([], "c3")
    assert window("document.activeElement.checkVisibility()")


def test_decisions_are_there_again_and_undo_gives_them_back(start: Start, chromium: Chromium) -> None:
    stub, window = at_the_thread(start, chromium)
    window.click("[data-does=agree][data-comment=c2]")
    window.stored()
    window.open(stub, 0)
    window.click("#tab-thread")
    assert answers(window) == {"c2": HOLD, "c3": NONE}
    window.click("[data-does=disagree][data-comment=c2]")
    window.stored()
    for dark in (False, True):
        window.look(DESKTOP, dark=dark)
        window.shoot(f"desk-decided-{'dark' if dark else 'light'}")
    window.click("#undo")
    window.stored()
    assert stub.decisions() == [row(1, "hold", "insult")]
    made = "import('/static/desk-export.js').then(({made}) => made('%s', [{article: {id: 'a1'}, ranked: %s}]))"
    shown = [{"article": "a1", "comment": "c2", "rank": 1, "text": "A text."}]
    (visit,) = json.loads(window(made % ("json", json.dumps(shown))))
    assert visit["decisions"] == [{"article": "a1", "id": "c2", "text": "A text.", "decision": "hold"}]
    assert ',"hold",' not in window(made % ("csv", "[]"))
    assert '"hold"' in window(made % ("csv", json.dumps(shown)))


def test_a_decision_waits_for_the_connection(start: Start, chromium: Chromium) -> None:
    stub, window = at_the_thread(start, chromium)
    stub.stop()
    window.focus(".item[data-comment=c2]")
    window.key("a")
    window.until("document.querySelector('#state').classList.contains('kept')")
    assert answers(window)["c2"] == ("true", "false", "Decided: hold · not sent yet")
    assert window.text("#state") == "No connection. One label is kept in this browser."
    stub.start()
    window("dispatchEvent(new Event('online'))")
    window.stored()
    assert (stub.decisions(), answers(window)["c2"]) == ([row(1, "hold", "insult")], HOLD)


def test_a_decision_that_the_server_refuses_says_why(start: Start, chromium: Chromium) -> None:
    stub = start()
    stub.held = HELD
    window = DeskWindow.opened(chromium, stub)
    window.click("#tab-thread")
    refusal = """new Response('{"detail": "text: expected less"}', {status: 422})"""
    window(f"window.fetch = async () => {refusal}; 0")
    window.click("[data-does=agree][data-comment=c2]")
    window.until("document.querySelector('.verdict.refused')")
    assert answers(window)["c2"] == ("true", "false", "Not stored: Text: expected less.")


def test_who_may_not_label_sees_the_mark_alone(start: Start, chromium: Chromium, tmp_path: Path) -> None:
    token = add_token(tmp_path / "tokens.json", "ann", AddTokenOptions(scopes=("desk", "suggest", "rank")))
    stub = start(tokens=Tokens(tmp_path / "tokens.json"))
    stub.held = HELD
    window = DeskWindow(chromium)
    window.go(stub.url)
    window.put("#token", token)
    window("document.querySelector('form').requestSubmit()")
    window.until("document.querySelector('#found a')")
    window.click("#found a")
    window.until(READY)
    window.click("#tab-thread")
    assert (window.count("#thread-list .held"), window.count(".verdict")) == (2, 0)
    window.focus(".item[data-comment=c2]")
    window.keys("a", "x")
    assert (stub.decisions(), window.complaints()) == ([], [])


def test_decisions_are_made_in_chinese(start: Start, chromium: Chromium) -> None:
    stub = start()
    stub.held = {"c2": {}}
    window = DeskWindow(chromium)
    window.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": "zh-CN"})
    window.open(stub, 0)
    window.click("#tab-thread")
    assert window.text(".verdict .agree").endswith("同意：扣留")
    window.click(".verdict .agree")
    window.stored()
    assert window.text(".verdict .answer") == "已决定：扣留 · 已保存"
