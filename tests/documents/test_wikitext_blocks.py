"""Blocks of wikitext with the anchors in each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from linked_text import anchors_of
from postil.documents.wikitext import redirect_of, wiki_blocks

pytest.importorskip("mwparserfromhell", reason="needs the extra wiki")

CASES = {
    "lines of a paragraph": ("One\ntwo.\n\nThree.", ["paragraph:One two.", "paragraph:Three."]),
    "levels of headings": ("== A ==\n=== B ===\nx", ["heading:A", "heading2:B", "paragraph:x"]),
    "levels of items": ("* a\n** b\n# c\n; d : e\n: f", ["item:a", "item2:b", "item:c", "item2:d e", "item:f"]),
    "items end": ("* a\nb c", ["item:a", "paragraph:b c"]),
    "quotation": ("a\n<blockquote>b\n\nc</blockquote>d", ["paragraph:a", "quote:b", "quote:c", "paragraph:d"]),
    "code": ("a\n<pre>b\n  c</pre>\nd", ["paragraph:a", "code:b\n  c", "paragraph:d"]),
    "tables are out": ("a\n{|\n| b\n|}\nc", ["paragraph:a", "paragraph:c"]),
    "captions are out": ("[[File:a.png|thumb|A [[duck]].]]\nb", ["paragraph:b"]),
    "notes": ("== References ==\na\n=== b ===\nc\n== D ==\ne", ["heading:References", "note:a", "heading2:b", "note:c",
                                                              "heading:D", "paragraph:e"]),
    "templates with their text": (
        "It is {{convert|5|km|mi}} to {{lang|de|Ely}} and {{lang-fr|Lys}}, {{nowrap|7 miles}}.{{cn}}",
        ["paragraph:It is 5 km to Ely and Lys, 7 miles."],
    ),
    "brackets around a template": ("A ({{IPA|x}}; {{IPA|y}}) b ({{c}}, 1900) d.", ["paragraph:A b (1900) d."]),
    "only marks": ("* {{a}}\n== {{b}} ==\n----", []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_blocks(case: str) -> None:
    wikitext, expected = CASES[case]
    shown = [f"{block.kind}{block.level if block.level > 1 else ''}:{block.text}" for block in wiki_blocks(wikitext)]
    assert shown == expected


def test_anchors_are_those_of_their_block_at_their_place() -> None:
    wikitext = "The {{a}}[[mallard|wild duck]] eats [[grass]]es.\n* [[File:x.png|[[a]]]] near [[Lake]]s\n* none\n\n"
    wikitext += "[[a|b [[c]] d]] e"
    found = [[(each.anchor.target, each.start) for each in block.anchors] for block in wiki_blocks(wikitext)]
    assert found == [[("Mallard", 4), ("Grass", 19)], [("Lake", 5)], [], [("C", 0)]]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("#REDIRECT [[Duck]]", "Duck"),
        (" #weiterleitung: [[Ente_(Vogel)|x]]", "Ente (Vogel)"),
        ("#重定向 [[鸭]]", "鸭"),
        ("# redirect is a word", None),
        ("A #REDIRECT [[Duck]]", None),
    ],
)
def test_redirects(text: str, target: str | None) -> None:
    assert redirect_of(text) == target


PIECES = ["a", "B c", " ", "\n", "\n\n", "[[x]]", "[[File:a|[[b]]]]", "[[", "]]", "{{", "}}", "{{lang|a|b}}"]
PIECES += ["== h ==\n", "* ", "# ", ": ", "<pre>", "</pre>", "<blockquote>", "</blockquote>", "<ref>", "</ref>", "''"]
PIECES += ["(", ")", "; ", "\x05", "\x03"]


@examples(200)
@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_no_anchor_is_lost_or_made(pieces: list[str]) -> None:
    wikitext = "".join(pieces)
    blocks = list(wiki_blocks(wikitext))
    found = [each.anchor for block in blocks for each in block.anchors]
    known = iter(anchors_of(wikitext).anchors)
    assert all(anchor in known for anchor in found)  # in the same order
    for block in blocks:
        assert block.text.strip()
        assert not any("\x00" < sign < "\x09" for sign in block.text)
        for each in block.anchors:
            assert 0 <= each.start <= len(block.text)
