"""Share of the articles of real pages that `postil` finds, and share of what it finds that is of them.

    python -m bench.documents.articles FOLDER [NAME…]

FOLDER holds a folder for each page, with the page as `source.html` and its article as `expected.html`, as the test
pages of Mozilla's readability do (`test/test-pages` of its repository; their texts are those of newspapers and blogs,
so they are not kept here). Counted are the letters of blocks of at least 40: recall is the share of the article's that
stand in the blocks that were found, precision that of these in the article, whatever lines either breaks its text
into. Notes and tables are not taken as found.
The last row is the mean of the pages.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.documents.markup import html_text
from postil.documents.readers.html import read_html
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Found", "found", "main"]

FEWEST: Final = 40
"""Smallest number of letters of a block that counts."""
KINDS: Final = frozenset({"paragraph", "item", "quote", "heading", "code"})


class Found(NamedTuple):
    """Shares of an article that were found, and of what was found that is of it."""

    recall: float
    precision: float

    @property
    def f1(self) -> float:
        """Harmonic mean of both; 0 where nothing was found."""
        return 2 * self.recall * self.precision / (self.recall + self.precision) if self.recall else 0.0


def found(page: Path) -> Found:
    """Shares of the article of a page, which is a folder with the page and its article."""
    article = html_text((page / "expected.html").read_text(encoding="utf-8")).split("\n")
    try:
        document = read_html((page / "source.html").read_bytes(), page.name)
        blocks = [document.text_of(block) for block in document.blocks if block.kind in KINDS]
    except InvalidInput:
        blocks = []
    return Found(_share(article, blocks), _share(blocks, article))


def _share(some: Iterable[str], others: Iterable[str]) -> float:
    """Share of the letters of blocks that stand in others; 1 of no blocks."""
    inside = "".join(map(_letters, others))
    counted = [letters for block in some if len(letters := _letters(block)) >= FEWEST]
    total = sum(map(len, counted))
    return sum(len(letters) for letters in counted if letters in inside) / total if total else 1.0


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="only these, such as `ars-1`")
    asked = parser.parse_args(arguments)
    every = list[Found]()
    print("| page | recall | precision | F1 |\n|---|---|---|---|")
    for page in sorted(each.parent for each in asked.folder.glob("*/expected.html")):
        if asked.names and page.name not in asked.names:
            continue
        one = found(page)
        every.append(one)
        print(f"| {page.name} | {one.recall:.3f} | {one.precision:.3f} | {one.f1:.3f} |", flush=True)
    recall, precision, f1 = (mean(values) for values in zip(*((*one, one.f1) for one in every), strict=True))
    print(f"| mean of {len(every)} | {recall:.3f} | {precision:.3f} | {f1:.3f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
