"""The desk in a browser: an article, its thread, suggestions and exports, on phones, in Chinese, by token."""

from __future__ import annotations

import csv
import io
import json
import signal
import socket
import subprocess
import sys
import time
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="needs the web extra")

from browser_window import DESKTOP, PHONE, TABLET
from desk_stub import ARTICLES, EVIL, POINTS
from desk_window import READY, DeskWindow
from made_retrievers import NEWS, made
from postil.data.escaping import apostrophed
from postil.data.row_files import read
from postil.data.suggestions import Label
from postil.web.problems import Problem
from postil.web.tokens import AddTokenOptions, Tokens, add_token

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Chromium


Start = Any


def test_an_article_is_pasted_and_comes_back_after_a_reload(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow(chromium)
    window.go(stub.url)
    window.until("document.querySelector('#found li')")
    window.click("[data-way=paste]")
    window.click("#way-paste .main")
    assert "Give the article a title." in window.text("#title-in-told")
    assert window("document.activeElement.id") == "title-in"
    fill = "Object.entries(%s).forEach(([id, text]) => { document.getElementById(id).value = text; })"
    texts = {"title-in": " New bridge ", "content-in": "It opens.\r\n\r\nSoon.", "lang-in": "en"}
    window(fill % json.dumps(texts | {"comments-in": "First.\n\nSecond\nline.\n \n"}))
    window.click("#way-paste .main")
    window.until(READY)
    article = {"title": "New bridge", "content": "It opens.\n\nSoon.", "lang": "en"}
    assert stub.sent("suggest")[-1]["article"] == article
    comments = [{"id": "c1", "text": "First."}, {"id": "c2", "text": "Second\nline."}]
    assert stub.sent("rank")[-1]["article"]["comments"] == comments
    window.key("s")
    window.stored()
    assert stub.labels()[0].article == "made-up-1"
    window("window.before = true")
    window.call("Page.reload")
    window.until("!window.before && document.querySelector('.card.yes')")
    assert window.text("#title") == "New bridge"
    window.click("[data-does=edit]")
    assert window("document.querySelector('#content-in').value") == "It opens.\n\nSoon."


def test_an_address_is_fetched_when_it_is_named(start: Start, chromium: Chromium) -> None:
    stub = start(articles=())
    window = DeskWindow(chromium)
    window.go(stub.url)
    assert window.count("#way-list-tab") == 0
    window.click("[data-way=address]")
    for address in ("news.example", "javascript:alert(1)", "file:///etc/passwd"):
        window(f"document.querySelector('#url-in').value = {json.dumps(address)}")
        window.click("#way-address .main")
        assert "whole address" in window.text("#url-in-told")
    stub.fail = lambda name, _: Problem(502, "url: the server refuses") if name == "article" else None
    window("document.querySelector('#url-in').value = 'https://news.example/story'")
    window.click("#way-address .main")
    window.until("document.querySelector('#url-state .failed')?.innerText.includes('Url: the server refuses.')")
    stub.fail = lambda _name, _body: None
    window.click("#url-state button")
    window.until(READY)
    assert stub.sent("article")[-1] == {"url": "https://news.example/story"}
    assert window.text("#title") == "Fetched"


def test_no_text_becomes_markup(start: Start, chromium: Chromium) -> None:
    stub = start()
    stub.filtered = [{"text": EVIL, "reason": f"spam: {EVIL}", "source": None}]
    stub.calibration = {"labels": 1, "articles": 1, "shown": 1, "reason": EVIL, "notes": [EVIL]}
    window = DeskWindow(chromium)
    window.go(stub.url)
    window.until("document.querySelectorAll('#found li').length === 3")
    for article in (0, 1):
        window.go(f"{stub.url}/?article={article}")
        window.until(READY)
        for name in ("starters", "thread", "suggestions"):
            window.click(f"#tab-{name}")
        window("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    window.focus(".card")
    window.key("s")
    window.stored()
    window.click("[data-does=train]")
    window.click("#train-go")
    window.until("document.querySelector('#train-body').innerText.includes('onerror')")
    assert window.count("main img, main script, dialog img, dialog script") == 0
    assert window("window.hacked ?? null") is None
    assert window("[...document.links].map((one) => one.protocol).filter((one) => !/^https?:$/.test(one))") == []
    assert window.text("#title") == ARTICLES[1].title
    assert window.complaints() == []


def test_passages_are_marked_where_they_are_with_their_reasons(start: Start, chromium: Chromium) -> None:
    window = DeskWindow.opened(chromium, start())
    window.until("document.querySelector('mark')")
    (mark,) = window.all("mark", "one.textContent")  # the two emoji before its end count as four units of UTF-16
    assert (mark[:1], mark[-9:]) == ("\U0001f328", "the pass.")
    assert window.text("#text").count("A baker brought bread.") == 1

    window.focus("mark")
    assert "What speaks for it: “pass”" in window.text("#tip")
    described = "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
    assert window(described) == window.text("#tip")
    window.key("Escape")
    assert not window("document.querySelector('#tip').checkVisibility()")
    window.click("#tab-starters")
    window.click(".jump")
    window.until("document.activeElement.id === 'passage-1'")

    window.put("#split", "paragraphs")
    window.until("document.querySelector('mark').textContent.startsWith('The pass was closed')")


def test_the_thread_is_sorted_as_one_chooses(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow.opened(chromium, stub)
    assert stub.sent("rank")[-1]["by"] == {"quality": 1}
    assert {key: stub.sent("rank")[-1].get(key) for key in ("quality", "model")} == {"quality": "votes", "model": None}
    window.click("#tab-thread")
    names = "[...document.querySelectorAll('[name=by]')].map((one) => one.value)"
    assert window(names) == ["quality", "relevance", "votes", "oldest", "newest", "length"]
    assert not window("document.querySelector('#weight-quality').checkVisibility()")
    window.click("[value=relevance]")
    window.put("#weight-relevance", 2)
    window.put("#diversity", 0.5)
    window.until("document.querySelector('#weight-quality').checkVisibility()")
    end = time.monotonic() + 20
    while stub.sent("rank")[-1].get("diversity") != 0.5:
        assert time.monotonic() < end
        time.sleep(0.02)
    last = stub.sent("rank")[-1]
    assert (last["by"], last["model"], last["quality"]) == ({"quality": 1, "relevance": 2}, "forum", "votes")
    window.until("document.querySelector('#thread-list .item')")
    assert window.count("#thread-list > ol > .item") == 2
    assert "One near copy" in window.text("#thread-list .item")
    assert "8 votes · Jan 3, 2024" in window.text("#thread-list .item")
    window.open(stub, 2)
    assert "came without readers" in window("document.querySelector('#thread-list').textContent")


def test_models_numbers_and_reasons_for_none(start: Start, chromium: Chromium) -> None:
    stub = start()
    stub.filtered = [{"text": "ok", "reason": "too short: 1 word, expected at least 3", "source": None}]
    window = DeskWindow.opened(chromium, stub)
    assert "One more was filtered out" in window.text(".dropped")
    window.click(".dropped summary")
    assert "Too short: 1 word, expected at least 3." in window.text(".dropped")
    stub.suggestions, stub.reason = [], "no training article with comments shares a word with the title of this one"
    window.put("#model", "news")
    window.until("document.querySelector('#suggestions-list .empty')")
    assert "No training article with comments shares a word" in window.text("#suggestions-list .empty")
    assert {key: stub.sent("suggest")[-1].get(key) for key in ("model", "k")} == {"model": "news", "k": 5}
    window.key("s")
    assert window.text("#count") == "0 labels"


def test_a_problem_is_told_and_can_be_tried_again(start: Start, chromium: Chromium) -> None:
    stub = start()
    problems = {"suggest": Problem(503, "no worker is free"), "interesting": Problem(422, "text: expected words")}
    stub.fail = lambda name, _: problems.get(name)
    window = DeskWindow(chromium)
    window.go(f"{stub.url}/?article=0")
    window.until("document.querySelectorAll('.failed').length === 2")
    assert "The server is busy." in window.text("#suggestions .failed")
    assert "Text: expected words." in window("document.querySelector('#starters .failed').textContent")
    problems.clear()
    window("document.querySelectorAll('.failed button').forEach((one) => one.click())")
    window.until("document.querySelector('.card') && document.querySelector('mark')")


def test_what_is_exported_is_safe_and_has_its_label(start: Start, chromium: Chromium, tmp_path: Path) -> None:
    window = DeskWindow.opened(chromium, start())
    window.until("document.querySelector('mark')")
    window.key("s")
    window.key("d")
    window.key("5")
    window.stored()
    chromium.call(
        "Browser.setDownloadBehavior", behavior="allow", browserContextId=window.context, downloadPath=str(tmp_path)
    )
    got = {}
    for kind in ("json", "csv", "md"):
        window.click("[data-does=export]")
        window.click(f"[data-does=download][value={kind}]")
        end = time.monotonic() + 20
        while not (found := list(tmp_path.glob(f"postil-desk-*.{kind}"))):
            assert time.monotonic() < end
            time.sleep(0.05)
        got[kind] = found[0].read_text(encoding="utf-8")
    (visit,) = json.loads(got["json"])
    assert [one["show"] for one in visit["labels"]] == [True, False]
    assert (visit["article"], len(visit["suggestions"]), len(visit["comments"])) == ("a1", 3, 3)
    assert all(one["provenance"]["label"].startswith("Machine-generated") for one in visit["suggestions"])

    assert got["csv"].startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(got["csv"][1:], newline="")))
    assert [row["kind"] for row in rows].count("suggestion") == 3
    assert rows[1]["text"] == f"'=1+1 {EVIL}"
    assert (rows[1]["answer"], rows[1]["reason"], rows[0]["answer"]) == ("do not show", "unkind", "show")
    assert (rows[0]["url"], rows[0]["votes"], rows[0]["probability"]) == ("https://news.example/ice", "65", "0.62")

    assert "[Ice on the road](https://news.example/ice)" in got["md"]
    assert "<img" not in got["md"].replace("\\<img", "")
    assert "](javascript" not in got["md"]
    assert got["md"].count("Machine-generated suggestion") == 3


def test_cells_are_escaped_as_in_all_tables(start: Start, chromium: Chromium) -> None:
    window = DeskWindow.opened(chromium, start())
    cells = ["=1", "-1.5e3", "-1+2", "@x", " \u200b+1", "a=1", "\tx", "'=1", "＝1", "+", "1 - 2", "", EVIL]
    made = window(f"import('/static/desk-export.js').then(({{cell}}) => {json.dumps(cells)}.map(cell))")
    assert made == ['"' + apostrophed(cell).replace('"', '""') + '"' for cell in cells]


def test_a_suggestion_is_copied_with_its_label_and_source(start: Start, chromium: Chromium) -> None:
    window = DeskWindow.opened(chromium, start())
    window("navigator.clipboard.writeText = async (text) => { window.kept = text; }; 0")
    window.focus(".card")
    window.key("c")
    window.until("window.kept")
    copied = window("window.kept")
    assert copied.split("\n") == [
        "Machine-generated suggestion:",
        "“Leave the car at home.”",
        "— Readers of “Ice on the road” wrote this · Dec 1, 2023 · 65 votes · https://news.example/ice",
    ]
    # Over plain HTTP a page has no clipboard.
    window("navigator.clipboard.writeText = async () => { throw new Error(); }; window.kept = ''; 0")
    window("document.addEventListener('copy', () => { window.kept = document.activeElement.value; })")
    window.click(".card .copy")
    window.until("window.kept")
    assert window("window.kept") == copied
    assert window.text("#said").strip() == "Copied with its label and source"


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
    stub.held = {"c1": {}, "c2": {"insult": 0.8}}
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
    for state in ("reasons", "starters", "thread"):
        check(state)
    window.click("[data-does=agree][data-comment=c1]")
    window.click("[data-does=disagree][data-comment=c2]")
    for state in ("thread", "keys"):
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


SCOPES = ("suggest", "rank", "interesting", "desk", "label", "read", "admin")
ROWS = [
    {
        "id": "x1",
        "title": "Rain tomorrow",
        "content": "Rain is near. It will rain in the north. Chess is played inside.",
        "lang": "en",
        "comments": [
            {"id": "1", "text": "Bring a coat in the rain.", "upvotes": 1},
            {"id": "2", "text": "bring a coat, in the rain!", "upvotes": 5},
            {"id": "3", "text": "Chess it is, then, as always.", "upvotes": 3},
        ],
    },
    {"id": "x2", "title": "Zebras", "lang": "en"},
]


def served(folder: Path, port: int) -> subprocess.Popen[str]:
    words = ["news=model", "--articles", "articles.jsonl", "--tokens", "tokens.json", "--data", "data"]
    command = [sys.executable, "-m", "postil", "serve", *words, "--workers", "1", "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)  # noqa: S603 - our own command
    assert process.stderr
    assert any(line.startswith("serving ") for line in process.stderr)
    return process


def test_an_editor_works_with_a_service(chromium: Chromium, tmp_path: Path) -> None:
    made(tmp_path / "model", NEWS, "ir-tc")
    (tmp_path / "articles.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    token = add_token(tmp_path / "tokens.json", "ann", AddTokenOptions(scopes=SCOPES))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process, url = served(tmp_path, port), f"http://127.0.0.1:{port}"
    try:
        window = DeskWindow(chromium)
        window.go(url)
        window.put("#token", token)
        window("document.querySelector('form').requestSubmit()")
        window.until("document.querySelectorAll('#found a').length === 2")
        window.click("#found a")
        window.until(READY)
        window.until("document.querySelector('mark')")
        suggested = window.text(".card blockquote")
        assert suggested == "Rain today, rain tomorrow."
        assert "Readers of “Rain today” wrote this" in window.text(".card .cited")
        window.click("#tab-thread")
        window.click("[value=relevance]")
        window.click("[value=votes]")
        window.until("document.querySelector('#thread-list .item .said')?.innerText === 'bring a coat, in the rain!'")
        assert "One near copy" in window.text("#thread-list .item")
        window.click("#tab-suggestions")
        window.focus(".card")
        window.keys("d", "1")
        window.stored()
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        window.keys("u", "d", "5")
        window.until("document.querySelector('#state').classList.contains('kept')")
        assert process.stderr
        process.stderr.close()
        process = served(tmp_path, port)
        window.stored()
        window.open_at(url, 0)
        window.until("document.querySelector('.card.no')")
        assert window.text(".card.no .answer") == "unkind · stored"
        window.click("[data-does=train]")
        window.click("#train-go")
        window.until("document.querySelector('#train h3')")
        assert "1 labels of 1 articles" in window.text("#train-body")
        window.key("Escape")
        window.open_at(url, 1)
        assert "No training article" in window.text("#suggestions-list .empty")
        lines = window("fetch('/v1/labels').then((answer) => answer.text())")
    finally:
        process.kill()
        process.wait(20)
        assert process.stderr
        process.stderr.close()
    (tmp_path / "labels.jsonl").write_text(lines, encoding="utf-8")
    (label,) = read(tmp_path / "labels.jsonl", Label)
    assert (label.text, label.show, label.reason, label.annotator) == (suggested, False, "unkind", "ann")
    assert (label.source_article, label.title) == ("n1", "Rain tomorrow")
    assert window.complaints() == []
