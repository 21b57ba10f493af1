"""Formats of documents, files that are none, and encodings."""

from __future__ import annotations

import codecs
import io
import sys
import zipfile

import pytest

from postil.documents.document import Block, Document
from postil.documents.reading import kind_of, read_document
from postil.errors import InvalidInput, MissingExtra

HTML = b"<!doctype html><title>Rain</title><p>It rained on Ely until the evening.</p>"


@pytest.mark.parametrize(
    ("data", "source", "kind"),
    [
        (b"%PDF-1.4", "rain", "pdf"),
        (b"\n%PDF-1.4", "rain.html", "pdf"),
        (b"It rained.", "rain.pdf", "text"),
        (HTML, "https://ely.example/rain", "html"),
        (codecs.BOM_UTF8 + b" <!-- x -->\n<html lang=en>", "-", "html"),
        (HTML, "rain.md", "markdown"),
        (b"<p>", "https://ely.example/rain.HTML?print=1#top", "html"),
        (b"<html>", "rain.txt", "text"),
        (b"'''Rain'''", "rain.wikitext", "wikitext"),
        (b"Rain & <b>more</b>", "letters/rain", "text"),
        (b"", "-", "text"),
    ],
)
def test_the_format_is_told_by_name_and_first_bytes(data: bytes, source: str, kind: str) -> None:
    assert kind_of(data, source) == kind


def zipped(name: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(name, "application/epub+zip" if name == "mimetype" else "x" * 10_000)
    return held.getvalue()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (zipped("rain.txt"), "got a ZIP archive; unpack it first"),
        (zipped("word/document.xml"), "got a Word document; save it as PDF or HTML first"),
        (zipped("mimetype"), "got an EPUB book; save it as HTML or text first"),
        (b"\x1f\x8b\x08\0", "got a gzip file; unpack it first"),
        (b"\x89PNG\r\n\x1a\n", "got a PNG picture; it has no text"),
        (b"\xff\xd8\xff\xe0", "got a JPEG picture; it has no text"),
        (b"{\\rtf1 rain}", "got an RTF file; save it as PDF or HTML first"),
        (b"It rained\0\x01\x02", "got binary data; give the text that it holds"),
    ],
)
@pytest.mark.parametrize("kind", [None, "html", "markdown"])
def test_binary_files_are_refused_by_name(data: bytes, problem: str, kind: str | None) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_document(data, "rain", kind)
    assert str(caught.value) == f"rain: expected text, HTML, Markdown or PDF, {problem}"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_encodings_with_their_marks(encoding: str, kind: str) -> None:
    document = read_document("艾利下雨了，没有人离开。".encode(encoding), "rain", kind)
    assert document.text == "艾利下雨了，没有人离开。"


ENGLISH = "It rained on Ely and the keeper went home. " * 50
GERMAN = "Die Schleuse öffnet um neun. Der Wärter zählt die Boote unter der Brücke von Köln."
RUSSIAN = "Шлюз открывается в девять. Смотритель считает лодки под мостом."
CHINESE = "闸口九点开放。守闸人数着桥下的船。一九六三年河水结冰九个星期。"


@pytest.mark.parametrize(
    ("encoding", "text", "named"),
    [
        ("cp1252", "It rained.\r\nThe café was closed.", "cp1252"),
        ("cp1252", GERMAN, "cp1252"),
        ("gbk", CHINESE, "gb18030"),
        ("big5", "閘口九點開放。守閘人數著橋下的船。一九六三年河水結冰九個星期。", "big5"),
        ("shift-jis", "水門は九時に開く。番人は橋の下の船を数える。人々は島まで歩いた。", "cp932"),
        ("euc-kr", "수문은 아홉 시에 열린다. 관리인은 다리 아래의 배를 센다.", "cp949"),
        ("koi8-r", RUSSIAN, "koi8-r"),
        ("cp1251", RUSSIAN, "cp1251"),
        ("utf-16-le", f"{GERMAN}\n{RUSSIAN}", "utf-16-le"),
        ("utf-16-be", f"{CHINESE}\n{CHINESE}\n", "utf-16-be"),
    ],
)
@pytest.mark.parametrize("kind", ["text", "markdown", "wikitext", None])
def test_other_encodings_are_detected_with_a_remark(encoding: str, text: str, named: str, kind: str | None) -> None:
    document = read_document(text.encode(encoding), "rain", kind)
    assert document.text.split() == text.split()
    assert document.notes == (f"not UTF-8, read as {named}",)


def test_characters_that_a_detected_encoding_lacks_are_counted() -> None:
    data = f"{CHINESE}\n".encode("gbk") * 40 + CHINESE.encode("gbk")[:1]
    assert read_document(data, "rain").notes == ("not UTF-8, read as gb18030; characters that it does not have: 1",)


@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [
        ("港口办公室每天九点开门，四点关门。", "gbk", "gb18030"),
        (ENGLISH + "港口办公室每天九点开门，四点关门。", "gbk", "gb18030"),
        (ENGLISH + "港口辦公室每天九點開門，四點關門。守門人畫了船閘的圖。", "big5", "big5"),
        ("港の事務所は毎日九時に開き、四時に閉まります。昨日は雨が降りました。", "euc_jp", "euc-jp"),
        (ENGLISH + "港の事務所は毎日九時に開き、四時に閉まります。", "cp932", "cp932"),
        (ENGLISH + "항구 사무실은 매일 아홉 시에 문을 엽니다.", "cp949", "cp949"),
        ("The boat costs £5.", "cp1252", "cp1252"),
        ("It’s open.\n\nIt is 5 °C outside, ±1.", "cp1252", "cp1252"),
    ],
)
def test_short_texts_and_those_with_much_english_are_detected(text: str, encoding: str, named: str) -> None:
    document = read_document(text.encode(encoding), "rain")
    assert document.text.split() == text.split()
    assert document.notes == (f"not UTF-8, read as {named}",)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("Bugün hava güneşli.", "cp1254"), ("İyi akşamlar.", "cp1254"), ("Он там", "cp1251"), ("Co się stało.", "cp1250")],
)
def test_letters_of_other_code_pages_are_not_of_western_europe(text: str, encoding: str) -> None:
    with pytest.raises(InvalidInput, match="expected UTF-8"):
        read_document(text.encode(encoding), "rain")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_pages_in_utf_16_without_a_mark(encoding: str) -> None:
    page = f"<html><body><article><p>{ENGLISH}</p><p>{RUSSIAN} Café’s.</p></article>"
    document = read_document(page.encode(encoding), "rain.html")
    assert document.text.split() == f"{ENGLISH} {RUSSIAN} Café’s.".split()
    assert document.notes == (f"not UTF-8, read as {encoding}",)


def test_damage_of_one_line_is_no_other_encoding() -> None:
    data = ("It rained. " * 50 + "“café” " * 30).encode()
    assert read_document(data[:600] + b"\xff" + data[600:], "rain").notes[0].startswith("characters that utf-8")
    assert read_document(f"{CHINESE * 9}".encode()[:-1], "rain").text.startswith(CHINESE)


@pytest.mark.parametrize("kind", ["text", "markdown"])
def test_texts_that_do_not_tell_their_encoding_are_refused(kind: str) -> None:
    few = "It rained.\r\nШлюз".encode("koi8-r")
    with pytest.raises(InvalidInput, match=r"^rain:2: expected UTF-8, got something else; convert the file"):
        read_document(few, "rain", kind)
    document = read_document(few, "rain", kind, charset="koi8-r")
    assert (document.text.split(), document.notes) == (["It", "rained.", "Шлюз"], ())
    mostly = f"{GERMAN}\n{RUSSIAN}\n".encode() + b"caf\xe9"
    damaged = read_document(mostly, "rain", kind, charset="base64")
    assert damaged.text.endswith("caf\ufffd")
    assert damaged.notes == ("characters that utf-8 does not have, replaced by U+FFFD: 1",)
    with pytest.raises(InvalidInput, match="expected UTF-16"):
        read_document(codecs.BOM_UTF16_LE + b"odd", "rain", kind)


def test_detecting_an_encoding_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    with pytest.raises(MissingExtra, match=r"rain is not UTF-8: convert the file to UTF-8 first; .*postil\[tables\]"):
        read_document(GERMAN.encode("cp1252"), "rain")


def test_a_document_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.documents.raw_files.LONGEST", 20)
    with pytest.raises(InvalidInput, match=r"rain\.txt: expected a document of at most 20 bytes, got 21"):
        read_document(b"x" * 21, "rain.txt")


@pytest.mark.parametrize("source", ["rain.txt", "rain.md", "rain.html"])
@pytest.mark.parametrize("data", [b"", b" \n\n\t", b"\xef\xbb\xbf", b"---\n\n***\n"])
def test_a_document_without_text_is_refused(data: bytes, source: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{source}: expected passages, got "):
        read_document(data, source)


@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_address_and_source_are_kept(kind: str) -> None:
    document = read_document(HTML, "rain", kind, url="https://ely.example/rain")
    assert (document.source, document.url) == ("rain", "https://ely.example/rain")


def test_the_address_that_a_page_calls_its_own_comes_first() -> None:
    page = HTML.replace(b"<p>", b"<link rel=canonical href=https://ely.example/own><p>")
    assert read_document(page, "rain", "html", url="https://ely.example/rain").url == "https://ely.example/own"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'<?xml version="1.0"?>\n<book><p>It rained on Ely.</p></book>', "got XML of another kind; save it as HTML"),
        (b'\xef\xbb\xbf<mediawiki xmlns="x"><page>', "got a dump of a wiki; take its passages with: postil corpus"),
        (b'<?xml version="1.0"?><mediawiki>', "got a dump of a wiki"),
    ],
)
def test_xml_of_no_document_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=f"^ely\\.xml: .*{problem}"):
        read_document(data, "ely.xml")
    assert read_document(data + b"It rained.", "ely.xml", "text").text


def test_xhtml_is_read_as_html() -> None:
    page = b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><body><p>It rained on Ely.</p></body>'
    assert read_document(page, "ely.xml").text == "It rained on Ely."


@pytest.mark.parametrize(("start", "end"), [(3, 3), (4, 2), (-1, 2)])
def test_a_block_has_text(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="expected a block of text"):
        Block(kind="paragraph", start=start, end=end)


@pytest.mark.parametrize("bounds", [[(0, 3), (2, 4)], [(2, 4), (0, 1)], [(0, 6)]])
def test_blocks_are_in_order_and_within_the_text(bounds: list[tuple[int, int]]) -> None:
    blocks = tuple(Block(kind="paragraph", start=start, end=end) for start, end in bounds)
    with pytest.raises(ValueError, match="overlap, or end after the text"):
        Document(text="Rain.", blocks=blocks, source="a.txt")
