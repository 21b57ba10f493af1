"""Articles or posts with fields under names of their own: JSON, folders of Parquet or Arrow, tables.

JSON has the comments inside. Without a map the names are those of postil's article rows, and a comment's votes may be
called ``votes`` too::

    {"id": …, "title": …, "content": …, "category": …, "lang": …, "url": …, "date": …,
     "comments": [{"id": …, "text": …, "votes": …, "grade": …, "user": …, "date": …, "parent": …, "replies": […]}, …]}

Folders hold Parquet files, or what ``save_to_disk`` wrote, as Hugging Face `datasets` and others keep them. A split is
what a file's name begins with (``train-00000-of-00002.parquet``, ``train.parquet``) or the name of a folder
(``train/0000.parquet``). Comments may be a list of structs, a struct of lists, a list of texts, or parallel columns of
lists. A line in a message is a row of the file.

Tables are CSV, TSV or sheets: of articles and of comments, or of comments with their articles' columns repeated. With
two tables a comment names its article in the column `ARTICLE`. With one, every row is a comment and the article's
columns stand beside it; they say the same in each of an article's rows. Rows may come in any order: they wait in a
temporary file (SQLite, in the folder that ``TMPDIR`` names) until their article's turn, so that memory holds only the
ids of the articles. An empty cell is a missing value.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from postil.corpus.importers.article_builder import (
    FIELDS,
    FIELDS_OF_COMMENTS,
    FORUM,
    NUMBERED,
    TABLES,
    ArticleBuilder,
    Fields,
    Threads,
    read_articles,
)
from postil.corpus.importers.import_report import ImportReport, json_objects
from postil.corpus.importers.importer import LINES, Importer, LangOptions, import_articles
from postil.data import parquet
from postil.data.cells import BrokenCell, NumberMarks, number_text
from postil.data.delimited import Delimited, Wanted, column_names
from postil.data.escaping import without_apostrophe
from postil.data.explain import shown
from postil.data.folders import by_split, saved
from postil.data.reading import Reading, by_role, checked_decimal
from postil.data.sqlite_file import temporary
from postil.data.streams import FilePath, opened
from postil.data.workbooks import Sheet
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Blank, Message, Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from postil.data.parquet import Record
    from postil.data.progress import OnMessage
    from postil.data.rows import Article

__all__ = ["ARTICLE", "read_dataset", "read_forum", "read_table", "split_files", "table_rows"]


def read_forum(
    paths: Sequence[FilePath],
    report: ImportReport | None = None,
    *,
    fields: Mapping[str, str] | None = None,
    comment_fields: Mapping[str, str] | None = None,
    lang: str | None = None,
) -> Iterator[Article]:
    """Read articles as JSON Lines, or as a JSON array of them.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, by default raised.
        fields: The names of `FIELDS` (of `Fields`) that differ; empty if there is no such field.
        comment_fields: The same for comments; in arrays the positions are called ``0``, ``1``, ….
        lang: Language of articles without one.

    Yields:
        The articles, in the order of the files.

    Raises:
        UnknownName: A map names a field that there is not.
        InvalidInput: Something in a file is broken; says where.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "posts.jsonl")
    ...     _ = path.write_text('{"id": 1, "title": "Rain", "body": "Tomorrow.", "comments": [["Oh", "ann"]]}')
    ...     [post] = read_forum([path], fields={"content": "body"}, comment_fields={"text": "0", "user": "1"})
    >>> post.content, post.comments[0].text, post.comments[0].user
    ('Tomorrow.', 'Oh', 'ann')
    """
    yield from read_articles(paths, report, FORUM.mapped(fields, comment_fields, lang), json_objects)


BATCH: Final = 256


def read_dataset(
    paths: Sequence[FilePath],
    report: ImportReport | None = None,
    *,
    splits: Sequence[str] = (),
    fields: Mapping[str, str] | None = None,
    comment_fields: Mapping[str, str] | None = None,
    lang: str | None = None,
) -> Iterator[Article]:
    """Read articles from Parquet or Arrow.

    Args:
        paths: Folders, or files.
        report: Counts; what is broken is rejected, by default raised.
        splits: The splits to read; by default all.
        fields: The columns of `FIELDS` (of `Fields`) that differ; an empty name: there is
            no such column. Without a column for ``comments`` the comments' fields are columns of lists.
        comment_fields: The same for comments.
        lang: Language of articles without one.

    Yields:
        The articles; files by split and name.

    Raises:
        UnknownName: There is no such split, or a map names a field that there is not.
        InvalidInput: There are no such files, or something in one is broken; says where.
        MissingExtra: pyarrow is not installed.
    """
    names = FORUM.mapped(fields, comment_fields, lang)
    yield from read_articles(split_files(paths, splits), report, names, partial(_rows, names))


def split_files(paths: Sequence[FilePath], splits: Sequence[str] = ()) -> list[str]:
    """The files of some splits.

    Args:
        paths: Folders, or Parquet files.
        splits: Names of splits; none means all.

    Returns:
        The files in the order of the paths; those of a folder in the order of the splits, then of their names.

    Raises:
        UnknownName: There is no such split.
        InvalidInput: A path is missing, or there are no such files in it.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("test-00000-of-00001", "train-00000-of-00002", "train-00001-of-00002"):
    ...         pathlib.Path(folder, f"{name}.parquet").touch()
    ...     [pathlib.Path(path).name for path in split_files([folder], ["train"])]
    ['train-00000-of-00002.parquet', 'train-00001-of-00002.parquet']
    """
    chosen: list[str] = []
    for path in paths:
        found = _by_split(Path(path))
        for split in splits:
            if split not in found:
                raise UnknownName(f"split of {os.fspath(path)}", split, sorted(found))
        chosen += [str(file) for split in splits or sorted(found) for file in found[split]]
    return list(dict.fromkeys(chosen))


def _by_split(path: Path) -> dict[str, list[Path]]:
    if not path.exists():
        raise InvalidInput("no such file or folder", where=str(path))
    if path.is_dir() and (found := saved(path)):
        return found
    files = (sorted(path.rglob("*.parquet")) or sorted(path.rglob("*.arrow"))) if path.is_dir() else [path]
    if not files:
        raise InvalidInput("no .parquet or .arrow files in the folder", where=str(path))
    return by_split(files)


def _rows(names: Fields, path: str, report: ImportReport) -> Iterator[tuple[int, Record]]:
    wanted = {name for several in names.article.values() for name in several}
    if not names.article["comments"]:
        wanted |= {name for several in names.comment.values() for name in several}
    try:
        columns = () if path.endswith(".arrow") else parquet.columns(path)
        report.unread |= set(columns) - wanted
        yield from enumerate(parquet.read_objects(path, BATCH, [name for name in columns if name in wanted]), 1)
    except InvalidInput as error:
        report.refuse(error)


ARTICLE: Final = "article"
"""The column of a comment that names its article."""

Row: TypeAlias = dict[str, str | None]
"""The cells of a row by column; None for an empty one."""

TABS: Final = (".tsv", ".tab", ".txt")
WORKBOOKS: Final = (".xlsx", ".xlsm", ".ods")


def read_table(
    comments: FilePath,
    report: ImportReport | None = None,
    *,
    articles: FilePath | None = None,
    columns: Mapping[str, str] | None = None,
    comment_columns: Mapping[str, str] | None = None,
    lang: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    apostrophes: bool = False,
    sheet: str | None = None,
    sheet_of_articles: str | None = None,
    decimal: str | None = None,
) -> Iterator[Article]:
    r"""Read articles from tables.

    Args:
        comments: The table of comments, or of comments and articles.
        report: Counts; what is broken is rejected, by default raised.
        articles: The table of articles. Without it their columns stand beside the comments'.
        columns: The columns of articles that have other names than `FIELDS` (of `Fields`); an empty
            name: there is no such column. Where there is one table, the id stands in the column `ARTICLE`, and the
            column ``date`` is the comments'.
        comment_columns: The same for comments; ``article`` names the column with their article.
        lang: Language of articles without one.
        encoding: The encoding of the files; by default UTF-8, and if they are not, detected.
        delimiter: Character between columns; by default the one under which the columns have their names.
        quotes: True if cells may be quoted with double quotes, with line breaks and doubled quotes in it.
        apostrophes: True if postil exported the tables, with apostrophes before what a spreadsheet would run; they
            are removed.
        sheet: Sheet of the comments, where they are in a workbook.
        sheet_of_articles: Sheet of the articles.
        decimal: Decimal mark of votes and grades that are text, where point and comma could be one; the other one
            separates thousands.

    Yields:
        The articles, in the order in which they first appear.

    Raises:
        UnknownName: A map names a column that there is not.
        UsageError: The encoding or the delimiter is none.
        InvalidInput: Something in a file is broken; says where.
        PostilError: There is no room for the temporary file.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "comments.csv")
    ...     _ = path.write_text('article,title,text,upvotes\n7,Rain,"Oh, no",3\n8,Snow,At last,\n7,Rain,Yes,-1\n')
    ...     found = list(read_table(path))
    >>> [(article.title, [comment.text for comment in article.comments]) for article in found]
    [('Rain', ['Oh, no', 'Yes']), ('Snow', ['At last'])]
    """
    report = report or ImportReport()
    one_table = articles is None
    if decimal is not None:
        checked_decimal(decimal)
    of_comments = dict(comment_columns or {})
    join = of_comments.pop(ARTICLE, "") or ARTICLE
    of_articles = {"comments": "", **({"id": join, "date": ""} if one_table else {}), **(columns or {})}
    join = of_articles["id"] if one_table else join
    plain = Fields({name: (name,) for name in FIELDS}, {name: (name,) for name in FIELDS_OF_COMMENTS})
    names = plain.mapped(of_articles, of_comments, lang)
    needed = {join, *names.comment["text"], *of_comments.values()} - {""}
    numbers = {*names.comment["upvotes"], *names.comment["grade"]}
    needed_of_articles = {*names.article["id"], *names.article["title"], *of_articles.values()} - {""}

    def rows(path: FilePath, wanted: set[str], page: str | None) -> Iterator[tuple[int, Row]]:
        return table_rows(
            path,
            report,
            wanted,
            encoding=encoding,
            delimiter=delimiter,
            quotes=quotes,
            apostrophes=apostrophes,
            sheet=page,
            numbers=numbers,
            decimal=decimal,
        )

    with temporary(TABLES) as rows_on_disk:
        joined = _Join(rows_on_disk, names, report, os.fspath(comments), join, one_table=one_table)
        if articles is not None:
            builder = ArticleBuilder(Fields(names.article, {}, names.lang), report)
            for line, row in rows(articles, needed_of_articles, sheet_of_articles):
                joined.add_article(builder.article(row, os.fspath(articles), line, joined=True))
            for line, row in rows(comments, needed, sheet):
                joined.add_comment(row, line)
        else:
            for line, row in rows(comments, needed | needed_of_articles, sheet):
                joined.add_both(row, line)
        yield from joined.threads.articles(NUMBERED)


class _Join:
    """Articles and their comments on the way to one another."""

    def __init__(
        self,
        database: sqlite3.Connection,
        names: Fields,
        report: ImportReport,
        where: str,
        join: str,
        *,
        one_table: bool,
    ) -> None:
        self._report, self._where, self._join = report, where, join
        self._of_articles = [name for several in names.article.values() for name in several]
        self._builder = ArticleBuilder(names, report, {join, *(self._of_articles if one_table else ())}, texts=True)
        self.threads = Threads(database, report, self._builder, where)
        self._numbers: dict[str, int] = {}
        self._comments: list[int] = []
        self._said: list[tuple[int, int]] = []  # in one table: the first line of an article, the hash of its cells

    def add_article(self, article: Article | None) -> None:
        if article is not None:
            self._numbers[article.id] = len(self._comments)
            self._comments.append(0)
            self.threads.insert_article(article)

    def add_comment(self, row: Row, line: int) -> None:
        name = row[self._join]
        number = -1 if name is None else self._numbers.get(name)
        if number is None:
            self._report.orphans += 1
        elif number < 0:
            self._refuse(InvalidInput("the cell is empty; it names the comment's article", field=self._join), line)
        else:
            self._add(row, line, number)

    def add_both(self, row: Row, line: int) -> None:
        name = row[self._join]
        if name is not None and name not in self._numbers:
            article = self._builder.article(row, self._where, line, joined=True)
            if article is None:
                return
            self.add_article(article)
            self._said.append((line, self._cells(row)))
        elif name is not None:
            before, said = self._said[self._numbers[name]]
            if said != self._cells(row):
                problem = f"the columns of article {shown(name)} say something else in line {before}; make them equal"
                self._refuse(InvalidInput(problem), line)
                return
        self.add_comment(row, line)

    def _cells(self, row: Row) -> int:
        return hash(tuple(map(row.get, self._of_articles)))

    def _add(self, row: Row, line: int, number: int) -> None:
        self._comments[number] += 1
        try:
            comment = self._builder.comment(row, self._comments[number])
        except InvalidInput as error:
            self._refuse(error, line)
            return
        if comment is not None:
            self.threads.insert_comment(comment, line, number + 1)

    def _refuse(self, error: InvalidInput, line: int) -> None:
        self._report.refuse_at(error, self._where, line)


def table_rows(
    path: FilePath,
    report: ImportReport,
    needed: AbstractSet[str] = frozenset(),
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    apostrophes: bool = False,
    sheet: str | None = None,
    numbers: AbstractSet[str] = frozenset(),
    decimal: str | None = None,
) -> Iterator[tuple[int, Row]]:
    """The rows of a table whose first row names its columns.

    Args:
        path: The file; text may be compressed, whatever its name.
        report: Counts; broken rows are rejected.
        needed: Columns that it must have.
        encoding: Its encoding; by default UTF-8, and if it is not, detected. A byte order mark is ignored.
        delimiter: Character between columns; by default the one under which the columns have their names.
        quotes: True if cells may be quoted with double quotes.
        apostrophes: True if postil exported the table, with apostrophes before what a spreadsheet would run; they are
            removed.
        sheet: Sheet of a workbook.
        numbers: Columns of numbers.
        decimal: Decimal mark of numbers that are text, if it is named; they get a point.

    Yields:
        The line where the row begins, counted from 1, and its cells by column; None for an empty one.

    Raises:
        UsageError: The encoding or the delimiter is none.
        InvalidInput: There is no such file, it is empty, a column is missing or stands twice, or nothing says which
            mark of a column of numbers is decimal.
    """
    where = os.fspath(path)
    with opened(path) as stream:
        table: Delimited | Sheet
        if where.lower().endswith(WORKBOOKS):
            table = Sheet(stream, where, Wanted(needed), Reading(sheet=sheet))
        else:
            table = Delimited(
                stream,
                where,
                Wanted(needed),
                encoding=encoding,
                delimiter=delimiter,
                usual="\t" if where.lower().removesuffix(".gz").removesuffix(".zst").endswith(TABS) else ",",
                quotes=quotes,
                refuse=report.refuse,
            )
        if missing := sorted(needed - set(table.names)):
            what = f"no such column{'s' * (len(missing) > 1)}; the table has: {column_names(table.names)}"
            message = Message(
                "{what}; name yours with {column}, such as {title} {text}",
                what=what,
                column=Setting("column"),
                title=Setting("column", Blank("title=COLUMN")),
                text=Setting("column", Blank("comments.text=COLUMN")),
            )
            raise InvalidInput(message, where=where, line=table.line, field=", ".join(missing))
        if table.detected:
            report.detected.append(f"{where}: read{table.detected}")
        places = {name: place for place, name in enumerate(table.names) if name in numbers}
        marks = NumberMarks(where, {} if decimal else places, semicolons=table.decimal_commas)
        for lines, rows in table.rows():
            marks.see(lines, rows)
            for line, cells in zip(lines, rows, strict=True):
                row = dict(zip(table.names, map(_text, cells), strict=True))
                if decimal:
                    row |= {name: _by_mark(cells[place], decimal) for name, place in places.items()}
                broken = next(((name, cell) for name, cell in row.items() if isinstance(cell, BrokenCell)), None)
                if broken is not None:
                    problem = Message("expected {problem}", problem=broken[1].message)
                    report.refuse(InvalidInput(problem, where=where, line=line, field=broken[0]))
                elif apostrophes:
                    yield line, {name: cell and without_apostrophe(cell) for name, cell in row.items()}
                else:
                    yield line, row
        marks.settle()


def _by_mark(cell: object, decimal: str) -> str | None:
    """A cell of numbers as text, by the decimal mark that is named."""
    if not isinstance(cell, str) or isinstance(cell, BrokenCell) or not any(map(str.isdecimal, cell)):
        return _text(cell)
    number = number_text(cell.strip(), decimal)
    wrong = Message(
        "a number, got {cell}; {setting} says that '{decimal}' stands before the decimals",
        cell=shown(cell),
        setting=Setting("decimal"),
        decimal=decimal,
    )
    return BrokenCell(wrong) if number is None else number


def _text(cell: object) -> str | None:
    """A cell as text; numbers as a spreadsheet shows them."""
    if isinstance(cell, str):
        return cell or None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


COMMENTS: Final = "comments."
"""Prefix of the fields of comments in ``--column``."""
COLUMN: Final = Setting("column")


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

    comments: Annotated[str, Flag(metavar="FILE", once=True, first=True)]
    articles: Annotated[str | None, Flag(metavar="FILE", once=True, first=True)] = None
    column: Annotated[tuple[str, ...], Flag(metavar="NAME=SOURCE_FIELD", first=True)] = ()
    comment_column: Annotated[tuple[str, ...], Flag(metavar="NAME=SOURCE_FIELD", first=True)] = ()
    delimiter: Annotated[str | None, Flag(metavar="CHAR", group="Reading tables")] = None
    decimal: Annotated[str | None, Flag(metavar="CHAR", group="Reading tables")] = None
    encoding: Annotated[str | None, Flag(metavar="NAME", group="Reading tables")] = None
    quotes: Annotated[bool, Flag(group="Reading tables")] = True
    apostrophes: Annotated[bool, Flag(group="Reading tables")] = False
    sheet: Annotated[tuple[str, ...], Flag(metavar="NAME", group="Reading tables")] = ()


def import_forum(files: Sequence[FilePath], out: str, options: ForumOptions, on_message: OnMessage) -> None:
    """Import JSON Lines with other field names.

    Args:
        files: The files.
        out: The output file.
        options: Names of fields, language, error policy.
        on_message: Callback for status messages.

    Raises:
        UsageError: The request makes no sense, or would write over an input.
        InvalidInput: A file is broken, or there are no articles; nothing is written.
        PostilError: The operating system reports an error.
    """
    fields, of_comments = name_maps(options.column, options.comment_column)
    read = partial(read_forum, files, fields=fields, comment_fields=of_comments, lang=options.lang)
    import_articles(read, files, out, options, on_message)


def import_table(_files: Sequence[FilePath], out: str, options: TableOptions, on_message: OnMessage) -> None:
    """Import CSV, TSV or workbooks; arguments and errors as of `import_forum`, but that the options name the files."""
    sheets, _ = by_role(("comments", "articles"), options.sheet, "sheet")
    columns, of_comments = name_maps(options.column, options.comment_column)
    read = partial(
        read_table,
        options.comments,
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
    import_articles(read, inputs, out, options, on_message)


def import_dataset(folders: Sequence[FilePath], out: str, options: DatasetOptions, on_message: OnMessage) -> None:
    """Import Parquet files; arguments and errors as of `import_forum`."""
    fields, of_comments = name_maps(options.column, options.comment_column)
    read = partial(
        read_dataset,
        folders,
        splits=options.split,
        fields=fields,
        comment_fields=of_comments,
        lang=options.lang,
    )
    import_articles(read, split_files(folders, options.split), out, options, on_message)


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


IMPORTERS: Final = (
    Importer(
        "forum",
        """JSON Lines, with fields under any names.

        The default names are those of article rows.

        Example: postil corpus import forum posts.jsonl.gz --column content=body --column comments.text=body
        --out p.jsonl
        """,
        ForumOptions,
        import_forum,
        LINES,
        job="Tables and JSON",
    ),
    Importer(
        "csv",
        """CSV or TSV tables, or sheets of workbooks.

        Either articles and comments apart, or comments alone with the columns of their articles repeated.

        Example: postil corpus import csv --articles a.csv --comments c.csv --column comments.article=post_id
        --out a.jsonl
        """,
        TableOptions,
        import_table,
        job="Tables and JSON",
    ),
    Importer(
        "dataset",
        """Parquet or Arrow, as Hugging Face datasets keep it.

        Comments may be structs, lists or parallel columns.

        Example: postil corpus import dataset my-dataset --split train --column content=body --out train.jsonl
        """,
        DatasetOptions,
        import_dataset,
        ("FOLDERS...", "Folders of .parquet or .arrow files."),
        job="Tables and JSON",
    ),
)
