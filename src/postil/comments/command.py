"""`postil comment`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from postil.cli.command import Argument, FormatOption, Option, command
from postil.cli.output import emit, say, terminal_width
from postil.comments.call_options import CommentOptions, PromptedCommentOptions
from postil.data.options import InputOptions
from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from postil.data.suggestions import Suggestions
    from postil.results.formats import Format

__all__ = ["comment"]


def _prompt() -> str:
    from postil.comments.prompted_commenter import default_template  # noqa: PLC0415

    return default_template().text


def _selector_prompt() -> str:
    from postil.comments.selecting_commenter import default_template  # noqa: PLC0415

    return default_template().text


@command
def comment(
    articles: Annotated[
        str,
        Argument(
            metavar="ARTICLES",
            help="Articles (id, title, [content]): a table of any format, or -; or one article as HTML, Markdown, "
            "text or PDF, or its address.",
        ),
    ],
    *,
    model: Annotated[
        str,
        Option(
            short="m",
            metavar="DIR|NAME",
            help="A model that postil train made; with --endpoint, without --selector, a language model's name there.",
        ),
    ],
    options: CommentOptions,
    prompted: PromptedCommentOptions,
    inputs: InputOptions,
    show_prompt: Annotated[  # noqa: ARG001 - it runs nothing
        bool,
        Option(prints=_prompt, help="Print the template of the prompt and stop.", group="Language model"),
    ] = False,
    show_selector_prompt: Annotated[  # noqa: ARG001 - it runs nothing
        bool,
        Option(
            prints=_selector_prompt,
            help="Print the template of the prompt of --selector and stop.",
            group="Language model",
        ),
    ] = False,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Suggest comments for articles, with their provenance; comments filtered out have a reason (jsonl).

    With --endpoint a language model writes them, and --examples shows it what readers wrote on similar articles; with
    --selector it chooses among what --model found (untested: no figures have been measured for it).

    Example: postil comment today.html --model model -k 3 --format jsonl
    """
    from postil.comments.calls import comment_articles, estimate_comments, prompted_comments  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415

    if prompted.endpoint is None:
        prompted.check_unused()
        _print(comment_articles(articles, model, options, inputs=inputs, on_message=say), format)
    elif prompted.dry_run:
        emit(show(format, estimate_comments(articles, model, options, prompted, inputs=inputs, on_message=say)), format)
    else:
        found = prompted_comments(articles, model, options, prompted, inputs=inputs, on_message=say)
        _print(found, format, keep=True)


def _print(found: Iterable[Suggestions], form: Format, *, keep: bool = False) -> None:
    """Print suggestions; JSON Lines as they come, so that a long run shows its first articles early.

    Args:
        found: The suggestions.
        form: The format.
        keep: True to print those that an error comes after.
    """
    from postil.comments.result import SuggestionsResult  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415

    rows: list[Suggestions] = []
    problem: PostilError | None = None
    try:
        for row in found:
            if form == "jsonl":
                emit(show(form, SuggestionsResult(suggestions=(row,))), form)
            else:
                rows.append(row)
    except PostilError as error:
        if not (keep and rows):
            raise
        problem = error
    if form != "jsonl":
        emit(show(form, SuggestionsResult(suggestions=tuple(rows)), width=terminal_width()), form)
    if problem is not None:
        raise problem
