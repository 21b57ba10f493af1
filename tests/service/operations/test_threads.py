"""Threads over the service: their order, and what is held of new comments."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from postil.comments.retrieval import Retriever
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, PostilError, Undefined, UnknownName, UsageError
from postil.service.operations import OpenModels
from postil.service.options import ServiceOptions
from postil.threads.quality import Quality
from postil.threads.thread import Thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.service.config import ServiceConfig

    Ask = Callable[..., Any]
    from pathlib import Path


SAID = (
    {"id": 7, "text": "A draw, how dull this chess is.", "upvotes": 1, "date": "2020-01-02"},
    {"text": "Rain today, rain tomorrow.", "upvotes": 9, "date": "2020-01-01"},
    {"id": "c", "text": "<b>rain today</b> RAIN tomorrow!", "upvotes": 4, "date": 1577923200},
)
THREAD = {"id": "t", "title": "Rain today", "comments": SAID}
ROW = Article(
    "t",
    "Rain today",
    tuple(Comment(f"c{at}", str(one["text"]).replace("<b>", "").replace("</b>", "")) for at, one in enumerate(SAID)),
)


def order(found: dict[str, Any]) -> list[str]:
    return [one["comment"] for one in found["comments"]]


def test_votes_and_dates_need_no_model(ask: Ask) -> None:
    found = ask("rank", article=THREAD, by={"votes": 1})
    assert found["article"] == "t"
    assert order(found) == ["#2", "c", "7"]
    assert [one["score"] for one in found["comments"]] == [1.0, 0.5, 0.0]
    assert order(ask("rank", article=THREAD, by={"oldest": 2})) == ["#2", "7", "c"]
    first, copy, _ = found["comments"]
    assert first["reasons"][0] == "shares 'rain', 'today' with the title"
    assert (copy["text"], copy["same_as"]) == ("rain today RAIN tomorrow!", "#2")


def test_models_rank_by_relevance_and_quality(ask: Ask, config: ServiceConfig) -> None:
    (relevance,) = Retriever.open(config.models["plain"]).rank([ROW])
    by_relevance = ask("rank", article=THREAD, by={"relevance": 1})
    assert [one["score"] for one in by_relevance["comments"]] == sorted(relevance.tolist(), reverse=True)
    quality = Quality.open(config.quality["good"]).scores(Thread.of(ROW, "words"))
    by_quality = ask("rank", article=THREAD, by={"quality": 1})
    scores = sorted((one["score"] for one in by_quality["comments"]), reverse=True)
    assert scores == pytest.approx(np.sort(quality)[::-1])
    both = ask("rank", article=THREAD, by={"quality": 3, "relevance": 3})
    assert both not in (by_quality, by_relevance)
    for more in ({}, {"quality": "good"}, {"quality": "good", "model": "plain"}):
        assert ask("rank", article=THREAD, **more) == by_quality
    assert ask("rank", article=THREAD, model="plain") == by_relevance


def test_diversity_puts_a_copy_last(ask: Ask) -> None:
    assert order(ask("rank", article=THREAD, by={"votes": 1}, diversity=0.9))[-1] == "c"


def of(*comments: dict[str, Any], title: str = "a", times: int = 1) -> dict[str, Any]:
    return {"article": {"title": title, "comments": [*comments] * times}}


BY_VOTES = {"by": {"votes": 1}}


@pytest.mark.parametrize(
    ("more", "error", "problem"),
    [
        ({"by": {"vote": 1}}, InvalidInput, "by: unknown order 'vote'; did you mean 'votes'?"),
        ({"by": {"votes": 0}}, InvalidInput, "by.votes: expected a number above 0, got 0"),
        ({"by": {"votes": "1"}}, InvalidInput, 'by.votes: expected a number above 0, got "1"; write it without'),
        ({"by": {}}, InvalidInput, "by: expected at least one of relevance, quality, votes"),
        ({"by": ["votes"]}, InvalidInput, "by: expected an object in braces, got an array"),
        ({"diversity": 2}, InvalidInput, "diversity: expected a number from 0 to 1, got 2"),
        ({"by": {"votes": 1}, "model": "plain"}, InvalidInput, "model: expected the order relevance in by"),
        ({"by": {"votes": 1}, "quality": "good"}, InvalidInput, "quality: expected the order quality in by"),
        ({"quality": "plain"}, UnknownName, "unknown quality 'plain'. Known: good"),
        ({"model": "good"}, UnknownName, "unknown model 'good'"),
        ({"article": {"title": "a"}}, InvalidInput, "article.comments: expected at least one comment, got none"),
        (of({"text": "b"}, times=2001), InvalidInput, "article.comments: expected at most 2,000 comments, got 2,001"),
        (of({"text": "b", "id": 1}, {"text": "c", "id": "1"}), InvalidInput, "article.comments: expected an id for e"),
        (of({"text": "b", "upvotes": 1}, {"text": "c"}) | BY_VOTES, Undefined, "by: a comment has no upvotes; leave"),
        (of({"text": "b"}, title="!") | {"model": "plain"}, UsageError, "article: it has no word in its title, and i"),
    ],
)
def test_orders_that_are_refused(ask: Ask, more: dict[str, Any], error: type[PostilError], problem: str) -> None:
    with pytest.raises(error) as found:
        ask("rank", **{"article": THREAD, **more})
    assert type(found.value) is error
    assert str(found.value).startswith(problem)


def test_a_service_without_models_needs_an_order(config: ServiceConfig) -> None:
    service = OpenModels.open(replace(config, models={}, quality={}))
    with pytest.raises(UsageError, match="by: this service has no model that ranks; expected an order"):
        service.call("rank", b'{"article": {"title": "a", "comments": [{"text": "b"}]}}')
    assert b'"comments":[{' in service.call(
        "rank", b'{"article": {"title": "a", "comments": [{"text": "b"}]}, "by": {"length": 1}}'
    )


SHORT = {
    "title": "Rain today",
    "comments": [{"id": "c1", "text": "Rain today and rain tomorrow."}, {"id": "c2", "text": "Thanks!"}],
}


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "@ana I agree with you, thanks for the answer!",
        "> it rains\n\nNo, it does not. Are you sure?",
        "Edit: I was wrong.",
        "What the OP said: «it will rain» and nothing else.",
        "In 2018-2019 we had 3.14159 inches.",
    ],
)
def test_what_a_reader_may_say_to_others_is_accepted(ask: Ask, text: str) -> None:
    assert ask("screen", text=text) == {"decision": "accept", "reasons": [], "quality": None}


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("What a shitty idea", ["profanity or an insult: shitty"]),
        ("sh<b>i</b>tty", ["profanity or an insult: shitty"]),
        ("> you idiot\n\nHe said so.", ["profanity or an insult: idiot"]),
        ("Buy at www.web.org now", ["holds a web address"]),
        ("Buy [here](https://web.org/x) now", ["holds a web address"]),
        ("Buy at http&#58;//spam now", ["holds a web address"]),
        ("Write to ana@web.org", ["holds an e-mail address", "holds a web address"]),
        ("Call me: +49 170 1234567", ["holds what may be a telephone number"]),
        (" \0\n", ["no text"]),
        ("", ["no text"]),
        ("<img src='x'>", ["no text"]),
        ("{};<>()=[]{};<>()=[]", ["code"]),
    ],
)
def test_what_is_held(ask: Ask, text: str, reasons: list[str]) -> None:
    found = ask("screen", text=text)
    assert found["decision"] == "hold"
    assert [one for one in found["reasons"] if one in reasons] == reasons
    assert found.get("empty", False) == ("no text" in reasons)
    assert found.get("profanity", False) == reasons[0].startswith("profanity")


def test_a_near_copy_of_another_comment_is_held(ask: Ask) -> None:
    found = ask("screen", text="rain TODAY and rain tomorrow", article=SHORT)
    assert found["reasons"] == ["a near copy of comment c1 under the article"]
    # Two readers may thank somebody in the same words.
    assert ask("screen", text="Thanks!", article=SHORT)["decision"] == "accept"


def test_the_quality_is_compared_with_the_thread(ask: Ask) -> None:
    short, long = (
        ask("screen", text=text, article=SHORT, quality="good")["quality"]
        for text in ("No.", "No, since the wind turned to the south in the night, as it often does here in May.")
    )
    assert short < 0.5 < long


def test_what_the_service_allows_is_accepted(config: ServiceConfig, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("umbrella\n")
    changed = replace(
        config, options=ServiceOptions(allow=("profanity", "addresses"), blocklist=str(tmp_path / "words"))
    )
    service = OpenModels.open(changed)
    assert b'"accept"' in service.call("screen", b'{"text": "Shitty, see www.web.org or call 0170 1234567"}')
    found = msgspec.json.decode(service.call("screen", b'{"text": "My [umbrella](x)!"}'))
    assert found["reasons"] == ["on the block list: umbrella"]


def test_profanity_by_a_model(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "profanity_check.py").write_text("def predict_prob(texts):\n    return [0.75 for _ in texts]\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "profanity_check", raising=False)
    found = ask("screen", text="You are all the same.", profanity="model")
    monkeypatch.delitem(sys.modules, "profanity_check")
    assert found["reasons"] == ["profanity or an insult (probability .75)"]
    assert ask("screen", text="You are all the same.")["decision"] == "accept"


@pytest.mark.parametrize(
    ("request_", "error", "problem"),
    [
        ({}, InvalidInput, "text: missing; a screen request needs text; this request has: no fields"),
        ({"text": "a", "profanity": "none"}, InvalidInput, 'profanity: expected list or model, got "none"'),
        ({"text": "a", "quality": "x"}, UnknownName, "unknown quality 'x'. Known: good"),
        ({"text": "a", "quality": "good"}, InvalidInput, "quality: expected an article with comments"),
        ({"text": "a", "article": {"title": "a", "comments": [{"text": "b"}] * 2001}}, InvalidInput, "article.commen"),
    ],
)
def test_comments_that_are_refused(ask: Ask, request_: dict[str, Any], error: type[PostilError], problem: str) -> None:
    with pytest.raises(error) as found:
        ask("screen", **request_)
    assert str(found.value).startswith(problem)
