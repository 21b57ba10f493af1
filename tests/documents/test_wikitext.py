"""Wikitext: blocks and anchors."""

from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exploration import examples
from linked_text import anchors_of
from postil.documents.readers.wikitext import Anchor, read_wikitext, redirect_of, wiki_blocks
from postil.errors import InvalidInput, MissingExtra

pytest.importorskip("mwparserfromhell", reason="needs the extra pages")


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


# Wikitext, the text a reader sees, and the anchors: the words, and behind > the target if it is not the words with a
# capital.
ANCHORS = {
    "plain": ("A duck\n\n swims. ", "A duck\nswims.", ""),
    "link": ("A [[duck]].", "A duck.", "duck"),
    "words of the link": ("[[Bird|water birds]]", "water birds", "water birds>Bird"),
    "letters behind": ("[[duck]]s and [[bird|Bird]]es", "ducks and Birdes", "ducks>Duck;Birdes>Bird"),
    "letters behind in Cyrillic": ("[[утка]]ми", "утками", "утками>Утка"),
    "no Chinese letters behind": ("[[北京]]是", "北京是", "北京"),
    "no digits or capitals behind": ("[[duck]]2 [[duck]]S", "duck2 duckS", "duck;duck"),
    "a comment is not between": ("[[duck]]<!-- c -->s", "ducks", "ducks>Duck"),
    "nowiki is between": ("[[duck]]<nowiki/>s", "ducks", "duck"),
    "markup is between": ("[[duck]]''s''", "ducks", "duck"),
    "links in a row": ("[[a]]b[[c]]", "abc", "ab>A;c"),
    "inside bold": ("'''[[duck]]s'''", "ducks", "ducks>Duck"),
    "markup inside": ("[[Duck|''big'' '''<b>red</b>''' duck]]", "big red duck", "big red duck>Duck"),
    "white space inside": ("a [[Duck| big\n duck ]]s", "a big duck s", "big duck s>Duck"),
    "white space at the end": ("[[Duck|duck ]]Two", "duck Two", "duck"),
    "a bar inside": ("[[Duck|a|b]]", "a|b", "a|b>Duck"),
    "a link inside": ("[[Duck|a [[bird]]s b]]", "a birds b", "birds>Bird"),
    "a reference inside": ("[[duck|ducks<ref>[[swan]]</ref>]]", "ducks", "ducks>Duck"),
    "no words": ("a [[Duck|{{icon}}]] [[Duck|[[File:d.png]]]] b", "a b", ""),
    "words left out": ("[[Duck|]]", "Duck", "Duck"),
    "a section": ("[[Duck#Food|food]] [[#Food]]", "food #Food", "food>Duck"),
    "underscores": ("[[fresh_water|lake]]", "lake", "lake>Fresh water"),
    "escapes": ("[[AT&amp;T]] [[Caf%C3%A9|bar]]", "AT&T bar", "AT&T;bar>Café"),
    "a colon in front": ("[[:duck]]", "duck", "duck"),
    "a colon in a title": ("[[2001: A Space Odyssey]]", "2001: A Space Odyssey", "2001: A Space Odyssey"),
    "no title": ("[[]] [[|x]] [[a&lt;b|y]]", "x y", ""),
    "a title from a template": ("[[{{x}}|y]] [[{{x}}]]", "y", ""),
    "a category": ("a [[Category:Ducks]] [[Kategorie:Enten|x]]", "a", ""),
    "a category by a link": ("[[:Category:Ducks]] [[:category:ducks|x]]", "Category:Ducks x", ""),
    "a picture": ("a [[File:d.png|thumb|A [[duck]] of {{x}}.]] [[image:e.png]]b", "a b", ""),
    "a picture by a link": ("[[:File:d.png|x]] [[Media:d.ogg|y]]", "x y", ""),
    "another language": ("a [[de:Ente]] [[zh-min-nan:X]] [[:fr:Canard|le canard]]", "a le canard", ""),
    "another project": ("[[wikt:duck|duck]]s [[Wikipedia:Manual]]", "ducks Wikipedia:Manual", ""),
    "a talk page": ("[[Talk:Duck|x]] [[File talk:d.png|y]]", "x y", ""),
    "templates": ("a {{cn|[[duck]]}} b{{x}}. {{{y|z}}}", "a b.", ""),
    "a template between words": ("May{{snd}}[[June]] 5{{nbsp}}km", "May June 5 km", "June"),
    "references": ("a<ref name=x>[[duck]]</ref><ref name=x/>. b<ref>c</ref>d", "a. b d", ""),
    "formulas": ("so <math>[[x]]</math> is", "so is", ""),
    "external links": ("[http://a.b the [[duck]]] [http://a.b] http://a.b", "the duck http://a.b", "duck"),
    "entities": ("a&nbsp;b &lt;i&gt; &#91;&#91;c", "a b <i> [ [c", ""),
    "nowiki": ("<nowiki>[[duck]] ''&amp;''</nowiki>", "duck ''&''", ""),
    "a heading": ("a\n== The [[duck]] ==\nb", "a\nThe duck\nb", "duck"),
    "lists": ("* [[a]]\n* b\n; c : d", "a\nb\nc\nd", "a"),
    "a table": ("{| class=x\n! h\n|-\n| style=y | [[a]] || b\n|}", "h\na\nb", "a"),
    "lines": ("a<br>b<br/>c", "a\nb\nc", ""),
    "switches": ("__NOTOC__a __FILE__", "a __FILE__", ""),
    "quotes without a partner": ("''[[a]]s\nit''s", "as\nits", "as>A"),
    "tags without a partner": ("<small>[[a]]s</div> <x>", "as <x>", "as>A"),
    "braces without a partner": ("{{x [[a]]s", "{{x as", "as>A"),
    "brackets without a partner": ("[[a ]] b]] [c] [[", "a b [c]", "a"),
    "brackets that would meet": ("[{{x}}[ ]<!-- -->]", "[ [ ] ]", ""),
    "a null character": ("[[a]]\0b [[c]]", "ab c", "ab>A;c"),
}


@pytest.mark.parametrize(("wikitext", "text", "anchors"), ANCHORS.values(), ids=ANCHORS)
def test_golden(wikitext: str, text: str, anchors: str) -> None:
    expected = []
    for pair in filter(None, anchors.split(";")):
        words, _, target = pair.partition(">")
        expected.append(Anchor(words, target or words[0].upper() + words[1:]))
    linked = anchors_of(wikitext)
    assert linked.text == text
    assert list(linked.anchors) == expected


MARKS = """
    [[ ]] [ ] {{ }} {{{ }}} { } {| |} |- | || ! '' ''' ''''' ' <ref> </ref> <ref/> <b> </b> <br> <td> <table> </table>
    <li> <math> </math> <nowiki> </nowiki> < > </ <!-- --> & &#91; &#93; &#0; &lt; = == : ; # * ---- http://a.b
    %5B %FF _ File: Category: de: wikt: __TOC__ Dog dogs s ß 狗 утка 𝒳 \0 \ud800
"""
MARKUP = st.sampled_from([*MARKS.split(), " ", "\n", "\t", "\n* ", "\n|", "\n=="])
WIKITEXTS = st.one_of(
    st.text(),
    st.lists(MARKUP, max_size=40).map("".join),
    st.lists(st.one_of(MARKUP, st.text(max_size=4), st.sampled_from(["[[dog|", "[[Dog]]", "[[:"])), max_size=20).map(
        "".join
    ),
)


@given(WIKITEXTS)
@example("[[a|[]][[b]]]]")
@example("[[[a]]] ]][[ [[b|[]]")
def test_any_text_gives_plain_text_and_anchors_in_its_order(wikitext: str) -> None:
    linked = anchors_of(wikitext)
    assert "[[" not in linked.text
    assert "]]" not in linked.text
    assert linked.text == linked.text.strip()
    place = 0
    for anchor in linked.anchors:
        assert anchor.text == " ".join(anchor.text.split()) != ""
        assert anchor.target == " ".join(anchor.target.split()) != ""
        place = linked.text.index(anchor.text, place) + len(anchor.text)


@given(st.text(st.characters(categories=["L", "N", "Zs"])))
def test_text_without_markup_stays(text: str) -> None:
    assert anchors_of(text).text == " ".join(text.split())


@given(st.lists(st.tuples(st.sampled_from(["a", "Bc", "de f"]), st.sampled_from(["x", "y z"]))))
def test_every_link_is_an_anchor(pairs: list[tuple[str, str]]) -> None:
    linked = anchors_of(", ".join(f"[[{target}|{text}]]" for text, target in pairs))
    assert linked.text == ", ".join(text for text, _ in pairs)
    assert [anchor.text for anchor in linked.anchors] == [text for text, _ in pairs]
    assert [anchor.target for anchor in linked.anchors] == [target[0].upper() + target[1:] for _, target in pairs]


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    with pytest.raises(MissingExtra, match=r"reading wikitext .*postil\[pages\]"):
        anchors_of("a")


ENDLESS = (
    "<ref ",
    "<ref name=a ",
    "<b ",
    "{{{a|",
    "{{Infobox\n|a=",
    "[[File:a|thumb|",
    "{|\n",
    "[http://a ",
    "<nowiki> x",
)


@pytest.mark.parametrize("unit", [*ENDLESS, "<!-- x"])
def test_markup_without_end_takes_time_in_proportion(unit: str) -> None:
    """The parser alone looks for the end of each to the end of the page: minutes for most of these."""
    linked = anchors_of(f"A [[duck]].\n{unit * 5000}\n\nA [[swan]].")
    assert linked.anchors[0] == Anchor("duck", "Duck")
    assert linked.text.startswith("A duck.")
    assert linked.text.count(unit.replace("[[", "").split()[0]) == 5000


@pytest.mark.parametrize(("begin", "end"), [("{{", "}}"), ("{{a|", "}}"), ("<div>", "</div>"), ("[[a|", "]]")])
def test_markup_as_deep_as_it_gets(begin: str, end: str) -> None:
    linked = anchors_of(f"A [[duck]].\n{begin * 1000}{end * 1000}\nA [[swan]].")
    assert [anchor.text for anchor in linked.anchors if len(anchor.text) == 4] == ["duck", "swan"]


def test_much_broken_markup_reads_as_little_of_it_does() -> None:
    some = "a <b and {{ c [[ d {| e <i> f <!-- g\n"
    few, many = anchors_of(some), anchors_of(some * 50)
    assert many.text.split("\n") == [few.text] * 50


@pytest.mark.parametrize(
    ("unit", "anchor"),
    [
        ("<p>[[a]] word\n", Anchor("a", "A")),  # that HTML leaves without an end
        ("<small>[[a]] word\n", Anchor("a", "A")),
        ("[[a]]<p>para\n", Anchor("a", "A")),
    ],
)
def test_tags_without_end_leave_links_as_they_are(unit: str, anchor: Anchor) -> None:
    assert anchors_of(unit * 100).anchors == (anchor,) * 100


def test_an_address_that_ends_with_a_caption_is_not_broken() -> None:
    linked = anchors_of("[[File:a.jpg|thumb|see [[b]] and [http://x y]]] [[c]]\n" * 30)
    assert linked.text.split("\n") == ["c"] * 30
