"""Suggestions over the service: what is answered, in which order, of which pages, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from postil.comments.retrieval import Retriever
from postil.data.rows import Article
from postil.errors import InvalidInput, PostilError, UnknownName, UsageError
from postil.screening.filtering import CandidateFilter

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.service.config import ServiceConfig
    from postil.service.operations import OpenModels

    Ask = Callable[..., Any]


RAIN = {"title": "Rain in town", "lang": "en"}


def test_the_suggestions_are_those_of_the_model(ask: Ask, config: ServiceConfig) -> None:
    retriever = Retriever.open(config.models["plain"], candidate_filter=CandidateFilter(repeat=0))
    (wanted,) = retriever.comment([Article("x", RAIN["title"], (), lang="en")], 5)
    found = ask("suggest", article={**RAIN, "id": "x"})
    assert found["article"] == "x"
    assert (found["model"], found["model_hash"]) == ("plain", retriever.model.hash)
    assert [one["text"] for one in found["suggestions"]] == [one.text for one in wanted.suggestions]
    assert [one["text"] for one in found["filtered"]] == [one.text for one in wanted.filtered]
    first = found["suggestions"][0]
    assert first["provenance"]["label"].startswith("Machine-generated suggestion")
    assert "team" not in first
    assert "models" not in found


def test_k_and_the_model_are_chosen(ask: Ask) -> None:
    found = ask("suggest", article=RAIN, model="both", k=1)
    assert found["model"] == "both"
    assert len(found["suggestions"]) == 1


def test_the_same_article_has_the_same_made_up_id(ask: Ask) -> None:
    one, same, other = (ask("suggest", article={"title": title})["article"] for title in ("Rain", "Rain", "Snow"))
    assert one == same != other


def test_a_training_article_is_known_by_its_id(ask: Ask) -> None:
    sources = [
        source["article"]
        for one in ask("suggest", article={"id": "n2", "title": "Rain and snow in town"})["suggestions"]
        for source in one["provenance"]["sources"]
    ]
    assert sources
    assert "n2" not in sources


def test_html_is_read_as_its_text(ask: Ask) -> None:
    plain, marked = (
        ask("suggest", article={"title": title}) for title in ("Rain & snow", "<p>Rain &amp; <b>snow</b></p>")
    )
    assert plain["suggestions"] == marked["suggestions"] != []


@pytest.mark.parametrize(
    ("article", "reason"),
    [
        ({"title": "?!"}, "the article has no word in its title, and ir-t reads nothing else"),
        ({"title": ""}, "the article has no word in its title, and ir-t reads nothing else"),
        ({"title": "Zyxwell"}, "no training article with comments shares a word with the title of this one"),
        ({"title": "\0"}, "the article has no word in its title, and ir-t reads nothing else"),
        ({"title": "Chess today", "lang": "zh"}, "all 2 candidates are filtered out"),
    ],
)
def test_an_article_without_suggestions_has_a_reason(ask: Ask, article: object, reason: str) -> None:
    found = ask("suggest", article=article)
    assert found["suggestions"] == []
    assert found["reason"].startswith(reason)


def test_only_what_is_probably_worth_showing(ask: Ask) -> None:
    every, some = (ask("suggest", article=RAIN, model="both", **more) for more in ({}, {"precision": 0.7}))
    short = [one for one in every["suggestions"] if one["probability"] < 0.6]
    assert short
    assert some["suggestions"]
    assert all(one["probability"] >= 0.6 for one in some["suggestions"])
    assert any("of being worth showing, below .70 for precision .70" in one["reason"] for one in some["filtered"])
    # The request before changes nothing for the next one.
    assert ask("suggest", article=RAIN, model="both") == every


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"precision": 0.7}, "model plain: this model was never calibrated, so nothing is known of what is worth sho"),
        ({"precision": 0.9, "model": "both"}, "model both: by its 60 labels no threshold gives precision .90; the hi"),
        ({"precision": 0.9, "coverage": 0.1}, "expected either a precision or a coverage, got both"),
    ],
)
def test_a_precision_that_is_not_to_be_had(ask: Ask, config: ServiceConfig, more: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as found:
        ask("suggest", article=RAIN, **more)
    assert str(found.value).startswith(problem)
    assert not any(folder in str(found.value) for folder in config.models.values())


def test_two_models_take_turns(ask: Ask, config: ServiceConfig) -> None:
    hashes = [Retriever.open(folder).model.hash for folder in config.models.values()]
    found = ask("suggest", article=RAIN, interleave=["plain", "both"], k=2)
    assert (found["model"], found["models"], found["model_hashes"]) == (None, ["plain", "both"], hashes)
    assert [one["rank"] for one in found["suggestions"]] == [1, 2]
    assert {one["team"] for one in found["suggestions"]} == {0, 1}
    for one in found["suggestions"]:
        assert one["provenance"]["model_hash"] == hashes[one["team"]]
    assert ask("suggest", article=RAIN, interleave=["plain", "both"], k=2) == found


def test_either_model_begins_for_some_articles(ask: Ask) -> None:
    first = {
        ask("suggest", article={**RAIN, "id": str(number)}, interleave=["plain", "both"])["suggestions"][0]["team"]
        for number in range(8)
    }
    assert first == {0, 1}


def test_a_model_without_suggestions_cannot_take_turns(ask: Ask) -> None:
    found = ask("suggest", article={"title": "north"}, interleave=["plain", "both"])
    assert found["suggestions"] == []
    assert found["reason"] == "plain: no training article with comments shares a word with the title of this one"


NONE: Any = object()
VOTES_AS_TEXT = {"article": {"title": "a", "comments": [{"text": "b"}, {"text": "b", "upvotes": "7"}]}}


@pytest.mark.parametrize(
    ("more", "error", "problem"),
    [
        ({"article": NONE}, InvalidInput, "article: missing; a suggest request needs article; this request has: no f"),
        ({"article": {}}, InvalidInput, "article.title: missing; a sent article needs title; this object has: no fie"),
        ({"article": {"title": 1}}, InvalidInput, "article.title: expected text, got 1"),
        ({"article": []}, InvalidInput, "article: expected an object in braces, got an array"),
        ({"article": {"title": "a", "lang": 5}}, InvalidInput, "article.lang: expected text, got 5"),
        ({"article": {"title": "a", "date": "x"}}, InvalidInput, "article.date: expected a date"),
        (VOTES_AS_TEXT, InvalidInput, 'article.comments[1].upvotes: expected an integer of at most 64 bits, got "7";'),
        ({"k": 0}, InvalidInput, "k: expected an integer from 1 to 100, got 0"),
        ({"k": 101}, InvalidInput, "k: expected an integer from 1 to 100, got 101"),
        ({"coverage": 0}, InvalidInput, "coverage: expected a number above 0 to 1, got 0"),
        ({"k": True}, InvalidInput, "k: expected an integer from 1 to 100, got true"),
        ({"k": 2.5}, InvalidInput, "k: expected an integer from 1 to 100, got 2.5"),
        ({"precision": "x"}, InvalidInput, 'precision: expected a number above 0 to 1, got "x"'),
        ({"model": "both "}, UnknownName, "unknown model 'both '; did you mean 'both'?"),
        ({"interleave": ["a"]}, InvalidInput, "interleave: expected the names of two models, got a"),
        ({"interleave": ["both", "both"]}, InvalidInput, "interleave: expected the names of two models, got both, bo"),
        ({"interleave": "both"}, InvalidInput, 'interleave: expected an array, got "both"'),
        ({"interleave": ["both", "plain"], "model": "both"}, InvalidInput, "model: expected either model or interlea"),
        ({"interleave": ["both", "x"]}, InvalidInput, "interleave: unknown model 'x'"),
    ],
)
def test_what_is_refused(ask: Ask, more: dict[str, Any], error: type[PostilError], problem: str) -> None:
    request = {"article": {"title": "a"}} | more
    with pytest.raises(error) as found:
        ask("suggest", **{name: value for name, value in request.items() if value is not NONE})
    assert type(found.value) is error
    assert str(found.value).startswith(problem)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "expected JSON, got something else at line 1, column 1: Expecting value"),
        (b'{"article"', "expected JSON, got something else at line 1, column 11"),
        (b"[]", "expected an object in braces, got an array"),
        (b"null", "expected an object in braces, got null"),
        (b'{"article": {"title": "\xff"}}', "expected JSON in UTF-8, got byte 0xff at offset 23"),
        (b'{"article": {"title": "\\ud800"}}', "article.title: expected text, got"),
        (b'{"article": {"title": "a"}, "k": NaN}', "k: NaN is not JSON"),
        (b'{"article": {"title": "a", "title": "b"}}', 'title: expected every key once in its object, got "title" tw'),
        (b'{"article": {"title": "a"}, "k": 1' + b"0" * 5000 + b"}", "a number has thousands of digits"),
        (b'{"x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "the JSON is nested too deeply"),
        (b'{"article": {"title": "a"}, "precision": 1e999}', "precision: expected a"),
    ],
)
def test_a_body_that_is_no_request(service: OpenModels, body: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput) as found:
        service.call("suggest", body)
    assert str(found.value).startswith(problem)


def test_unknown_fields_are_ignored(ask: Ask) -> None:
    assert ask("suggest", article={**RAIN, "author": {"name": "x"}}, later=[1]) == ask("suggest", article=RAIN)


def test_an_operation_that_does_not_exist(service: OpenModels) -> None:
    with pytest.raises(UnknownName, match=r"unknown operation 'sugest'; did you mean 'suggest'\?"):
        service.call("sugest", b"{}")


def test_the_comments_of_the_article_are_not_read(ask: Ask) -> None:
    found = ask("suggest", article={**RAIN, "comments": [{"id": 1, "text": "a"}, {"id": 1, "text": "b"}]})
    assert found["suggestions"]


PARAGRAPHS = ("The rain fell on Ely.", "Nobody saw the sun.", "The rain of Ely fell into the Ouse.")


def test_suggestions_and_passages_of_an_article(ask: Ask) -> None:
    article = {"title": "Rain in the north", "content": "\n\n".join(PARAGRAPHS), "url": "https://ely.example/rain"}
    found = ask("digest", **article)
    alone = ask("suggest", article=article)
    assert found["suggestions"] == alone["suggestions"] != []
    for name in ("article", "model", "model_hash", "reason"):
        assert found[name] == alone[name]
    assert found["url"] == "https://ely.example/rain"
    assert sorted(one["text"] for one in found["passages"]) == sorted(PARAGRAPHS)
    assert [one["rank"] for one in found["passages"]] == [1, 2, 3]
    assert "telling word: nobody" in {one["unit"] for one in found["passages"][0]["reasons"]}
    assert "filtered" not in found


def test_each_block_of_html_is_a_passage(ask: Ask) -> None:
    found = ask("digest", title="Rain", content="".join(f"<p>{one}</p>" for one in PARAGRAPHS))
    assert sorted(one["text"] for one in found["passages"]) == sorted(PARAGRAPHS)


def test_an_article_without_text_has_no_passages(ask: Ask) -> None:
    for content in (None, "", " \n", "<p> </p>"):
        assert ask("digest", title="Rain", content=content)["passages"] == []


PAGE = "<html lang=en><title>Rain</title><body><article><p>It rained on Ely.</p></article></body></html>"


def test_a_page_of_html(ask: Ask) -> None:
    assert ask("article", html=PAGE, url="https://ely.example/rain") == {
        "title": "Rain",
        "content": "It rained on Ely.",
        "lang": "en",
        "date": None,
        "url": "https://ely.example/rain",
        "notes": [],
    }


@pytest.mark.parametrize(
    ("text", "title", "content"),
    [
        ("Rain\r\n\nIt rained on Ely.\n", "Rain", "It rained on Ely."),
        ("It rained on Ely.", "", "It rained on Ely."),
        ("rain " * 90 + "\nmore", "", "rain " * 90 + "\nmore"),
    ],
)
def test_a_page_of_plain_text(ask: Ask, text: str, title: str, content: str) -> None:
    found = ask("article", text=text)
    assert (found["title"], found["content"]) == (title, content)


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        ({}, "url: expected url, html or text, got none"),
        ({"html": PAGE, "text": "Rain"}, "text: expected either html or text, got both"),
        ({"url": "https://ely.example/"}, "html: expected html or text, got none"),  # the front fetches pages
        ({"text": " \n"}, "text: expected a page with a text, got an empty one"),
        ({"html": "<p></p>"}, "found no text of an article on the page"),
    ],
)
def test_what_is_no_page_is_refused(ask: Ask, request_: dict[str, str], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        ask("article", **request_)
