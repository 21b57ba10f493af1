"""Pages taken apart, for tests."""

from __future__ import annotations

import html
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from postil.correlation.options import CorrelateOptions

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from pathlib import Path

NASTY = "<script>alert(1)</script></svg></title>\"'&amp;{{ 7*7 }}$x^2$ \u202eשלום\u2069 \x00\x1b[31m"
QUICK = CorrelateOptions(resamples=50, permutations=50)
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Document(HTMLParser):
    """A page, taken apart."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.folder = page.with_name("r_files")
        self.source = page.read_text(encoding="utf-8")
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self._cells: list[str] | None = None
        self.rows: list[list[str]] = []
        self.feed(self.source)
        self.close()
        assert self._open == [], "unclosed elements"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"{tag} closed out of turn"

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def all(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for name, attributes in self.tags if name == tag)

    @property
    def title(self) -> str:
        """Title of the document."""
        return html.unescape(self.source.partition("<title>")[2].partition("</title>")[0])

    def line(self, name: str) -> list[str]:
        """The first row of a table that begins so."""
        return next(row[1:] for row in self.rows if row[0] == name)


Page = Document


def study(name: str) -> dict[str, Any]:
    table = {"key": "t", "caption": "t", "head": ["", "a"], "rows": [{"name": "x", "cells": [1]}]}
    parts = [{"key": "p", "title": "Part", "tables": [table]}]
    return {"schema": 1, "kind": "study", "name": name, "title": "A paper, table by table", "parts": parts}


def spoilt(value: Any, names: re.Pattern[str]) -> Any:
    """The same with something nasty behind each of these names."""
    if isinstance(value, dict):
        return {
            names.sub(spoil, key) if names.fullmatch(key) else key: spoilt(each, names) for key, each in value.items()
        }
    if isinstance(value, list):
        return [spoilt(each, names) for each in value]
    return names.sub(spoil, value) if isinstance(value, str) else value


def spoil(match: re.Match[str]) -> str:
    return match[0] + NASTY
