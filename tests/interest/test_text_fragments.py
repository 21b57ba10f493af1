"""Text fragments: a plain search by the rules of the specification finds the passage first."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.documents.document import Block, Document
from postil.interest.text_fragments import TextFragments, web_address

if TYPE_CHECKING:
    from collections.abc import Iterator

HAN = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


def document(*blocks: str, between: str = "\n\n", url: str | None = None) -> Document:
    made, start = [], 0
    for block in blocks:
        made.append(Block(kind="paragraph", start=start, end=start + len(block)))
        start += len(block) + len(between)
    return Document(text=between.join(blocks), blocks=tuple(made), source="tea.html", url=url)


class Page:
    """A document as a browser reads it: its blocks with single spaces, and the offset of each character."""

    def __init__(self, made: Document) -> None:
        self.blocks: list[tuple[str, list[int]]] = []
        for block in made.blocks:
            text, offsets = "", []
            for offset in range(block.start, block.end):
                one = made.text[offset]
                if not one.isspace():
                    text, offsets = text + self.same(one), [*offsets, offset]
                elif text and text[-1] != " ":
                    text, offsets = text + " ", [*offsets, offset]
            self.blocks.append((text, offsets))

    @staticmethod
    def same(text: str) -> str:
        base = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
        return base.casefold() if len(base.casefold()) == len(text) else text

    def places(self, term: str, after: int) -> Iterator[tuple[int, int, int, int]]:
        """Places of a term, as block and offsets in it, and its offsets in the document."""
        for number, (text, offsets) in enumerate(self.blocks):
            at = text.find(self.same(term))
            while at >= 0:
                end = at + len(term)
                if self.ends(text, at) and self.ends(text, end) and offsets[at] >= after:
                    yield number, at, offsets[at], offsets[end - 1] + 1
                at = text.find(self.same(term), at + 1)

    @staticmethod
    def ends(text: str, at: int) -> bool:
        around = text[max(0, at - 1) : at + 1]
        return at in {0, len(text)} or not around.isalnum() or HAN.search(around) is not None

    def beside(self, around: str, begin: int, stop: int) -> bool:
        """True if a context stands before the index of a beginning, or else behind that of an end."""
        words = " ".join(text for text, _ in self.blocks)
        offsets = [each for _, inside in self.blocks for each in [*inside, inside[-1]]]
        before = "".join(one for one, at in zip(words, offsets, strict=False) if at < begin).rstrip()
        behind = "".join(one for one, at in zip(words, offsets, strict=False) if at >= stop).lstrip()
        if begin < stop:
            return before.endswith(self.same(around)) and self.ends(before, len(before) - len(around))
        return behind.startswith(self.same(around)) and self.ends(behind, len(around))

    def first(self, directive: str) -> tuple[int, int]:
        head, *terms = directive.split("=", 1)[1].split(",")
        terms = [head, *terms]
        prefix = unquote(terms.pop(0)[:-1]) if terms[0].endswith("-") else ""
        suffix = unquote(terms.pop()[1:]) if terms[-1].startswith("-") else ""
        first, *last = map(unquote, terms)
        for _, _, begin, stop in self.places(first, 0):
            if prefix and not self.beside(prefix, begin, begin + 1):
                continue
            for _, _, _, end in self.places(last[0], stop) if last else [(0, 0, 0, stop)]:
                if not suffix or self.beside(suffix, end, end):
                    return begin, end
        raise AssertionError(f"{directive} is not found")


WORDS = st.sampled_from(
    ["tea", "Tea", "rain", "café", "well-made", "R&D", "one,", "two;", "100%", "(so)", "a/b", "naïve"]
)
SPACES = st.sampled_from([" ", "  ", "\n", " \n ", "\u00a0"])


@st.composite
def passages(draw: st.DrawFn, words: st.SearchStrategy[str] = WORDS) -> tuple[Document, int, int]:
    """A document whose words repeat, and the offsets of some words of one of its blocks."""
    blocks, spans = [], []
    for _ in range(draw(st.integers(1, 4))):
        text = ""
        inside = []
        for word in draw(st.lists(words, min_size=1, max_size=8)):
            text += draw(SPACES) if text else ""
            inside.append((len(text), len(text) + len(word)))
            text += word
        blocks.append(text)
        spans.append(inside)
    number = draw(st.integers(0, len(blocks) - 1))
    low = draw(st.integers(0, len(spans[number]) - 1))
    high = draw(st.integers(low, len(spans[number]) - 1))
    offset = sum(len(each) + 2 for each in blocks[:number])
    return document(*blocks), offset + spans[number][low][0], offset + spans[number][high][1]


def equal_before(made: Document, start: int) -> bool:
    """True if all that the block of the passage holds stands further up too, over the ends of blocks or not."""
    blocks = [text for text, _ in Page(made).blocks]
    number = sum(block.end <= start for block in made.blocks)
    whole, own = " ".join(blocks), len(" ".join([*blocks[:number], ""]))
    return whole.find(blocks[number]) < own


@given(passages())
def test_the_passage_is_found_first(case: tuple[Document, int, int]) -> None:
    made, start, end = case
    found = Page(made).first(TextFragments(made).fragment(start, end))
    if not equal_before(made, start):
        assert found == (start, end)
    assert Page.same(" ".join(made.text[found[0] : found[1]].split())) == Page.same(
        " ".join(made.text[start:end].split())
    )


@given(passages())
def test_words_around_the_passage_are_named_only_where_its_own_are_found_elsewhere(
    case: tuple[Document, int, int],
) -> None:
    made, start, end = case
    directive = TextFragments(made).fragment(start, end)
    places = list(Page(made).places(" ".join(made.text[start:end].split()), 0))
    if places[0][2:] == (start, end):
        assert "-," not in directive
        assert ",-" not in directive


def test_reserved_characters_are_encoded() -> None:
    text = "Tea, well-made & hot – 100% #1?\n\tIt’s “good”\u00a0tea."
    made = document("Before it.", text)
    fragment = TextFragments(made).fragment(made.blocks[1].start, made.blocks[1].end)
    assert fragment.startswith("#:~:text=Tea%2C%20well%2Dmade%20%26%20hot%20%E2%80%93%20100%25%20%231%3F%20It")
    assert fragment.isascii()
    assert not set(fragment.removeprefix("#:~:text=")) & set("-,& \n")
    assert unquote(fragment.removeprefix("#:~:text=")) == " ".join(text.split())


def test_an_equal_passage_further_up_asks_for_context() -> None:
    made = document("It rained. We had tea. It rained.", "At noon it rained. The end.", "It rained.")
    first, second, third, last = (match.start() for match in re.finditer("(?i)it rained", made.text))
    fragments = [TextFragments(made).fragment(start, start + 10) for start in (first, second, third, last)]
    assert fragments[0] == "#:~:text=It%20rained."
    assert fragments[1] == "#:~:text=tea.-,It%20rained."
    assert fragments[2] == "#:~:text=noon-,it%20rained."  # browsers do not see the case
    assert fragments[3] == "#:~:text=end.-,It%20rained."  # of the block before, as it has none of its own


def test_a_long_passage_is_named_by_its_ends() -> None:
    sentence = " ".join(f"word{n}" for n in range(80)) + "."
    made = document("word0 word1 word2 and no more. Then word79.", f"So: {sentence} Then no more.")
    start = made.text.index(sentence)
    fragment = TextFragments(made).fragment(start, start + len(sentence))
    assert fragment == "#:~:text=word0%20word1%20word2%20word3,word76%20word77%20word78%20word79."
    assert Page(made).first(fragment) == (start, start + len(sentence))


def test_a_long_passage_whose_end_is_found_too_early_has_more_of_it() -> None:
    sentence = f"one two three four {'five six seven eight, ' * 20}ten eleven twelve five six seven eight."
    made = document(sentence)
    assert Page(made).first(TextFragments(made).fragment(0, len(sentence))) == (0, len(sentence))


@pytest.mark.parametrize("sentence", ["茶很热。", "我们喝茶，天下雨了。", "雨が降った。お茶を飲んだ。"])
def test_scripts_without_spaces(sentence: str) -> None:
    made = document(f"昨天{sentence[:-1]}吗？{sentence}完了。", f"天下雨。{sentence}")
    start = made.text.rindex(sentence)
    fragment = TextFragments(made).fragment(start, start + len(sentence))
    assert Page(made).first(fragment) == (start, start + len(sentence))
    long = "茶很热，" * 90 + "我们喝。"
    made = document("茶很热，茶", long)
    start = made.blocks[1].start
    assert Page(made).first(TextFragments(made).fragment(start, start + len(long))) == (start, start + len(long))
    terms = TextFragments(made).fragment(start, start + len(long)).removeprefix("#:~:text=").split(",")
    clauses = {clause for term in terms for clause in re.split("[，。]", unquote(term).strip("-")) if clause}
    assert clauses <= {"茶很热", "我们喝"}  # whole ones: only at punctuation a word surely ends


def test_ends_within_a_word_take_the_word() -> None:
    made = document("The mountaineers can't climb 3,000 metres.")
    assert TextFragments(made).fragment(7, 12) == "#:~:text=mountaineers"
    assert TextFragments(made).fragment(18, 20) == "#:~:text=can%27t"
    assert TextFragments(made).fragment(29, 30) == "#:~:text=3%2C000"
    assert TextFragments(made).fragment(3, 4) == ""


@pytest.mark.parametrize("endless", ["a" * 5000, "茶" * 5000, "e" + "\u0301" * 5000])
def test_a_word_without_an_end_has_no_fragment(endless: str) -> None:
    made = document(f"Tea {endless} rain", url="https://example.org/")
    assert TextFragments(made).fragment(1000, 1050) == ""
    assert TextFragments(made).link(1000, 1050) == "https://example.org/"
    assert TextFragments(made).fragment(0, 3) == "#:~:text=Tea"


def test_a_text_of_equal_words_has_a_fragment_in_the_end() -> None:
    made = document("the b " + "the c " * 20_000 + "the b")
    assert TextFragments(made).fragment(len(made.text) - 1, len(made.text)) == "#:~:text=b"  # of the first one
    dots = document("." * 20_000)
    assert TextFragments(dots).fragment(9000, 9010) == "#:~:text=.........."


def test_equal_passages_in_equal_surroundings_name_the_first() -> None:
    made = document(*["It rained."] * 4)
    fragment = TextFragments(made).fragment(made.blocks[2].start, made.blocks[2].end)
    assert Page(made).first(fragment) == (0, 10)


def test_a_passage_over_several_blocks_has_no_term_that_crosses_them() -> None:
    made = document("Tea is hot.", "It rained.", "We drank it.")
    assert TextFragments(made).fragment(0, len(made.text)) == "#:~:text=Tea%20is%20hot,We%20drank%20it."


@pytest.mark.parametrize(
    ("url", "page", "link"),
    [
        ("https://example.org/tea", None, "https://example.org/tea#:~:text=Tea."),
        ("https://example.org/tea#two", None, "https://example.org/tea#two:~:text=Tea."),
        ("https://example.org/tea#:~:text=old", None, "https://example.org/tea#:~:text=Tea."),
        ("https://example.org/tea.pdf#zoom", 3, "https://example.org/tea.pdf#page=3"),
        ("javascript:alert(1)", None, None),
        (None, 3, None),
    ],
)
def test_links(url: str | None, page: int | None, link: str | None) -> None:
    assert TextFragments(document("Tea.", url=url)).link(0, 4, page) == link


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://example.org/a b\"<'>", "http://example.org/a%20b%22%3C'%3E"),
        ("https://例え.jp/茶", "https://%E4%BE%8B%E3%81%88.jp/%E8%8C%B6"),
        ("https://example.org/%20", "https://example.org/%20"),
        *((bad, None) for bad in ("file:///etc/passwd", "https://", "//example.org", "https://[", "tea", "")),
        *((bad, None) for bad in ("JaVaScRiPt:alert(1)", "data:text/html,x", "https://a\u202e/b", "java\nscript:x")),
    ],
)
def test_only_web_addresses_are_linked(url: str, address: str | None) -> None:
    assert web_address(url) == address


def test_a_document_without_blocks_is_one_block() -> None:
    made = Document(text="Tea.  It rained.", blocks=(), source="tea.txt")
    assert TextFragments(made).fragment(6, 16) == "#:~:text=It%20rained."
