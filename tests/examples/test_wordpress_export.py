"""The made-up export of a WordPress site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postil.corpus.importers.exports import read_wordpress
from postil.corpus.importers.import_report import ImportReport

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType


def test_an_export(example: Callable[[str], ModuleType], tmp_path: Path) -> None:
    """The same seed gives the same file, which has all that an import leaves out."""
    pytest.importorskip("lxml")
    script = example("wordpress_export")
    text = script.Export(1).text(60)
    assert text == script.Export(1).text(60) != script.Export(2).text(60)
    assert "[caption" in text
    assert "[gallery" in text
    (path := tmp_path / "site.xml").write_text(text, encoding="utf-8")
    report = ImportReport()
    articles = list(read_wordpress([path], report))
    assert (len(articles), report.unpublished, report.untitled, report.without_content) == (60, 5, 0, 0)
    assert report.withheld > 5
    assert any(comment.parent for article in articles for comment in article.comments)
    texts = [text for each in articles for text in (each.title, each.content, *(one.text for one in each.comments))]
    assert not [text for text in texts if text and (set("<>[]") & set(text) or "@" in text)]
