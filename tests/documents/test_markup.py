"""Mark-up in texts of people: HTML, Markdown, BBCode; and texts that only look so."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.documents.markup import LONGEST, HtmlCleaner, html_text, plain_text
from postil.errors import InvalidInput, MissingExtra


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain  text\n here", "plain text here"),
        ("I <3 you & a < b", "I <3 you & a < b"),
        ("<p>One.</p><p>Two<br/>three</p>", "One.\nTwo\nthree"),
        ("<ul><li>a</li><li>b</li></ul>c", "a\nb\nc"),
        ('see <a href="https://x.org">this <i>page</i></a>', "see this page"),
        ("caf&eacute;&nbsp;&hearts;", "café ♥"),
        ("<pre><code>a\n  b</code></pre>", "a\nb"),
        ("a<script>alert('<p>x')</script><style>p {}</style>b<noscript>no</noscript>", "ab"),
        ("a<!-- wp:paragraph -->b", "ab"),
        ("<title>Head</title> body", "Head body"),
        ("<b>not closed", "not closed"),
        ("<blockquote>said<p>before</p></blockquote>own", "said\nbefore\nown"),
        ("<b>nul\0</b> and \ud800 half", "nul and ? half"),
        ("<p>明天有雨。</p><p>带伞</p>", "明天有雨。\n带伞"),
        ("<p>  </p><br>", ""),
    ],
)
def test_text(html: str, text: str) -> None:
    assert html_text(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<blockquote>said <blockquote>before</blockquote> then</blockquote><p>own</p>", "own"),
        ('<aside class="quote no-group" data-post="1"><div>ann:</div><aside>x</aside>said</aside><p>own</p>', "own"),
        ("<aside class='onebox'>a page</aside>", "a page"),
        ("<blockquote>all of it</blockquote>", ""),
    ],
)
def test_quotes_are_left_out(html: str, text: str) -> None:
    assert html_text(html, quotes=False) == text


def test_lines_of_the_source() -> None:
    assert html_text("one\r\n<b>two</b>\n\nthree", lines=True) == "one\ntwo\nthree"
    assert html_text("one\n<b>two</b>") == "one two"


def test_bombs() -> None:
    assert html_text("<div><b>" * 100_000 + "deep") == "deep"
    assert html_text("<" * 1_000_000 + "&") == "<" * 1_000_000 + "&"
    with pytest.raises(InvalidInput, match=r"expected HTML of at most 4,194,304 characters, got 4,194,305"):
        html_text("a" * (LONGEST + 1))


@given(st.text(st.sampled_from("<>/&;!-[]\"'= apbrquote\n\0é"), max_size=80), st.booleans(), st.booleans())
def test_no_text_fails(html: str, quotes: bool, lines: bool) -> None:
    text = html_text(html, quotes=quotes, lines=lines)
    assert text == text.strip()
    assert "\n\n" not in text


def test_without_lxml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lxml", None)
    with pytest.raises(MissingExtra, match=r"HTML in the text of articles and comments .*postil\[pages\]"):
        html_text("<b>a</b>")


@pytest.mark.parametrize(
    "text",
    [
        "I <3 R&D, a < b and c > d; AT&T",
        "x<y && z>w ? 1 : 0",
        "<name> wrote <ann@site.org> about <https://site.org>",
        "use <b> for bold",
        "Dear <insert name>,\n\nhello  there",
        "&c. &notanentity; 5 &lt 6",
        "<" * 100_000,
        "<a " * 100_000,
        "<!--" * 100_000,
        "<p " * 50_000 + "=" * 50_000,
    ],
    ids=lambda text: text[:12],
)
def test_a_plain_text_stays_as_it_is(text: str) -> None:
    clean = HtmlCleaner()
    assert clean(text) == text
    assert clean.cleaned == 0


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One\nline.</p><p>Two</p>", "One line.\nTwo"),
        ("one\n<b>two</b> <3", "one\ntwo <3"),
        ("see <A HREF=x>there</A>", "see there"),
        ("a<br>b", "a\nb"),
        ("<blockquote>said</blockquote>own", "said\nown"),
        ("<!-- wp:paragraph -->Hi", "Hi"),
        ("R&amp;D &#8230;&nbsp;a\n\nb &#x1F600; &unknown;", "R&D … a\n\nb 😀 &unknown;"),
        ("<p>cut <a href='x", "cut"),
    ],
)
def test_html_is_cleaned(html: str, text: str) -> None:
    clean = HtmlCleaner()
    assert (clean(html), clean.cleaned) == (text, 1)


def test_quotes_of_comments_and_bombs() -> None:
    clean = HtmlCleaner()
    assert clean("<blockquote>said</blockquote>own", quotes=False) == "own"
    assert clean("<div class=x>" * 100_000 + "deep") == "deep"
    with pytest.raises(InvalidInput, match="expected HTML of at most 4,194,304 characters"):
        clean("<p>" + "<a href='" + "x" * LONGEST + "'>")


@given(st.text(st.characters(exclude_characters="<&")))
def test_a_text_without_marks_stays_as_it_is(text: str) -> None:
    assert HtmlCleaner()(text) is text


def test_lxml_is_needed_for_html_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lxml", None)
    assert HtmlCleaner()("a < b &amp; c") == "a < b & c"
    with pytest.raises(MissingExtra, match=r"postil\[pages\]"):
        HtmlCleaner()("<b>a</b>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Markdown
        ("**a** and *b c* and ***x***", "a and b c and x"),
        ("__a__ or _b_, ~~no~~ ||yes||", "a or b, no yes"),
        ("f*** you and *this*", "f*** you and this"),
        ("2*3*4 or 2 * 3 * 4, snake_case_name and *a", "2*3*4 or 2 * 3 * 4, snake_case_name and *a"),
        ("# Rain\n- one\n* two\n1. three\n#1 choice", "Rain\none\ntwo\n1. three\n#1 choice"),
        ('see [the map](https://web.org/a_(b) "a map") or [this]( here', "see the map or this here"),
        ("![a cat](cat.png) Nice", "Nice"),
        ("run `git status` first", "run git status first"),
        ("Try:\n```py\nx = 1\n```\nand go", "Try:\n\nand go"),
        ("a ``` b", "a \n b"),
        ("rain\n\n---\n\nsnow", "rain\n\nsnow"),
        (r"\*not\* so 10\. \_", "*not* so 10. _"),
        ("我**很**好", "我很好"),
        # HTML, also escaped
        ("<p>Rain<br/>again</p> <b class='x'>now</b><!-- no -->", "Rain\nagain\n now"),
        ("a &amp; b &lt;p&gt;c&nbsp;d &#39;e&#39; &notanentity;", "a & b \nc d 'e' &notanentity;"),
        ("<script>x < y</script>Rain <pre>a\nb</pre>", "Rain"),
        ("AT&T &copy 2*3", "AT&T &copy 2*3"),
        ("a<b and c>d, 3 < 4 > 2 <3", "a<b and c>d, 3 < 4 > 2 <3"),
        ("ends with code <code>x</code> and <script>alert(1)", "ends with code x and"),
        # BBCode and shortcodes
        ("[b]Rain[/b] [url=http://x.org]here[/url] [sic] [1]", "Rain here [sic] [1]"),
        ("[img]http://x.org/a.png[/img][code]x[/code]Rain", "Rain"),
        ('[caption id="a"]A cat[/caption][gallery ids="1,2"]Rain [video src="x"][/video]', "Rain"),
        ("[…] A title […]", "[…] A title […]"),
    ],
)
def test_mark_up_is_stripped(text: str, expected: str) -> None:
    assert plain_text(text) == (expected, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("> So wet.\nBring a coat.", "Bring a coat."),
        ("Yes.\n  > > So wet.\n&gt; and so on\nNo.", "Yes.\nNo."),
        ("<blockquote>Wet <blockquote>x</blockquote></blockquote>Yes", "Yes"),
        ("[quote=Bob]wet[/quote]\nYes", "Yes"),
        ("> all of it", ""),
    ],
)
def test_quotations_are_left_out_and_said(text: str, expected: str) -> None:
    assert plain_text(text) == (expected, True)


@pytest.mark.parametrize("text", [">:( so sad", "a > b", ">.> hm", "no\n>_<"])
def test_faces_are_no_quotations(text: str) -> None:
    assert plain_text(text) == (text, False)


@given(st.text(st.sampled_from("ab *_~|`\\<>/[]()&;#\n!-=\"'雨"), max_size=40) | st.text(max_size=20))
def test_any_text_has_a_plain_one(text: str) -> None:
    plain, _ = plain_text(text)
    assert len(plain) <= len(text)
    assert set(plain) <= {*text, "\n", " "} or "&" in text


UNITS = [
    *("[", "<", "<a", "<a =", "*a ", "**", "`", "> ", "[a](", "[a](b(", "[quote]", "<b>", "&amp;", "\\", "\n", "# "),
    *(
        "- ",
        "```\n",
        "<script>",
        "_ ",
        "<a b",
        "[caption ",
        "~~",
        "|| ",
        "<!--",
        "\n ",
        "&#",
        "[a",
        "![",
        "\u202e",
        "😂",
    ),
]


@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_text_alone(unit: str) -> None:
    """A pattern that reads the rest at every place takes hours for this text, not a second."""
    begin = time.process_time()
    plain_text(unit * (100_000 // len(unit)))
    assert time.process_time() - begin < 20
