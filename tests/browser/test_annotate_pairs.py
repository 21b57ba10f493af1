"""Pairs of texts in a browser: by arrow keys, digits and taps, on a desk and on a phone."""

from __future__ import annotations

import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the web extra")

from browser_window import DESKTOP, PHONE, Window
from campaign_window import Grading

if TYPE_CHECKING:
    from collections.abc import Callable

    from campaign_window import Server
    from conftest import Chromium

NAMED = "(found) => found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`)"
LONG = " ".join(["The council met on Tuesday and put the vote off until the spring."] * 6)
TWO_SYSTEMS = [
    {"item": f"a{n}", "system": system, "text": f"{system[0]}{n}. {LONG}"}
    for n in range(6)
    for system in ("elk", "gnu")
]


def box(window: Window, of: str) -> list[float]:
    """Left, top, right and bottom of an element."""
    sides: Any = window(f"document.querySelector('{of}').getBoundingClientRect().toJSON()")
    return [sides[side] for side in ("left", "top", "right", "bottom")]


def test_arrows_and_digits_choose_one_of_two_texts(chromium: Chromium, serve: Callable[..., Server]) -> None:
    beside = [{"id": f"a{n}", "title": f"Article {n}", "content": LONG * 4, "comments": []} for n in range(6)]
    server = serve(TWO_SYSTEMS, beside, pairs="all", item_type="summary")
    ann = Grading(chromium).join(server, "Ann")
    ann.shoot("pair-desktop")
    left, right = (box(ann, f"#task .texts > :nth-child({n})") for n in (1, 2))
    assert left[1] == right[1]
    assert left[2] <= right[0]
    expected = []
    for key, side in (("ArrowLeft", 0), ("ArrowRight", 1), ("ArrowDown", None), ("1", 0), ("3", 1), ("2", None)):
        texts = ann("[...document.querySelectorAll('#task blockquote')].map((one) => one.textContent[0])")
        expected.append("tie" if side is None else texts[side])
        ann.grade(key)
    ann.until("document.querySelector('#task.end')")
    ann.saved()
    assert "elk" not in ann("document.documentElement.outerHTML")
    assert not ann.complaints()
    ratings = server.store.results.ratings()
    found = [{1: one.pair[0][0], 2: "tie", 3: one.pair[1][0]}[int(one.grade)] for one in ratings if one.pair]
    assert sorted(found) == sorted(expected)


def test_two_texts_and_their_answers_are_in_sight_on_a_phone(chromium: Chromium, serve: Callable[..., Server]) -> None:
    server = serve(TWO_SYSTEMS, pairs="all", context="none")
    ann = Grading(chromium, PHONE).join(server, "Ann")
    ann.shoot("pair-phone")
    first, second, answers = (
        box(ann, of) for of in ("#task .texts > :nth-child(1)", "#task .texts > :nth-child(2)", ".grades.pair")
    )
    assert first[3] <= second[1]
    assert second[3] <= answers[1]
    assert answers[3] <= PHONE[1]
    assert ann("document.documentElement.scrollWidth") <= PHONE[0]
    time.sleep(0.25)
    here = ann.position
    ann("document.querySelector('.grades.pair button').click()")
    ann.until(f"(document.querySelector('#task').dataset.position ?? -1) != {here}")
    ann.saved()
    assert len(server.store.results.ratings()) == 1


def test_axe_finds_nothing_on_pages_of_pairs(chromium: Chromium, serve: Callable[..., Server]) -> None:
    pytest.importorskip("axe_playwright_python", reason="needs axe-core")
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    rows = [{**row, "item": f"{row['item']}{more}"} for more in "xy" for row in TWO_SYSTEMS]
    server = serve(rows, pairs="all", context="none")
    ann = Grading(chromium).join(server, "Ann")
    bob = server.store.people.accept(server.store.people.invite("Bob", "annotator")).person
    while task := server.store.grading.next(bob):
        grade = 1 + 2 * (task.position % 2)
        server.store.grading.rate(bob, task.assignment, grade, idempotency_key=f"{task.position}")
    lead = Grading(chromium).join(server, "Lee", "lead")
    lead.go(f"{server.url}/lead/estimate")
    lead.until("document.querySelectorAll('table').length === 2")
    found = {}
    for window, state in ((ann, "pair"), (lead, "strengths")):
        for size in (PHONE, DESKTOP):
            window.look(size)
            window.shoot(f"axe-{state}-{size[0]}")
            window(f"window.axe ? 0 : (() => {{ {axe} }})()")
            found[state, size] = window(f"axe.run({{resultTypes: ['violations']}}).then({NAMED})")
            assert window("document.documentElement.scrollWidth") <= size[0]
    assert not any(found.values()), found
