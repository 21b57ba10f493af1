from __future__ import annotations

import codecs
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.documents.xml import XmlRepair, xml_head
from postil.errors import InvalidInput

HEAD = '<?xml version="1.0" encoding="{}"?>'


def repaired(data: bytes, step: int | None = None, encoding: str | None = None) -> tuple[str, int]:
    repair = XmlRepair(encoding)
    step = step or len(data) or 1
    blocks = [repair.feed(data[at : at + step]) for at in range(0, len(data), step)]
    return b"".join([*blocks, repair.close()]).decode(), repair.replaced


@pytest.mark.parametrize(
    ("text", "right", "replaced"),
    [
        ("a\0b\x01c\x1bd\x7f\te\r\n", "a�b�c�d\x7f\te\r\n", 3),
        ("a\ufffeb\uffffc�d", "a�b�c�d", 2),
        ("a&#x1c;b&#28;c&#X1C;d&#0;e&#x00;", "a�b�c�d�e�", 5),
        ("&#xD800;&#55296;&#xdfff;&#xFFFE;&#65535;&#x110000;&#99999999999999999999;", "�" * 7, 7),
        ("&#000000000000000000000000028;", "�", 1),
        ("&#9;&#xA;&#x20;&#233;&#x1F600;&#xE000;&#X41;", "&#9;&#10;&#32;&#233;&#128512;&#57344;&#65;", 0),
        ("&amp;&lt;&gt;&quot;&apos;", "&amp;&lt;&gt;&quot;&apos;", 0),
        ("R&D, AT&T; a & b &", "R&amp;D, AT&amp;T; a &amp; b &amp;", 0),
        ("?a=1&b=2&copy=3&amp;lt=4", "?a=1&amp;b=2&amp;copy=3&amp;lt=4", 0),
        ("&nbsp;&eacute;&LT;&AMP;&nosuch;", "\xa0é&lt;&amp;&amp;nosuch;", 0),
        ("<![CDATA[R&D &#0; &nbsp;]]>&<![CDATA[&]]>", "<![CDATA[R&D &#0; &nbsp;]]>&amp;<![CDATA[&]]>", 0),
        ("<![CDATA[]]>&<![CDATA[ ]] ]]]>& ]]>", "<![CDATA[]]>&amp;<![CDATA[ ]] ]]]>&amp; ]]&gt;", 0),
        ("<![CDATA[&", "<![CDATA[&", 0),
        ("&amp;]&lt;]]<![CDATA[]&]]&]]>&amp;]", "&amp;]&lt;]]<![CDATA[]&]]&]]>&amp;]", 0),
        ("&#", "&amp;#", 0),
        ("a]]>b<![CDATA[c]]>d]]>&", "a]]&gt;b<![CDATA[c]]>d]]&gt;&amp;", 0),
        ('<b c="&QUOT;&APOS;&apos;d"/>', '<b c="&quot;&amp;APOS;&apos;d"/>', 0),
        ("&#x;&#x1c", "&amp;#x;&amp;#x1c", 0),
    ],
)
@pytest.mark.parametrize("step", [None, 1, 3, 1024, 1025, 1026, 1030])
def test_characters_and_references(text: str, right: str, replaced: int, step: int | None) -> None:
    space = "<a>" + "é" * 507  # so that blocks end within the text
    assert repaired(f"{space}{text}</a>".encode(), step) == (f"{space}{right}</a>", replaced)


@pytest.mark.parametrize(
    ("declared", "data", "right", "replaced"),
    [
        ("utf-8", b"caf\xe9 \xc3\xa9", "caf� é", 1),
        ("utf-8", b"\xed\xa0\x80\xc0\xaf", "�����", 5),
        ("windows-1252", "café – €".encode("cp1252"), "café – €", 0),
        ("iso-8859-1", "“é”".encode("cp1252"), "“é”", 0),
        ("windows-1252", b"caf\xe9 \x81", "café �", 1),
        ("windows-1252", "café".encode(), "café", 0),
        ("us-ascii", "café".encode(), "café", 0),
        ("gb2312", "雨后".encode("gbk"), "雨后", 0),
        ("shift_jis", "雨".encode("cp932"), "雨", 0),
        ("koi8-r", "вода".encode(), "вода", 0),
        ("utf-16", b"a", "a", 0),
    ],
)
@pytest.mark.parametrize("before", ["", " " * 1200])
def test_encodings_that_are_declared(declared: str, data: bytes, right: str, replaced: int, before: str) -> None:
    head = HEAD.format(declared) + before
    repair = XmlRepair()
    text = repair.feed(head.encode() + data) + repair.close()
    assert (text.decode(), repair.replaced) == (head + right, replaced)
    assert repair.declared == (declared if data == right.encode() and declared in {"windows-1252", "koi8-r"} else None)


@pytest.mark.parametrize("step", [None, 1, 7, 1024])
@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode("utf-16"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.encode("utf-16-be"),
        lambda text: text.encode("utf-32"),
        lambda text: text.encode("utf-8-sig"),
        lambda text: ("\ufeff\n" + text).encode(),
        lambda text: ("\n \ufeff" + text).encode(),
        lambda text: ("\ufeff\ufeff\0\r\n" + text).encode(),
    ],
    ids=["utf-16", "utf-16-be", "le unmarked", "be unmarked", "utf-32", "mark", "mark, line", "line, mark", "all"],
)
def test_marks_and_blank_lines_before_the_declaration(encode, step) -> None:  # type: ignore[no-untyped-def]
    text = HEAD.format("UTF-8") + "<a>" + "Вода 😀 & " * 300 + "</a>"
    found, _ = repaired(encode(text), step)
    assert found == text.replace("&", "&amp;")
    assert xml_head(encode(text)[:64]).startswith("<?xml")


def test_lines_before_the_declaration_are_counted() -> None:
    repair = XmlRepair()
    assert repair.feed(b"\n\xef\xbb\xbf\n\n<a/>", final=True) == b"<a/>"
    assert repair.lines == 3


@pytest.mark.parametrize("before", ["<![CDATA[\0]]>", ""])
def test_tags_lose_what_was_replaced_in_them(before: str) -> None:
    data = before.encode() + b"<\0b\xe9 c='\0'\x01 d=\"\0\">\0</b\x1f><!-- \0 -->"
    assert repaired(data) == (before.replace("\0", "�") + "<b c='�' d=\"�\">�</b><!--  -->", 8 + bool(before))


def test_warnings_before_the_declaration_are_left_out() -> None:
    repair = XmlRepair()
    assert repair.feed(b"\n<br />\n<b>Warning</b>: a & b\n<?xml version='1.0'?>\n<a/>", final=True).endswith(
        b"?>\n<a/>"
    )
    assert (repair.before, repair.lines) == ("<br />\n<b>Warning</b>: a & b", 3)


def test_a_server_names_the_encoding() -> None:
    assert repaired(b"<a>\xe4</a>", encoding="iso-8859-5") == ("<a>ф</a>", 0)
    assert repaired("<a>é</a>".encode("utf-8-sig"), encoding="iso-8859-5") == ("<a>é</a>", 0)
    assert repaired(b"<a/>", encoding="none-such") == ("<a/>", 0)


@pytest.mark.parametrize("name", ["none-such", "utf-7", "unicode_escape", "base64", "idna", "hex"])
def test_encodings_that_no_text_has(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"unknown encoding: {name}; save it as UTF-8"):
        repaired(HEAD.format(name).encode())


PARTS = "& &# x1c; &#0; &amp; <![CDATA[ ]]> ] a ; \0 é \ufffe &nbsp; 雨"
PIECES = st.sampled_from([*PARTS.split(" "), " "])


@examples(500)
@given(st.lists(PIECES, max_size=40), st.integers(1, 9), st.binary(max_size=6))
def test_blocks_are_mended_as_the_whole_is(pieces: list[str], step: int, junk: bytes) -> None:
    text = "".join(pieces).encode()
    data = b"<a>" + b"x" * 1100 + text + junk.replace(b"<", b"") + text
    assert repaired(data, step) == repaired(data)


@examples(200)
@given(st.lists(PIECES.filter(lambda piece: "[CDATA" not in piece), max_size=30), st.binary(max_size=9))
def test_any_text_can_be_parsed(pieces: list[str], junk: bytes) -> None:
    text = "".join(pieces).replace("]]>", "").encode() + junk.translate(None, b"<>")
    parser = expat.ParserCreate("utf-8")
    found: list[str] = []
    parser.CharacterDataHandler = found.append
    repair = XmlRepair()
    parser.Parse(repair.feed(b"<a>" + text + b"</a>", final=True), True)
    assert "".join(found).count("\ufffd") >= repair.replaced
