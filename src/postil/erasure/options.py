"""Options of `postil forget`, apart from its function so that help loads no model."""

from __future__ import annotations

from typing import Annotated

from postil.data.arguments import check_fields
from postil.options import Flag, options

__all__ = ["ForgetOptions"]


@options
class ForgetOptions:
    """Options of `postil forget`.

    Args:
        comments: Comment to erase, by the ids of its article and its own; repeatable.
        listed: Rows with the fields article and comment: comments to erase.
        articles: Article to erase with all its comments, by its id; repeatable.
        corpora: Corpus to erase from; repeatable.
        caches: Folder of a language model's answers (--cache) to erase from: those that repeat a comment; repeatable.
        data: Folder of a service (--data) that is stopped, to erase labels and waiting deliveries from; repeatable.
            Those of services that have served a model are known.
        same_text: Erase other comments with the same text as well.
        dry_run: Change nothing, and tell what would be erased.
    """

    comments: Annotated[tuple[str, ...], Flag("comment", metavar="ARTICLE:COMMENT")] = ()
    listed: Annotated[str | None, Flag("comments", metavar="FILE")] = None
    articles: Annotated[tuple[str, ...], Flag("article", metavar="ID")] = ()
    corpora: Annotated[tuple[str, ...], Flag("corpus", metavar="DIR")] = ()
    caches: Annotated[tuple[str, ...], Flag("cache", metavar="DIR")] = ()
    data: Annotated[tuple[str, ...], Flag("data", metavar="DIR")] = ()
    same_text: bool = False
    dry_run: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
