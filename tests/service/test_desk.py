"""The desk without a browser: its page, its sign-in, its list of articles, its words."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="needs the web extra")
pytest.importorskip("httpx2", reason="needs httpx2")

from starlette.testclient import TestClient

from postil.data.rows import Article, Comment
from postil.data.suggestions import REASONS, Label
from postil.errors import InvalidInput, UsageError
from postil.service.desk import STATIC, ArticleList, Desk, FoundArticles
from postil.service.options import ServiceOptions
from postil.service.routes import Telemetry, store_routes
from postil.service.server import application
from postil.service.store import ServiceStore
from postil.web.guard import Guard
from postil.web.pages import page_in
from postil.web.security import RequestLimits
from postil.web.tokens import AddTokenOptions, Tokens, add_token, revoke_token

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Browsing = Callable[..., Any]

ARTICLES = ArticleList(
    [
        Article(
            "a1", "Snow closes the pass", (Comment("c1", "Bring a coat."),), content="Much snow.", category="weather"
        ),
        Article("a2", "山口因雪封闭", (), lang="zh"),
        Article("a3", "<script>alert(1)</script>", ()),
    ]
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ServiceStore]:
    opened = ServiceStore.open(tmp_path / "data")
    yield opened
    opened.close()


def searched(listed: ArticleList, query: str) -> FoundArticles:
    return listed.found([number for some in listed.steps(query) for number in some])


@pytest.fixture
def browser() -> Iterator[Browsing]:
    """Function that makes clients, each with one event loop for all of its requests: their turns outlive a request."""
    with ExitStack() as clients:

        def made(desk: Desk, tokens: Tokens | None = None, store: ServiceStore | None = None) -> Any:
            guard, routes = Guard(RequestLimits(), tokens), [*desk.routes(), *store_routes(store)]
            app = application(routes, guard, ServiceOptions(), Telemetry())
            return clients.enter_context(TestClient(app, base_url="http://localhost", follow_redirects=False))

        yield made


def page_of(response: Any) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="page">(.*)</script>', response.text)
    assert found
    return dict(json.loads(found[1]))


def tokens_of(path: Path, **scopes: tuple[str, ...]) -> tuple[Tokens, dict[str, str]]:
    made = {name: add_token(path, name, AddTokenOptions(scopes=each)) for name, each in scopes.items()}
    return Tokens(path), made


def test_the_page_has_no_script_or_style_of_its_own(store: ServiceStore, browser: Browsing) -> None:
    answer = browser(Desk(ARTICLES, store=store)).get("/")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert re.findall(r"<script(?![^>]*(?:src=|application/json))|<style|\sstyle=|\son\w+=", answer.text) == []
    page = page_of(answer)
    assert (page["articles"], page["labels"], page["person"]) == (3, 0, "editor")
    assert (page["may"], page["words"]) == ({"label": True, "admin": True}, {})
    assert tuple(page["reasons"]) == REASONS


def test_what_the_page_loads_is_served_and_nothing_else(browser: Browsing) -> None:
    client = browser(Desk())
    linked = set(re.findall(r'(?:src|href)="/static/([^"]+)"', client.get("/").text))
    folder = files("postil.web") / "static"
    imported = {name for file in linked if file.endswith(".js") for name in imports(file)}
    for _ in range(3):
        imported |= {name for file in imported for name in imports(file)}
    assert linked | imported == set(STATIC)
    for name in STATIC:
        answer = client.get(f"/static/{name}")
        assert (answer.status_code, answer.content) == (200, (folder / name).read_bytes())
        assert client.get(f"/static/{name}", headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    assert [client.get(f"/static/{name}").status_code for name in ("grade.js", "..%2fdesk.py")] == [404, 404]


def imports(name: str) -> list[str]:
    text = (files("postil.web") / "static" / name).read_text(encoding="utf-8")
    return re.findall(r'from "\./([^"]+)"', text)


def test_scripts_never_make_markup_of_texts() -> None:
    for name in STATIC:
        text = (files("postil.web") / "static" / name).read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|setAttribute\(\"style", text
        )


@pytest.mark.parametrize(
    ("header", "address", "lang"),
    [
        ("", "/", "en"),
        ("zh-CN,en;q=.5", "/", "zh"),
        ("fr, zh;q=.3", "/", "zh"),
        ("zh", "/?lang=en", "en"),
        ("?", "/", "en"),
    ],
)
def test_the_page_speaks_the_language_of_the_browser(header: str, address: str, lang: str, browser: Browsing) -> None:
    answer = browser(Desk()).get(address, headers={"accept-language": header})
    assert f'<html lang="{lang}">' in answer.text
    assert page_of(answer)["words"] == page_in(lang).within("desk")
    assert page_of(answer)["words"].get("% of %") == ("第 % 条，共 % 条" if lang == "zh" else None)
    assert ("哪篇文章？" in answer.text) == (lang == "zh")


def test_one_signs_in_with_a_token_that_scripts_cannot_read(
    tmp_path: Path, store: ServiceStore, browser: Browsing
) -> None:
    tokens, made = tokens_of(tmp_path / "tokens.json", ann=("desk", "label"), site=("suggest",))
    client = browser(Desk(ARTICLES, tokens, store=store), tokens)
    assert 'name="token"' in client.get("/").text
    assert [client.get(path).status_code for path in ("/desk/articles", "/desk/articles/0", "/desk/labels")] == [
        401
    ] * 3
    wrong = client.post("/sign-in", data={"token": "postil_no<b>"})
    assert (wrong.status_code, "no valid token" in wrong.text, "<b>" in wrong.text) == (401, True, False)
    other = client.post("/sign-in", data={"token": made["site"]})
    assert (other.status_code, "scope desk" in other.text, "set-cookie" in other.headers) == (403, True, False)

    answer = client.post("/sign-in", data={"token": f" {made['ann']} "})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert "secure" not in cookie
    page = page_of(client.get("/"))
    assert (page["person"], page["may"]) == ("ann", {"label": True, "admin": False})
    assert client.get("/desk/articles").json()["total"] == 3

    revoke_token(tmp_path / "tokens.json", "ann")
    assert 'name="token"' in client.get("/").text
    assert client.get("/desk/articles").status_code == 401


def test_signing_out_forgets_the_token(tmp_path: Path, browser: Browsing) -> None:
    tokens, made = tokens_of(tmp_path / "tokens.json", ann=("desk",))
    client = browser(Desk(tokens=tokens, secure=True))
    client.base_url = "https://localhost"
    cookie = client.post("/sign-in", data={"token": made["ann"]}).headers["set-cookie"].lower()
    assert "secure" in cookie
    assert page_of(client.get("/"))["may"] == {"label": False, "admin": False}
    assert client.post("/sign-out").status_code == 303
    assert 'name="token"' in client.get("/").text


def test_a_page_of_another_site_cannot_sign_anybody_in_or_out(browser: Browsing) -> None:
    client = browser(Desk())
    for path in ("/sign-in", "/sign-out"):
        assert client.post(path, headers={"origin": "https://evil.example"}).status_code == 403


def test_guesses_are_limited(tmp_path: Path, browser: Browsing) -> None:
    tokens, made = tokens_of(tmp_path / "tokens.json", ann=("desk",))
    client = browser(Desk(tokens=tokens))
    bad: list[Any] = [{"data": {"token": f"postil_{n}"}} for n in range(8)]
    bad += [{"content": b"token=%ff"}, {"json": {"token": made["ann"]}}]
    assert [client.post("/sign-in", **one).status_code for one in bad] == [401] * 10
    assert client.post("/sign-in", data={"token": made["ann"]}).status_code == 429


def test_articles_are_searched_by_all_words(browser: Browsing) -> None:
    client = browser(Desk(ARTICLES))
    everything = client.get("/desk/articles").json()
    assert everything["total"] == 3
    assert everything["articles"][0] == {
        "number": 0,
        "title": "Snow closes the pass",
        "comments": 1,
        "category": "weather",
        "date": None,
        "lang": None,
    }
    numbers = {
        query: [one["number"] for one in client.get("/desk/articles", params={"q": query}).json()["articles"]]
        for query in ("PASS sno", "weather", "雪", "a3", "pass rain", "<script>")
    }
    assert numbers == {"PASS sno": [0], "weather": [0], "雪": [1], "a3": [2], "pass rain": [], "<script>": [2]}


def test_an_article_comes_with_its_comments(browser: Browsing) -> None:
    client = browser(Desk(ARTICLES))
    first = client.get("/desk/articles/0").json()
    assert (first["id"], first["comments"]) == ("a1", [{"id": "c1", "text": "Bring a coat."}])
    missing = client.get("/desk/articles/3")
    assert (missing.status_code, missing.json()["status"]) == (404, 404)
    assert client.get("/desk/articles/-1").status_code == 404


def test_only_the_first_of_many_articles_are_listed() -> None:
    many = ArticleList([Article(str(n), f"Title {n}", ()) for n in range(120)])
    found = searched(many, "title")
    assert (len(found.articles), found.total) == (50, 120)


def test_articles_without_a_date_come_first_then_the_newest() -> None:
    dates = {
        "old": "2024-05-01",
        "undated": None,
        "new": "2026-02-03",
        "also new": "2026-02-03T00:00:00Z",
        "none": None,
    }
    listed = ArticleList([Article(title, title, (), date=date) for title, date in dates.items()])
    found = searched(listed, "").articles
    assert [one.title for one in found] == ["undated", "none", "new", "also new", "old"]
    assert [listed[one.number].title for one in found] == [one.title for one in found]
    assert [one.number for one in searched(listed, "new").articles] == [2, 3]


def test_a_table_of_articles_is_read_once_and_checked(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title,content\n1,Rain,<p>Much <b>rain</b></p>\n2,Sun,\n", encoding="utf-8")
    found = ArticleList.read([str(tmp_path / "a.csv")])
    assert (len(found), found[0].content, found[1].comments) == (2, "Much rain", ())
    (tmp_path / "b.csv").write_text("id,title\n1,Rain\n1,Sun\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="no other article has"):
        ArticleList.read([str(tmp_path / "b.csv")])


def test_articles_of_several_files_are_one_list(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title,date\n1,Rain,2026-01-01\n2,Sun,2026-01-03\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('\n{"id": "3", "title": "Snow", "date": "2026-01-02"}\n', encoding="utf-8")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.jsonl")]
    assert [one.title for one in searched(ArticleList.read(files), "").articles] == ["Sun", "Snow", "Rain"]
    (tmp_path / "b.jsonl").write_text('\n{"id": "2", "title": "Snow"}\n', encoding="utf-8")
    problem = f"{files[1]}:2: id: expected an id that no other article has, got '2' again, which {files[0]} has too"
    with pytest.raises(InvalidInput, match=f"^{re.escape(problem)}$"):
        ArticleList.read(files)
    with pytest.raises(UsageError, match="only one of the files can be standard input"):
        ArticleList.read(["-", "-"])


def test_the_answers_of_a_reader_are_those_of_the_own_token(
    tmp_path: Path, store: ServiceStore, browser: Browsing
) -> None:
    tokens, made = tokens_of(tmp_path / "tokens.json", ann=("desk",), bob=("desk",))
    ann, bob = (browser(Desk(ARTICLES, tokens, store=store), tokens) for _ in range(2))
    ann.post("/sign-in", data={"token": made["ann"]})
    bob.post("/sign-in", data={"token": made["bob"]})
    labels = [Label("a1", "One.", show=False, reason="unkind"), Label("a2", "Two.", show=True)]
    asyncio.run(store.add_labels(labels, sender="ann", ids=["x", None]))
    answers = {"labels": [{"id": "x", "text": "One.", "show": False, "reason": "unkind"}], "total": 2}
    assert ann.get("/desk/labels", params={"article": "a1"}).json() == answers
    assert bob.get("/desk/labels", params={"article": "a1"}).json() == {"labels": [], "total": 2}
    assert browser(Desk()).get("/desk/labels").json() == {"labels": [], "total": 0}


def test_labels_are_taken_back_by_who_sent_them(tmp_path: Path, store: ServiceStore, browser: Browsing) -> None:
    tokens, made = tokens_of(tmp_path / "tokens.json", ann=("desk", "label"), bob=("desk", "label"), eve=("desk",))
    ann, bob, eve = (browser(Desk(tokens=tokens, store=store), tokens, store) for _ in range(3))
    for name, client in (("ann", ann), ("bob", bob), ("eve", eve)):
        client.post("/sign-in", data={"token": made[name]})
    row = {"article": "a1", "text": "One.", "show": True}
    assert ann.post("/v1/labels", json={"labels": [row | {"id": "x"}, row | {"id": 7}]}).json() == {"stored": 2}
    given_back = [
        client.request("DELETE", "/v1/labels", json={"ids": ["x", 7, "unknown"]}) for client in (eve, bob, ann, ann)
    ]
    assert [(one.status_code, one.json().get("withdrawn")) for one in given_back] == [
        (403, None),
        (200, 0),
        (200, 2),
        (200, 0),
    ]
    assert list(store.labels()) == []
    assert ann.request("DELETE", "/v1/labels", json={"ids": "x"}).status_code == 422
    other = {"origin": "https://evil.example"}
    assert ann.request("DELETE", "/v1/labels", json={"ids": ["x"]}, headers=other).status_code == 403
    assert browser(Desk()).request("DELETE", "/v1/labels", json={"ids": ["x"]}).status_code == 404


def test_decisions_are_stored_read_and_taken_back(tmp_path: Path, store: ServiceStore, browser: Browsing) -> None:
    scopes = {"ann": ("desk", "label", "read"), "bob": ("desk", "label"), "eve": ("desk",)}
    tokens, made = tokens_of(tmp_path / "tokens.json", **scopes)
    ann, bob, eve = (browser(Desk(tokens=tokens, store=store), tokens, store) for _ in range(3))
    for name, client in (("ann", ann), ("bob", bob), ("eve", eve)):
        client.post("/sign-in", data={"token": made[name]})
    held = {"text": "You fool!", "decision": "hold", "reason": "insult", "article": "a1", "id": 7, "date": "2026-01-02"}
    other = {"origin": "https://evil.example"}
    for sender, headers, status in ((eve, {}, 403), (bob, other, 403), (ann, {}, 201), (bob, {}, 201)):
        assert sender.post("/v1/decisions", json={"decisions": [held]}, headers=headers).status_code == status
    assert ann.post("/v1/decisions", json={"text": "Nice.", "decision": "keep"}).json() == {"stored": 1}
    assert (
        ann.post("/v1/decisions", json={"decisions": [held | {"decision": "keep", "reason": None}]}).status_code == 201
    )
    assert ann.get("/desk/decisions", params={"article": "a1"}).json() == {
        "decisions": [{"id": "7", "decision": "keep"}]
    }
    assert eve.get("/desk/decisions", params={"article": "a1"}).json() == {"decisions": []}
    found = [(one.text, one.decision, one.reason, bool(one.date)) for one in store.decisions()]
    assert found == [
        ("You fool!", "hold", "insult", True),
        ("Nice.", "keep", None, True),
        ("You fool!", "keep", None, True),
    ]
    wrong = ann.post("/v1/decisions", json={"decisions": [held, held | {"decision": "spam"}]})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "decisions[1].decision")
    taken = [{"article": "a1", "id": 7}, {"text": "nice."}, {"id": "7"}]
    took = [client.request("DELETE", "/v1/decisions", json={"comments": taken}) for client in (eve, ann, ann)]
    assert [(one.status_code, one.json().get("withdrawn")) for one in took] == [(403, None), (200, 2), (200, 0)]
    unnamed = ann.request("DELETE", "/v1/decisions", json={"comments": [{"article": "a1"}]})
    assert (unnamed.status_code, unnamed.json()["errors"][0]["field"]) == (422, "id")
    assert [one.decision for one in store.decisions()] == ["hold"]
    without = browser(Desk())
    assert without.post("/v1/decisions", json=held).status_code == 404
    assert without.get("/desk/decisions").json() == {"decisions": []}


def test_an_article_to_label_is_drawn_at_random(store: ServiceStore, browser: Browsing) -> None:
    client = browser(Desk(ARTICLES, store=store), store=store)
    first = client.get("/desk/next").json()
    assert first == client.get("/desk/next").json()  # a reload draws no other one
    assert first["left"] == 3
    skipping = client.get("/desk/next", params={"skip": f"{first['number']},x,-1,99999999999"}).json()
    assert skipping["number"] != first["number"]
    assert skipping["left"] == 2
    for left in (2, 1, 0):
        article = client.get(f"/desk/articles/{first['number']}").json()
        label = {"article": article["id"], "text": "Bring a coat.", "show": True}
        assert client.post("/v1/labels", json={"labels": [label]}).status_code == 201
        found = client.get("/desk/next").json()
        assert found["left"] == left
        assert found["number"] != first["number"]
        first = found
    assert first["number"] is None


def test_several_editors_are_given_different_articles() -> None:
    many = ArticleList([Article(str(n), f"Title {n}", ()) for n in range(120)])
    numbers = [many.drawn(frozenset(), person).number for person in ("ann", "bob", "cid", "dee")]
    assert len(set(numbers)) == 4
    orders = []
    for person in ("ann", "bob"):
        labeled: set[str] = set()
        for _ in range(20):
            number = many.drawn(labeled, person).number
            assert number is not None
            labeled.add(many[number].id)
        orders.append(labeled)
    assert orders[0] != orders[1]
