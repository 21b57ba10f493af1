"""The order of a thread over the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from postil.comments.retrieval import Retriever
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, PostilError, Undefined, UnknownName, UsageError
from postil.service.operations import ServiceModels
from postil.threads.quality import Quality
from postil.threads.thread import Thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.service.options import ServiceConfig

    Ask = Callable[..., Any]

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
    both = ask("rank", article=THREAD)
    assert both == ask("rank", article=THREAD, by={"quality": 3, "relevance": 3})
    assert ask("rank", article=THREAD, quality="good") == by_quality
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
def test_what_is_refused(ask: Ask, more: dict[str, Any], error: type[PostilError], problem: str) -> None:
    with pytest.raises(error) as found:
        ask("rank", **{"article": THREAD, **more})
    assert type(found.value) is error
    assert str(found.value).startswith(problem)


def test_a_service_without_models_needs_an_order(config: ServiceConfig) -> None:
    service = ServiceModels.open(msgspec.structs.replace(config, models={}, quality={}))
    with pytest.raises(UsageError, match="by: this service has no model that ranks; expected an order"):
        service.call("rank", b'{"article": {"title": "a", "comments": [{"text": "b"}]}}')
    assert b'"comments":[{' in service.call(
        "rank", b'{"article": {"title": "a", "comments": [{"text": "b"}]}, "by": {"length": 1}}'
    )
