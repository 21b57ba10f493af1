"""Made-up documents of any size: HTML, PDF, Markdown, plain text. The same numbers give the same bytes."""

from __future__ import annotations

import random
import textwrap
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["html", "markdown", "pdf", "plain"]

WORDS: Final = tuple(
    word
    for line in (
        "water mill river stone keeper bridge winter market oldest first only never harbour letter bread rope salt",
        "clerk autumn window ferry county garden silver copper orchard Ely Upware Cambridge Anne Tidd walked wrote",
        "built carried sold froze opened closed the of and in to a on by with from was were had that it he she they",
    )
    for word in line.split()
)
LINES: Final = 48
"""Number of lines on a page of a PDF."""


def _paragraphs(seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    while True:
        sentences = (" ".join(rng.choices(WORDS, k=rng.randint(6, 24))) for _ in range(rng.randint(2, 6)))
        yield " ".join(f"{each[0].upper()}{each[1:]}." for each in sentences)


def html(size: int) -> bytes:
    """A page with a menu, an article of paragraphs with links, lists and notes, and a script.

    Args:
        size: Number of bytes, about.
    """
    parts, length = ["<html lang=en><title>Mills</title><body><nav><a href=/>Home</a></nav><article><h1>Mills</h1>"], 0
    for number, text in enumerate(_paragraphs(1)):
        words = escape(text).split(" ")
        words[3] = f'<a href="/{number}">{words[3]}</a>'
        words[5] = f"<b>{words[5]}</b><sup>[{number}]</sup>"
        heading = f"<h2>Part {number}</h2>" if number % 20 == 0 else ""
        items = "<ul><li>One of them</li><li>Another</li></ul>" if number % 10 == 0 else ""
        parts.append(f'{heading}<div class="p"><p>{" ".join(words)}</p></div>{items}\n')
        length += len(parts[-1])
        if length >= size:
            break
    return "".join([*parts, "</article><script>alert(1)</script></body></html>"]).encode()


def markdown(size: int) -> bytes:
    """A text with headings, emphasis, links and code.

    Args:
        size: Number of bytes, about.
    """
    parts, length = ["---\ntitle: Mills\n---\n"], 0
    for number, text in enumerate(_paragraphs(2)):
        words = text.split(" ")
        words[2] = f"[{words[2]}](https://mills.example/{number})"
        words[4] = f"*{words[4]}*"
        parts.append((f"## Part {number}\n\n" if number % 20 == 0 else "") + " ".join(words) + "\n")
        if number % 30 == 0:
            parts.append("```\ncode = 1\n```\n")
        length += len(parts[-1])
        if length >= size:
            break
    return "\n".join(parts).encode()


def plain(size: int) -> bytes:
    """A book in lines of 78 characters, with chapters.

    Args:
        size: Number of bytes, about.
    """
    parts, length = list[str](), 0
    for number, text in enumerate(_paragraphs(3)):
        parts.append((f"CHAPTER {number // 50 + 1}\n\n" if number % 50 == 0 else "") + textwrap.fill(text, 78))
        length += len(parts[-1]) + 2
        if length >= size:
            break
    return "\n\n".join(parts).encode()


def pdf(pages: int) -> bytes:
    """A report with a header and a number on each page, compressed by nothing.

    Args:
        pages: Number of pages.
    """
    lines: list[str] = []
    for text in _paragraphs(4):
        lines += [*textwrap.wrap(text, 84), ""]
        if len(lines) >= pages * LINES:
            break
    bodies = [
        "3 0 obj\n<</Type /Font /Subtype /Type1 /BaseFont /Times-Roman>>\nendobj\n",
    ]
    kids = []
    for page in range(pages):
        shown = [f"BT /F1 9 Tf 72 760 Td (Report of the mills) Tj ET BT /F1 9 Tf 300 30 Td ({page + 1}) Tj ET"]
        shown += [
            f"BT /F1 11 Tf 72 {730 - 14 * row} Td ({line}) Tj ET"
            for row, line in enumerate(lines[page * LINES : (page + 1) * LINES])
            if line
        ]
        content = "\n".join(shown)
        number = 4 + 2 * page
        kids.append(f"{number} 0 R")
        bodies.append(
            f"{number} 0 obj\n<</Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources <</Font <</F1 3 0 R>>>> /Contents {number + 1} 0 R>>\nendobj\n"
            f"{number + 1} 0 obj\n<</Length {len(content)}>>\nstream\n{content}\nendstream\nendobj\n"
        )
    head = "1 0 obj\n<</Type /Catalog /Pages 2 0 R>>\nendobj\n"
    tree = f"2 0 obj\n<</Type /Pages /Count {pages} /Kids [{' '.join(kids)}]>>\nendobj\n"
    written, offsets = "%PDF-1.4\n", list[int]()
    for body in "".join([head, tree, *bodies]).split("endobj\n")[:-1]:
        offsets.append(len(written))
        written += body + "endobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    written += f"xref\n0 {len(offsets) + 1}\n0000000000 65535 f \n{table}"
    written += f"trailer\n<</Size {len(offsets) + 1} /Root 1 0 R>>\nstartxref\n{written.index('xref')}\n%%EOF\n"
    return written.encode("latin-1")
