"""Grading in a browser: by keyboard, by mouse and by finger, with and without a connection, from plan to export."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="needs the web extra")

from browser_window import DESKTOP, PHONE, TABLET, Window
from campaign_window import Grading, sample
from postil.data.row_files import read
from postil.data.rows import Judgement
from postil.meta.agreement import agreement
from postil.meta.resampling import Draws

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from campaign_window import Server
    from conftest import Chromium


GOOD = {"human": 5, "retrieval": 3, "generator": 3, "keywords": 1}


def test_from_plan_to_correlate(serve: Callable[..., Server], chromium: Chromium, tmp_path: Path) -> None:
    """The sample is graded by keyboard by two people; the lead sees agreement, decides, exports; correlate reads it."""
    some = sample("en", 5)
    server = serve(**some)
    wrote = {row["text"]: row["system"] for row in some["rows"]}
    given: dict[str, list[Judgement]] = {}
    for name in ("Ann", "Bob"):
        window = Grading(chromium).join(server, name)
        for n in range(20):
            text = window("document.querySelector('blockquote').textContent")
            grade = GOOD[wrote[text]]
            if name == "Bob":
                grade = 1 if n == 4 else min(5, grade + len(text) % 2)
            window.grade(str(grade))
            item = next(row["item"] for row in some["rows"] if row["text"] == text)
            given.setdefault(name, []).append(Judgement(item, wrote[text], name, grade))
        window.until("document.body.innerText.includes('All done')")
        window.saved()
        assert (window.complaints(), window.asked()) == ([], {server.url[7:]})
    assert sorted(one.grade for one in server.store.results.ratings()) == sorted(
        one.grade for some in given.values() for one in some
    )
    assert all(event.seconds and event.seconds > 0.2 for event in server.store.results.events())

    lead = Grading(chromium).join(server, "Lee", "lead")
    lead.until("document.body.innerText.includes('Alpha, ordinal')")
    found = agreement([one for some in given.values() for one in some], labels=range(1, 6), draws=Draws(resamples=10))
    shown = lead("document.querySelector('main').innerText")
    assert f"{found.estimates['kappa-quadratic-pooled'].value:.2f}" in shown
    assert f"{found.estimates['alpha-ordinal'].value:.2f}" in shown
    assert "Conflicts (1)" in lead("document.querySelector('nav').innerText")  # it came with the numbers
    lead.shoot("lead-progress")
    lead.go(f"{server.url}/lead/agreement")
    lead.shoot("lead-agreement")
    lead.go(f"{server.url}/lead/conflicts")
    conflicts = lead("document.querySelectorAll('.conflict').length")
    assert conflicts >= 1
    lead("document.querySelector('.conflict input[value=\"4\"]').focus()")
    lead.key(" ")
    lead.key("Tab")
    lead("document.activeElement.value = 'they meant it'")
    lead.key("Enter")
    lead.until("document.querySelector('.conflict [role=status]')?.innerText.includes('Adjudicated: 4')")
    lead.shoot("lead-decided")
    assert lead("location.pathname") == "/lead/conflicts"  # the card alone was changed
    assert [one.reason for one in server.store.results.adjudications()] == ["they meant it"]
    assert (lead.complaints(), lead.asked()) == ([], {server.url[7:]})

    for name in ("judgements.jsonl", "resolved.csv"):
        text = lead(f"fetch('/lead/files/{name}').then((answer) => answer.text())")
        (tmp_path / name).write_text(text, encoding="utf-8")
    judgements = list(read(tmp_path / "judgements.jsonl", Judgement))
    assert len(judgements) == 40
    folder = server.campaign.parent
    references = [
        json.dumps({"item": article["id"], "text": comment["text"], "ratings": comment["ratings"]})
        for article in some["articles"]
        for comment in article["comments"]
    ]
    (tmp_path / "references.jsonl").write_text("\n".join(references), encoding="utf-8")
    run(
        *("score", str(folder / "texts.jsonl"), "-r", str(tmp_path / "references.jsonl"), "--scale", "1:5"),
        *("-m", "meteor", "-m", "w-meteor", "--items", str(tmp_path / "scores.jsonl")),
    )
    said = run(
        *("correlate", str(tmp_path / "scores.jsonl"), "--judgements", str(tmp_path / "judgements.jsonl")),
        *("--format", "json", "--resamples", "20"),
    )
    rows = json.loads(said)["correlations"]
    assert {(row["metric"], row["n"]) for row in rows if row["coefficient"] == "pearson"} == {
        ("meteor", 20),
        ("w-meteor", 20),
    }


def run(*words: str) -> str:
    command = [sys.executable, "-m", "postil", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_grade_waits_for_the_connection_and_is_stored_once(serve: Callable[..., Server], chromium: Chromium) -> None:
    server = serve(**sample("en", 3))
    ann = Grading(chromium).join(server, "Ann")
    ann.grade("4")
    ann.saved()
    server.kill()
    ann.grade("2")  # the next two texts are here already
    ann.grade("5")
    ann.until("document.querySelector('#state').innerText.includes('2 answers are saved in this browser')")
    ann.shoot("offline")
    ann.grade("3")
    ann.until("document.querySelector('#task.waiting')")
    ann.key("u")  # cannot be done now, and says so
    ann.until("document.querySelector('#notice').innerText.includes('needs a connection')")
    server.start()
    ann.until("document.querySelector('#task').dataset.position == 4")
    ann.saved()
    assert [event.grade for event in server.store.results.events()] == [4.0, 2.0, 5.0, 3.0]


def test_a_grade_waits_for_a_file_that_was_moved(serve: Callable[..., Server], chromium: Chromium) -> None:
    server = serve(**sample("en", 2))
    ann = Grading(chromium).join(server, "Ann")
    ann.grade("4")
    ann.saved()
    server.campaign.rename(moved := server.campaign.with_name("moved.db"))
    ann.grade("2")
    ann.until("document.querySelector('#state').classList.contains('kept')")
    moved.rename(server.campaign)
    ann.saved()
    assert [event.grade for event in server.store.results.events()] == [4.0, 2.0]


def test_grades_that_were_kept_are_sent_when_the_page_comes_back(
    serve: Callable[..., Server], chromium: Chromium
) -> None:
    server = serve(**sample("en", 2))
    ann = Grading(chromium).join(server, "Ann")
    server.kill()
    ann.grade("4")
    ann.go("about:blank")  # the lap-top is closed
    server.start()
    again = Grading(chromium, beside=ann)
    again.go(f"{server.url}/grade")
    again.until("document.querySelector('#task').dataset.position == 1")
    again.saved()
    assert [event.grade for event in server.store.results.events()] == [4.0]


def test_keys(serve: Callable[..., Server], chromium: Chromium) -> None:
    server = serve(**sample("en", 2))
    ann = Grading(chromium).join(server, "Ann")
    ann.key("?")
    assert ann("document.querySelector('#keys').open")
    ann.key("3")  # nothing is graded behind a list of keys
    ann.key("e")
    assert ann("document.querySelector('#rubric').open && !document.querySelector('#keys').open")
    ann.key("Escape")
    ann.until("!document.querySelector('dialog[open]')")
    assert server.store.results.events() == []
    ann.grade("4")
    time.sleep(0.25)
    ann.key("4", repeat=True)  # a key held down is pressed once
    ann.key("9")  # not on the scale
    assert ann.position == 1
    ann.key("s")
    assert ann("document.querySelector('#skip').open")
    ann.key("2")
    ann.until("document.querySelector('#task').dataset.position == 2")
    ann.saved()
    ann.key("s")
    ann("document.querySelector('#other').focus()")
    for letter in "a 1u?":  # in a field, keys are letters
        ann.key(letter)
    time.sleep(0.2)
    ann.key("Enter")
    ann.until("document.querySelector('#task').dataset.position == 3")
    ann.saved()
    assert [event.reason for event in server.store.results.events()][1:] == [
        "The text is garbled or truncated",
        "a 1u?",
    ]
    for place in (2, 1, 0):
        ann.key("u")
        ann.until(f"document.querySelector('#task').dataset.position == {place}")
    ann.grade("1")
    ann.saved()
    assert [(one.order, one.grade) for one in server.store.results.ratings()] == [(0, 1.0)]
    assert ann.complaints() == []


def test_no_key_rates_the_text_that_one_goes_back_from(serve: Callable[..., Server], chromium: Chromium) -> None:
    server = serve(**sample("en", 2))
    ann = Grading(chromium).join(server, "Ann")
    for grade in "45":
        ann.grade(grade)
        ann.saved()
    ann("""(() => {
      const fetched = window.fetch;
      window.fetch = (path, ...rest) => path !== '/undo' || window.passed ? fetched(path, ...rest)
        : new Promise((done) => { window.let = () => { window.passed = true; done(fetched(path, ...rest)); }; });
    })()""")
    time.sleep(0.22)
    for key in "uu3":
        ann.key(key)
    ann.until("window.let")
    assert ann.position == 2
    ann("window.let()")
    ann.until("document.querySelector('#task').dataset.position === '0'")
    ann.grade("1")
    ann.saved()
    assert [(one.order, one.grade) for one in server.store.results.ratings()] == [(0, 1.0)]
    assert ann.complaints() == []


def test_a_stale_window_says_so_and_goes_on(serve: Callable[..., Server], chromium: Chromium) -> None:
    server = serve(**sample("en", 2))
    ann = Grading(chromium).join(server, "Ann")
    other = Grading(chromium, beside=ann)
    other.go(f"{server.url}/grade")
    ann.grade("4")
    ann.saved()
    other.grade("1")
    other.until("document.querySelector('#notice').innerText.includes('rated in the meantime')")
    other.until("document.querySelector('#task').dataset.position == 1")
    other.shoot("stale")
    assert [one.grade for one in server.store.results.ratings()] == [4.0]


def test_passages_are_marked_by_keys_mouse_and_finger(serve: Callable[..., Server], chromium: Chromium) -> None:
    text = "Cats 😀 sleep all day. Dogs run. 狗不睡觉。"
    rows = [{"topic": "Animals", "id": f"p{n}", "text": text} for n in range(4)]
    server = serve(rows, item_type="passages")
    ann = Grading(chromium).join(server, "Ann")
    marks = []

    def save() -> None:
        share = int(ann("document.querySelector('#share').textContent").split()[0])
        here = ann.position
        time.sleep(0.22)
        ann.key("Enter")
        ann.until(f"(document.querySelector('#task').dataset.position ?? -1) != {here}")
        ann.saved()
        last = max(server.store.results.ratings(), key=lambda one: one.order)
        assert round(100 * last.grade) == share
        marks.append([text[start:end] for start, end in last.spans])

    ann.key("ArrowRight")
    ann.key("ArrowRight")
    ann.key("ArrowRight", shift=True)
    ann.key(" ")
    ann.key("ArrowDown")
    ann.key(" ")
    ann.shoot("passage")
    save()
    box = "document.querySelector('#passage').getBoundingClientRect()"

    def at(word: str) -> tuple[float, float, float]:
        found = ann(
            "(() => { const units = [...document.querySelectorAll('#passage span')]; const one = "
            f"units.find((unit) => unit.textContent === '{word}').getBoundingClientRect(); "
            "return [one.left, one.right, (one.top + one.bottom) / 2]; })()"
        )
        return found[0], found[1], found[2]

    left, right = at("sleep"), at("day")
    ann.drag((left[0] + 3, left[2]), (right[1] - 3, right[2]))  # from within a word to within another
    ann.until("document.querySelectorAll('#passage .on').length == 5")
    left, right = at("狗"), at("不")
    ann.drag((left[0] + 1, left[2]), (right[1] - 1, right[2]))
    ann.until("document.querySelectorAll('#passage .on').length == 7")
    dogs = at("all")
    ann.drag((dogs[0] + 4, dogs[2]), (dogs[0] + 4, dogs[2]))  # a click takes the mark away
    ann.until("document.querySelectorAll('#passage .on').length == 2")
    save()
    assert ann(f"{box}.width") > 100
    ann.call("Emulation.setTouchEmulationEnabled", enabled=True)
    x, _, y = at("Dogs")
    for kind, points in (("touchStart", [{"x": x + 4, "y": y}]), ("touchEnd", [])):
        ann.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
    ann(
        "(() => { const units = [...document.querySelectorAll('#passage span')]; const one = (text) => "
        "units.find((unit) => unit.textContent === text).firstChild; getSelection().setBaseAndExtent(one('Dogs'), 0, "
        "one('run'), 3); })()"
    )
    ann.until("!document.querySelector('#mark').hidden")
    ann("document.querySelector('#mark').click()")
    ann.until("document.querySelectorAll('#passage .on').length == 3")
    save()
    ann.key("a")
    ann.until("document.querySelector('#share').textContent == '100 %'")
    save()
    assert marks == [["😀 sleep", "Dogs"], ["狗不"], ["Dogs run"], [text]]
    assert ann.complaints() == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_pages_fit_and_can_be_used_by_everyone(serve: Callable[..., Server], chromium: Chromium, lang: str) -> None:
    server = serve(**sample(lang, 2))
    ann = Grading(chromium).join(server, "Ann")
    for size in (DESKTOP, TABLET, (1180, 820), (390, 844)):
        for dark in (False, True):
            ann.look(size, dark=dark)
            ann.shoot(f"{lang}-{size[0]}-{'dark' if dark else 'light'}")
            assert ann("document.documentElement.scrollWidth") <= size[0]
            assert ann("document.documentElement.scrollHeight") <= size[1]
            assert ann("[...document.querySelectorAll('.grades button')].every((one) => one.offsetHeight >= 44)")
            # Every grade is on the screen, and so is some of the comment.
            bottoms = (
                "[...document.querySelectorAll('.grades button')].map((one) => one.getBoundingClientRect().bottom)"
            )
            assert max(ann(bottoms)) <= size[1]
            assert ann("document.querySelector('blockquote').clientHeight") >= 44
    ann.look(TABLET)
    tree = ann.call("Accessibility.getFullAXTree")["nodes"]
    named = {"button", "textbox", "progressindicator", "article", "dialog", "link"}
    for node in tree:
        if node.get("role", {}).get("value") in named and not node.get("ignored"):
            assert node["name"]["value"].strip(), node
    texts = "[...document.querySelectorAll('h1, blockquote, .text')].map((one) => one.lang)"
    assert set(ann(texts)) == {lang}
    order = []
    for _ in range(9):
        ann.key("Tab")
        order.append(ann("document.activeElement.value || document.activeElement.id || document.activeElement.tagName"))
    start = order.index("article")
    assert order[start : start + 7] == ["article", "BLOCKQUOTE", "1", "2", "3", "4", "5"]


def test_texts_cannot_act(serve: Callable[..., Server], chromium: Chromium) -> None:
    act = "<script>document.title='acted'</script><img src=x onerror=\"document.title='acted'\"></textarea>"
    articles = [{"id": "a", "title": act, "content": act, "lang": "en", "comments": []}]
    server = serve([{"item": "a", "system": name, "text": act} for name in "xy"], articles, name=act)
    for name, grade in ((act, "1"), ("Bob", "5")):
        window = Grading(chromium).join(server, name)
        assert window("document.querySelector('blockquote').textContent") == act
        window.grade(grade)
        assert (
            window("document.querySelector('blockquote').textContent") == act
        )  # one that was here before it was wanted
        window.grade(grade)
        window.saved()
        assert window("document.title") == act
        assert window.complaints() == []
    lead = Grading(chromium).join(server, "Lee", "lead")
    for path in ("/lead", "/lead/agreement", "/lead/quality", "/lead/estimate", "/lead/conflicts"):
        lead.go(server.url + path)
        assert (lead("document.title"), lead.complaints()) == (act, [])


def test_several_aspects_are_graded_by_digits(serve: Callable[..., Server], chromium: Chromium, tmp_path: Path) -> None:
    names = ("fluency", "relevance", "tone")
    aspects = [{"name": name, "question": f"How is the {name}?", "words": list("abcde")} for name in names]
    rubric = tmp_path / "three.json"
    rubric.write_text(json.dumps({"name": "all", "question": "Judge it.", "aspects": aspects}), encoding="utf-8")
    server = serve(**sample("en", 2), rubric=str(rubric))
    window = Grading(chromium).join(server, "Ann")

    def turn() -> str:
        return str(window("document.querySelector('.aspect.now legend').innerText"))

    def press(*keys: str) -> None:
        time.sleep(0.22)
        for key in keys:
            window.key(key)

    press("4", "9", "2")
    assert (turn(), window.position) == ("How is the tone?", 0)
    window.shoot("annotator-aspects")
    press("Enter")
    assert window.position == 0, "a grade is missing"
    press("5")
    window.until("document.querySelector('#task').dataset.position === '1'")
    window.saved()
    assert [one.grades for one in server.store.results.ratings()] == [(4, 2, 5)]
    window.key("u")
    window.until("document.querySelector('#task').dataset.position === '0'")
    assert window("[...document.querySelectorAll('#task :checked')].map((one) => one.value)") == ["4", "2", "5"]
    press("1", "Enter")
    window.until("document.querySelector('#task').dataset.position === '1'")
    window.saved()
    for place, grade in ((1, 3), (2, 1), (0, 2)):  # by mouse, in any order
        time.sleep(0.22)
        label = f"document.querySelectorAll('#task .aspect')[{place}].querySelectorAll('label span')[{grade - 1}]"
        x, y, wide, tall = window(
            f"(({{x, y, width, height}}) => [x, y, width, height])({label}.getBoundingClientRect())"
        )
        window.drag((x + wide / 2, y + tall / 2), (x + wide / 2, y + tall / 2))
    window.until("document.querySelector('#task').dataset.position === '2'")
    window.saved()
    assert sorted(one.grades for one in server.store.results.ratings()) == [(1, 2, 5), (2, 3, 1)]
    assert window.complaints() == []


def test_the_link_of_an_invitation_outlasts_the_first_numbers(serve: Callable[..., Server], chromium: Chromium) -> None:
    """It is shown once, also by a server that has started anew and computes."""
    server = serve(**sample("en", 2))
    lee = Grading(chromium).join(server, "Lee", "lead")
    lee.until("document.querySelector('#numbers')")
    server.kill()
    server.start()
    lee("document.querySelector('form[action=\"/lead/invite\"] [name=name]').value = 'Ann'")
    lee("document.querySelector('form[action=\"/lead/invite\"].row').requestSubmit()")
    lee.until("location.pathname === '/lead/invite' && document.readyState === 'complete'")
    assert "/join/" in lee("document.querySelector('.link code').textContent")
    lee.until("document.querySelector('#numbers')")
    assert "/join/" in lee("document.querySelector('.link code').textContent")
    assert lee("document.querySelectorAll('#main, .link, h1').length") == 3


def test_labels_of_gold_items_lie_above_the_next_text(
    serve: Callable[..., Server], chromium: Chromium, tmp_path: Path
) -> None:
    some = sample("en", 3)
    gold = [{"item": row["item"], "system": row["system"], "grade": 4} for row in some["rows"][:2]]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold), encoding="utf-8")
    ann = Grading(chromium).join(serve(**some, gold=str(tmp_path / "gold.jsonl"), training=2), "Ann")
    for grade, said in (("2", "differs from"), ("4", "agrees with")):
        ann.grade(grade)
        ann.until("document.querySelector('#label').open")
        assert f"Your rating {said} the label." in ann("document.querySelector('#label').innerText")
        here = ann.position
        ann.key("3")  # the text below is not rated while the label is shown
        assert ann.position == here
        ann("document.querySelector('#label button').click()")
        ann.until("!document.querySelector('#label').open")
    ann.grade("3")
    ann.saved()
    assert ann.position == 3
    assert not ann("document.querySelector('#label').open")
    assert ann.complaints() == []


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


def test_a_pause_and_a_close_reach_an_open_page_and_lose_nothing(
    serve: Callable[..., Server], chromium: Chromium
) -> None:
    server = serve(**sample("en", 4))
    ann = Grading(chromium).join(server, "Ann")
    lead = Grading(chromium).join(server, "Lee", "lead")
    state, online = server.store.state, "dispatchEvent(new Event('online'))"  # the page looks again at once
    state.pause("Back on Monday.")
    ann.grade("4")  # it was on the screen
    ann.until("document.querySelector('#task').dataset.again === '30'")
    assert "Back on Monday." in ann("document.querySelector('#task').innerText")
    ann.saved()
    ann.shoot("paused")
    for size in (PHONE, DESKTOP):
        ann.look(size)
        heading = ann("document.querySelector('#task h1').getBoundingClientRect().width")
        assert heading > 0.5 * min(size[0], 600)  # across the page, and not in a column of it
        assert ann("document.documentElement.scrollWidth") <= size[0]
    lead.go(f"{server.url}/lead")
    lead.shoot("lead-paused")
    lead("document.querySelectorAll('.life details').forEach((one) => { one.open = true; })")
    lead("document.querySelector('.life').scrollIntoView()")
    lead.shoot("lead-paused-open")
    lead("document.querySelector('.tick').scrollIntoView()")
    lead.shoot("lead-late")
    state.resume()
    ann(online)
    ann.until("document.querySelector('#task').dataset.position === '1'")
    state.close("Thank you all!")
    ann.grade("5")
    ann.until("document.querySelector('#task').dataset.again === '30'")
    assert ann("document.querySelector('#state').textContent") == "Closed. Your answers are saved in this browser."
    assert "Thank you all!" in ann("document.querySelector('#notice').textContent")
    assert ann("Object.keys(localStorage).length") == 1
    ann.shoot("closed")
    assert len(server.store.results.ratings()) == 1
    state.resume()
    ann(online)
    ann.saved()
    ann.until("document.querySelector('#task').dataset.position === '2'")
    assert [rating.grade for rating in sorted(server.store.results.ratings(), key=lambda one: one.order)] == [4, 5]
