"""The highlighted page and the index in a browser: jumping, keys, reasons, silence, narrow and dark windows."""

from __future__ import annotations

import time
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from browser_window import DESKTOP, PHONE, TABLET, Window
from highlighted import ACTS, article, document, hostile, hostile_pages, long, pages
from postil.interest.highlights import index_page, passages_page
from postil.interest.result import InterestingResult
from postil.interest.text_fragments import TextFragments

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Chromium

    Opened = Callable[..., Window]

BOX = "document.querySelector('{}').getBoundingClientRect()"
AXE = """axe.run({resultTypes: ['violations']}).then(({violations}) => violations.map(({id, nodes}) =>
  [id, nodes.map((node) => `${node.html.slice(0, 150)} ${node.failureSummary}`)]))"""


@pytest.fixture
def opened(chromium: Chromium, tmp_path: Path) -> Opened:
    """Opens a page of a text in a window."""

    def make(html: str, size: tuple[int, int] = DESKTOP, fragment: str = "", *, dark: bool = False) -> Window:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        window = Window(chromium, size)
        window.look(size, dark=dark)
        window.go(path.as_uri() + fragment)
        return window

    return make


def seen(window: Window, selector: str) -> bool:
    """True if an element is in the window."""
    return bool(window(f"(box => box.top >= 0 && box.bottom <= innerHeight)({BOX.format(selector)})"))


def test_links_jump_to_the_passage_and_back(opened: Opened) -> None:
    window = opened(passages_page(article()), (1200, 700))
    assert not seen(window, "#passage-2")
    window("document.querySelector('#item-2 .to').click()")
    window.until("document.activeElement.matches('#passage-2 .badge')")
    assert seen(window, "#passage-2")
    assert window("document.querySelector('#now').textContent") == "2 of 3"
    assert window("[...document.querySelectorAll('.now')].map(e => e.id)") == ["item-2", "passage-2"]
    window.key("Enter")  # on its rank
    window.until("document.activeElement.matches('#item-2 .to')")
    assert seen(window, "#item-2")
    assert window.complaints() == []


def test_keys_go_from_passage_to_passage(opened: Opened) -> None:
    window = opened(passages_page(article()), (1200, 700))

    def here() -> str:
        return str(window("document.activeElement.textContent"))

    for key, rank in zip("jnjkpk", "123213", strict=True):
        window.key(key)
        assert here() == rank
        assert seen(window, f"#passage-{rank}")
        assert window("location.hash") == f"#passage-{rank}"
    window("document.querySelector('[data-step=\"1\"]').click()")
    assert here() == "1"
    window("document.querySelector('#keys').click()")
    window.key("j")
    assert here() != "2"


def test_reasons_come_with_the_pointer_and_with_the_focus(opened: Opened) -> None:
    window = opened(passages_page(article()), (1200, 700))
    tip = "!document.querySelector('#tip').hidden && document.querySelector('#tip').textContent"
    assert window(tip) is False
    x, y = window(f"(box => [box.x + 80, box.y + 8])({BOX.format('#passage-3')})")
    window.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    window.until("!document.querySelector('#tip').hidden")
    assert "tea3" in window(tip)
    left, top = window(f"(box => [box.x + 20, box.y + 10])({BOX.format('#tip')})")
    window.call("Input.dispatchMouseEvent", type="mouseMoved", x=left, y=top)
    time.sleep(0.35)
    assert "tea3" in window(tip)  # it stays under the pointer
    window.key("Escape")
    assert window(tip) is False
    window("document.querySelector('#passage-2 .badge').focus()")
    assert "tea2" in window(tip)
    box = window(
        f"(box => [box.left, box.top, innerWidth - box.right, innerHeight - box.bottom])({BOX.format('#tip')})"
    )
    assert min(box) >= 0
    described = "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
    assert window(described) == window(tip)
    window("document.querySelector('#passage-2 .badge').blur(); document.querySelector('.to').focus()")
    assert window(tip) is False


def test_a_link_from_elsewhere_opens_at_the_passage(opened: Opened) -> None:
    for fragment, place in (("#passage-15", "#passage-15"), ("#passage-2", "#passage-2")):
        window = opened(passages_page(long()), fragment=fragment)
        window.until(f"document.activeElement.matches('{place} .badge')")
        assert seen(window, place)
        window.key("k")
        before = f"#passage-{int(place.rpartition('-')[2]) - 1}"
        window.until(f"document.activeElement.matches('{before} .badge')")
        window.until(f"(box => box.top > 0 && box.bottom < innerHeight)({BOX.format(before)})")


def test_a_phone_has_its_list_folded_and_its_buttons_below(opened: Opened) -> None:
    window = opened(passages_page(long(400)), PHONE)
    assert window("document.querySelector('#list').open") is False
    small = "[...document.querySelectorAll('button')].filter(e => e.checkVisibility() && e.clientHeight < 40).length"
    assert window(small) == 0
    window("document.querySelector('[data-step=\"1\"]').click()")
    assert seen(window, "#passage-1")
    window("document.querySelector('#passage-1 .badge').click()")
    window.until("document.querySelector('#list').open && document.activeElement.matches('#item-1 .to')")


LOOKS = [(size, dark) for size in (PHONE, TABLET, DESKTOP) for dark in (False, True)]
SHADE = "getComputedStyle(document.body).{}.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0) / 3"


@pytest.mark.parametrize("of", [article, hostile, pages, hostile_pages])
def test_nothing_is_too_wide_and_nothing_complains(opened: Opened, of: Callable[[], Any]) -> None:
    result = of()
    html = passages_page(result) if isinstance(result, InterestingResult) else index_page(result)
    window = opened(html)
    window("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for size, dark in LOOKS:
        window.look(size, dark=dark)
        assert window("document.documentElement.scrollWidth <= innerWidth"), size
        paper, ink = (window(SHADE.format(each)) for each in ("backgroundColor", "color"))
        assert (paper < 60) == dark
        assert abs(paper - ink) > 100
    assert window("document.title !== 'acted' && document.scripts.length === 1")
    assert window.complaints() == []
    assert window.asked() == {""}  # the file alone


def test_axe_finds_nothing(opened: Opened) -> None:
    pytest.importorskip("axe_playwright_python", reason="needs axe-core")
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    for html in (passages_page(article(), index="index.html"), index_page(pages())):
        window = opened(html)
        window(axe)
        window.key("j")
        window("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for size, dark in LOOKS:
            window.look(size, dark=dark)
            assert window(AXE) == [], (size, dark)


def test_words_filter_the_index(opened: Opened) -> None:
    window = opened(index_page(pages()))
    shown = "[...document.querySelectorAll('.card')].filter(e => e.checkVisibility())"
    visible = f"{shown}.map(e => e.querySelector('h2').textContent)"
    type_ = "(box => {{ box.value = {!r}; box.dispatchEvent(new Event('input')); }})(document.querySelector('#words'))"
    for words, left in (
        ("CAFE", ["Le café"]),
        ("brick  horse", ["A history of tea"]),
        ("茶", ["茶的历史"]),
        ("zebra", []),
    ):
        window(type_.format(words))
        assert window(visible) == left
        assert window("document.querySelector('#left').textContent") == f"{len(left)} of 3 pages"
    window(type_.format(""))
    assert len(window(visible)) == 3


def test_marks_are_told_apart_without_colors(opened: Opened) -> None:
    window = opened(passages_page(article()))
    ranks = window("[...document.querySelectorAll('mark .badge')].map(e => e.textContent)")
    assert sorted(ranks) == ["1", "2", "3"]
    shadow = "[...document.querySelectorAll('#passage-1, #passage-2')].map(e => getComputedStyle(e).boxShadow)"
    assert len(set(window(shadow))) == 2


def test_it_prints(opened: Opened) -> None:
    window = opened(passages_page(article()))
    window.call("Emulation.setEmulatedMedia", media="print")
    assert window("document.querySelector('.steps').checkVisibility()") is False
    assert window("document.querySelector('#list').open") is True


TEXTS = (
    "Tea, well-made & hot – 100% of it. It rained.",
    "It rained. Then “it” didn’t: café or R&D?",
    "We had tea. It rained.  And\nthen it rained again.",
    "茶很热。我们喝茶，天下雨了。茶很热。",
    "She said that it rained.",
)


@pytest.mark.parametrize(
    ("block", "passage"),
    [
        (0, "Tea, well-made & hot – 100% of it."),
        (1, "It rained."),
        (1, "Then “it” didn’t: café or R&D?"),
        (2, "It rained."),
        (2, "And\nthen it rained again."),
        (3, "我们喝茶，天下雨了。"),
        (4, "it rained."),
    ],
)
def test_a_browser_finds_text_fragments(opened: Opened, block: int, passage: str) -> None:
    made = document([("paragraph", text) for text in TEXTS])
    start = made.text.index(passage, made.blocks[block].start)
    fragment = TextFragments(made).fragment(start, start + len(passage))
    gap = "<div style='height: 3000px'></div>"
    html = f"<meta charset=utf-8>{gap}{gap.join(f'<p>{escape(text)}</p>' for text in TEXTS)}{gap}"
    window = opened(html, (1000, 600), fragment)
    window.until(f"(box => box.top > 0 && box.bottom < innerHeight)({BOX.format(f'p:nth-of-type({block + 1})')})")


def test_hostile_names_of_files_do_not_leave_their_link(opened: Opened) -> None:
    window = opened(index_page(hostile_pages()))
    links = window("[...document.querySelectorAll('a')].map(e => e.protocol)")
    assert set(links) == {"file:"}
    assert window("document.body.innerText").count(ACTS) >= 2
    assert quote('"') in window("document.querySelector('.card a').href")
