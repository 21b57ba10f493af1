"""The journey of `postil corpus import` for articles: foreign files in, article rows out, and what was met in words."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from postil.app.progress import progress
from postil.corpus.formats.import_report import Met
from postil.corpus.rejected import Rejected
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.records.atomic_file import check_apart
from postil.records.row_files import Writer, kind_of
from postil.records.rows import Article

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.app.progress import Say
    from postil.records.row_files import FilePath

__all__ = ["OnError", "import_articles", "name_map"]

OnError: TypeAlias = Literal["stop", "skip"]
"""What a broken line does: it ends the import, or it is left out and written down."""

COUNTED: Final = {
    "textless": "comments without text, left out",
    "orphans": "comments of articles that are not there, left out",
    "settled": "votes written as text or with a point, taken as whole numbers",
    "negative": "comments with more votes against than for them, kept with negative upvotes",
    "by_url": "articles without an id, named by their url",
    "by_place": "articles without an id or url, named by file and line",
    "untitled": "articles without a title, kept",
    "without_content": "articles without content, kept",
    "bare": "articles without comments, kept",
    "unused": "contents of no article, left out",
}
"""What is said of each count."""


def import_articles(
    read: Callable[[Met], Iterator[Article]],
    inputs: Sequence[FilePath],
    out: str,
    say: Say,
    *,
    on_error: OnError = "stop",
    remarks: Callable[[Met], Sequence[str]] = lambda _: (),
) -> None:
    """Write articles as rows, as they come.

    With ``skip``, what is broken is written to ``OUT.rejected.jsonl``, which may be empty.

    Args:
        read: Reads articles and counts what it meets.
        inputs: The files that it reads.
        out: The file to write.
        say: Takes words for people.
        on_error: What a broken line does.
        remarks: More to say at the end.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: Something in a file is broken, or there are no articles; nothing is written.
        PostilError: The system refuses to write.
    """
    kind_of(out)  # before the work, not after it
    for path in (out, _beside(out)) if on_error == "skip" else (out,):
        check_apart(path, inputs)
    with _taking(out, on_error) as (reject, problems), Writer(out, Article) as writer:
        met = Met(reject)
        with progress("articles", read(met)) as articles:
            for article in articles:
                writer.write(article)
        if not met.articles:
            first = f"; the first problem: {problems[0]}" if problems else ""
            raise InvalidInput(f"no articles to write{first}", where=out)
    if met.rejected:
        say(f"{met.rejected:,} broken lines or comments left out; {_beside(out)} has them")
    for name, words in COUNTED.items():
        if count := getattr(met, name):
            say(f"{count:,} {words}")
    if met.graded:
        say(f"{met.graded:,} comments with a grade, from {met.low:g} to {met.high:g}")
    for names, of in ((met.unread, "articles"), (met.unread_of_comments, "comments")):
        if names:
            say(f"fields of {of} that are not read: {', '.join(sorted(names))}")
    for remark in remarks(met):
        say(remark)
    say(f"{met.articles:,} articles with {met.comments:,} comments in {out}")


def name_map(pairs: Sequence[str] | None, option: str) -> dict[str, str]:
    """The names that options like ``--field content=body`` give.

    Args:
        pairs: What the options say.
        option: The option, for messages.

    Raises:
        UsageError: One has no equals sign, or a field has two names.

    >>> name_map(["content=body", "url="], "--field")
    {'content': 'body', 'url': ''}
    """
    names: dict[str, str] = {}
    for pair in pairs or ():
        field, equals, name = pair.partition("=")
        if not equals or field in names:
            problem = "names a field twice" if equals else "takes NAME=THEIRS, such as content=body"
            raise UsageError(f"{option} {problem}; got '{pair}'")
        names[field] = name
    return names


@contextmanager
def _taking(out: str, on_error: OnError) -> Iterator[tuple[Callable[[InvalidInput], None], list[InvalidInput]]]:
    """What takes broken things, and the first of them."""
    if on_error not in get_args(OnError):
        raise UnknownName("way with errors", on_error, get_args(OnError))
    if on_error == "stop":
        yield _stop, []
        return
    if out == "-":
        raise UsageError("--on-error skip writes what it left out beside the output; give --out a file")
    first: list[InvalidInput] = []
    with Writer(_beside(out), Rejected) as writer:

        def take(problem: InvalidInput) -> None:
            first[:] = first or [problem]
            writer.write(Rejected.of(problem))

        yield take, first


def _stop(problem: InvalidInput) -> None:
    advice = f"{problem.problem}; to go on without it: --on-error skip"
    raise InvalidInput(advice, where=problem.where, line=problem.line, field=problem.field)


def _beside(out: str) -> str:
    return f"{out}.rejected.jsonl"
