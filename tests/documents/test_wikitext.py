from __future__ import annotations

import pytest

from postil.documents.reading import read_document
from postil.documents.wikitext import read_wikitext
from postil.errors import InvalidInput

pytest.importorskip("mwparserfromhell", reason="needs the extra wiki")

PAGE = """{{Infobox bird|name=Duck}}
'''Ducks''' ({{IPA|x}}) are [[bird]]s.<ref>A book.</ref> They swim
in lakes.

== Food ==
[[File:Duck.jpg|thumb|A duck at its meal.]]
* [[Poaceae|Grass]]
** Reeds
<blockquote>I have seen it eat.</blockquote>
{| class="wikitable"
| a || b
|}
== References ==
* A book on ducks.
"""


def test_blocks_and_title() -> None:
    document = read_wikitext(PAGE, "pages/Ducks_of_the_fen.wiki")
    assert document.title == "Ducks of the fen"
    assert [(block.kind, block.level, document.text_of(block)) for block in document.blocks] == [
        ("paragraph", 0, "Ducks are birds. They swim in lakes."),
        ("heading", 1, "Food"),
        ("item", 1, "Grass"),
        ("item", 2, "Reeds"),
        ("quote", 0, "I have seen it eat."),
        ("heading", 1, "References"),
        ("note", 0, "A book on ducks."),
    ]


def test_the_ending_of_a_name_tells_wikitext() -> None:
    document = read_document(b"\xef\xbb\xbfA [[duck]].", "Duck.wiki", url="https://wiki.example/Duck")
    assert (document.text, document.title, document.url) == ("A duck.", "Duck", "https://wiki.example/Duck")


@pytest.mark.parametrize(
    ("source", "title"),
    [("-", ""), ("https://wiki.example/w/Rain_%26_snow?action=raw", "Rain & snow"), ("a.b.txt", "a.b")],
)
def test_titles(source: str, title: str) -> None:
    assert read_wikitext("Rain.", source).title == title


@pytest.mark.parametrize(
    ("text", "problem"), [("", "got none"), ("{{x}}", "got none"), ("#REDIRECT [[Duck]]", "is a redirect to 'Duck'")]
)
def test_a_page_without_text_is_one_sentence(text: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_wikitext(text, "a.wiki")
