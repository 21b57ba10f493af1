"""`postil forget`."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, FormatOption, command
from postil.cli.output import emit, tell
from postil.erasure.options import ForgetOptions

__all__ = ["forget_comments"]


@command
def forget_comments(
    models: Annotated[list[str] | None, Argument(metavar="MODELS", help="Models that postil train made.")] = None,
    *,
    options: ForgetOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Erase comments from models, corpora, labels of services and answers of language models, for good.

    Texts, ids, vectors, token ids and words that nothing else uses are erased; each folder is replaced in one step. A
    record keeps the comments out of later updates, and names no text and no id. A model that a running service has in
    memory is refused: erase by its POST /v1/forget, or stop it first.

    Example: postil forget model --corpus corpus --comment a7:c3
    """
    from postil.erasure.calls import forget  # noqa: PLC0415
    from postil.results.views import show, view_of  # noqa: PLC0415

    result = forget(models or [], options)
    emit(show(format, result), format)
    tell(format, view_of(result).remarks)
