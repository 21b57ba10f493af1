"""The desk for everybody: on phones, in Chinese, by token, and by the rules of axe-core."""

from __future__ import annotations

import json
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the web extra")

from browser_window import DESKTOP, PHONE, TABLET
from desk_stub import POINTS
from desk_window import READY, DeskWindow
from postil.web.tokens import AddTokenOptions, Tokens, add_token

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Chromium

Start = Any


def test_it_fits_a_phone_and_is_used_by_finger(start: Start, chromium: Chromium) -> None:
    stub = start()
    for width in (320, PHONE[0], TABLET[0]):
        window = DeskWindow.opened(chromium, stub, size=(width, 844))
        for name in ("article", "starters", "thread", "suggestions"):
            window.click(f"#tab-{name}")
            assert window(f"document.querySelector('#{name}').checkVisibility()")
            assert window("document.documentElement.scrollWidth <= innerWidth"), (width, name)
        window.click(".card .hide")
        window.click(".card .reasons [value='1']")
        window.stored()
        assert window.text(".card .answer") == "off the matter · stored"
        window.click("#undo")
        window.stored()
        window.click("#tab-starters")
        window.click(".jump")
        window.until("document.activeElement.id === 'passage-1'")
        assert window("document.querySelector('#tab-article').getAttribute('aria-selected')") == "true"
        targets = window.all(
            "button, select, summary, .pills label", "[one.checkVisibility(), one.clientHeight, one.id]"
        )
        assert [each for each in targets if each[0] and each[1] < 24] == []
    assert stub.labels() == []


def test_it_speaks_chinese(start: Start, chromium: Chromium) -> None:
    window = DeskWindow(chromium)
    window.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": "zh-CN"})
    window.go(f"{start().url}/?article=2")
    window.until(READY)
    assert window.text(".card .label").startswith("机器生成的建议")
    assert "“Ice on the road”的读者写的" in window.text(".card .cited")
    assert window("[document.documentElement.lang, document.querySelector('#text').lang]") == ["zh", "zh"]
    window.until("document.querySelector('mark')")
    window.shoot("desk-chinese")
    assert window.complaints() == []


def test_one_signs_in_and_out(start: Start, chromium: Chromium, tmp_path: Path) -> None:
    scopes = ("desk", "suggest", "rank", "interesting", "label")
    token = add_token(tmp_path / "tokens.json", "ann", AddTokenOptions(scopes=scopes))
    stub = start(tokens=Tokens(tmp_path / "tokens.json"))
    window = DeskWindow(chromium)
    window.go(stub.url)
    for given, then in (("postil_wrong", "#problem"), (token, "#found li")):
        window(f"document.querySelector('#token').value = {json.dumps(given)}")
        window("document.querySelector('form').requestSubmit()")
        window.until(f"document.querySelector('{then}')")
    assert window("document.cookie") == ""
    assert window.count("[data-does=train]") == 0  # for administrators
    window.click("#found a")
    window.until(READY)
    window.key("s")
    window.stored()
    assert [one.annotator for one in stub.labels()] == ["ann"]
    window.click(".bar .sign-out button")
    window.until("document.querySelector('#token')")


NAMED = """({violations}) => violations.map(({id, nodes}) =>
  [id, nodes.map((node) => `${node.html.slice(0, 150)} ${node.failureSummary}`)])"""
STATES = {
    "choose": "document.querySelector('#found li')",
    "paste": "document.querySelector('[data-way=paste]').click() ?? true",
    "address": "document.querySelector('[data-way=address]').click() ?? true",
    "suggestions": READY,
    "reasons": "document.querySelector('.card .reasons')",
    "starters": "document.querySelector('#tab-starters').click() ?? true",
    "thread": "document.querySelector('#tab-thread').click() ?? true",
    "keys": "document.querySelector('#keys').open || document.querySelector('#keys').showModal() || true",
    "train": "document.querySelector('.picture')",
    "export": "document.querySelector('#export').showModal() ?? true",
}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_axe_finds_nothing(start: Start, chromium: Chromium, size: tuple[int, int], dark: bool, tmp_path: Path) -> None:
    pytest.importorskip("axe_playwright_python", reason="needs axe-core")
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    stub = start()
    stub.calibration = {"labels": 200, "articles": 40, "shown": 90, "reason": "", "points": POINTS}
    stub.filtered = [{"text": "ok", "reason": "too short", "source": None}]
    window = DeskWindow(chromium, size)
    window.look(size, dark=dark)

    def check(state: str) -> None:
        window.until(STATES[state])
        time.sleep(0.2)
        found = window(f"axe.run({{resultTypes: ['violations']}}).then({NAMED})")
        assert found == [], state

    window.go(stub.url)
    window(axe)
    for state in ("choose", "paste", "address"):
        check(state)
    window.go(f"{stub.url}/?article=0")
    window(axe)
    check("suggestions")
    window.focus(".card")
    window.key("d")
    for state in ("reasons", "starters", "thread", "keys"):
        check(state)
    window.key("Escape")
    window.click("[data-does=train]")
    window.click("#train-go")
    check("train")
    window.key("Escape")
    check("export")
    add_token(tmp_path / "tokens.json", "ann", AddTokenOptions(scopes=("desk",)))
    window.go(start(tokens=Tokens(tmp_path / "tokens.json")).url)
    window(axe)
    STATES["sign-in"] = "document.querySelector('#token')"
    check("sign-in")
