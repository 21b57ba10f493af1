"""The rating page on screens of five sizes: short and long texts, short and long contexts, one to five aspects."""

from __future__ import annotations

import json
import time
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the web extra")

from browser_window import PHONE
from campaign_window import Grading

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from campaign_window import Server
    from conftest import Chromium

    Serve = Callable[..., Server]

SIZES = ((1024, 768), (1280, 800), (1366, 768), (1440, 900), (1920, 1080))
LENGTHS = (10, 40, 400)
SAID = "Nobody has seen a single rail of the tram line that the council wants to open next spring. "
ASKED = {"en": "How much of it is about the article?", "zh": "这条评论有多少与文章有关？"}
MEANINGS = {"en": ["Nothing at all.", "Little.", "Half of it.", "Most.", "Everything in it."], "zh": list("无少半多全")}
SCROLLS = """[...document.querySelectorAll('#task *')].filter((one) => one.scrollHeight > one.clientHeight + 1
  && ['auto', 'scroll'].includes(getComputedStyle(one).overflowY) && one.checkVisibility())
  .map((one) => one.id || one.localName)"""
PLACES = """[...document.querySelectorAll('#sheet :is(.scale span, .grades button, .save button, .others button)')]
  .map((one) => (({x, y, width, height}) => [x, y, width, height])(one.getBoundingClientRect()))"""
HIDDEN = """[...document.querySelectorAll('#sheet :is(.scale span, .grades button, .save button, .others button)')]
  .filter((one) => { const {x, y, width, height} = one.getBoundingClientRect();
    return !one.contains(document.elementFromPoint(x + width / 2, y + 2))
      || !one.contains(document.elementFromPoint(x + width / 2, y + height - 2)); }).map((one) => one.outerHTML)"""
LINES = """[...document.querySelectorAll('.scale')].map((scale) =>
  new Set([...scale.querySelectorAll('span')].map((one) => one.getBoundingClientRect().top)).size)"""


def text(words: int, lang: str = "en") -> str:
    if lang == "zh":
        return ("市议会希望明年春天开通这条电车线路，但是至今没有人见过一根铁轨。" * 30)[: words * 2]
    return " ".join((SAID * 50).split()[:words])


def judged(folder: Path, number: int, lang: str = "en") -> dict[str, Any]:
    """A rubric of so many aspects; the bundled one where it is one."""
    if number == 1:
        return {}
    aspects = [{"name": f"a{n}", "question": ASKED[lang], "words": MEANINGS[lang]} for n in range(number)]
    path = folder / f"{number}-{lang}.json"
    path.write_text(json.dumps({"name": "all", "question": ASKED[lang], "lang": lang, "aspects": aspects}), "utf-8")
    return {"rubric": str(path)}


def texts(lang: str = "en") -> list[dict[str, Any]]:
    """Texts of all lengths, each with a short and with a long source."""
    return [
        {
            "item": f"{words}-{about}",
            "system": "s",
            "text": text(words, lang),
            "source": text(about, lang),
            "lang": lang,
        }
        for words, about in product(LENGTHS, (10, 400))
    ]


def whole(window: Grading, number: int) -> None:
    """Grade the item on the screen."""
    here = window.position
    time.sleep(0.22)
    for _ in range(number):
        window.key("3")
    window.until(f"(document.querySelector('#task').dataset.position ?? -1) != {here}")


@pytest.mark.parametrize(("number", "lang"), [*((number, "en") for number in range(1, 6)), (1, "zh"), (5, "zh")])
def test_texts_are_read_and_graded_without_looking_for_anything(
    serve: Serve, chromium: Chromium, tmp_path: Path, number: int, lang: str
) -> None:
    options = {"annotators": 1, "annotators_per_item": 1} | judged(tmp_path, number, lang)
    server = serve(texts(lang), item_type="summary", context="source", **options)
    ann = Grading(chromium).join(server, "Ann")
    places: dict[tuple[int, int], set[str]] = {size: set() for size in SIZES}
    tops: dict[tuple[int, int, bool], set[float]] = {}
    for _ in range(6):
        said = ann("document.querySelector('blockquote').textContent")
        words = len(said) // 2 if lang == "zh" else len(said.split())
        long = ann("document.querySelector('#article').textContent.length") > 500
        for size in SIZES:
            ann.look(size)
            ann.shoot(f"layout-{lang}-{number}-{words}-{'long' if long else 'short'}-{size[0]}")
            state = (size, words, long)
            page = "document.documentElement"
            assert ann(f"[{page}.scrollWidth, {page}.scrollHeight]") == list(size), state
            article, box, sheet = (
                ann(f"document.querySelector('{one}').getBoundingClientRect().toJSON()")
                for one in ("#article", "blockquote", "#sheet")
            )
            assert article["bottom"] <= box["top"], state
            assert max(article["right"], box["right"]) <= sheet["left"], state
            assert ann(HIDDEN) == [], state
            assert set(ann(LINES)) <= {1}
            may = {"article": long, "blockquote": words == 400}
            scrolls = ann(SCROLLS)
            assert all(may.get(one) for one in scrolls), (state, scrolls)
            assert "blockquote" not in scrolls or box["height"] >= 220, state
            places[size].add(json.dumps(ann(PLACES)))
            tops.setdefault((*size, long), set()).add(box["top"])
        whole(ann, number)
    ann.saved()
    assert {size: len(found) for size, found in places.items()} == dict.fromkeys(SIZES, 1)
    assert {place: len(found) for place, found in tops.items()} == dict.fromkeys(tops, 1)
    assert ann.complaints() == []


def test_a_text_without_a_context_has_the_whole_height(serve: Serve, chromium: Chromium, tmp_path: Path) -> None:
    rows = [{"item": "a", "system": "s", "text": text(400)}]
    server = serve(rows, item_type="text", context="none", **judged(tmp_path, 5))
    ann = Grading(chromium).join(server, "Ann")
    for size in SIZES:
        ann.look(size)
        ann.shoot(f"layout-alone-{size[0]}")
        assert ann(HIDDEN) == []
        assert ann("document.querySelector('blockquote').clientHeight") > size[1] - 200
    ann.look(SIZES[0])
    ann.key("PageDown")
    assert ann("document.querySelector('blockquote').scrollTop") > 0, "keys scroll what does not fit"


def test_a_long_context_takes_the_place_of_the_text(serve: Serve, chromium: Chromium) -> None:
    rows = [{"item": "a", "system": "s", "text": text(40), "source": text(800)}]
    ann = Grading(chromium, SIZES[1]).join(serve(rows, context="source", item_type="summary"), "Ann")
    places, before = ann(PLACES), ann("document.querySelector('#article').clientHeight")
    ann("document.querySelector('#enlarge').click()")
    ann.shoot("layout-enlarged")
    assert ann("document.querySelector('#article').clientHeight") > before + 200
    assert (ann(HIDDEN), ann(PLACES)) == ([], places)
    ann("document.querySelector('#enlarge').click()")
    assert ann("document.querySelector('blockquote').checkVisibility()")


def test_many_or_long_aspects_scroll_above_save(serve: Serve, chromium: Chromium, tmp_path: Path) -> None:
    asked = "Does the answer say only what can be found in the source, and does it say all that matters there?"
    aspects = [{"name": f"a{n}", "question": asked, "low": 0, "high": 9, "words": [asked] * 10} for n in range(8)]
    path = tmp_path / "eight.json"
    path.write_text(json.dumps({"name": "all", "question": "Judge it.", "aspects": aspects}), "utf-8")
    ann = Grading(chromium).join(serve(texts()[:2], context="source", item_type="answer", rubric=str(path)), "Ann")
    for size in (*SIZES, PHONE, (320, 568)):
        ann.look(size)
        ann.shoot(f"layout-eight-{size[0]}")
        assert set(ann(LINES)) == {1}
        assert ann("document.documentElement.scrollWidth") == size[0]
        assert [one for one in ann(HIDDEN) if "data-does" in one] == []
        assert [one for one in ann(SCROLLS) if one not in {"article", "blockquote", "div"}] == []
        for place in (1, 8):
            ann(f"document.querySelector('.aspect:nth-child({place}) input').focus()")
        top, low, high, bottom = ann(
            "[['.aspects', 'top'], ['.now .scale', 'top'], ['.now span', 'bottom'], ['.aspects', 'bottom']]"
            ".map(([one, side]) => document.querySelector(one).getBoundingClientRect()[side])"
        )
        assert top <= low + 1 < high <= bottom + 1, "the aspect in turn is in sight"


def test_what_was_graded_is_kept_when_one_goes_back(serve: Serve, chromium: Chromium, tmp_path: Path) -> None:
    server = serve(texts()[:3], context="source", item_type="answer", **judged(tmp_path, 3))
    ann = Grading(chromium).join(server, "Ann")
    grades = "[...document.querySelectorAll('#task :checked')].map((one) => one.name + one.value)"

    def press(*keys: str, place: int) -> None:
        time.sleep(0.22)
        for key in keys:
            ann.key(key)
        ann.until(f"document.querySelector('#task').dataset.position === '{place}'")
        ann.saved()

    press("1", "2", "3", place=1)
    press("4", "5", place=1)
    press("u", place=0)
    assert ann(grades) == ["grade11", "grade22", "grade33"]
    press("2", "u", place=0)  # there is nothing before the first one
    press("Enter", place=1)
    assert ann(grades) == ["grade14", "grade25"]
    assert ann("[...document.querySelectorAll('.aspect')].findIndex((one) => one.matches('.now'))") == 2
    press("1", place=2)
    assert sorted(one.grades for one in server.store.results.ratings()) == [(2, 2, 3), (4, 5, 1)]


def test_marks_are_kept_when_one_goes_back(serve: Serve, chromium: Chromium) -> None:
    rows = [{"topic": "Trams", "id": f"p{n}", "text": text(20)} for n in range(2)]
    server = serve(rows, item_type="passages")
    ann = Grading(chromium).join(server, "Ann")
    marked = "document.querySelectorAll('#passage .on').length"
    ann.key("ArrowRight")
    ann.key(" ")
    time.sleep(0.22)
    ann.key("Enter")
    ann.until("document.querySelector('#task').dataset.position === '1'")
    ann.saved()
    ann.key("a")
    whole = ann(marked)
    ann.key("u")
    ann.until("document.querySelector('#task').dataset.position === '0'")
    assert ann(marked) == 1 < whole
    time.sleep(0.22)
    ann.key("Enter")
    ann.until("document.querySelector('#task').dataset.position === '1'")
    assert ann(marked) == whole
    ann.saved()
    assert [one.spans for one in server.store.results.ratings()] == [((0, 6),)]


@pytest.mark.parametrize("kind", ["pairs", "passages"])
def test_pairs_and_passages_move_no_button(serve: Serve, chromium: Chromium, kind: str) -> None:
    if kind == "pairs":
        rows = [one | {"system": name} for one in texts() for name in "ab"]
        server = serve(rows, item_type="summary", context="source", pairs="all")
    else:
        rows = [{"topic": "Trams", "id": f"p{words}", "text": text(words)} for words in LENGTHS]
        server = serve(rows, item_type="passages")
    ann = Grading(chromium).join(server, "Ann")
    places: dict[tuple[int, int], set[str]] = {size: set() for size in SIZES}
    for _ in LENGTHS:
        for size in SIZES:
            ann.look(size)
            ann.shoot(f"layout-{kind}-{ann.position}-{size[0]}")
            page = "document.documentElement"
            assert ann(f"[{page}.scrollWidth, {page}.scrollHeight]") == list(size)
            assert ann(HIDDEN) == []
            places[size].add(json.dumps(ann(PLACES)))
        ann.grade("1" if kind == "pairs" else "Enter")
    assert {size: len(found) for size, found in places.items()} == dict.fromkeys(SIZES, 1)
