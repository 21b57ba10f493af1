"""Texts whose sentences were separated by hand."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[2] / "tests" / "text" / "sentences"


class SplitText(NamedTuple):
    """A text and its sentences.

    Args:
        kind: The language and the kind of text.
        text: The text.
        bounds: Index of the first character of each sentence, and after its last.
    """

    kind: str
    text: str
    bounds: list[tuple[int, int]]

    @property
    def lang(self) -> str:
        return self.kind.partition(":")[0]

    def marks(self, bounds: list[tuple[int, int]]) -> set[int]:
        """Boundaries within the text, as numbers of characters before them that are not white space."""
        before = [len("".join(self.text[:end].split())) for _, end in bounds]
        return {mark for mark in before if mark < len("".join(self.text.split()))}


def split_texts(name: str) -> list[SplitText]:
    """Read ``boundaries.txt``, by which the rules were made, or ``heldout.txt``, written after them."""
    texts, kind = list[SplitText](), ""
    for block in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("# ")]
        if lines and lines[0].startswith("== "):
            kind = lines.pop(0)[3:]
        if lines:
            texts.append(_joined(kind, lines))
    return texts


def _joined(kind: str, lines: list[str]) -> SplitText:
    text, bounds = "", list[tuple[int, int]]()
    for line in lines:
        if bounds and line[0] not in "+⏎" and kind[:2] not in ("zh", "ja"):
            text += " "
        sentence = line.removeprefix("+").replace("⏎", "\n")
        text += sentence
        bounds.append((len(text) - len(sentence.lstrip("\n")), len(text)))
    return SplitText(kind, text, bounds)
