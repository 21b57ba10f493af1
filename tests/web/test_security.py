"""Strangers, forged requests, tricks and accidents."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from starlette.requests import Request

from postil.campaigns.models import Item
from postil.campaigns.pages.server import STATIC, WebOptions
from postil.web.security import LARGEST, RateLimiter, SecurityMiddleware

Make = Any
HOSTILE = "<script>alert(1)</script></textarea><img src=x onerror=alert(2)>\"'`{{7*7}}${1}&lt;\u202eevil"


def encoded(size: int) -> bytes:
    return b"csrf=" + b"x" * (size - 5)


def test_every_answer_has_its_headers(place: Make) -> None:
    here = place()
    ann, lead = here.visitor("Ann"), here.visitor("Lee", "lead")
    pages = [
        *(ann.get(path) for path in ("/", "/grade", "/task", "/lead", "/join/x", "/nowhere", "/static/postil.css")),
        *(lead.get(path) for path in ("/lead", "/lead/agreement", "/lead/conflicts")),
        ann.client.get("/grade", headers={"host": "evil.example"}),
    ]
    for page in pages:
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["referrer-policy"] == "same-origin"


def test_nothing_on_a_page_can_act_and_nothing_is_loaded_from_elsewhere(place: Make) -> None:
    item = Item(item=HOSTILE, system=HOSTILE, text=HOSTILE, title=HOSTILE, content=HOSTILE, lang=HOSTILE)
    fine = Item(item="b", system="s", text="Fine", title="T")
    here = place([item, fine])
    ann, bob, lead = here.visitor(HOSTILE), here.visitor("Bob"), here.visitor("Lee", "lead")
    pages = [ann.get("/grade").text, ann.client.get("/task").json()["task"]]
    for who, grade in ((ann, "1"), (bob, "5")):
        who.ask("/rate", **who.form(), grade=grade)
        who.ask("/rate", **who.form(), grade=grade)
    who = here.visitor("Bob")
    who.ask("/skip", **(who.form() if "assignment" in who.get("/grade").text else {}), reason=HOSTILE)
    lead.post("/lead/adjudicate", number="0", grade="3", reason=HOSTILE, idempotency_key="r")
    pages += [lead.get(path).text for path in ("/lead", "/lead/agreement", "/lead/conflicts?show=adjudicated")]
    pages += [lead.post("/lead/invite", name=HOSTILE).text, ann.get("/join/" + HOSTILE.replace("/", "")).text]
    for page in pages:
        assert "<img" not in page
        assert "alert(1)</script>" not in page
        assert not re.search(r"<script(?! (type=\"module\" )?src=\"/static/)", page)
        bare = re.sub(r'="[^"]*"', '=""', page)
        assert not re.search(r"<[^>]+\s(on\w+|style)=", bare)
        assert not re.search(r"(src|href)=\"?(https?:)?//", page)
    assert sum("{{7*7}}" in page for page in pages) >= 5


def test_only_names_of_ours_are_answered(place: Make) -> None:
    here = place(options=WebOptions(names=("grading.example.org",)))
    who = here.visitor()
    known = ["localhost:8000", "127.0.0.1", "[::1]:80", "192.168.1.5:8000", "grading.example.org", "LOCALHOST"]
    strange = ["evil.example", "localhost.evil.example", "", "127.0.0.1.evil.example", "[::1", "a@b@c"]
    status = {host: who.client.get("/join/x", headers={"host": host}).status_code for host in known + strange}
    assert status == dict.fromkeys(known, 200) | dict.fromkeys(strange, 421)


def test_a_request_names_one_server(place: Make) -> None:
    who = place().visitor()
    for hosts in (("localhost", "evil.example"), ("evil.example", "localhost"), ("localhost", "localhost")):
        answer = who.client.get("/join/x", headers=[("host", host) for host in hosts])
        assert answer.status_code == 400, hosts


def test_a_script_hears_in_json_why_it_is_refused(place: Make) -> None:
    ann = place().visitor("Ann")
    for body, headers, status in ((encoded(LARGEST + 1), {}, 413), (b"", {"origin": "http://evil.example"}, 403)):
        answer = ann.raw("/skip", body, accept="application/json", **headers)
        assert answer.status_code == status
        assert answer.json()["problem"]


def test_pages_of_other_sites_cannot_post(place: Make) -> None:
    here = place()
    ann = here.visitor("Ann")
    form = ann.form() | {"grade": "3"}
    strange = [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:81"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ]
    assert [ann.client.post("/rate", data=form, headers=headers).status_code for headers in strange] == [403] * 5
    assert here.store.results.events() == []
    assert ann.client.post("/rate", data=form, headers={"origin": "http://localhost"}).status_code == 303


def test_an_origin_that_cannot_be_read_is_refused(place: Make) -> None:
    who = place().visitor()
    for origin in ("http://[", "http://[::1", "//localhost", "localhost", "", "http://\xff", "http://localhost:x"):
        answer = who.client.post("/join", headers={"origin": origin.encode("latin-1")})
        assert (answer.status_code, "another site" in answer.text) == (403, True), origin


def test_https_takes_forms_of_its_own_https_pages_only(place: Make) -> None:
    who = place(options=WebOptions(names=("a.example",), secure=True)).visitor()
    ours = {
        ("a.example", "https://a.example"),
        ("a.example:443", "https://a.example"),
        ("a.example:8443", "https://A.Example:8443"),
    }
    strange = {
        ("a.example", "http://a.example"),
        ("a.example:8443", "http://a.example:8443"),
        ("a.example", "https://a.example:8443"),
        ("a.example:8443", "https://a.example"),
        ("a.example", "https://a.example.evil.example"),
        ("a.example", "https://a.example@evil.example"),
        ("a.example", "ftp://a.example"),
    }
    for host, origin in ours | strange:
        answer = who.client.post("/join", headers={"host": host, "origin": origin})
        # 415 is as far as a request comes that has no form in it.
        assert answer.status_code == (415 if (host, origin) in ours else 403), (host, origin)


def test_a_form_needs_the_token_of_its_page(place: Make) -> None:
    here = place()
    ann, bob, lead = here.visitor("Ann"), here.visitor("Bob"), here.visitor("Lee", "lead")
    fields = ann.form() | {"name": "Eve", "grade": "3", "number": "0", "person": "1", "reason": "x"}
    version = here.store.version()
    for csrf in ("", "x", bob.csrf):
        for path in ("/rate", "/skip", "/undo", "/out", "/lead/invite", "/lead/adjudicate", "/lead/remove"):
            who = lead if path.startswith("/lead") else ann
            answer = who.client.post(path, data=fields | {"csrf": csrf})
            assert (answer.status_code, "Reload it" in answer.text) == (403, True), path
    assert here.store.version() == version
    assert ann.client.post("/rate", data=fields).status_code == 303


def test_a_large_body_is_refused_however_it_is_sent(place: Make) -> None:
    here = place()
    ann = here.visitor("Ann")
    assert ann.raw("/rate", encoded(LARGEST + 1)).status_code == 413
    assert ann.raw("/rate", iter([encoded(40_000), b"y" * 40_000])).status_code == 413
    assert ann.raw("/rate", b"", **{"content-length": "9" * 12}).status_code == 413
    assert ann.raw("/rate", encoded(LARGEST)).status_code == 403  # no token of ours in it
    assert here.store.results.events() == []


def test_what_is_no_form_is_refused(place: Make) -> None:
    ann = place().visitor("Ann")
    assert ann.raw("/rate", b"{}", **{"content-type": "application/json"}).status_code == 415
    assert ann.raw("/rate", b"a=%ff").status_code == 400
    assert ann.raw("/rate", b"\xff=1").status_code == 400
    assert ann.raw("/rate", b"&".join(b"a=1" for _ in range(200))).status_code == 400


def test_there_are_no_ways_to_other_files(place: Make) -> None:
    lead = place().visitor("Lee", "lead")
    for path in (
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "/static/..%5cserver.py",
        "/static//etc/passwd",
        "/static/htmx.LICENSE.txt",
        "/static/postil.css%00.js",
        "/static/",
        "/lead/files/../../campaign.db",
        "/lead/files/ratings.exe",
        "/lead/files/ratings",
        "/lead/files/%2e%2e%2fcampaign.csv",
        "/docs",
        "/openapi.json",
        "/%00",
    ):
        answer = lead.get(path)
        assert (answer.status_code, "no such page" in answer.text) == (404, True), path


def test_what_is_served_is_what_is_there_and_is_kept_by_its_tag(place: Make) -> None:
    who = place().visitor()
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}
    for name in STATIC:
        answer, kind = who.get(f"/static/{name}"), kinds[name.rpartition(".")[2]]
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        again = who.client.get(f"/static/{name}", headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert b"http://" not in answer.content.replace(b"http://www.w3.org/", b"")


def test_an_invitation_works_once_and_looking_does_not_use_it_up(place: Make) -> None:
    here = place()
    token = here.store.people.invite("Ann", "annotator")
    ann, eve = here.visitor(), here.visitor()
    for _ in range(3):
        assert eve.get(f"/join/{token}").status_code == 200
    joined = ann.join(token)
    assert (joined.status_code, joined.headers["location"]) == (303, "/")
    cookie = next(one for one in joined.headers.get_list("set-cookie") if "-join" not in one)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    assert token not in cookie
    late = eve.join(token)
    assert (late.status_code, "already used" in late.text) == (409, True)
    assert eve.get("/grade").status_code == 401


def test_an_invitation_ends_and_a_token_must_be_whole(place: Make) -> None:
    here = place()
    token = here.store.people.invite("Ann", "annotator", days=1)
    assert here.visitor().join(token[:-1]).status_code == 404
    here.clock.now += 86_401
    late = here.visitor().join(token)
    assert (late.status_code, "ask for a new one" in late.text) == (410, True)


def test_https_has_secure_cookies(place: Make) -> None:
    here = place(options=WebOptions(secure=True))
    page = here.visitor().get("/join/x")
    assert "Secure" in page.headers["set-cookie"]
    assert "strict-transport-security" in page.headers


def test_guessing_tokens_ends_soon_and_locks_nobody_out(place: Make) -> None:
    here = place()
    ann, eve = here.visitor("Ann"), here.visitor()
    token = here.store.people.invite("Bob", "annotator")
    assert [eve.join("guess").status_code for _ in range(12)] == [404] * 10 + [429] * 2
    late = eve.join("guess")
    assert (late.status_code, "five minutes" in late.text) == (429, True)
    # Everyone has one address here, as behind one router.
    assert ann.ask("/rate", **ann.form(), grade="4").status_code == 200
    assert here.visitor().join(token).status_code == 303
    used = here.visitor().join(token)
    assert (used.status_code, "already used" in used.text) == (409, True)
    assert eve.join(here.store.people.invite("Lee", "lead")).status_code == 303


def test_links_that_were_used_are_no_guesses(place: Make) -> None:
    here = place()
    token = here.store.people.invite("Ann", "annotator")
    assert here.visitor().join(token).status_code == 303
    assert {here.visitor().join(token).status_code for _ in range(12)} == {409}
    assert here.visitor().join("guess").status_code == 404


def test_a_limit_is_for_a_time() -> None:
    now = [0.0]
    limiter = RateLimiter(2, 60, clock=lambda: now[0])
    limiter.record("a")
    now[0] = 30
    limiter.record("a")
    assert limiter.exceeded("a")
    now[0] = 61
    assert not limiter.exceeded("a")


def test_nobody_and_annotators_see_no_page_of_leads(place: Make) -> None:
    here = place()
    nobody, ann = here.visitor(), here.visitor("Ann")
    for path in ("/lead", "/lead/agreement", "/lead/conflicts", "/lead/files/ratings.csv"):
        assert nobody.get(path).status_code == 401
        assert ann.get(path).status_code == 403
    for path in ("/grade", "/task", "/"):
        assert nobody.get(path).status_code == 401
    for path in ("/lead/invite", "/lead/adjudicate", "/lead/remove"):
        assert ann.post(path, name="Eve", role="lead", number="0", grade="3", person="1").status_code == 403
    assert [person.name for person in here.store.people.everyone() if person.name] == ["Ann"]


def test_signing_out_and_leaving_end_a_session(place: Make) -> None:
    here = place()
    ann, bob = here.visitor("Ann"), here.visitor("Bob")
    form = ann.form()
    assert ann.post("/out").status_code == 200
    answer = ann.client.post("/rate", data=form | {"grade": "3"}, headers={"accept": "application/json"})
    assert answer.status_code == 401
    form = bob.form()
    here.store.people.remove(next(person for person in here.store.people.everyone() if person.name == "Bob"))
    assert bob.get("/grade").status_code == 401
    for fields in ({"grade": "3"}, {"grade": "x"}, {"csrf": ""}):  # whoever is out hears that, whatever they send
        assert bob.client.post("/rate", data=form | fields).status_code == 401, fields
    assert bob.client.post("/skip", data=form | {"reason": "why"}).status_code == 401
    assert here.store.results.events() == []


def test_a_link_from_elsewhere_is_followed_once_more_by_our_own_page(place: Make) -> None:
    who = place().visitor()
    page = who.client.get("/", headers={"sec-fetch-site": "cross-site"})
    assert (page.status_code, 'http-equiv="refresh"' in page.text) == (200, True)
    assert who.get("/").status_code == 401


def test_two_campaigns_do_not_share_a_cookie(place: Make) -> None:
    names = [{one.name for one in place().visitor("Ann").client.cookies.jar} for _ in range(2)]
    assert not names[0] & names[1]


async def test_only_requests_and_the_life_of_the_server_pass() -> None:
    seen = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope["type"])

    for kind in ("lifespan", "websocket"):
        await SecurityMiddleware(app, [])({"type": kind}, None, None)  # type: ignore[arg-type]
    assert seen == ["lifespan"]


COOKIES = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from postil.web.guard import bearer_of
for one in ("a=", "=", "a= ", ";", " ;", '"', "a", "\\\\1"):
    for start in ("", 'postil-desk-web="'):
        bearer_of({"host": "here", "cookie": start + one * (64_000 // len(one)) + '"'})
"""


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
def test_cookies_are_read_in_linear_time() -> None:
    found = subprocess.run([sys.executable, "-c", COOKIES], check=False)  # noqa: S603 - ours
    assert found.returncode == 0


def test_cookies_with_backslashes_are_dropped() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG001
        seen.append(Request(scope).headers["cookie"])

    async def nothing(message: Any = None) -> Any:
        return message

    sent = [(b"host", b"localhost"), (b"cookie", b'a="\\\\1"; b=2;c="\\"')]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": sent}
    asyncio.run(SecurityMiddleware(app, ["localhost"])(scope, nothing, nothing))
    assert seen == [" b=2"]
