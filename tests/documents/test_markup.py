from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.documents.markup import plain_text


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
