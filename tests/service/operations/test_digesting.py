"""Suggestions and passages of an article, as they are delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., Any]

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
