"""Wikitext, the source of a page of Wikipedia or another MediaWiki, as a document."""

from __future__ import annotations

from pathlib import PurePath
from urllib.parse import unquote, urlsplit

from postil.documents.document import Block, Document
from postil.documents.wikitext_blocks import redirect_of, wiki_blocks
from postil.errors import InvalidInput

__all__ = ["read_wikitext"]


def read_wikitext(text: str, source: str) -> Document:
    r"""Read a page of wikitext.

    Its title is the name of the file. Templates, tables, references and files with their captions are left out.

    Args:
        text: The wikitext.
        source: Name of the file, or the address.

    Raises:
        InvalidInput: It is a redirect, or has no text.
        MissingExtra: mwparserfromhell is not installed.

    >>> page = read_wikitext("'''Ducks''' are [[bird]]s.\n\n== Food ==\n* Grass", "in/Duck_pond.wiki")
    >>> page.title, [(block.kind, page.text_of(block)) for block in page.blocks]
    ('Duck pond', [('paragraph', 'Ducks are birds.'), ('heading', 'Food'), ('item', 'Grass')])
    """
    if (target := redirect_of(text)) is not None:
        raise InvalidInput(f"is a redirect to '{target}', without a text of its own", where=source)
    texts: list[str] = []
    blocks: list[Block] = []
    end = 0
    for block in wiki_blocks(text):
        if blocks:
            gap = "\n" if block.kind == blocks[-1].kind == "item" else "\n\n"
            texts.append(gap)
            end += len(gap)
        texts.append(block.text)
        blocks.append(Block(kind=block.kind, start=end, end=end + len(block.text), level=block.level))
        end += len(block.text)
    if not blocks:
        raise InvalidInput("expected wikitext with text, got none outside of templates and tables", where=source)
    return Document(text="".join(texts), blocks=tuple(blocks), source=source, title=_title(source))


def _title(source: str) -> str:
    name = unquote(urlsplit(source).path) if source.startswith(("http://", "https://")) else source
    return " ".join(PurePath(name).stem.replace("_", " ").split()).strip("-")
