"""Passages of documents and their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.documents.document import PROSE, Block, Document, Piece, assembled
from postil.documents.passages import document_passages
from postil.documents.readers.text import read_plain
from postil.documents.reading import read_document
from postil.errors import InvalidInput, UnknownName

PARTS = '\n|\n\n|\r\n| |\t|\u2028|A|b|. |! |。|"|; |- |> |1. |RAIN\n|😀'
WORDS = " ".join(["rain"] * 9)


@given(
    st.lists(st.sampled_from([*PARTS.split("|"), "rain " * 9]), max_size=40).map("".join),
    st.sampled_from(["paragraphs", "lines", "sentences"]),
)
def test_a_passage_is_what_stands_at_its_place(text: str, split: str) -> None:
    try:
        document = read_plain(text, "text")
    except InvalidInput:
        return
    end = 0
    for one in document_passages(document, split):  # type: ignore[arg-type]  # one of the three
        block = document.blocks[one.block]
        assert block.kind in PROSE
        assert max(end, block.start) <= one.start < one.end <= block.end
        assert " ".join(document.text[one.start : one.end].split()) == one.text != ""
        end = one.end


def texts(text: str, split: str = "sentences") -> list[str]:
    block = Block(kind="paragraph", start=0, end=len(text))
    document = Document(text=text, blocks=(block,), source="rain")
    return [one.text for one in document_passages(document, split)]  # type: ignore[arg-type]  # one of the three


def test_sentences_are_joined_over_line_ends() -> None:
    assert texts("It rained\n  all day. Nobody\r\nleft Ely.") == ["It rained all day.", "Nobody left Ely."]
    assert texts("It rained\n  all day. Nobody\r\nleft Ely.", "lines") == ["It rained", "all day. Nobody", "left Ely."]
    assert texts("It rained.  Nobody\nleft.", "paragraphs") == ["It rained. Nobody left."]
    with pytest.raises(UnknownName, match="unknown way to split 'words'"):
        texts("It rained.", "words")


@pytest.mark.parametrize(
    ("joint", "parts"),
    [("; ", 2), (": ", 2), (" — ", 2), (" - ", 2), (", ", 1)],
)
def test_a_long_sentence_is_split_where_both_sides_have_words(joint: str, parts: int) -> None:
    side = " ".join(["rain"] * 40)
    found = texts(f"Few{joint}{side}{joint}{side}{joint}end.")
    assert len(found) == parts
    assert all(len(one.split()) <= 62 for one in found) == (parts > 1)
    assert texts(f"{WORDS}; {WORDS}.") == [f"{WORDS}; {WORDS}."]  # short enough


def test_a_semicolon_comes_before_a_dash_and_the_middle_before_the_ends() -> None:
    part = " ".join(["rain"] * 20)
    assert [len(one.split()) for one in texts(f"{part} - {part}; {part}; {part}.")] == [41, 40]
    assert [len(one.split()) for one in texts(f"{WORDS}; {part}; {part}; {part}; {WORDS}.")] == [49, 29]


def test_items_and_quotes_are_passages_and_the_rest_is_none() -> None:
    given = [
        Piece(kind, f"The {kind} has a sentence.") for kind in ("heading", "item", "code", "quote", "note", "table")
    ]
    found = document_passages(assembled(given, "rain"))
    assert [one.text for one in found] == ["The item has a sentence.", "The quote has a sentence."]


def test_markers_of_items_and_quotes_are_no_part_of_passages() -> None:
    document = read_plain("- Buy tea today, please.\n2) Sell\n   the old coffee.\n\n> Rain is wet.\n", "rain")
    found = [one.text for one in document_passages(document)]
    assert found == ["Buy tea today, please.", "Sell the old coffee.", "Rain is wet."]


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("It rained on Ely.", False),
        ("It rained on “Ely.”", False),
        ("It rained on Ely.[12]", False),
        ("“It rained on Ely!”(3)†", False),
        ("没有人离开艾利。", False),
        ("It rained on Ely", True),
        ("The following was seen on that day:", True),
        ("Nobody left Ely.", True),
        ("No!", True),
        ("[Ann leaves the mill, weeping.]", True),
        ("[Ann] leaves the mill, weeping.", False),
        ("@ann @bob @cid @dan Ely Eel Fay Gil Hal Ida and others!", True),
        ("Ann Tidd, John Tidd and Fay Eel left Ely for good.", False),
        ("NOBODY LEFT ELY THAT DAY.", False),
    ],
)
def test_a_fragment_has_no_end_or_few_words(text: str, fragment: bool) -> None:
    document = assembled([Piece("paragraph", text)], "rain")
    assert [one.fragment for one in document_passages(document)] == [fragment]
    assert [one.fragment for one in document_passages(document, "lines")] == [False]


def test_what_is_too_long_to_be_read_at_a_glance_is_a_fragment() -> None:
    side = " ".join(["rain"] * 40)
    whole = assembled([Piece("paragraph", f"Rain {side}, {side}.")], "rain")
    assert [one.fragment for one in document_passages(whole)] == [True]
    assert [one.fragment for one in document_passages(whole, "paragraphs")] == [False]


@pytest.mark.parametrize(
    ("joint", "fragments"), [("; and ", [False, True]), ("; Ely ", [False, False]), (": It ", [True, False])]
)
def test_a_part_of_a_long_sentence_that_leans_on_another_is_a_fragment(joint: str, fragments: list[bool]) -> None:
    side = " ".join(["rain"] * 40)
    split = assembled([Piece("paragraph", f"Few {side}{joint}{side}.")], "rain")
    assert [one.fragment for one in document_passages(split)] == fragments


def test_the_page_is_that_of_the_block() -> None:
    document = assembled([Piece("paragraph", "It rained.", page=3), Piece("paragraph", "Nobody left.", page=4)], "rain")
    assert [(one.block, one.page) for one in document_passages(document)] == [(0, 3), (1, 4)]


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("वह दान देता है!", True),
        ("वह दान!", False),  # two words, whatever their marks
        ("من می‌روم و می‌آیم.", True),
        ("می‌روم.", False),
        ("cafe\u0301 re\u0301sume\u0301.", False),
        ("今天天气很好。", True),
        ("วันนี้อากาศดีมากครับ!", True),
        ("Schleu\xadsen\xadwär\xadter!", False),
    ],
)
def test_words_have_their_marks_and_joiners(text: str, *, stands: bool) -> None:
    (passage,) = document_passages(read_plain(text.encode(), "a.txt"))
    assert passage.fragment is not stands


@pytest.mark.parametrize(
    "sentences",
    [
        ["नदी नौ सप्ताह तक जमी रही।", "लोग द्वीप तक पैदल गए।", "क्या कोई वापस आया?"],
        ["নদী নয় সপ্তাহ জমে ছিল।", "মানুষ দ্বীপে হেঁটে গেল।"],
        ["دریا نو ہفتے تک جما رہا۔", "لوگ جزیرے تک پیدل گئے۔", "کیا کوئی واپس آیا؟"],
        ["هل تجمد النهر تسعة أسابيع؟", "نعم، ومشى الناس إلى الجزيرة."],
        ["Գետը սառեց ինը շաբաթ։", "Մարդիկ քայլեցին մինչև կղզին։"],
        ["ወንዙ ለዘጠኝ ሳምንታት ቀዘቀዘ።", "ሰዎች ወደ ደሴቱ በእግር ሄዱ።", "ማን ተመለሰ ከዚያ በኋላ፧"],
        ["ទន្លេ បាន កក អស់ ប្រាំបួន សប្តាហ៍។", "មនុស្ស បាន ដើរ ទៅ កោះ។"],
        ["မြစ် သည် ကိုးပတ် အေးခဲ ခဲ့သည်။", "လူများ ကျွန်း သို့ လမ်းလျှောက် ခဲ့ကြသည်။"],
    ],
)
@pytest.mark.parametrize("space", [" ", ""])
@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_end_marks_of_other_scripts_end_sentences(sentences: list[str], space: str, kind: str) -> None:
    text = space.join(sentences)
    page = f"<html><body><article><p>{text}</p></article></body></html>" if kind == "html" else text
    found = document_passages(read_document(page.encode(), "river", kind))
    assert [each.text for each in found] == sentences
    assert not any(each.fragment for each in found)


def test_numbers_of_verses_stay_with_their_verse() -> None:
    text = "धर्मक्षेत्रे कुरुक्षेत्रे समवेता युयुत्सवः । मामकाः पाण्डवाश्चैव किमकुर्वत सञ्जय ॥ १ ॥ दृष्ट्वा तु पाण्डवानीकं व्यूढं दुर्योधनस्तदा ॥२॥"
    found = document_passages(read_document(text.encode(), "gita.txt"))
    assert [each.text.split()[-1] for each in found] == ["।", "॥", "॥२॥"]
