"""The index of several pages: cards that lead to the highlighted pages and the originals, and what failed."""

from __future__ import annotations

from msgspec.structs import replace

from highlighted import ACTS, Read, hostile_pages, pages
from postil.interest.html.page import index_page


def test_cards_lead_to_the_pages_and_the_originals() -> None:
    result = pages()
    page = Read(index_page(result))
    links = [str(each["href"]) for each in page.all("a")]
    assert links[:3] == ["tea%201.html", "https://example.org/tea", "tea%201.html#passage-1"]
    assert set(links[3:]) == {
        *(f"tea%201.html#passage-{n}" for n in (2, 3)),
        *(each.link for each in result.pages[0].passages),
    }
    assert page.text("h2").startswith("A history of tea茶的历史Le café")
    assert page.text("p.said") == "".join(each.text for page in result.pages for each in page.passages)
    assert "4 passages of 3 pages" in page.text("header")
    assert "No passage was found" in page.text("li.card")
    assert "scan.pdf: the pages are pictures without text" in page.text("section.failed")
    assert "it is short" in page.text("p.note")


def test_a_single_page_needs_no_filter_and_titles_stay_escaped() -> None:
    result = replace(pages(), pages=pages().pages[:1], failed=(), name="Tea & more")
    page = Read(index_page(result))
    assert page.all("search") == page.all("section") == []
    assert page.text("h1") == "Tea & more"


def test_what_strangers_write_stays_text() -> None:
    tame, page = Read(index_page(pages())), Read(index_page(hostile_pages()))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in tame.elements}
    names = {name for _, attributes in tame.elements for name in attributes}
    assert {name for _, attributes in page.elements for name in attributes} <= names
    assert {str(each["href"]).partition("#")[0] for each in page.all("a")} == {"x%22%20onclick%3D%22alert%281%29.html"}
    assert page.text("li.card").count(ACTS) > 10
