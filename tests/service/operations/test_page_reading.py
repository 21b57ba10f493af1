"""Articles of pages that were sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., Any]

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
