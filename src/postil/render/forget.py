"""View of an erasure: one row per folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from postil.render.formats import counted
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.results import ForgetResult

__all__ = ["summary", "view"]

LISTED: Final = 10
"""Largest number of copies that a remark names."""


def view(result: ForgetResult) -> View:
    """Make the view of an erasure.

    Args:
        result: The outcome.
    """
    rows = [{**msgspec.structs.asdict(one), "files": list(one.files)} for one in result.folders]
    grid = [["folder", "content", "comments", "articles", "words", "files"]]
    grid += [
        [one.folder, one.content, f"{one.comments:,}", f"{one.articles:,}", f"{one.words:,}", f"{len(one.files):,}"]
        for one in result.folders
    ]
    return View(rows=rows, grids=[grid], remarks=list(_remarks(result)))


def _remarks(result: ForgetResult) -> Iterator[str]:
    if result.dry_run:
        yield "a dry run: nothing was changed"
    if not any(one.comments or one.articles for one in result.folders):
        yield "nothing was there any more"
    for one in result.folders:
        if one.same_text:
            yield f"{one.folder}: the same text stays in {_listed(one.same_text)}; --same-text erases it too"
        if one.quoting:
            yield f"{one.folder}: quoted in {_listed(one.quoting)}, which stays"
        if one.network:
            problem = "a network was trained on what is erased, and its weights cannot unlearn it"
            yield f"{one.folder}: {problem}; train again: postil train {one.content}"
        if one.content == "answers":
            yield f"{one.folder}: answers that repeat a comment are erased; requests are not kept there"


def _listed(pairs: tuple[tuple[str, str], ...]) -> str:
    names = ", ".join(f"{article}:{comment}" for article, comment in pairs[:LISTED])
    return f"{counted(len(pairs), 'comment')} ({names}{', …' if len(pairs) > LISTED else ''})"


def summary(result: ForgetResult) -> str:
    """Number of comments that were erased, and of folders.

    Args:
        result: The outcome.
    """
    number = sum(one.comments for one in result.folders if one.content != "answers")
    would = " would be" if result.dry_run else ""
    return f"{counted(number, 'comment')}{would} erased from {counted(len(result.folders), 'folder')}"
