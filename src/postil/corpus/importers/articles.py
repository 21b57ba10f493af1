"""`postil corpus import` of articles: external formats in, article rows out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

from postil.corpus.importers.corpora import Second, range_seen, read_deepcom, read_tencent, read_tokenized
from postil.corpus.importers.exports import (
    read_coral,
    read_discourse,
    read_disqus,
    read_hackernews,
    read_reddit,
    read_wordpress,
)
from postil.corpus.importers.fields import read_dataset, read_forum, read_table, split_files
from postil.corpus.importers.import_report import ImportReport
from postil.corpus.options import ON_ERROR
from postil.corpus.result import Rejected
from postil.data.atomic_file import check_apart
from postil.data.explain import counted
from postil.data.progress import progress
from postil.data.reading import by_role
from postil.data.row_files import Writer, kind_of
from postil.data.rows import Article
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Message, Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.data.progress import OnMessage
    from postil.data.streams import FilePath

__all__ = [
    "DatasetOptions",
    "ForumOptions",
    "ImportOptions",
    "LangOptions",
    "TableOptions",
    "TencentOptions",
    "TokenizedOptions",
    "import_dataset",
    "import_deepcom",
    "import_export",
    "import_forum",
    "import_table",
    "import_tencent",
    "import_tokenized",
    "name_map",
    "name_maps",
    "rejected_file",
    "rejecting",
    "say_rejected",
    "say_replaced",
    "with_the_first",
]

COMMENTS: Final = "comments."
"""Prefix of the fields of comments in ``--column``."""
COLUMN: Final = Setting("column")
SKIP: Final = Setting("on_error", "skip")

EXPORTS: Final = {
    "wordpress": read_wordpress,
    "disqus": read_disqus,
    "discourse": read_discourse,
    "coral": read_coral,
    "reddit": read_reddit,
    "hackernews": read_hackernews,
}
"""Readers of exports by the name of their site."""

COUNTED: Final = {
    "textless": "comment[s] without text, left out",
    "orphans": "comment[s] of articles that are not there, left out",
    "settled": "vote[s] written as text or with a point, taken as whole numbers",
    "negative": "comment[s] with more votes against than for them, kept with negative upvotes",
    "by_url": "article[s] without an id, named by their url",
    "by_place": "article[s] without an id or url, named by file and line",
    "untitled": "article[s] without a title, kept",
    "without_content": "article[s] without content, kept",
    "bare": "article[s] without comments, kept",
    "unused": "content[s] of no article, left out",
    "withheld": "comment[s] that [are] deleted, spam, not approved or not of readers, left out",
    "unpublished": "article[s] that [are] deleted or not published, or entries of other kinds, left out",
    "nulls": "object[s] that [are] null, left out",
    "absent": "comment[s] that the files name and do not hold",
}
"""Messages of the counts of a report; what is in brackets is for numbers other than one."""

MODELS: Final = {
    "without_content": "no article has a content: train ir-t, seq2seq or att on them, which read titles alone",
    "untitled": "no article has a title: train ir-tc or att-tc on them, which read contents",
}
"""Messages about counts that are the number of articles."""


@options
class ImportOptions:
    """Options of all imports of articles.

    Args:
        on_error: A broken line: stop, or skip it and write it to OUT.rejected.jsonl.
    """

    on_error: Annotated[str, Flag(metavar="POLICY")] = "stop"


@options
class LangOptions(ImportOptions):
    """Options of imports of articles in any language.

    Args:
        lang: Language of articles without one, such as zh.
    """

    lang: Annotated[str | None, Flag(metavar="TAG")] = None


@options
class TencentOptions(ImportOptions):
    """Options of `postil corpus import tencent`.

    Args:
        contents: Contents by url: JSON Lines with url and content, or lines of url, tab, content; repeatable.
    """

    contents: Annotated[tuple[str, ...], Flag(metavar="FILE")] = ()


@options
class TokenizedOptions(LangOptions):
    """Options of `postil corpus import tokenized`.

    Args:
        second: Meaning of the second element of a comment: votes, grade or none (not read).
    """

    second: Annotated[Second, Flag(metavar="MEANING")] = "none"
    lang: Annotated[str | None, Flag(metavar="TAG")] = "zh"


@options
class ForumOptions(LangOptions):
    """Options of `postil corpus import forum`.

    Args:
        column: Their name for id, title, content, category, lang, url, date or comments, as in content=body; empty
            after = for none. Of comments, as in comments.text=body: id, text, upvotes, grade, user, date, parent or
            replies; in arrays 0, 1, … are the positions. Repeatable.
        comment_column: The same as --column comments.NAME=SOURCE_FIELD.
    """

    column: Annotated[tuple[str, ...], Flag("column", other="field", metavar="NAME=SOURCE_FIELD")] = ()
    comment_column: Annotated[
        tuple[str, ...], Flag("comment-column", other="comment-field", metavar="NAME=SOURCE_FIELD")
    ] = ()


@options
class DatasetOptions(ForumOptions):
    """Options of `postil corpus import dataset`.

    Args:
        split: Split to read; by default all; repeatable.
    """

    split: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()


@options
class TableOptions(LangOptions):
    """Options of `postil corpus import csv`.

    Args:
        comments: Table of comments; alone, with the columns of their articles repeated.
        articles: Table of articles.
        column: Their column for id, title, content, category, lang, url or date; empty after = for none. As in
            comments.text=body, of comments: article (the article's id), id, text, upvotes, grade, user, date
            or parent. Repeatable.
        comment_column: The same as --column comments.NAME=SOURCE_FIELD.
        delimiter: Character between columns; by default detected.
        decimal: Decimal mark of votes and grades, . or , where both could be one; the other separates thousands.
        encoding: Encoding of the tables; by default UTF-8, else detected.
        quotes: Treat double quotes around a cell as quotes, or as text.
        apostrophes: Remove the apostrophes that postil's exports have before =1+1 and the like.
        sheet: Sheet of a workbook; articles=NAME is that of the articles.
    """

    comments: Annotated[str, Flag(metavar="FILE")]
    articles: Annotated[str | None, Flag(metavar="FILE")] = None
    column: Annotated[tuple[str, ...], Flag(metavar="NAME=SOURCE_FIELD")] = ()
    comment_column: Annotated[tuple[str, ...], Flag(metavar="NAME=SOURCE_FIELD")] = ()
    delimiter: Annotated[str | None, Flag(metavar="CHAR")] = None
    decimal: Annotated[str | None, Flag(metavar="CHAR")] = None
    encoding: Annotated[str | None, Flag(metavar="NAME")] = None
    quotes: bool = True
    apostrophes: bool = False
    sheet: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()


def import_tencent(files: Sequence[FilePath], out: str, options: TencentOptions, on_message: OnMessage) -> None:
    """Import the Tencent comment corpus.

    Args:
        files: The files of the release.
        out: The output file.
        options: Contents by url, error policy.
        on_message: Callback for status messages.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: A file is broken, or there are no articles; nothing is written.
        PostilError: The operating system reports an error.
    """
    contents = options.contents

    def read(report: ImportReport) -> Iterator[Article]:
        return read_tencent(files, report, contents=contents)

    report = _import(read, [*files, *contents], out, options, on_message)
    if report.graded:
        on_message(Message("human scores {range}", range=range_seen(report.low, report.high)))
    _summarize(report, out, on_message)


def import_tokenized(files: Sequence[FilePath], out: str, options: TokenizedOptions, on_message: OnMessage) -> None:
    """Import tokenized copies of the Tencent corpus; arguments and errors as of `import_tencent`."""

    def read(report: ImportReport) -> Iterator[Article]:
        return read_tokenized(files, report, second=options.second, lang=options.lang)

    report = _import(read, files, out, options, on_message)
    on_message(
        Message(
            "the texts are words separated by spaces; the tokenizer for them: {tokenizer}",
            tokenizer=Setting("tokenizer", "space"),
        )
    )
    _summarize(report, out, on_message)


def import_deepcom(files: Sequence[FilePath], out: str, options: LangOptions, on_message: OnMessage) -> None:
    """Import the Yahoo (DeepCom) and 163 corpora; arguments and errors as of `import_tencent`."""
    report = _import(lambda report: read_deepcom(files, report, lang=options.lang), files, out, options, on_message)
    _summarize(report, out, on_message)


def import_export(site: str, files: Sequence[FilePath], out: str, options: LangOptions, on_message: OnMessage) -> None:
    """Import exports of web sites; arguments and errors as of `import_tencent`, and MissingExtra without lxml.

    Args:
        site: A name in `EXPORTS`.
        files: The files.
        out: The output file.
        options: Language, error policy.
        on_message: Callback for status messages.
    """
    read = EXPORTS[site]
    report = _import(lambda report: read(files, report, lang=options.lang), files, out, options, on_message)
    _summarize(report, out, on_message)


def import_forum(files: Sequence[FilePath], out: str, options: ForumOptions, on_message: OnMessage) -> None:
    """Import JSON Lines with other field names; arguments and errors as of `import_tencent`."""
    fields, of_comments = name_maps(options.column, options.comment_column)

    def read(report: ImportReport) -> Iterator[Article]:
        return read_forum(files, report, fields=fields, comment_fields=of_comments, lang=options.lang)

    _summarize(_import(read, files, out, options, on_message), out, on_message)


def import_table(out: str, options: TableOptions, on_message: OnMessage) -> None:
    """Import CSV, TSV or workbooks; arguments and errors as of `import_tencent`."""
    sheets, _ = by_role(("comments", "articles"), options.sheet, "sheet")
    columns, of_comments = name_maps(options.column, options.comment_column)

    def read(report: ImportReport) -> Iterator[Article]:
        return read_table(
            options.comments,
            report,
            articles=options.articles,
            columns=columns,
            comment_columns=of_comments,
            lang=options.lang,
            encoding=options.encoding,
            delimiter=options.delimiter,
            decimal=options.decimal,
            quotes=options.quotes,
            apostrophes=options.apostrophes,
            sheet=sheets.get("comments"),
            sheet_of_articles=sheets.get("articles"),
        )

    inputs = [options.comments, *([options.articles] if options.articles else [])]
    _summarize(_import(read, inputs, out, options, on_message), out, on_message)


def import_dataset(folders: Sequence[FilePath], out: str, options: DatasetOptions, on_message: OnMessage) -> None:
    """Import Parquet files; arguments and errors as of `import_tencent`."""
    fields, of_comments = name_maps(options.column, options.comment_column)
    splits, lang = options.split, options.lang

    def read(report: ImportReport) -> Iterator[Article]:
        return read_dataset(folders, report, splits=splits, fields=fields, comment_fields=of_comments, lang=lang)

    _summarize(_import(read, split_files(folders, splits), out, options, on_message), out, on_message)


def _import(
    read: Callable[[ImportReport], Iterator[Article]],
    inputs: Sequence[FilePath],
    out: str,
    options: ImportOptions,
    on_message: OnMessage,
) -> ImportReport:
    """Write the articles as rows as they are read, and the rejected lines, if they are skipped, beside them."""
    kind_of(out)  # before the work, not after it
    for path in (out, rejected_file(out)) if options.on_error == "skip" else (out,):
        check_apart(path, inputs)
    with rejecting(out, options.on_error) as (reject, problems), Writer(out, Article) as writer:
        report = ImportReport(reject)
        with progress("articles", read(report)) as articles:
            for article in articles:
                writer.write(article)
        if not report.articles:
            raise InvalidInput(with_the_first("no articles to write", problems), where=out)
    for line in report.detected:
        on_message(line)
    say_rejected(report, "broken line[s] or comment[s]", out, on_message)
    _tell(report, on_message)
    return report


def with_the_first(what: str, problems: Sequence[InvalidInput]) -> str:
    """A problem with the first one that led to it.

    Args:
        what: The problem.
        problems: The problems that led to it, if there are any.
    """
    if not problems:
        return what
    return Message("{what}; the first problem: {problem}", what=what, problem=problems[0].placed)


def say_rejected(report: ImportReport, what: str, out: str, on_message: OnMessage) -> None:
    """Say how much was broken and left out, and which files were not read to their end.

    Args:
        report: Counts.
        what: Names of what was left out; what stands in brackets is for several.
        out: The output.
        on_message: Callback for status messages.
    """
    if report.rejected:
        left_out = _in_number(f"{what} left out", report.rejected)
        on_message(f"{report.rejected:,} {left_out}; see {rejected_file(out)}")
    for problem in report.unfinished:
        on_message(f"not read to its end: {problem}")


def say_replaced(number: int, on_message: OnMessage) -> None:
    """Say how many characters of an XML file were replaced, if any were.

    Args:
        number: The number.
        on_message: Callback for status messages.
    """
    if number:
        what = "forbidden in XML, or bytes that are not of the file's encoding"
        on_message(f"{counted(number, 'character')} replaced by U+FFFD: {what}")


def _tell(report: ImportReport, on_message: OnMessage) -> None:
    say_replaced(report.replaced, on_message)
    for name, message in COUNTED.items():
        if count := getattr(report, name):
            on_message(f"{count:,} {_in_number(message, count)}")
    for name, message in MODELS.items():
        if getattr(report, name) == report.articles:
            on_message(message)
    if report.graded:
        on_message(f"{counted(report.graded, 'comment')} with a grade, from {report.low:g} to {report.high:g}")
    for names, of in ((report.unread, "articles"), (report.unread_of_comments, "comments")):
        if names:
            on_message(f"fields of {of} that are not read: {', '.join(sorted(names))}")


def _in_number(message: str, count: int) -> str:
    """A message about a number of things; of one, in the singular."""
    if count == 1:
        return message.replace("[are]", "is").replace("[s]", "").replace(" their url", " its url")
    return message.replace("[are]", "are").replace("[s]", "s")


def _summarize(report: ImportReport, out: str, on_message: OnMessage) -> None:
    on_message(f"{counted(report.articles, 'article')} with {counted(report.comments, 'comment')} in {out}")


def name_maps(pairs: Sequence[str], of_comments: Sequence[str] = ()) -> tuple[dict[str, str], dict[str, str]]:
    """Map the fields of articles and those of comments to the names of a source.

    Args:
        pairs: The values of ``--column``; those that begin with ``comments.`` are of comments.
        of_comments: The values of ``--comment-column``.

    Raises:
        UsageError: One has no equals sign, or a field has two names.

    >>> name_maps(["content=body", "comments.text=body", "comments=replies"])
    ({'content': 'body', 'comments': 'replies'}, {'text': 'body'})
    """
    own = [pair for pair in pairs if not pair.startswith(COMMENTS)]
    others = [pair.removeprefix(COMMENTS) for pair in pairs if pair.startswith(COMMENTS)]
    return name_map(own, COLUMN), name_map([*others, *of_comments], Message("{column} for comments", column=COLUMN))


def name_map(pairs: Sequence[str], option: str | Setting) -> dict[str, str]:
    """Map field names to those of a source, from pairs like ``content=body``.

    Args:
        pairs: The values of the option.
        option: The option, for messages.

    Raises:
        UsageError: One has no equals sign, or a field has two names.

    >>> name_map(["content=body", "url="], Setting("field"))
    {'content': 'body', 'url': ''}
    """
    names: dict[str, str] = {}
    for pair in pairs:
        field, equals, name = pair.partition("=")
        if not equals or field in names:
            problem = "names a field twice" if equals else "takes NAME=SOURCE_FIELD, such as content=body"
            raise UsageError("{option} {problem}; got '{pair}'", option=option, problem=problem, pair=pair)
        names[field] = name
    return names


@contextmanager
def rejecting(out: str, on_error: str) -> Iterator[tuple[Callable[[InvalidInput], None], list[InvalidInput]]]:
    """A callback for what is broken, and a list with the first problem.

    Args:
        out: The output; with ``skip``, what is broken is written beside it.
        on_error: ``stop`` or ``skip``.

    Raises:
        UsageError: There is no such policy, or no file beside which to write.
    """
    UnknownName.check("error policy", on_error, ON_ERROR)
    if on_error == "stop":
        yield _stop, []
        return
    if out == "-":
        raise UsageError(
            "{skip} writes the rejected lines beside the output; give {out} a file", skip=SKIP, out=Setting("out")
        )
    first: list[InvalidInput] = []
    with Writer(rejected_file(out), Rejected) as writer:

        def take(problem: InvalidInput) -> None:
            first[:] = first or [problem]
            writer.write(Rejected.of(problem))

        yield take, first


def _stop(problem: InvalidInput) -> None:
    advice = Message("{problem}; to go on without it: {skip}", problem=problem.message, skip=SKIP)
    raise InvalidInput(advice, where=problem.where, line=problem.line, field=problem.field)


def rejected_file(out: str) -> str:
    """The file beside an output that what is broken is written to.

    Args:
        out: The output.
    """
    return f"{out}.rejected.jsonl"
