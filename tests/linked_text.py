"""Plain text and anchors of a wikitext, for tests."""

from __future__ import annotations

import re
from typing import NamedTuple

from postil.documents.readers.wikitext import Anchor, WikiPage, parsed


class Linked(NamedTuple):
    text: str
    anchors: tuple[Anchor, ...]


def anchors_of(wikitext: str) -> Linked:
    """The text, in which runs of white space are one space, or one line end where they hold one, and its anchors."""
    page = WikiPage()
    page.read(parsed(wikitext))
    text = re.sub(r"\s+", lambda run: "\n" if "\n" in run[0] else " ", page.text).strip()
    return Linked(text, tuple(page.anchors))
