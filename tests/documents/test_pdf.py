from __future__ import annotations

import io
import warnings
import zlib
from typing import TYPE_CHECKING

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from pdf_files import Page, pdf_file, pdf_objects, pdf_of, stream
from postil.documents.document import PROSE
from postil.documents.readers import pdf
from postil.documents.readers.pdf import read_pdf
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from postil.documents.document import Document

MILL = (
    "The mill stood on the left bank until the flood of 1862, when the river took the wheel and half of the yard. "
    "Nobody rebuilt it, because the railway had come and flour was cheaper from the port. The stones still lie in "
    "the water, and children jump from them in summer."
)
BRIDGE = (
    "A bridge of oak replaced the ferry in the same year. It carried one cart at a time, and the toll was a penny "
    "for a sheep and two for a cow. The keeper slept in a hut at its northern end and woke when the bell rang."
)


def of_kind(document: Document, *kinds: str) -> list[str]:
    return [document.text_of(block) for block in document.blocks if block.kind in kinds]


def prose(document: Document) -> list[str]:
    return of_kind(document, *PROSE)


def test_lines_are_joined_to_paragraphs() -> None:
    page = Page()
    y = page.paragraph(72, 700, MILL)
    page.paragraph(72, y - 12, BRIDGE)
    document = read_pdf(pdf_of(page), "mill.pdf")
    assert prose(document) == [MILL, BRIDGE]
    assert [block.page for block in document.blocks] == [1, 1]


def test_an_indent_begins_a_paragraph_where_no_gap_does() -> None:
    page = Page()
    y = page.paragraph(72, 700, MILL, indent=14)
    page.paragraph(72, y, BRIDGE, indent=14)
    assert prose(read_pdf(pdf_of(page), "mill.pdf")) == [MILL, BRIDGE]


@pytest.mark.parametrize("interleaved", [False, True])
def test_columns_are_read_one_after_the_other(interleaved: bool) -> None:
    columns = Page(), Page()
    columns[0].paragraph(60, 600, f"{MILL} {BRIDGE}", width=50)
    columns[1].paragraph(320, 597, f"Later, {BRIDGE} {MILL}", width=50)
    page = Page()
    page.text(60, 720, "A history of two banks of one river", size=18, font="F2")
    page.paragraph(
        60,
        680,
        "What follows was told by the last keeper of the toll to a clerk of the county, who wrote it "
        "down in one evening, and lost it for thirty years in a drawer.",
        width=106,
    )
    pieces = [columns[0].content, columns[1].content]
    if interleaved:
        pieces = [
            [each for pair in zip(*pieces, strict=False) for each in pair],
            pieces[0][len(pieces[1]) :],
            pieces[1][len(pieces[0]) :],
        ]
    for piece in pieces:
        page.content += piece
    text = " ".join(prose(read_pdf(pdf_of(page), "two.pdf")))
    assert text.endswith(f"in a drawer. {MILL} {BRIDGE} Later, {BRIDGE} {MILL}")


def test_a_paragraph_goes_on_over_pages_past_heads_feet_and_notes() -> None:
    pages = []
    halves = (MILL + " " + BRIDGE).split(" flour was ")
    for number, half in enumerate((f"{halves[0]} flour was", halves[1], BRIDGE), start=1):
        page = Page()
        page.text(72, 750, "Mills of the county")
        page.paragraph(72, 700, half)
        if number == 1:
            page.text(72, 90, "1 Parish register, volume 3.", size=8)
        page.text(300, 40, str(number + 6))
        pages.append(page)
    document = read_pdf(pdf_of(*pages), "mills.pdf")
    assert prose(document) == [f"{MILL} {BRIDGE}", BRIDGE]
    assert [block.page for block in document.blocks if block.kind == "paragraph"] == [1, 3]
    assert of_kind(document, "margin").count("Mills of the county") == 3
    assert of_kind(document, "note") == ["1 Parish register, volume 3."]


def test_words_are_joined_over_line_ends() -> None:
    page = Page()
    page.lines(
        72,
        700,
        "The inscription was well known to every passenger of the morning train, inscrip-",
        "tion or no inscription, and the old-fashioned letters of the stone were as much old-",
        "fashioned as the man who cut them, in what he called the pre-Raphaelite, or anti-",
        "Raphaelite, way of cutting letters; \xa0the well-",
        "meaning vicar had them gilded.",
    )
    text = prose(read_pdf(pdf_of(page), "hyphens.pdf"))[0]
    assert "train, inscription or no" in text
    assert "as much old-fashioned as" in text
    assert "anti-Raphaelite, way" in text
    assert "the well-meaning vicar" in text


def test_wide_gaps_of_a_justified_line_are_no_cells() -> None:
    page = Page()
    page.text(72, 700, "Afterwards nobody came to the old mill,", font="F3")  # each character is 6 points wide
    for x, word in ((72, "where"), (156, "keepers"), (264, "carried")):
        page.text(x, 688, word, font="F3")
    page.text(72, 676, "lanterns over the river of an evening.", font="F3")
    for row, cells in enumerate((("Year", "Toll", "Carts"), ("1862", "12", "340"), ("1863", "14", "302"))):
        for at, cell in enumerate(cells):
            page.text(72 + 60 * at, 640 - 12 * row, cell, font="F3")
    document = read_pdf(pdf_of(page), "mill.pdf")
    assert of_kind(document, "table") == ["Year  Toll  Carts\n1862  12  340\n1863  14  302"]
    assert prose(document) == [
        "Afterwards nobody came to the old mill, where keepers carried lanterns over the river of an evening."
    ]


def test_headings_items_captions_and_code_are_no_paragraphs() -> None:
    page = Page()
    page.text(72, 740, "Rivers and tolls", size=20, font="F2")
    page.text(72, 700, "2 The bridge", size=10, font="F2")
    y = page.paragraph(72, 682, BRIDGE)
    y = page.lines(72, y - 12, "Tolls of the year", size=10)
    y = page.paragraph(72, y - 6, MILL)
    y = page.lines(84, y - 12, "• a penny for a sheep;", "• two for a cow.")
    y = page.lines(72, y - 12, "Figure 2: The bridge of oak in a drawing of its keeper.", size=9)
    y = page.lines(90, y - 12, "toll = sheep + 2 * cow", "print(toll)", font="F3")
    page.paragraph(
        72,
        y - 12,
        "Figure 2 shows the bridge as its keeper saw it every evening from the hut, whose window "
        "was the only one on that side of the river.",
    )
    document = read_pdf(pdf_of(page), "rivers.pdf")
    assert document.title == "Rivers and tolls"
    assert of_kind(document, "heading") == ["Rivers and tolls", "2 The bridge", "Tolls of the year"]
    assert [block.level for block in document.blocks if block.kind == "heading"] == [1, 2, 2]
    assert of_kind(document, "item") == ["a penny for a sheep;", "two for a cow."]
    assert of_kind(document, "caption") == ["Figure 2: The bridge of oak in a drawing of its keeper."]
    assert of_kind(document, "code") == ["toll = sheep + 2 * cow\nprint(toll)"]
    assert of_kind(document, "paragraph")[-1].startswith("Figure 2 shows the bridge")


@pytest.mark.parametrize("leader", [" . . . . . . . . ", ".........", "  "])
def test_contents_are_known_with_and_without_dots(leader: str) -> None:
    page = Page()
    page.text(72, 740, "Contents", size=14, font="F2")
    entries = [
        f"{name}{leader}{number}" for name, number in (("Mills", 3), ("Ferries", 9), ("Bridges", 21), ("Tolls", 40))
    ]
    y = page.lines(72, 710, *entries)
    page.paragraph(72, y - 24, MILL)
    document = read_pdf(pdf_of(page), "contents.pdf")
    assert len(of_kind(document, "contents")) == 4
    assert prose(document) == [MILL]


def test_references_after_their_heading_are_notes() -> None:
    page = Page()
    y = page.paragraph(72, 700, MILL)
    page.text(72, y - 14, "References", size=12, font="F2")
    page.lines(
        72, y - 34, "[1] A. Miller. On wheels. Press of the county, 1871.", "[2] B. Keeper. My bell. Toll Books, 1880."
    )
    page.text(72, y - 80, "Appendix", size=12, font="F2")
    page.paragraph(72, y - 100, BRIDGE)
    document = read_pdf(pdf_of(page), "sources.pdf")
    assert of_kind(document, "note") == [
        "[1] A. Miller. On wheels. Press of the county, 1871.",
        "[2] B. Keeper. My bell. Toll Books, 1880.",
    ]
    assert prose(document) == [MILL, BRIDGE]


def test_text_about_references_is_text() -> None:
    page = Page()
    page.text(72, 720, "References", size=12, font="F2")
    y = page.paragraph(72, 700, BRIDGE)
    page.text(72, y - 14, "0. PREAMBLE", size=10, font="F2")
    page.paragraph(72, y - 34, f"This text may be copied by anybody. {BRIDGE}")
    document = read_pdf(pdf_of(page), "licence.pdf")
    assert of_kind(document, "note") == []
    assert prose(document) == [BRIDGE, f"This text may be copied by anybody. {BRIDGE}"]


def test_raised_marks_of_notes_are_no_part_of_a_sentence() -> None:
    page = Page()
    page.content.append(
        "BT /F1 10 Tf 1 0 0 1 72 700 Tm (The wheel was lost in the flood.) Tj /F1 6 Tf 4 Ts (12) Tj 0 Ts /F1 10 Tf "
        "( An area of 3 km) Tj /F1 6 Tf 4 Ts (2) Tj 0 Ts /F1 10 Tf ( was under water.) Tj ET"
    )
    document = read_pdf(pdf_of(page), "marks.pdf")
    assert document.text == "The wheel was lost in the flood. An area of 3 km2 was under water."


def test_gaps_within_an_array_are_spaces_and_ligatures_are_letters() -> None:
    page = Page()
    page.content.append("BT /F1 10 Tf 72 700 Td [(The)-333(w)80(af)20(er)-280(is)] TJ T* (thin.) ' ET")
    objects = pdf_objects([page])
    objects[3] = (
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding << /BaseEncoding /WinAnsiEncoding "
        b"/Differences [102 /fi] >> >>"
    )
    assert read_pdf(pdf_file(objects), "wafer.pdf").text.startswith("The wafier is")


def test_narrow_gaps_of_a_justified_line_are_spaces() -> None:
    page = Page()
    page.content.append("BT /F1 10 Tf 72 700 Td [(The)-160(kee)15(p)10(er)-159(woke.)] TJ ET")
    assert read_pdf(pdf_of(page), "keeper.pdf").text == "The keeper woke."


def test_the_space_between_characters_can_part_words() -> None:
    """Ghostscript shows the letters on both sides of a gap as one string, and takes a space back by the word's."""
    page = Page(
        ["BT /F1 10 Tf 72 700 Td (We wa) Tj 2.9 Tc 28.04 0 Td [(ti)290(fi)290(ti)] TJ 0 Tc 25.93 0 Td (s late.) Tj ET"]
    )
    page.content.append("BT /F1 10 Tf 72 660 Td -2.45 Tw (ra ven) Tj 0 Tw ( calls.) Tj ET")
    page.content.append("BT /F1 10 Tf 72 620 Td 3 Tc (H) Tj (AT) Tj (S) Tj 0 Tc ET")
    assert read_pdf(pdf_of(page), "late.pdf").text.split("\n\n") == ["We wat if it is late.", "raven calls.", "HATS"]


def test_columns_of_short_lines_are_read_one_after_the_other() -> None:
    page = Page()
    for side, words in ((60, "left of the river"), (320, "right of the bridge")):
        y = 700
        for number in range(12):
            full = f"On the {words} stood mill {number}, and behind it one more that was never built."
            page.text(
                side, y, full if number % 4 == 0 else f"{words} no. {number}", scale=70 if number % 4 == 0 else 100
            )
            y -= 12
    text = read_pdf(pdf_of(page), "two.pdf").text
    assert text.rindex("left of") < text.index("right of")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (r"[(Torbj)-20(\250)340(orn)] TJ", "Torbjörn"),
        (r"(Coll) Tj 17.23 0 Td (\264) Tj 0.6 0 Td (ege) Tj", "Collége"),
        (r"1.4 0 Td 3 Ts (\264) Tj -1.4 0 Td 0 Ts (Ecole) Tj", "École"),
    ],
)
def test_accents_over_letters_are_letters_with_accents(content: str, text: str) -> None:
    page = Page([f"BT /F1 10 Tf 72 700 Td {content} ET"])
    assert read_pdf(pdf_of(page), "names.pdf").text == text


@pytest.mark.parametrize("rule", ["0 J 0.4 w 0 0.2 m 3 0.2 l S", "0 0 3 .4 re f"])
def test_short_lines_on_the_baseline_are_underscores(rule: str) -> None:
    page = Page()
    page.content.append("BT /F3 10 Tf 72 700 Td (tag) Tj ET")
    page.content.append(f"q 1 0 0 1 90.5 700 cm {rule} Q BT /F3 10 Tf 94 700 Td (or it is a date.) Tj ET")
    page.content.append("q 1 0 0 1 72 640 cm 0 0 300 .4 re f Q q 1 0 0 1 90 690 cm 0 0 3 .4 re f Q")
    assert read_pdf(pdf_of(page), "names.pdf").text == "tag_or it is a date."


def font_of_drawings(names: str, string: str) -> bytes:
    """A line in a font of drawings, as TeX makes it, of which each character is 50 units of a hundredth wide."""
    page = Page([f"BT /F1 10 Tf 72 700 Td ({string}) Tj 34 0 Td (\\(so it is\\).) Tj ET"])
    objects = pdf_objects([page])
    objects[3] = (
        f"<< /Type /Font /Subtype /Type3 /FontMatrix [0.01 0 0 0.01 0 0] /FontBBox [0 0 9 9] /CharProcs << >> "
        f"/FirstChar 0 /LastChar 255 /Widths [{'50 ' * 256}] /Encoding << /Differences [{names}] >> >>".encode()
    )
    return pdf_file(objects)


@pytest.mark.parametrize("codes", [(27, 28, 31, 16), (11, 12, 15, 92)])
def test_fonts_that_tex_drew_have_ligatures(codes: tuple[int, ...]) -> None:
    named = " ".join(f"{code} /a{code}" for code in (*codes, *range(97, 123), 32, 40, 41, 46))
    first, second, _, quote = (f"\\{code:03o}" for code in codes)
    data = font_of_drawings(named, f"{quote}se{second}{first}e")
    assert read_pdf(data, "drawn.pdf").text == "“sefiffe (so it is)."


def test_fonts_whose_program_alone_names_characters_have_ligatures() -> None:
    objects = pdf_objects([Page(["BT /F1 10 Tf 72 700 Td (\\014nd it.) Tj ET"])])
    number = len(objects) + 1
    objects[3] = (
        f"<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+CMR10 /FirstChar 12 /LastChar 12 /Widths [500] "
        f"/FontDescriptor << /Type /FontDescriptor /Flags 4 /FontFile {number} 0 R >> >>".encode()
    )
    program = stream(b"%!PS-AdobeFont-1.1: CMR10\n/Encoding 256 array\ndup 12 /fi put\nreadonly def\n")
    assert read_pdf(pdf_file([*objects, program]), "clear.pdf").text == "find it."


def test_terms_and_what_explains_them_are_no_table() -> None:
    page = Page()
    page.paragraph(72, 730, MILL)
    rows = (
        ("sheep", "A penny for each of them."),
        ("cow", "Two pence, or three if it is driven"),
        ("cart", "A shilling for each wheel."),
    )
    y = 660
    for term, text in rows:
        page.text(72, y, term)
        page.text(130, y, text)
        if term == "cow":
            y -= 12
            page.text(130, y, "by a man on a horse, or by two.")
        y -= 12
    document = read_pdf(pdf_of(page), "tolls.pdf")
    assert of_kind(document, "table") == []
    assert prose(document)[2::2] == [
        "A penny for each of them.",
        "Two pence, or three if it is driven by a man on a horse, or by two.",
        "A shilling for each wheel.",
    ]


def test_a_heading_that_text_goes_on_after_is_a_heading() -> None:
    page = Page()
    y = page.paragraph(72, 700, MILL)
    page.text(72, y, "2.1. The bridge.", font="F2")
    page.text(150, y, "A bridge of oak replaced the ferry in the")
    page.lines(
        72, y - 12, "same year, and the mill had no customers from the other bank in any season, and", "none in winter."
    )
    document = read_pdf(pdf_of(page), "bridge.pdf")
    assert of_kind(document, "heading") == ["2.1. The bridge."]
    assert prose(document)[0] == MILL
    assert prose(document)[1].startswith("A bridge of oak replaced the ferry in the same year")


def test_a_page_in_small_type_is_no_note() -> None:
    pages = [Page(), Page()]
    y = 740.0
    for _ in range(6):
        y = pages[0].paragraph(72, y, f"{MILL} {BRIDGE}") - 12
    pages[1].text(72, 740, "Appendix A", size=14, font="F2")
    pages[1].paragraph(72, 710, f"1. {MILL}", size=8, width=90)
    document = read_pdf(pdf_of(*pages), "licence.pdf")
    assert of_kind(document, "note") == []
    assert MILL in " ".join(prose(document)[-1:])


def test_page_headers_that_share_one_side_are_no_text() -> None:
    pages, texts = (
        [],
        [MILL, BRIDGE, "Later nobody paid any more, and whoever wanted to could cross the river by day and by night."],
    )
    for number, section in enumerate(("The mill", "The bridge", "The toll")):
        page = Page()
        page.text(72, 750, "CHAPTER 6. THE TWO BANKS")
        page.text(400, 750, f"6.{number} {section.upper()}")
        page.paragraph(72, 700, texts[number])
        pages.append(page)
    assert prose(read_pdf(pdf_of(*pages), "banks.pdf")) == texts


def test_addresses_and_names_go_on_over_line_ends() -> None:
    page = Page()
    page.lines(
        72,
        700,
        "The register of the parish can be read at https://parish.example/registers/",
        "1862/mills.html, and that of the county at https://www.county.example/toll-",
        "books, where each of the columns has a name of its own such as toll_of_",
        "sheep, which nobody has changed since the day on which the bridge was opened.",
    )
    text = read_pdf(pdf_of(page), "registers.pdf").text
    assert "https://parish.example/registers/1862/mills.html, and" in text
    assert "https://www.county.example/toll-books, where" in text
    assert "such as toll_of_sheep, which" in text


def test_rotated_pages_and_forms_are_read() -> None:
    page = Page(rotate=90)
    page.content.append(
        "BT /F1 10 Tf 0 1 -1 0 100 72 Tm (The keeper slept in a hut.) Tj 0 1 -1 0 112 72 Tm (He woke.) Tj ET"
    )
    page.content.append("/X1 Do")
    objects = pdf_objects([page])
    objects[-2] = objects[-2].replace(b"/Font <<", b"/XObject << /X1 99 0 R >> /Font <<")
    form = stream(b"BT /F1 10 Tf 0 1 -1 0 124 72 Tm (The bell rang.) Tj ET /X1 Do", "/Subtype /Form /BBox [0 0 9 9]")
    objects[-2] = objects[-2].replace(b"99 0 R", f"{len(objects) + 1} 0 R".encode())
    text = read_pdf(pdf_file([*objects, form]), "turned.pdf").text
    assert text.split() == ["The", "keeper", "slept", "in", "a", "hut.", "He", "woke.", "The", "bell", "rang."]


def test_facts_come_from_the_file_where_they_say_something() -> None:
    page = Page()
    page.paragraph(72, 700, MILL)
    info = "/Title (Mills  of the county) /CreationDate (D:20190403120000Z)"
    document = read_pdf(pdf_of(page, info=info, catalog="/Lang (en-GB)"), "a.pdf")
    assert (document.title, document.lang, document.date) == ("Mills of the county", "en-GB", "2019-04-03")
    document = read_pdf(pdf_of(page, info="/Title (Microsoft Word - mills.doc) /CreationDate (D:20191399)"), "a.pdf")
    assert (document.title, document.lang, document.date) == ("", None, None)


def encrypted(password: str) -> bytes:
    page = Page()
    page.paragraph(72, 700, MILL)
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf_of(page)))
    writer.encrypt(password, "owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_file_with_an_empty_password_is_read() -> None:
    assert prose(read_pdf(encrypted(""), "a.pdf")) == [MILL]


def bomb() -> bytes:
    page = Page()
    objects = pdf_objects([page])
    objects[-1] = stream(zlib.compress(bytes(1 << 26)), "", compress=False).replace(
        b"/Length", b"/Filter /FlateDecode /Length"
    )
    return pdf_file(objects)


def forms(names: int = 12) -> bytes:
    """Each form draws the next one ten times."""
    page = Page(["/X1 Do"])
    objects = pdf_objects([page])
    first = len(objects) + 1
    objects[-2] = objects[-2].replace(b"/Font <<", f"/XObject << /X1 {first} 0 R >> /Font <<".encode())
    for at in range(names):
        extra = f"/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X1 {first + at + 1} 0 R >> >>"
        objects.append(stream(b"/X1 Do " * 10, extra))
    objects.append(stream(b"q Q", "/Subtype /Form /BBox [0 0 9 9]"))
    return pdf_file(objects)


def cyclic() -> bytes:
    objects = pdf_objects([Page(["BT (a) Tj ET"])])
    objects[1] = b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"
    return pdf_file(objects)


def deep() -> bytes:
    objects = pdf_objects([Page(["BT /F1 9 Tf (a) Tj ET"])])
    objects[2] = b"<< /Title " + b"[" * 100_000 + b" >>"
    return pdf_file(objects)


def nameless() -> bytes:
    """Text in a font that does not say which characters it has."""
    objects = pdf_objects([Page(["BT /F1 9 Tf 72 700 Td <00010002000300040005> Tj ET"])])
    objects[3] = (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /AAAAAA+Odd /Encoding /Identity-H /DescendantFonts "
        b"[<< /Type /Font /Subtype /CIDFontType2 /BaseFont /AAAAAA+Odd >>] >>"
    )
    return pdf_file(objects)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"<html>no", "is no PDF file"),
        (b"%PDF-1.7\n%%EOF", "is damaged"),
        (b"%PDF-1.7 " + bytes(range(256)) * 40, "is damaged"),
        (pdf_of(Page(["q 612 0 0 792 0 0 cm BI /W 1 /H 1 ID \xff(\xff EI Q"])), "has no text, only pictures; run OCR"),
        (pdf_of(Page()), "has no text"),
        (encrypted("secret"), "is encrypted with a password"),
        (bomb(), "is larger than a text can be"),
        (forms(), "operators on its pages|decompressed"),
        (cyclic(), "is damaged"),
        (nameless(), "do not name the characters"),
    ],
    ids=["html", "empty", "binary", "scan", "blank", "password", "bomb", "forms", "cycle", "nameless"],
)
def test_a_file_that_cannot_be_read_is_one_sentence(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem) as caught:
        read_pdf(data, "a.pdf")
    assert str(caught.value).startswith("a.pdf: ")
    assert "\n" not in str(caught.value)


def test_a_text_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.documents.pdf_content.MOST_TEXT", 100)
    page = Page()
    page.paragraph(72, 700, MILL)
    with pytest.raises(InvalidInput, match="at most 100 characters"):
        read_pdf(pdf_of(page), "a.pdf")
    monkeypatch.setattr(pdf, "MOST_PAGES", 1)
    with pytest.raises(InvalidInput, match="at most 1 pages, got 2"):
        read_pdf(pdf_of(page, page), "a.pdf")


def test_nesting_without_end_is_no_hang() -> None:
    try:
        read_pdf(deep(), "a.pdf")
    except InvalidInput as problem:
        assert "\n" not in str(problem)  # noqa: PT017 - pypdf may also mend it


WHOLE = pdf_of(*(Page([f"BT /F1 10 Tf 72 {700 - 12 * at} Td (Line {at} of the page.) Tj ET"]) for at in range(3)))


@examples(150)
@given(st.integers(0, len(WHOLE)), st.binary(min_size=0, max_size=12), st.booleans())
def test_damage_gives_a_document_or_one_sentence(at: int, junk: bytes, cut: bool) -> None:
    data = WHOLE[:at] + junk + (b"" if cut else WHOLE[at + len(junk) :])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            document = read_pdf(data, "a.pdf")
        except InvalidInput as problem:
            assert "\n" not in str(problem)  # noqa: PT017
        else:
            assert document.blocks


OPERATORS = "1 -. Tj TJ Tf /F1 q Q cm BT Do BI EI % ' \" Tm"


@examples(150)
@given(st.lists(st.sampled_from([*"()[]<>\\a\n\0", "BI ID ", *(f"{each} " for each in OPERATORS.split())])))
def test_any_content_is_read_or_has_no_text(pieces: list[str]) -> None:
    page = Page(["BT /F1 9 Tf 72 700 Td (First line.) Tj ET", "".join(pieces)])
    assert read_pdf(pdf_of(page), "a.pdf").text.startswith("First line.")
