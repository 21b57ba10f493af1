"""Plain texts as documents: books, reports, letters, lines that are paragraphs, and others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.documents.passages import document_passages
from postil.documents.readers.text import plain_blocks, read_plain
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from postil.documents.document import BlockKind, Document


def kinds(text: str) -> list[tuple[BlockKind, str]]:
    document = read_plain(text, "text.txt")
    assert document.text == text
    return [(block.kind, " ".join(document.text_of(block).split())) for block in document.blocks]


def of_kind(document: Document, *wanted: str) -> list[str]:
    return [" ".join(document.text_of(block).split()) for block in document.blocks if block.kind in wanted]


BOOK = """\
The Project Gutenberg eBook of The Keeper of the Weir, by A. Nobody

This eBook is for the use of anyone anywhere at no cost and with
almost no restrictions whatsoever.  You may copy it, give it away.

Title: The Keeper of the Weir

Author: A. Nobody

Release Date: March 3, 2007  [EBook #99999]

Language: English

*** START OF THIS PROJECT GUTENBERG EBOOK THE KEEPER OF THE WEIR ***


Produced by Some Volunteers and the Online Distributed
Proofreading Team


[Illustration: The weir in winter. _Frontispiece_]


THE KEEPER
OF THE WEIR

BY
A. NOBODY

AUTHOR OF "THE LOCK," "THE FEN," ETC.


LONDON
1887

_All rights reserved._


CONTENTS.

CHAPTER                                PAGE

I. The Night of the Flood               1
II. A Visitor from Ely                 19
III. The Price of Eels                 42


LIST OF ILLUSTRATIONS

The weir in winter              Frontispiece
The boat                                  20


CHAPTER I.

THE NIGHT OF THE FLOOD.

    "The river gives, the river takes,
    And never asks the miller."
                            --OLD SONG.


It was in the autumn of the year that the old weir broke, and the men of
the village, who had said for twenty years that it would break, were all
of them in their beds.  Old Thomas heard it first.[1]

"Get up!" he cried, and beat upon the door with both his fists; "get up,
the weir is gone, and the meadow with it, and the bridge will go before
the morning, and there are eleven sheep of mine upon the island, and the
miller is drunk, as he is on every night when there is work to be done,
and the parson is at Ely; and I am an old man who cannot swim, and never
could, and I will not see my sheep drowned for the want of a boat."

Nobody answered. The water had already reached the second step of the
mill, where no water had been seen since 1799.

       *       *       *       *       *

In the morning there was no bridge. Where it had stood, the river ran
smooth and brown and as wide as a lake.

  The bridge is down, the bridge is down,
    The miller's wife is weeping;
  The water's come to Ely town
    And all the watch are sleeping.

They sang this in Ely for a hundred years.

[Footnote 1: The date is disputed; see the parish register for 1812.]

[Illustration: The boat.]


CHAPTER II.

A VISITOR FROM ELY.

The visitor came on a Tuesday. He wore two coats, one above the other,
and under both of them, as it was later found, a chain of office.

"Sir," he wrote that evening,

    I have the honour to report that the weir is beyond repair. It was
    built without foundations, by a man who had never seen a river.

    I remain, Sir,
    Your obedient servant,
    J. HOLLIS.

THE END.


INDEX

Bridge, fall of, 12, 14
Eels, price of, 42-44
Weir, 1, 3, 19

End of the Project Gutenberg EBook of The Keeper of the Weir, by A. Nobody

*** END OF THIS PROJECT GUTENBERG EBOOK THE KEEPER OF THE WEIR ***

Updated editions will replace the previous one.
"""


REPORT = """\
REPORT ON THE WATER SUPPLY OF THE BOROUGH

Prepared for the Council by the Office of Works
12 March 2019

Table of Contents

Executive Summary ............................................ 2
1. Introduction .............................................. 3
   1.1 Scope ................................................. 3
2. Findings .................................................. 5
   2.1 Leaks in the old mains ............................... 5
Annex A. Tables ............................................. 11

Borough Water Report 2019                                Page 2

Executive Summary

The borough loses a third of its water before it reaches a tap. Most of
the loss is in 41 km of cast-iron main laid before 1910, and half of it
in a single street.

Key findings:

  * One litre in three is lost between the reservoir and the tap.
  * The worst street, Mill Lane, loses more water than the whole of the
    northern district uses.
  * No main has been replaced since 1974.

Borough Water Report 2019                                Page 3

1. Introduction

1.1 Scope

This report covers the years 2009 to 2018.(1) It does not cover the
reservoir itself, which belongs to the county.
It was written by three engineers, of whom one has since retired to a
village that has no mains at all.

    Year      Supplied (Ml)     Lost (Ml)
    ----      -------------     ---------
    2009      1,204             361
    2018      1,190             402

Table 1: Water supplied and lost, 2009 and 2018

Borough Water Report 2019                                Page 4

2. Findings
===========

2.1 Leaks in the old mains
--------------------------

The oldest main in use was laid in 1854. It was meant to last forty
years; it is still in use, and it still leaks, and the council has paid
for its repair 112 times.

We recommend that:

a) the main in Mill Lane is replaced before the winter;
b) the council measures pressure at night, when leaks are easily heard;
c) nobody digs in Mill Lane without asking.

Run the leak model with:

    def leaks(mains):
        return [m for m in mains if m.year < 1910]

(1) Figures for 2011 are missing, since the meter was stolen.

Borough Water Report 2019                                Page 5
"""

LETTER = """\
From: Ann Reader <ann@ely.example>
To: fen-history@ely.example
Date: Tue, 3 Mar 2020 10:11:12 +0000
Subject: Re: The oldest pump in the county

On Mon, 2 Mar 2020, Bob Writer wrote:
> I have always been told that the pump at Stretham is the oldest in
> the county, but my uncle says otherwise.
>
> Does anybody know?

Hello Bob,

your uncle is right: the pump at Stretham was built in 1831, and there was one at Prickwillow before it.
The first was moved by wind, and it was blown into the river in 1829.

> Is it open on Sundays?

No, it was sold for scrap in 1940.

Best wishes,
Ann

--
Ann Reader
Secretary, Fen History Society
http://fen.example
"""


def test_a_book() -> None:
    document = read_plain(BOOK, "book.txt")
    assert (document.title, document.lang) == ("The Keeper of the Weir", "en")
    starts = [" ".join(text.split()[:2]) for text in of_kind(document, "paragraph")]
    assert starts == ["It was", '"Get up!"', "Nobody answered.", "In the", "They sang", "The visitor", '"Sir," he']
    assert [text[:10] for text in of_kind(document, "quote")] == ["The bridge", "I have the", "I remain, "]
    assert " / ".join(of_kind(document, "heading")[-7:]) == (
        "CONTENTS. / CHAPTER I. / THE NIGHT OF THE FLOOD. / CHAPTER II. / A VISITOR FROM ELY. / THE END. / INDEX"
    )
    assert of_kind(document, "note") == ["[Footnote 1: The date is disputed; see the parish register for 1812.]"]
    assert of_kind(document, "caption") == [
        "[Illustration: The weir in winter. _Frontispiece_]",
        "[Illustration: The boat.]",
    ]
    assert of_kind(document, "contents")[-1] == "Weir, 1, 3, 19"
    assert of_kind(document, "margin")[-1] == "Updated editions will replace the previous one."


def test_a_speech_of_a_book_is_split_at_its_semicolons() -> None:
    found = document_passages(read_plain(BOOK, "book.txt"))
    speech = [one.text for one in found if "sheep" in one.text]
    assert len(speech) == 2
    assert speech[1].startswith("and I am an old man")


def test_a_report() -> None:
    document = read_plain(REPORT, "report.txt")
    assert document.title == "REPORT ON THE WATER SUPPLY OF THE BOROUGH"
    assert " / ".join(of_kind(document, "heading")[1:]) == (
        "Table of Contents / Executive Summary / 1. Introduction / 1.1 Scope / 2. Findings / 2.1 Leaks in the old mains"
    )
    assert len(of_kind(document, "contents")) == 6
    assert [text.split()[0] for text in of_kind(document, "paragraph")] == [
        *("The", "Key", "This", "It", "The", "We", "Run"),
    ]
    assert [text.split()[0] for text in of_kind(document, "item")] == ["*", "*", "*", "a)", "b)", "c)", "(1)"]
    assert [text[:4] for text in of_kind(document, "table", "caption", "code")] == ["Year", "Tabl", "def "]
    assert sum(text.startswith("Borough Water Report") for text in of_kind(document, "margin")) == 4


def test_a_letter() -> None:
    document = read_plain(LETTER, "letter.txt")
    assert document.title == "Re: The oldest pump in the county"
    assert of_kind(document, "paragraph", "quote") == [
        "Hello Bob,",
        "your uncle is right: the pump at Stretham was built in 1831, and there was one at Prickwillow before it.",
        "The first was moved by wind, and it was blown into the river in 1829.",
        "> Is it open on Sundays?",
        "No, it was sold for scrap in 1940.",
        "Best wishes, Ann",
    ]
    assert of_kind(document, "margin")[-1].startswith("-- Ann Reader")


LONG = (
    "The first steam pump of the fen was built in 1817, and it burned more coal in a week than the village in a year."
)


def test_one_line_per_paragraph() -> None:
    text = f"The pumps\n{LONG} It was hated.\nIt broke.\nEels\n{LONG}\n{LONG} Nobody wept. {LONG}\n"
    assert [kind for kind, _ in kinds(text)] == [
        *("heading", "paragraph", "paragraph", "heading", "paragraph", "paragraph"),
    ]


WRAPPED = "It was in the autumn of the year that the old weir broke, and the men of\nthe village were in bed."


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (f"{WRAPPED}\n{WRAPPED}", 2),  # the next word would have fitted
        (f"   {WRAPPED}\n   {WRAPPED}\n   {WRAPPED}", 3),
        (f"{WRAPPED}\n\n\n{WRAPPED}", 2),
        (WRAPPED.replace("\n", "\r\n"), 1),
    ],
)
def test_paragraphs_of_wrapped_lines(text: str, number: int) -> None:
    assert [kind for kind, _ in kinds(text)] == ["paragraph"] * number


def test_chinese() -> None:
    assert kinds("第一章 雨\n\n艾利下了三天的雨。\n没有人受伤。\n\n第二章 桥\n\n桥在夜里塌了。\n") == [
        ("heading", "第一章 雨"),
        ("paragraph", "艾利下了三天的雨。 没有人受伤。"),
        ("heading", "第二章 桥"),
        ("paragraph", "桥在夜里塌了。"),
    ]


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        ("== History ==", "heading"),
        ("## History", "heading"),
        ("History of the pumps of Ely", "heading"),
        ("***", "margin"),
        ("[Pg 12]", "margin"),
        ("- 12 -", "margin"),
        ("Page 3 of 12", "margin"),
        ("Copyright 1999 by nobody. All rights reserved.", "margin"),
        ("[1] Smith, Rain, page 12.\n[2] The same.", "note"),
        ("† It is lost.", "note"),
        ("Figure 2: The pump at rest.", "caption"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "table"),
        ("Year    Tons    Eels\n1831    900     12\n1832    901     13", "table"),
        ("```\nIt is code.\n```", "code"),
        ("for pump in pumps:\n    stop(pump)\n    count += 1", "code"),
        ("    The river gives, the river takes,\n    and never asks.", "quote"),
        ("Rain ........ 12", "contents"),
        ("Rain and wind,\nand wind and rain.", "paragraph"),
        ("* Rain in the morning\n* Wind in the evening", "item"),
        ("“Nobody is here,” he said", "paragraph"),
    ],
)
def test_groups_between_paragraphs(group: str, kind: BlockKind) -> None:
    found = [each for each, _ in kinds(f"{WRAPPED}\n\n{group}\n\n{WRAPPED}\n\n{WRAPPED}\n\n{WRAPPED}\n")]
    assert set(found[1:-3]) == {kind}


def test_notes_contents_and_signatures_end() -> None:
    text = f"{WRAPPED}\n\nReferences\n\nSmith, J. Rain. Ely, 1999.\n\nJones, B. Wind.\n\nAppendix\n\n{WRAPPED}\n"
    assert [kind for kind, _ in kinds(text)] == ["paragraph", "heading", "note", "note", "heading", "paragraph"]
    text = f"{WRAPPED}\n\n--\nAnn\n\n" + f"{WRAPPED}\n\n" * 8
    assert [kind for kind, _ in kinds(text)][-1] == "paragraph"


def test_a_text_of_verses_or_headlines_has_its_lines_as_passages() -> None:
    assert [kind for kind, _ in kinds("Coffee is from Yemen\n\nPrices Rose\n\nTHE END\n")] == ["paragraph"] * 3
    with pytest.raises(InvalidInput, match=r"^text\.txt: expected passages, got none$"):
        kinds("12\n\n***\n")


LINES = (
    "Contents|1. Rain ... 3|CHAPTER I|--|> quoted|```|[1] note|    x = f(y);|- a|===|Rain  12|[Illustration: a|- 7 -|"
)
PIECES = (*(f"{line}\n" for line in LINES.split("|")), "\n\n", "\f", "\r", "It rained all day.", " ", "\t")


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_every_visible_character_is_in_one_block(text: str) -> None:
    end = 0
    for block in plain_blocks(text):
        assert not text[end : block.start].strip()
        assert text[block.start : block.end] == text[block.start : block.end].strip() != ""
        end = block.end
    assert not text[end:].strip()


@pytest.mark.parametrize(
    "text",
    [
        "It rained. " * 50_000,
        "a\n" * 50_000 + "It rained all day.",
        "CONTENTS\n\n" + "Rain and wind\n\n" * 20_000 + "It rained all day.",
        "It rained all day; " * 10_000,
    ],
)
def test_endless_lines_take_linear_time(text: str) -> None:
    assert document_passages(read_plain(text, "text.txt"))


@pytest.mark.parametrize("lines", ["ABC DEF\n", "== Ely ==\n", "Ely\n===\n", "1. ELY AND THE FENS\n"])
def test_thousands_of_lines_like_headings_are_read_without_recursion(lines: str) -> None:
    document = read_plain(lines * 3_000 + "\nIt rained on Ely for a week, and nobody left the house.\n", "ely.txt")
    assert sum(block.end - block.start + 1 for block in document.blocks) == len(document.text) - 1
    assert document.text_of(document.blocks[-1]).endswith("left the house.")
