"""Results of `postil forget`."""

from __future__ import annotations

from postil.corpus.result import ForgottenFolder
from postil.results.base import Result

__all__ = ["ForgetResult"]


class ForgetResult(Result, frozen=True, kw_only=True, tag="forget"):
    """The outcome of erasing comments from models, corpora and answers.

    Args:
        folders: The outcome of each folder.
        comments: Number of comments that were asked for, with those of the same text if these were.
        articles: Number of articles that were asked for.
        dry_run: True if nothing was changed.
        serving: Models that a service serves now, of a dry run; else they are refused.
        missing: Folders in which services that have served the models stored labels, and that are not there any more.
    """

    folders: tuple[ForgottenFolder, ...]
    comments: int
    articles: int
    dry_run: bool
    serving: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
