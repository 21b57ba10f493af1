"""The highlighted page and the index of several: marks where the passages are, nothing a stranger wrote as HTML."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from highlighted import ACTS, TEA, Read, article, document, hostile, hostile_pages, long, pages, passages
from postil.errors import UsageError
from postil.interest.highlights import index_page, passages_page
from postil.interest.result import InterestingResult
from postil.passages.result import RankedPassage, UnitContribution


def marked(page: Read) -> dict[str, str]:
    """Text of each highlight by the class of its passage."""
    found: dict[str, str] = {}
    for path, text in page.texts:
        for each in path:
            if each.startswith("mark.") and path[-1] != "a.badge":
                name = each.removeprefix("mark.").split()[0]
                found[name] = found.get(name, "") + text
    return found


def test_the_document_is_there_whole_with_its_passages_marked() -> None:
    result = article()
    page = Read(passages_page(result))
    text = page.text("article")
    for kind, words in TEA[1:]:
        assert words in text, kind
    assert marked(page) == {f"p{each.rank}": each.text for each in result.passages}
    tags = [tag for tag, _ in page.elements]
    assert [tags.count(tag) for tag in ("h1", "h2", "li", "blockquote", "pre", "mark")] == [1, 3, 5, 1, 1, 3]
    assert text.count("A history of tea") == 0  # the title stands above
    assert "(5 lines)" in text  # the table of contents is folded


def test_each_mark_is_linked_with_its_entry_and_described_by_its_reasons() -> None:
    page = Read(passages_page(article()))
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert len(ids) == sum("id" in attributes for _, attributes in page.elements)
    for attributes in page.all("a"):
        href = str(attributes["href"])
        assert href.startswith("https://") or href[1:] in ids
    badges = [each for each in page.all("a") if each.get("class") == "badge"]
    assert [each["href"] for each in badges] == ["#item-3", "#item-1", "#item-2"]
    assert all(each["aria-describedby"] in ids for each in badges)
    assert "because of tea1\u00a0+0.50, caravan\u00a0+0.50" in page.text("p.why")


def test_original_source_language_and_signature_are_named() -> None:
    result = article()
    html = passages_page(result, index="all pages.html")
    page = Read(html)
    out = [each["href"] for each in page.all("a") if each.get("class") == "out"]
    assert out == ["https://example.org/tea", *(each.link for each in result.passages)]
    assert all(each["rel"] == "noreferrer noopener" for each in page.all("a") if each.get("class") == "out")
    assert page.all("article")[0]["lang"] == "en"
    assert "2024-05-01" in page.text("header")
    assert "interest|v:1" in page.text("footer")
    assert 'href="all%20pages.html"' in html


def test_a_file_is_named_without_the_folders_of_its_machine() -> None:
    for source, name in (("/home/ann/tea.md", "tea.md"), ("notes/tea.md", "notes/tea.md")):
        bare = replace(article(), document=document(TEA, source=source))
        assert Read(passages_page(bare)).text("p.facts").startswith(f"{name} · ")


def test_only_its_own_script_and_style_may_run() -> None:
    for result in (article(), hostile()):
        html = passages_page(result)
        (policy,) = (each["content"] for each in Read(html).all("meta") if "http-equiv" in each)
        for tag in ("script", "style"):
            (own,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
            digest = b64encode(sha256(own.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in str(policy)
        assert str(policy).startswith("default-src 'none'; ")
        assert len(re.findall("<script|<style", html)) == 2


def test_what_strangers_write_stays_text() -> None:
    tame, page = Read(passages_page(article())), Read(passages_page(hostile()))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in tame.elements}
    names = {name for _, attributes in tame.elements for name in attributes}
    assert {name for _, attributes in page.elements for name in attributes} <= names
    assert [each["href"] for each in page.all("a") if not str(each["href"]).startswith("#")] == []
    assert page.all("article")[0].get("lang") is None
    assert page.text("article").count(ACTS) > len(TEA)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", passages_page(hostile()))
    assert "gpj.exe" in page.text("article")


@given(st.text(st.characters(), max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_any_text_is_shown_as_it_is(text: str, start: int, end: int) -> None:
    block = f"x{text}"
    made = document([("paragraph", block)], title="Tea")
    low, high = sorted((min(start, len(block)), min(end, len(block))))
    reasons = (UnitContribution(unit=text, part=0.0),)
    found = RankedPassage(rank=1, index=0, text=text, score=None, reasons=reasons, start=low, end=high)
    page = Read(passages_page(InterestingResult(measure=text, passages=(found,), document=made)))
    plain = re.sub("[^a-zA-Z0-9 ]", "", block)
    assert re.sub("[^a-zA-Z0-9 ]", "", page.text("article")) == plain
    assert re.sub("[^a-zA-Z0-9 ]", "", marked(page).get("p1", "")) == re.sub("[^a-zA-Z0-9 ]", "", block[low:high])


def test_of_passages_that_overlap_the_better_one_has_the_common_part() -> None:
    made = document([("paragraph", "one two three four five"), ("paragraph", "six seven")])
    first, second, third, fourth = passages(made, "two three", "three four five", "two", "five")
    across = replace(fourth, start=made.text.index("five"), end=made.text.index("seven"))
    result = InterestingResult(measure="m", passages=(first, second, third, across), document=made)
    page = Read(passages_page(result))
    assert marked(page) == {"p1": "two three", "p2": " four five", "p4": "six "}
    assert "".join(page.text("article").split("\n")) == "one two three four fivesix seven"
    links = [each["href"] for each in page.all("a") if each.get("class") == "to"]
    assert links == ["#passage-1", "#passage-2", "#passage-4"]  # the third has no place of its own


@pytest.mark.parametrize(
    ("goal", "heading"),
    [
        ("interest", "The 3 most interesting passages"),
        ("topic", "The 3 passages closest to the topic"),
        (None, "The 3 best passages"),
    ],
)
def test_the_heading_names_the_goal(goal: None, heading: str) -> None:
    assert heading in Read(passages_page(replace(article(), goal=goal))).text("aside")


def test_pages_of_a_pdf_are_numbered_and_margins_between_them_dimmed() -> None:
    made = document([("margin", "Report"), ("paragraph", "Tea is hot."), ("margin", "2"), ("paragraph", "It rained.")])
    paged = replace(made, blocks=tuple(replace(each, page=1 + n // 2) for n, each in enumerate(made.blocks)))
    found = tuple(replace(each, page=2, link=None) for each in passages(paged, "It rained."))
    page = Read(passages_page(InterestingResult(measure="m", passages=found, document=paged)))
    assert page.text("p.page") == "page 1page 2"
    assert page.text("p.margin") == "Report2"
    assert page.text("p.where") == "page 2"


def test_a_passage_in_the_contents_unfolds_them() -> None:
    result = article()
    assert result.document is not None
    inside = passages(result.document, "3. Part 3")
    page = Read(passages_page(replace(result, passages=inside)))
    assert not any(each.get("class") == "aside" for each in page.all("details"))
    assert marked(page) == {"p1": "3. Part 3"}


def test_passages_without_a_place_are_listed_without_a_link() -> None:
    lost = tuple(replace(each, start=None, end=None, link=None) for each in article().passages)
    page = Read(passages_page(replace(article(), passages=lost)))
    assert page.all("mark") == page.all("button") == []
    assert lost[0].text in page.text("aside")


def test_empty_ones() -> None:
    assert "No passage was found" in passages_page(replace(article(), passages=()))
    bare = replace(article(), document=replace(document([]), text="Tea is hot.", title=""), passages=())
    page = Read(passages_page(bare))
    assert (page.text("article").strip(), page.text("h1")) == ("Tea is hot.", "tea.html")
    with pytest.raises(UsageError, match="rows of passages have no document"):
        passages_page(replace(article(), document=None))


def test_headings_skip_no_level() -> None:
    made = document([("heading", "One"), ("heading", "Two"), ("heading", "Three"), ("heading", "Four")])
    blocks = tuple(replace(each, level=level) for each, level in zip(made.blocks, (4, 6, 1, 9), strict=True))
    page = Read(passages_page(replace(article(), document=replace(made, blocks=blocks), passages=())))
    assert [tag for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)] == ["h1", "h2", "h3", "h2", "h3"]


def test_a_long_document_is_laid_out_in_parts() -> None:
    page = Read(passages_page(long(400)))
    assert len([each for each in page.all("div") if each.get("class") == "part"]) == 11
    assert len(page.all("mark")) == 20


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


def test_what_strangers_write_stays_text_in_the_index() -> None:
    tame, page = Read(index_page(pages())), Read(index_page(hostile_pages()))
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in tame.elements}
    names = {name for _, attributes in tame.elements for name in attributes}
    assert {name for _, attributes in page.elements for name in attributes} <= names
    assert {str(each["href"]).partition("#")[0] for each in page.all("a")} == {"x%22%20onclick%3D%22alert%281%29.html"}
    assert page.text("li.card").count(ACTS) > 10
