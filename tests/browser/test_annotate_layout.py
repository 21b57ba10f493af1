"""Pages of a campaign on screens of all sizes, in light and dark, by the rules of axe-core."""

from __future__ import annotations

import json
import time
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="needs the web extra")

from browser_window import DESKTOP, PHONE
from campaign_window import Grading, sample

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


TABLET = (768, 1024)
SCREENS = {"phone": PHONE, "tablet": TABLET, "desktop": DESKTOP}
LONG = "Nobody has seen a single rail of the tram line that the council wants to open next spring. " * 15
NAMED = "(found) => found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`)"
LEAD = ("/lead", "/lead/agreement", "/lead/quality", "/lead/estimate", "/lead/conflicts", "/lead/texts")


def long_texts() -> dict[str, Any]:
    articles = [{"id": "a", "title": LONG[:150], "content": f"{LONG}\n\n" * 4, "lang": "en", "comments": []}]
    return {"rows": [{"item": "a", "system": name, "text": LONG} for name in "xy"], "articles": articles}


def three_aspects(folder: Path) -> dict[str, Any]:
    """Comments with a rubric of three aspects, whose grades have long words."""
    words = [f"{word}, as one sees in nearly every sentence of it." for word in ("Bad", "Poor", "Fair", "Good", "Fine")]
    asked = {"fluency": "How well does it read?", "relevance": "Is it about the article?", "tone": "How kind is it?"}
    aspects = [{"name": name, "question": question, "words": words} for name, question in asked.items()]
    rubric = {"name": "all", "question": "Judge the comment by three aspects.", "aspects": aspects}
    (folder / "rubric.json").write_text(json.dumps(rubric), encoding="utf-8")
    return {**sample("en", 1), "rubric": str(folder / "rubric.json")}


def passages() -> list[dict[str, str]]:
    return [{"topic": "Trams", "id": f"p{n}", "text": LONG} for n in range(4)]


def rated(server: Server) -> None:
    """Everything is rated by two, who disagree about every fourth text."""
    for name in ("Ann", "Bartholomew Featherstonehaugh-Cholmondeley"):
        person = server.store.people.accept(server.store.people.invite(name, "annotator")).person
        while task := server.store.grading.next(person):
            grade = 1 + len(task.text) * 7 % 5
            if name != "Ann" and not len(task.text) % 4:
                grade = 6 - grade
            key = f"r{task.position}"
            server.store.grading.rate(person, task.assignment, grade, idempotency_key=key, revision=task.revision)


def fits(window: Grading, size: tuple[int, int]) -> None:
    """Nothing is wider than the screen, and everything to tap is large enough for a finger."""
    window("scrollTo(0, 0)")
    assert window("document.documentElement.scrollWidth") <= size[0]
    small = window(
        "[...document.querySelectorAll('button, select, a.button, summary, input:is([type=text], [type=file])')]"
        ".filter((one) => one.checkVisibility() && one.offsetHeight < 44 && !one.closest('[hidden]'))"
        ".map((one) => one.outerHTML.slice(0, 80))"
    )
    assert small == [] or size == DESKTOP


def on_screen(window: Grading, selector: str, size: tuple[int, int]) -> bool:
    """True if all elements stand whole on the screen, with nothing above them."""
    return bool(
        window(
            f"[...document.querySelectorAll('{selector}')].every((one) => {{"
            "const box = one.getBoundingClientRect();"
            "const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);"
            f"return box.top >= 0 && box.left >= 0 && box.bottom <= {size[1]} && box.right <= {size[0]}"
            " && (one.contains(top) || top?.contains(one)); })"
        )
    )


@pytest.mark.parametrize("lang", ["en", "zh", "long"])
def test_text_and_scale_are_visible_without_scrolling(serve: Serve, chromium: Chromium, lang: str) -> None:
    server = serve(**(long_texts() if lang == "long" else sample(lang, 1)))
    ann = Grading(chromium).join(server, "Ann")
    for name, size in SCREENS.items():
        ann.look(size)
        ann.shoot(f"{lang}-{name}")
        fits(ann, size)
        assert ann("document.documentElement.scrollHeight") <= size[1]
        for selector in (".grades button", "blockquote", ".others button", "#article"):
            assert on_screen(ann, selector, size), (name, selector)
        room, whole = ann("(({clientHeight: a, scrollHeight: b}) => [a, b])(document.querySelector('blockquote'))")
        assert room >= min(whole, 240 if name == "phone" else 180)


def test_three_aspects_fit_on_a_screen(serve: Serve, chromium: Chromium, tmp_path: Path) -> None:
    ann = Grading(chromium).join(serve(**three_aspects(tmp_path)), "Ann")
    for name, size in SCREENS.items():
        ann.look(size)
        ann.shoot(f"aspects-{name}")
        fits(ann, size)
        for selector in (".scale span", ".save button", "blockquote", ".others button"):
            assert on_screen(ann, selector, size), (name, selector)
        room, whole = ann("(({clientHeight: a, scrollHeight: b}) => [a, b])(document.querySelector('blockquote'))")
        assert room >= min(whole, 100)


def test_both_texts_of_a_pair_fit_on_a_screen(serve: Serve, chromium: Chromium) -> None:
    some = long_texts()
    ann = Grading(chromium).join(serve(some["rows"], some["articles"], pairs="all"), "Ann")
    for name, size in SCREENS.items():
        ann.look(size)
        ann.shoot(f"pair-{name}")
        fits(ann, size)
        for selector in (".grades button", "#sheet blockquote", ".others button"):
            assert on_screen(ann, selector, size), (name, selector)
        rooms = ann("[...document.querySelectorAll('#sheet blockquote')].map((one) => one.clientHeight)")
        assert len(rooms) == 2
        assert min(rooms) >= 150
    ann.look(PHONE)
    ann("document.querySelector('#enlarge').click()")
    ann.shoot("pair-enlarged")
    headings = "[...document.querySelectorAll('#sheet h2')].filter((one) => one.checkVisibility()).length"
    assert ann(headings) == 1
    assert ann("document.querySelector('#article').clientHeight") > 600


def test_a_short_text_leaves_its_room_to_the_others(serve: Serve, chromium: Chromium, tmp_path: Path) -> None:
    rows = [{"item": "a", "system": name, "text": text} for name, text in (("x", "Short."), ("y", LONG))]
    pair = Grading(chromium, PHONE).join(serve(rows, item_type="text", context="none", pairs="all"), "Ann")
    boxes = "[...document.querySelectorAll('#sheet blockquote')].map((one) => [one.clientHeight, one.scrollHeight])"
    (low, whole), (high, _) = sorted(pair(boxes))
    assert low == whole < 100
    assert high > 400
    rubric = three_aspects(tmp_path)["rubric"]
    rows[0]["source"] = LONG
    ann = Grading(chromium, PHONE).join(serve(rows[:1], item_type="text", context="source", rubric=rubric), "Ann")
    box = "document.querySelector('{}').getBoundingClientRect().{}"
    gap = f"{box.format('#sheet form', 'top')} - {box.format('blockquote', 'bottom')}"
    assert ann(gap) < 20
    ann.shoot("aspects-short")


def test_a_finger_enlarges_the_article_rates_and_goes_back(serve: Serve, chromium: Chromium) -> None:
    server = serve(**long_texts())
    ann = Grading(chromium, PHONE).join(server, "Ann")
    before = ann("document.querySelector('#article').clientHeight")
    ann.tap("#enlarge")
    ann.until("document.querySelector('#enlarge[aria-expanded=true]')")
    ann.shoot("enlarged-phone")
    assert ann("document.querySelector('#article').clientHeight") > 600 > 3 * before
    assert not ann("document.querySelector('blockquote').checkVisibility()")
    ann.tap("#enlarge")
    ann.until(f"document.querySelector('#article').clientHeight == {before}")
    assert on_screen(ann, ".grades button", PHONE)
    assert not ann("document.querySelector('.others kbd').checkVisibility()")  # a finger has no keys
    time.sleep(0.22)
    ann.tap(".grades li:nth-child(4) button")
    ann.until("document.querySelector('#task').dataset.position == 1")
    ann.saved()
    ann.tap("[data-does=back]")
    ann.until("document.querySelector('#task').dataset.position == 0")
    assert ann.complaints() == []


def test_passages_and_small_screens_fit(serve: Serve, chromium: Chromium) -> None:
    server = serve(passages(), item_type="passages")
    ann = Grading(chromium).join(server, "Ann")
    for size in (*SCREENS.values(), (320, 568), (844, 390)):
        ann.look(size)
        ann.shoot(f"spans-{size[0]}")
        fits(ann, size)
        assert on_screen(ann, ".others button", size), size
        assert ann("document.querySelector('#article').clientHeight") > size[1] / 2
    graded = Grading(chromium).join(serve(**long_texts()), "Ann")
    for size in ((320, 568), (844, 390)):
        graded.look(size)
        graded.shoot(f"long-{size[0]}")
        fits(graded, size)
        graded("document.querySelector('.grades li:last-child button').scrollIntoView()")
        assert on_screen(graded, ".grades li:last-child button", size), size


def test_tables_of_leads_fold_on_a_phone(serve: Serve, chromium: Chromium) -> None:
    server = serve(**sample("en", 10), repeat_rate=0.1)
    rated(server)
    lead = Grading(chromium).join(server, "Lee", "lead")
    lead.until("document.body.innerText.includes('Alpha, ordinal')")
    for lang in ("en", "zh"):
        for path in LEAD:
            lead.go(f"{server.url}{path}?lang={lang}")
            for name, size in SCREENS.items():
                lead.look(size)
                lead.shoot(f"lead{path.replace('/', '-')}-{lang}-{name}")
                fits(lead, size)
                inner = "[...document.querySelectorAll('.fold')].every((one) => one.scrollWidth <= one.clientWidth + 1)"
                assert lead(inner) or name != "phone", path
    lead.go(f"{server.url}/lead?lang=en")
    lead.look(PHONE)
    label = "getComputedStyle(document.querySelector('td[data-label=Rated]'), '::before').content"
    assert lead(label) == '"Rated"'
    # What is shown as a card is still a table to screen readers.
    roles = [node.get("role", {}).get("value") for node in lead.call("Accessibility.getFullAXTree")["nodes"]]
    assert {"table", "row", "rowheader", "cell", "columnheader"} <= set(roles)
    lead.look(DESKTOP)
    assert lead(label) == "none"


def test_axe_finds_nothing(serve: Serve, chromium: Chromium, tmp_path: Path) -> None:
    pytest.importorskip("axe_playwright_python", reason="needs axe-core")
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}

    def check(window: Grading, state: str) -> None:
        window(f"window.axe ? 0 : (() => {{ {axe} }})()")
        for name, size in SCREENS.items():
            for dark in (False, True):
                window.look(size, dark=dark)
                time.sleep(0.15)  # what fades in has arrived
                rules = "['color-contrast']" if dark else "undefined"  # only colors are others in the dark
                run = f"axe.run({{resultTypes: ['violations'], runOnly: {rules}}}).then({NAMED})"
                found[f"{state} {name} {'dark' if dark else 'light'}"] = window(run)

    marking = serve(passages(), item_type="passages")
    ann = Grading(chromium)
    ann.go(f"{marking.url}/join/{marking.store.people.invite('Ann', 'annotator')}")
    check(ann, "invitation")
    ann("document.querySelector('form').requestSubmit()")
    ann.until("location.pathname === '/grade' && document.querySelector('#passage span')")
    ann.key("ArrowRight")
    ann.key(" ")
    check(ann, "passage")
    rubric = tmp_path / "aspects.json"
    aspects = [{"name": name, "question": f"How is the {name}?", "words": list("abcde")} for name in ("truth", "tone")]
    rubric.write_text(json.dumps({"name": "both", "question": "Judge it.", "aspects": aspects}), encoding="utf-8")
    rows = [{"item": "a", "system": "s", "text": "Short.", "source": LONG, "thread": ["Hello.", "Hi."]}]
    summaries = serve(rows, item_type="summary", context="source,thread", rubric=str(rubric))
    check(Grading(chromium).join(summaries, "Cleo"), "aspects")
    check(Grading(chromium).join(serve(**sample("en", 1), pairs="all"), "Dee"), "pair")
    server = serve(**sample("zh", 1))
    bob = Grading(chromium).join(server, "Bob")
    check(bob, "grades")
    for dialog in ("keys", "rubric", "skip"):
        bob(f"document.querySelector('#{dialog}').showModal()")
        check(bob, dialog)
        bob(f"document.querySelector('#{dialog}').close()")
    for _ in range(4):
        bob.grade("3")
    bob.until("document.querySelector('#task.end:not(.waiting)')")
    check(bob, "end")
    bob.go(f"{server.url}/nothing")
    check(bob, "error")
    server = serve(**sample("en", 8), repeat_rate=0.1)
    rated(server)
    lead = Grading(chromium).join(server, "Lee", "lead")
    lead.until("document.body.innerText.includes('Alpha, ordinal')")
    for path in (*LEAD, "/lead/conflicts?show=adjudicated"):
        lead.go(server.url + path)
        lead("document.querySelectorAll('details').forEach((one) => one.open = true)")
        check(lead, path)
    lead.go(f"{server.url}/lead?lang=zh")
    lead("document.querySelector('form[action=\"/lead/invite\"]').requestSubmit()")
    lead.until("document.querySelector('.link code')")
    check(lead, "link")
    assert {state: problems for state, problems in found.items() if problems} == {}
    assert len(found) == (12 + len(LEAD)) * len(SCREENS) * 2
