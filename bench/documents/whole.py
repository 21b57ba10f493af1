"""Share of the sentences of real PDFs that `postil` reads whole.

    python -m bench.documents.whole FOLDER [NAME…] [--missing]

FOLDER holds PDFs, and beside each `NAME.pdf` its known text `NAME.txt`, a sentence a line (`bench.documents.manuals`
fills one from packages of Debian). A sentence is whole if a block of prose has it, up to kinds of quotation marks and
dashes and to white space. The last row is the mean of the files, each of the same weight.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from bench.documents.known import folded
from postil.documents.document import PROSE
from postil.documents.readers.pdf import read_pdf

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "missing"]


def missing(pdf: Path) -> tuple[list[str], int]:
    """The sentences of a PDF that no block has whole, and the number of all."""
    document = read_pdf(pdf.read_bytes(), pdf.name)
    blocks = "\n".join(folded(document.text_of(block)) for block in document.blocks if block.kind in PROSE)
    known = pdf.with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    return [sentence for sentence in known if folded(sentence) not in blocks], len(known)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="only these, such as `fhs`")
    parser.add_argument("--missing", action="store_true", help="print the sentences that are not whole")
    asked = parser.parse_args(arguments)
    shares = list[float]()
    print("| file | sentences | whole |\n|---|---|---|")
    for pdf in sorted(asked.folder.glob("*.pdf")):
        if not pdf.with_suffix(".txt").exists() or (asked.names and pdf.stem not in asked.names):
            continue
        lost, known = missing(pdf)
        shares.append(1 - len(lost) / known)
        print(f"| {pdf.stem} | {known:,} | {shares[-1]:.3f} |", flush=True)
        if asked.missing:
            print("\n".join(f"    {sentence}" for sentence in lost))
    print(f"| mean of {len(shares)} | | {mean(shares):.3f} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
