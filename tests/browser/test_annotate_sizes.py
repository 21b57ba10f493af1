"""The pages of a campaign on a phone, a tablet and a desktop, in light and dark, by the rules of axe-core."""

from __future__ import annotations

import json
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the web extra")

from browser_window import DESKTOP, PHONE
from campaign_window import Grading, sample

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from campaign_window import Server
    from conftest import Chromium

    Serve = Callable[..., Server]

TABLET = (768, 1024)
SIZES = {"phone": PHONE, "tablet": TABLET, "desktop": DESKTOP}
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
    for name, size in SIZES.items():
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
    for name, size in SIZES.items():
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
    for name, size in SIZES.items():
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
    for size in (*SIZES.values(), (320, 568), (844, 390)):
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
            for name, size in SIZES.items():
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
        for name, size in SIZES.items():
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
    assert len(found) == (12 + len(LEAD)) * len(SIZES) * 2
