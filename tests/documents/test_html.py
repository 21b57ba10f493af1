"""Pages of HTML as documents: encyclopedias, reports, forums, blogs, old pages, and hostile ones."""

from __future__ import annotations

import unicodedata
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from postil.documents.feed import FeedEntry
from postil.documents.passages import document_passages
from postil.documents.readers.html import ELEMENTS, LONGEST_PAGE, read_html
from postil.documents.reading import entry_document
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from postil.documents.document import Document

ENGINE = (
    "The engine burned five tons of coal a day, and it was last used in 1941.",
    "It is one of only three that are left, and the only one with its wheel.",
    "The wheel weighs 25 tons and had to be made larger three times.",
)


def found(body: str, head: str = "", lang: str = "en") -> Document:
    return read_html(f"<!doctype html><html lang={lang}><head>{head}</head><body>{body}</body></html>", "page.html")


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text_of(block)) for block in document.blocks]


ENCYCLOPEDIA = f"""
<a class=mw-jump-link href=#bodyContent>Jump to content</a>
<div class=vector-header-container><header><nav><ul><li><a href=/>Main page</a></ul></nav></header></div>
<div id=content role=main><h1 id=firstHeading><span>Old Engine</span></h1><div id=siteSub>From an encyclopedia</div>
<div class=mw-parser-output><div role=note class=hatnote>For others, see <a href=/e>Engine</a>.</div>
<table class=infobox><tr><th>Built<td>1831<tr><th>Power<td>105 hp</table>
<p>{ENGINE[0]}<sup id=cite_ref-1 class=reference><a href=#cite_note-1><span>[</span>1<span>]</span></a></sup><sup
><span>: 12</span></sup> {ENGINE[1]}<sup class=noprint>[<i><a href=/c>citation needed</a></i>]</sup></p>
<div id=toc class=toc role=navigation><h2>Contents</h2><ul><li><a href=#H>1 History</a></ul></div>
<div><h2 id=H>History</h2><span class=mw-editsection>[<a href=/edit>edit</a>]</span></div>
<figure><img src=x.jpg><figcaption>The engine with its keeper</figcaption></figure>
<ul><li>{ENGINE[2]}<ul><li>It is 11 m wide.</ul><li>The boilers were new in 1878.[2]</ul>
<blockquote><p>It is the noisiest thing that I ever loved.</p></blockquote>
<table class=wikitable><caption>Coal</caption><tr><th>Year<th>Tons<tr><td>1831<td>900</table>
<p>It needs 10<sup>6</sup> buckets, and CO<sub>2</sub> is no part<a href=#fn1>*</a> of that;
see <a href=#H>History</a>.</p>
<h2>References</h2><div class=reflist><ol class=references><li><span class=mw-cite-backlink><a href=#cite_ref-1>^</a>
</span> <span>Hills, R. Drainage of the fens, page 12.</span></ol></div>
<div class=navbox role=navigation><table><tr><td><a href=/a>Engines</a> <a href=/b>Fens</a></table></div></div></div>
<footer><p>This page was last edited on 1 May 2020.</p></footer><script>mw.loader()</script>"""
LINK = "<link rel=canonical href=https://pumps.example/engine>"


def test_an_encyclopedia() -> None:
    document = found(ENCYCLOPEDIA, f"<title>Old Engine - Encyclopedia</title>{LINK}")
    assert (document.title, document.lang, document.url) == ("Old Engine", "en", "https://pumps.example/engine")
    assert kinds(document) == [
        ("heading", "Old Engine"),
        ("paragraph", f"{ENGINE[0]} {ENGINE[1]}"),
        ("heading", "History"),
        ("caption", "The engine with its keeper"),
        ("item", ENGINE[2]),
        ("item", "It is 11 m wide."),
        ("item", "The boilers were new in 1878."),
        ("quote", "It is the noisiest thing that I ever loved."),
        ("caption", "Coal"),
        ("table", "Year\tTons\n1831\t900"),
        ("paragraph", "It needs 106 buckets, and CO2 is no part of that; see History."),
        ("heading", "References"),
        ("note", "Hills, R. Drainage of the fens, page 12."),
    ]
    assert [block.level for block in document.blocks if block.kind in {"heading", "item"}] == [1, 2, 1, 2, 1, 2]


def test_a_long_page_is_read_by_its_tree_alone_and_says_the_same() -> None:
    """A table of facts before the first sentence is all that differs."""
    cells = "<span></span>" * ELEMENTS
    short, long = found(ENCYCLOPEDIA), found(ENCYCLOPEDIA.replace("<h2>References", f"{cells}<h2>References"))
    assert kinds(short) == [each for each in kinds(long) if not each[1].startswith("Built")]
    assert not {"Main page", "Jump to content", "Contents", "Engines Fens"} & {text for _, text in kinds(long)}


REPORT = """
<a href=#content class=skip-link>Skip to main content</a>
<div id=cookie-banner><p>We use cookies to make this website work. We would like more.</p></div>
<header role=banner><a href=/>Regulator</a></header><div class=breadcrumbs><ol><li><a href=/>Home</a></ol></div>
<main id=content><h1>Bathing water: 2018 report</h1><div class=metadata>Published 1 February 2019</div>
<aside role=navigation><h2>Contents</h2><ol><li><a href=#s1>Summary</a></ol></aside>
<h2 id=s1>1. Summary</h2><p>Of 420 waters, 12 were closed for a day.<sup id=fnref:1><a href=#fn:1
 role=doc-noteref>[footnote 1]</a></sup> The longest closure was 61 days.</p><ul><li>rain washed sewage into 7 of them
<li>geese were the cause at two.</ul>
<p>A flock of 40 geese can close a small lake, as the town of Hexley found in August.</p>
<p hidden>This draft is not for publication, and nobody should ever read this sentence.</p>
<p style="display: none">Nor should anybody read this one, which is not shown on the page.</p>
<div class=footnotes role=doc-endnotes><ol><li id=fn:1><p>Without two that are gone. <a href=#fnref:1
 role=doc-backlink>↩</a></ol></div></main>
<footer role=contentinfo><p>All content is available under the Open Licence, with exceptions.</p></footer>"""


def test_a_report() -> None:
    document = found(REPORT, "<title>Bathing water: 2018 report - Regulator</title><meta name=date content=2019-02-01>")
    assert (document.title, document.date) == ("Bathing water: 2018 report", "2019-02-01")
    assert kinds(document) == [
        ("heading", "Bathing water: 2018 report"),
        ("heading", "1. Summary"),
        ("paragraph", "Of 420 waters, 12 were closed for a day. The longest closure was 61 days."),
        ("item", "rain washed sewage into 7 of them"),
        ("item", "geese were the cause at two."),
        ("paragraph", "A flock of 40 geese can close a small lake, as the town of Hexley found in August."),
        ("note", "Without two that are gone."),
    ]


def test_a_forum_without_an_article() -> None:
    post = "<div class=post><div class=author><a href=/u/{0}>{0}</a></div><div class=body>{1}</div></div>"
    first = "I saw one in Cornwall that was built in 1742, and it still works.<br><br>Has anybody seen an older one?"
    second = (
        "<blockquote><cite>ann wrote:</cite>Has anybody seen one?</blockquote>It was found<br>under a floor in 1905."
    )
    document = found(
        "<div id=top><a href=/>Home</a> | <a href=/faq>FAQ</a></div><h1>Oldest pump</h1><div class=thread>"
        + post.format("ann", first)
        + post.format("bob", second)
        + post.format("cy", "The oldest that I have ever seen was in a museum, under glass.")
        + "</div><div class=footer>Powered by PumpBoard.</div>",
        "<title>Oldest pump - Pump forum</title>",
    )
    assert [text for kind, text in kinds(document) if kind in {"heading", "paragraph", "quote"}] == [
        "Oldest pump",
        "I saw one in Cornwall that was built in 1742, and it still works.",
        "Has anybody seen an older one?",
        "Has anybody seen one?",
        "It was found\nunder a floor in 1905.",
        "The oldest that I have ever seen was in a museum, under glass.",
    ]


BOOK = f"""
<section class=pg-boilerplate id=pg-header><p>This eBook is for the use of anyone anywhere at no cost.</p></section>
<h1>The keeper of the weir</h1><p class=center>BY<br>A. NOBODY</p>
<div class=transnote><p>Transcriber's note: the spelling of the keeper has been kept.</p></div>
<h2>CONTENTS</h2><p><a href=#I>I. The flood</a></p><p><a href=#II>II. The bridge</a></p>
<h2 id=I>I. The flood</h2><p>{ENGINE[0]}<a id=FNanchor_1 href=#Footnote_1 class=fnanchor>[1]</a> It was never <span
 class=pagenum><a id=Page_2>[Pg 2]</a></span>loved.</p>
<div class=poem><div>The river gives,<br>the river takes.</div></div>
<p>{ENGINE[1]}</p><div class=footnote><p><a href=#FNanchor_1>[1]</a> The date is disputed.</p></div>
<p>{ENGINE[2]}</p>"""


@pytest.mark.parametrize("more", ["", "<span></span>" * ELEMENTS], ids=["short", "long"])
def test_a_book(more: str) -> None:
    passages = document_passages(found(BOOK + more, "<title>The keeper of the weir</title>"))
    assert [one.text for one in passages if not one.fragment] == [
        ENGINE[0],
        "It was never loved.",
        "The river gives, the river takes.",
        *ENGINE[1:],
    ]


def test_an_old_page_that_is_set_in_a_table() -> None:
    text = "<br><br>".join(f"{each} {ENGINE[2]} {ENGINE[0]}" for each in ENGINE)
    document = found(f"<table><tr><td><a href=i>Home</a></td><td><font face=Verdana>{text}</font></td></tr></table>")
    assert [kind for kind, _ in kinds(document)] == ["paragraph"] * 3


def test_code_keeps_its_lines_and_a_text_in_pre_its_prose() -> None:
    code = '<pre><code>def pump():\n    return "water[1]"\n</code></pre>'
    document = found(f"<article><p>{ENGINE[0]}</p>{code}<p>{ENGINE[1]} Use <code>pump()</code>.</p></article>")
    assert kinds(document)[1] == ("code", 'def pump():\n    return "water[1]"')
    assert kinds(document)[2][1].endswith("Use pump().")
    document = found(f"<article><p>{' '.join(ENGINE)}</p>{code}</article><div><ul><li><a href=/x>Eels</a></ul></div>")
    assert [kind for kind, _ in kinds(document)] == ["paragraph", "code"]
    letter = "CHAPTER I\n\n" + "\n".join(ENGINE) + "\n\n- 7 -\n"
    document = found(f"<pre>{letter}</pre>", "<title>Pumps</title>")
    assert [kind for kind, _ in kinds(document)] == ["heading", "paragraph", "margin"]


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("https://pumps.example/a?b=1", "https://pumps.example/a?b=1"),
        ("javascript:alert(1)", None),
        ("/relative", None),
        ("https://pumps.example/ <b>", None),
    ],
)
def test_the_canonical_address_is_one_of_the_web(link: str, url: str | None) -> None:
    assert found(f"<p>{ENGINE[0]}</p>", f"<link rel=canonical href='{link}'>").url == url


def test_a_page_that_a_browser_saved_names_its_address() -> None:
    saved = "<!-- saved from url=(0027)https://pumps.example/a?b=1 -->"
    shared = "<meta property=og:url content=https://pumps.example/shared>"
    urls = [found(f"<p>{ENGINE[0]}</p>", head).url for head in (saved, saved + shared, saved + shared + LINK)]
    assert urls == ["https://pumps.example/a?b=1", "https://pumps.example/shared", "https://pumps.example/engine"]
    assert found(f"<p>{ENGINE[0]}</p>", "<!-- saved from url=(0010)file:///a -->").url is None


def test_an_advertisement_in_the_article_is_left_out() -> None:
    words = "Sponsored: the ten best mattresses of the year, tested by our experts."
    for name in ("ad-inline", "post-ad-slot", "ad-unit ad-unit-3", "sponsored-banner"):
        document = found(
            f"<article><p>{ENGINE[0]}</p><div class='{name}'><p>{words}</p></div><p>{ENGINE[1]}</p></article>"
        )
        assert [text for _, text in kinds(document)] == [ENGINE[0], ENGINE[1]], name
    assert words in found(f"<p>{ENGINE[0]}</p><div class=ad-hoc><p>{words}</p></div>").text


SENTENCES = "".join(f"<p>{each}</p>" for each in ENGINE)
HOSTILE = {
    "nested": "<div>" * 100_000 + SENTENCES,
    "less than": SENTENCES + "<" * 1_000_000,
    "attribute": f"<p title='{'x' * 1_000_000}'>x</p>" + SENTENCES,
    "entities": SENTENCES + "&lt;script&gt;alert(1)&lt;/script&gt;" + "&nbsp;&#0;&#xD800;&zwj;" * 10_000,
    "nulls": SENTENCES.replace("coal", "co\0al") + "\0" * 10_000,
    "marks": f"<p>{'rain<sup><a href=#n>[1]</a></sup> ' * 20_000}</p>" + SENTENCES,
    "script": "<script>if (a<b) alert('The engine is a lie.')" + "</script >" + SENTENCES,
    "unclosed": SENTENCES + "<script>alert('The engine is a lie.')",
    "tables": SENTENCES + "<table><tr><td>" * 200 + "deep",
    "sidebars": "<div class=sidebar>" * 100 + SENTENCES,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages(name: str) -> None:
    try:
        document = found(HOSTILE[name])
    except InvalidInput as error:
        assert name == "nested"
        assert str(error).startswith("page.html: expected elements at most 2,000 deep in one another")  # noqa: PT017
        return
    assert not any("is a lie" in text for _, text in kinds(document))
    assert ENGINE[2] in [passage.text for passage in document_passages(document)]
    document.text.encode()


@pytest.mark.parametrize("tag", ["<div>", "<font><b>", "<ul><li>"])
def test_tags_that_are_never_closed_cut_nothing_off(tag: str) -> None:
    document = found("".join(f"{tag}<p>{each} {number}.</p>" for number in range(200) for each in ENGINE[:2]))
    assert document.text.count(ENGINE[0]) == document.text.count(ENGINE[1]) == 200


def test_a_page_that_is_too_large_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^page\.html: expected a page of at most 16,777,216 characters"):
        found("x" * LONGEST_PAGE)


@pytest.mark.parametrize("tag", ["aside", "header", "article", "section"])
@pytest.mark.parametrize("more", ["", "<span></span>" * ELEMENTS], ids=["short", "long"])
@pytest.mark.parametrize("head", ["<title>Pumps</title>", "<html><head><title>Pumps</title></head><body>"])
def test_the_element_that_has_the_text_is_no_margin(head: str, more: str, tag: str) -> None:
    page = f"<!doctype html>{head}<{tag}><h1>Pumps</h1>{SENTENCES}{more}</{tag}>"
    document = read_html(page, "page.html")
    assert (document.title, [text for kind, text in kinds(document) if kind == "paragraph"]) == ("Pumps", list(ENGINE))


def test_an_aside_beside_the_text_is_no_prose() -> None:
    document = found(f"<main>{SENTENCES}</main><aside><p>{ENGINE[0]}</p></aside>{'<br>' * ELEMENTS}")
    assert [text for kind, text in kinds(document) if kind == "paragraph"] == list(ENGINE)


HIDDEN = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x17B4, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F)),  # print nothing
    *(*range(0x2060, 0x2070), 0x3164, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFC, 0xFFFD, 0x1D173, 0xE0001, 0xE0100),
    *(0xA0, 0x1680, 0x2007, 0x2009, 0x2028, 0x202F, 0x205F, 0x3000, 0x85),  # spaces
    *(0x301, 0x308, 0x64B, 0x640, 0xE000),  # marks, and one of private use
)


@pytest.mark.parametrize("written", ["{}", "&#{};"], ids=["character", "reference"])
@pytest.mark.parametrize("code", HIDDEN, ids=hex)
def test_no_paragraph_vanishes_by_its_characters(code: int, written: str) -> None:
    mark = written.format(chr(code) if written == "{}" else code)
    words = [
        ENGINE[0].replace("a", f"a{mark}"),
        ENGINE[1],
        ENGINE[2].replace(" ", f" {mark} "),
        unicodedata.normalize("NFD", "Die Mühle öffnete früh am Tag, und der Müller hörte es von überall her."),
    ]
    page = f"<article><h1>Pumps</h1>{''.join(f'<p>{each}</p>' for each in words)}</article>"
    document = found(page, "<title>Pumps</title>")
    assert [kind for kind, _ in kinds(document)] == ["heading", *["paragraph"] * 4]
    entry = FeedEntry(title="Pumps", url="", content=page, is_html=True)
    assert [block.kind for block in entry_document(entry, "feed.xml").blocks] == ["heading", *["paragraph"] * 4]


def test_a_page_says_how_its_bytes_were_read() -> None:
    page = f"<meta charset=gb2312><p>港口办公室每天九点开门。</p>{SENTENCES}".encode()
    assert read_html(page, "page.html").notes == ("its bytes are UTF-8, read so, though the page says gb2312",)
    text = "港口办公室每天九点开门，四点关门。守门人一八零一年画了船闸的图。"
    told = read_html(f"<p>{text}</p>".encode("gbk"), "page.html")
    assert (told.text, told.notes) == (text, ("not UTF-8, read as gb18030",))


@pytest.mark.parametrize(
    "word",
    [
        "<span class=popup>boiler</span>",
        "<span class=related>boiler</span>",
        "<a class=social href=/b>boiler</a>",
        "<em id=menu>boiler</em>",
        "<abbr class=promo title=b>boiler</abbr>",
        "<ins class=ads>boiler</ins>",
        "<span class='nav comments'><b>boiler</b></span>",
        "<x-term class=popup>boiler</x-term>",
        "<a class='reference internal' href=b.html>boiler</a>",
        "<a class=anchor-link href=#b>boiler</a>",
        "<button>boiler</button>",
        "<label>boiler</label>",
        "<kbd><button class=popup>boiler</button></kbd>",
    ],
)
@pytest.mark.parametrize(
    "page",
    [
        "<article>{0}<p>{1}</p></article>",
        "<article><p>{1}</p>{0}</article>",
        "<div><p>{1}</p>{0}</div>",
        "<main><ul><li>{1}</ul>{0}</main>",
    ],
)
def test_words_in_a_line_stay_whatever_their_names(page: str, word: str) -> None:
    document = found(page.format(SENTENCES, f"It has the {word} of another engine, which is larger."))
    assert "It has the boiler of another engine, which is larger." in [text for _, text in kinds(document)]


@pytest.mark.parametrize(
    "control",
    [
        "<p><button>Accept</button> <button>Refuse</button></p>",
        "<div>We would like more of them. <button>Accept</button></div>",
        "<p><button>Accept</button> We would like more of them.</p>",
        "<form><label>Accept</label> <input></form>",
        "<h2>The wheel <button>Accept</button></h2>",
        "<span class=sr-only>Accept what opens in another window</span>",
        "<span class=promo><div>Accept the offer of the year.</div></span>",
    ],
)
def test_controls_around_the_text_are_left_out(control: str) -> None:
    assert "Accept" not in found(f"<article>{SENTENCES}{control}{SENTENCES}</article>").text


ADVERTISEMENT = "Ten umbrellas under ten pounds: number {} will surprise you, since it is of paper and keeps you dry."


@pytest.mark.parametrize(
    "item", ["<p>{}</p>", "<div class=item><p>{}</p></div>", "<article><p>{}</p></article>", "<li>{}"]
)
@pytest.mark.parametrize("name", ["ads", "ad-stream", "taboola-below", "related-posts", "social", "stream"])
@pytest.mark.parametrize(
    "whole", ["<article>{}</article>", "<main>{}</main>", "<div itemprop=articleBody>{}</div>", "<div>{}</div>"]
)
@pytest.mark.parametrize("is_first", [False, True], ids=["after", "before"])
def test_a_stream_of_advertisements_is_not_the_article(is_first: bool, whole: str, name: str, item: str) -> None:
    stream = f"<div class={name}>{''.join(item.format(ADVERTISEMENT.format(k)) for k in range(25))}</div>"
    article = whole.format(f"<h1>Old Engine</h1>{SENTENCES}")
    document = found(stream + article if is_first else article + stream, "<title>Old Engine - Pumps</title>")
    prose = [text for kind, text in kinds(document) if kind in {"paragraph", "item"}]
    if whole.startswith("<div>") and name == "stream":  # nothing says what is the article
        assert set(ENGINE) <= set(prose)
    else:
        assert (document.title, prose) == ("Old Engine", list(ENGINE))


def test_a_stream_is_the_article_where_there_is_no_other() -> None:
    assert ENGINE[0] in found(f"<h1>Pumps</h1><p>Hello.</p><div class=ads>{SENTENCES}</div>").text


HEADS = {
    "site last": "<title>Night bus ends - Ely News</title>",
    "site first": "<title>Ely News | Night bus ends</title>",
    "of the article": "<meta property=og:title content='Night bus ends'><title>Night bus ends — Ely News</title>",
    "named": "<meta property=og:site_name content='Ely News'><title>Ely News: Night bus ends</title>",
    "of both": "<meta property=og:title content='Night bus ends | Ely News'>",
}
SITES = {
    "h1": "<header><h1>Ely News</h1></header>",
    "link": "<header><h1><a href=/>Ely News</a></h1><nav><a href=/x>Home</a></nav></header>",
    "logo": "<div class=site-title>Ely News</div>",
    "book": "<div id=menu-bar><h1 class=menu-title>Ely\u00ad News</h1></div>",
    "none": "",
}
ARTICLES = {
    "h1": "<article><h1>Night bus ends</h1>{}</article>",
    "h2": "<main><h2>Night bus ends</h2>{}</main>",
    "div": "<div><h1>Night\u00a0bus&shy; ends</h1>{}</div>",
    "no headline": "<article>{}</article>",
}


@pytest.mark.parametrize("article", ARTICLES)
@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("head", HEADS)
def test_the_title_is_that_of_the_article(head: str, site: str, article: str) -> None:
    document = found(SITES[site] + ARTICLES[article].format(SENTENCES), HEADS[head])
    if article == "no headline" and head == "site first" and site in {"h1", "none"}:
        return  # nothing says which part is the site's
    assert " ".join(document.title.replace("\u00ad", "").split()) == "Night bus ends"


@pytest.mark.parametrize("mark", ["_", "-", " - ", "——"])
def test_chinese_titles_need_no_spaces_before_the_site(mark: str) -> None:
    site = "<header><a href=/>伊利新闻</a></header>"
    document = found(f"{site}<article>{SENTENCES}</article>", f"<title>夜间巴士停运——为什么{mark}伊利新闻</title>")
    assert document.title == "夜间巴士停运——为什么"


def test_a_title_with_a_dash_and_no_site_stays() -> None:
    assert found(f"<h1>Engines - a history</h1>{SENTENCES}", "<title>Engines - a history</title>").title == (
        "Engines - a history"
    )
    assert found(SENTENCES, "<title>www.pumps.example - Engines</title>").title == "Engines"


def test_an_article_of_nothing_but_links_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    links = [f"Functions of the module {name} and its structures" for name in ("tree", "parser", "reader")]
    article = SimpleNamespace(title=None, text="\n".join(links), date=None)
    monkeypatch.setattr("postil.documents.readers.html.extracted", lambda _: article)
    paragraphs = "".join(f"<p><a href='/{place}'>{link}</a></p>" for place, link in enumerate(links))
    document = found(f"<p>Modules of the library for pages</p>{paragraphs}<p>Made by its users</p>")
    texts = [text for kind, text in kinds(document) if kind == "paragraph"]
    assert texts == ["Modules of the library for pages", "Made by its users"]
