"""View of an erasure: one row per folder."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.messages import Blank, Listed, Message, Setting
from postil.results.table import Count, Name, Table, Text
from postil.results.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.corpus.result import ForgottenFolder
    from postil.erasure.result import ForgetResult

__all__ = ["view"]

LISTED: Final = 10
"""Largest number of copies that a remark names."""


def view(result: ForgetResult) -> View:
    """Make the view of an erasure.

    Args:
        result: The outcome.
    """
    columns = (
        Name("folder", "folder"),
        Text("content", "content"),
        *(Count(name, name) for name in ("comments", "articles", "words")),
        Count("files", len, at=attrgetter("files")),
    )
    number = sum(one.comments for one in result.folders if one.content not in {"answers", "labels"})
    would = " would be" if result.dry_run else ""
    return View(
        line=f"{counted(number, 'comment')}{would} erased from {counted(len(result.folders), 'folder')}",
        rows=result.folders,
        grids=[Table(rows=result.folders, columns=columns)],
        remarks=list(_remarks(result)),
    )


def _remarks(result: ForgetResult) -> Iterator[str]:
    if result.dry_run:
        yield "a dry run: nothing was changed"
    if not any(one.comments or one.articles or one.deliveries for one in result.folders):
        yield "nothing was there any more"
    copies = [one for one in result.folders if one.content in {"answers", "labels"}]
    if copies and not any(one.comments or one.articles for one in result.folders if one not in copies):
        yield f"{', '.join(one.folder for one in copies)}: copies are known by texts, and these were erased before"
    for one in result.folders:
        if one.same_text:
            yield Message(
                "{folder}: the same text stays in {comments}; {setting} erases it too",
                folder=one.folder,
                comments=_listed(one.same_text),
                setting=Setting("same_text", value=True),
            )
        if one.quoting:
            yield f"{one.folder}: quoted in {_listed(one.quoting)}, which stays"
        if one.network:
            problem = "a network was trained on what is erased, and its weights cannot unlearn it"
            yield f"{one.folder}: {problem}; train again: postil train {one.content}"
        yield from _outcome(one, dry_run=result.dry_run)
    for model in result.serving:
        yield f"{model}: a service that runs serves it; erase by its POST /v1/forget, or stop it first"
    for folder in result.missing:
        yield Message(
            "{folder}: a service stored labels there, and it is not there any more; if it was moved: {data}",
            folder=folder,
            data=Setting("data", Blank("DIR")),
        )
    yield Message("not reached: {places}", places=Listed([*_elsewhere(result)], last=", "))


def _outcome(one: ForgottenFolder, *, dry_run: bool) -> Iterator[str]:
    """Remarks on the outcome of a folder by its kind."""
    if one.content == "screen" and one.comments:
        would = "would be " if dry_run else ""
        yield f"{one.folder}: {would}learned again without {counted(one.comments, 'decision')}"
    if one.content == "answers":
        yield f"{one.folder}: answers that repeat a comment are erased; requests are not kept there"
    if one.content == "labels" and (one.comments or one.deliveries or one.decisions):
        yield f"{one.folder}: {_labels(one)} of a service"


def _labels(one: ForgottenFolder) -> str:
    """Numbers of labels, decisions and messages that are erased from a store."""
    decisions = f", {counted(one.decisions, 'decision')} of moderators" if one.decisions else ""
    given_up = f", and {counted(one.deliveries, 'message')} that waited" if one.deliveries else ""
    return f"{counted(one.comments, 'label')}{decisions}{given_up}"


def _elsewhere(result: ForgetResult) -> Iterator[str]:
    """Places where a comment may be that is in none of the folders."""
    contents = {one.content for one in result.folders}
    if "corpus" not in contents:
        yield Message("corpora that models were trained on ({corpus})", corpus=Setting("corpus"))
    if not contents - {"corpus", "answers", "labels"}:
        yield "models that were trained on the corpus"
    if "answers" not in contents:
        yield Message("kept answers of language models ({cache})", cache=Setting("cache"))
    if "labels" not in contents:
        yield Message("labels of services that served copies of a model ({data})", data=Setting("data"))
    yield "word vectors, campaigns, files of suggestions and labels, exports and backups"


def _listed(pairs: tuple[tuple[str, str], ...]) -> str:
    names = ", ".join(f"{article}:{comment}" for article, comment in pairs[:LISTED])
    return f"{counted(len(pairs), 'comment')} ({names}{', …' if len(pairs) > LISTED else ''})"
