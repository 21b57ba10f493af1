"""Articles built of objects whose fields have other names, with their comments inside, or apart and in any order.

An object is a JSON line, a row of Parquet or a row of a table. The comments of an object may be

- objects, each with fields of its own, and with replies inside, which are comments;
- arrays, whose positions are called `0`, `1`, …;
- bare texts;
- an object of parallel arrays (as `datasets` writes a `Sequence` of objects);
- parallel arrays in the article itself, where the article has no field for comments.

Articles and comments that come apart, as in dumps of sites and their databases, are joined on disk (`Threads`).
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import msgspec

from postil.corpus.importers.import_report import ImportReport, Place, stem
from postil.data.explain import shown
from postil.data.fields import is_integer, is_number, optional_date
from postil.data.rows import Article, Comment, Decision
from postil.data.sqlite_file import temporary
from postil.errors import InvalidInput, UnknownName
from postil.messages import Message

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from postil.corpus.importers.verdicts import Verdict
    from postil.data.parquet import Record
    from postil.data.streams import FilePath

__all__ = [
    "EXPORTED",
    "FIELDS",
    "FIELDS_OF_COMMENTS",
    "FORUM",
    "TABLES",
    "ArticleBuilder",
    "Fields",
    "Names",
    "Threads",
    "read_articles",
    "read_threads",
    "text_at",
]

T = TypeVar("T")

Names: TypeAlias = tuple[str, ...]
"""Alternative names of a field; the first that is there and not null is taken. Empty: the source has no such field."""

FIELDS: Final = ("id", "title", "content", "category", "lang", "url", "date", "comments")
"""Fields of an article."""

FIELDS_OF_COMMENTS: Final = ("id", "text", "upvotes", "grade", "user", "date", "parent", "replies")
"""Fields of a comment; its replies are comments in it."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Field names of a source.

    Args:
        article: Names for `FIELDS`.
        comment: Names for `FIELDS_OF_COMMENTS`.
        lang: Language of articles without one.
        fixed: True if users cannot map the names.
    """

    article: Mapping[str, Names]
    comment: Mapping[str, Names]
    lang: str | None = None
    fixed: bool = False

    def mapped(
        self,
        article: Mapping[str, str] | None = None,
        comment: Mapping[str, str] | None = None,
        lang: str | None = None,
    ) -> Fields:
        """A copy with other names.

        Args:
            article: Name of each field that has another one; empty if the source has no such field.
            comment: The same for comments.
            lang: Language of articles without one.

        Raises:
            UnknownName: There is no such field.

        >>> fields = Fields({"id": ("id",), "content": ("content",)}, {})
        >>> fields.mapped({"content": "body", "id": ""}).article
        {'id': (), 'content': ('body',)}
        """
        return replace(
            self,
            article=_over(self.article, article or {}, "field of an article", FIELDS),
            comment=_over(self.comment, comment or {}, "field of a comment", FIELDS_OF_COMMENTS),
            lang=lang or self.lang,
        )


def _over(names: Mapping[str, Names], others: Mapping[str, str], kind: str, known: Names) -> dict[str, Names]:
    for name in others:
        UnknownName.check(kind, name, known)
    return {**names, **{name: (other,) if other else () for name, other in others.items()}}


FORUM: Final = Fields(
    {name: (name,) for name in FIELDS},
    {**{name: (name,) for name in FIELDS_OF_COMMENTS}, "upvotes": ("upvotes", "votes")},
)
"""The fields without a map."""

EXPORTED: Final = replace(FORUM, fixed=True)
"""The same, for readers that make objects with these names."""

PLACES: Final = tuple(map(str, range(16)))


class ArticleBuilder:
    """Builder of articles, which counts what it changes or rejects.

    Args:
        fields: The field names of the source.
        report: Counts; rejected objects are handed to it.
        beside: Fields of comments that are read elsewhere.
        texts: True if all values are text, as in a table; then votes as text are not counted.
    """

    def __init__(
        self, fields: Fields, report: ImportReport, beside: AbstractSet[str] = frozenset(), *, texts: bool = False
    ) -> None:
        self._texts = texts
        self._report = report
        self._lang = fields.lang
        self._advice = "" if fields.fixed else "; to import without dates, map date to an empty name"
        self._names = {name: fields.article.get(name, ()) for name in FIELDS}
        self._id, self._text, self._upvotes, self._grade, self._user, self._date, self._parent, self._replies = (
            fields.comment.get(name, ()) for name in FIELDS_OF_COMMENTS
        )
        self._names_of_comments = fields.comment
        # Where they are no comments, as a number of replies, they are not read.
        of_comments = {name for names in fields.comment.values() for name in names} - {*self._replies}
        self._known_of_comments = of_comments
        self._seen = of_comments | beside
        self._of_articles = {name for names in fields.article.values() for name in names}
        self._known = self._of_articles | (set() if self._names["comments"] else of_comments)
        self._first: dict[str, Place] = {}

    def article(self, row: Mapping[str, object], where: str, line: int, *, joined: bool = False) -> Article | None:
        """An article, unless it is broken.

        Args:
            row: The object.
            where: Its file.
            line: Its line.
            joined: True if the comments come from elsewhere; then the article has none yet, and is not counted.

        Returns:
            The article, or None where the object was rejected.
        """
        try:
            article = self._article(row, where, line, joined=joined)
        except InvalidInput as error:
            self._report.refuse_at(error, where, line)
            return None
        if not joined:
            self.count(article)
        return article

    def count(self, article: Article) -> None:
        """Count an article that is complete.

        Args:
            article: The article.
        """
        report = self._report
        report.articles += 1
        report.comments += len(article.comments)
        report.bare += not article.comments
        report.untitled += not article.title
        report.without_content += not article.content

    def comment(self, item: object, position: int) -> Comment | None:
        """A comment.

        Args:
            item: An object, an array, a text or None.
            position: Its position under the article, from 1; its id where it has none.

        Returns:
            The comment, or None where it has no text.

        Raises:
            InvalidInput: Something in it is broken; says which field.
        """
        if item.__class__ is not dict:
            item = self._as_dict(item)
        if not item.keys() <= self._seen:
            self._report.unread_of_comments |= item.keys() - self._seen
            self._seen |= item.keys()
        text = _first(item, self._text)
        if text is None or (text.__class__ is str and (not text or text.isspace())):
            self._check_text(item)
            self._report.textless += 1
            return None
        upvotes = _first(item, self._upvotes)
        if upvotes.__class__ is not int and upvotes is not None:
            upvotes = self._votes(upvotes)
        grade = _first(item, self._grade)
        if grade is not None:
            grade = self._graded(grade)
        name = _first(item, self._id)
        if name is None or name == "":
            name = str(position)
        user = _first(item, self._user)
        date = self._dated(*_found(item, self._date)) if self._date else None
        parent = _first(item, self._parent) or None
        try:
            comment = Comment(name, text, upvotes, grade, (), user, date, parent)  # type: ignore[arg-type]  # the row checks
        except InvalidInput as error:
            field, _ = _found(item, self._names_of_comments.get(error.field, ()))
            raise InvalidInput(error.problem, field=field or error.field) from None
        if upvotes is not None and upvotes < 0:
            self._report.negative += 1
        return comment

    def distinct(self, comments: list[Comment], place: Callable[[int], tuple[str, int, str]]) -> tuple[Comment, ...]:
        """The comments of an article, less those whose id stood before.

        Args:
            comments: The comments.
            place: Callback that returns file, line and field of a comment, by index.
        """
        if len({comment.id for comment in comments}) == len(comments):
            return tuple(comments)
        kept: dict[str, int] = {}
        for index, comment in enumerate(comments):
            if kept.setdefault(comment.id, index) != index:
                where, line, field = place(index)
                _, before, there = place(kept[comment.id])
                already = f"in line {before}" if before != line else f"in {there}"
                problem = f"comment {shown(comment.id)} of this article stands {already} already; keep one of them"
                self._report.refuse(InvalidInput(problem, where=where, line=line, field=field))
        return tuple(map(comments.__getitem__, kept.values()))

    def _article(self, row: Mapping[str, object], where: str, line: int, *, joined: bool) -> Article:
        self._report.unread |= row.keys() - self._known
        url = self._words(row, "url")
        name = self._name(row, url, where, line)
        title = self._words(row, "title")
        if title is None:
            self._check_field(row, "title")
        comments = () if joined else self._comments(row, where, line)
        article = Article(
            name,
            title or "",
            comments,
            self._words(row, "content"),
            self._words(row, "category"),
            self._words(row, "lang") or self._lang,
            url,
            date=self._dated(*_found(row, self._names["date"])),
        )
        self._first[name] = where, line
        return article

    def _name(self, row: Mapping[str, object], url: str | None, where: str, line: int) -> str:
        field, value = _found(row, self._names["id"])
        if isinstance(value, str) and value:
            name = value
        elif is_integer(value):
            name = str(value)
        elif value is not None and value != "":
            raise InvalidInput(f"expected text or an integer, got {shown(value)}", field=field)
        else:
            name = url or f"{stem(where)}:{line}"
            field = self._names["url"][0] if url else field
            self._report.by_url += bool(url)
            self._report.by_place += not url
        if name in self._first:
            there, before = self._first[name]
            problem = f"article {shown(name)} stands in {there}:{before} already; keep one of them"
            raise InvalidInput(problem, field=field or "id")
        return name

    def _words(self, row: Mapping[str, object], what: str) -> str | None:
        """A text; paragraphs become lines, and a category may be a number."""
        field, value = _found(row, self._names[what])
        if value is None or value.__class__ is str:
            return value
        if what == "category" and is_integer(value):
            return str(value)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return "\n".join(value)
        raise InvalidInput(f"expected text, got {shown(value)}", field=field)

    def _comments(self, row: Mapping[str, object], where: str, line: int) -> tuple[Comment, ...]:
        field, items = _found(row, self._names["comments"])
        if not self._names["comments"]:
            field = next(iter(self._text), "")
            items = {name: values for name, values in row.items() if name not in self._of_articles}
        elif items is None:
            self._check_field(row, "comments")
            return ()
        if isinstance(items, dict):
            items = self._parallel(items, field)
        elif not isinstance(items, list):
            raise InvalidInput(f"expected an array of comments, got {shown(items)}", field=field)
        made: list[Comment] = []
        kept: list[tuple[str, int]] = []
        waiting = [(item, field, index, "") for index, item in enumerate(items)]
        waiting.reverse()
        position = 0
        while waiting:  # and no recursion, as replies may be a thousand deep
            item, inside, index, parent = waiting.pop()
            position += 1
            comment = None
            try:
                comment = self.comment(item, position)
            except InvalidInput as error:
                place = f"{inside}[{index}]" + (f".{error.field}" if error.field else "")
                self._report.refuse(InvalidInput(error.problem, where=where, line=line, field=place))
            if comment is not None:
                if parent and comment.parent is None:
                    comment = msgspec.structs.replace(comment, parent=parent)
                made.append(comment)
                kept.append((inside, index))
            if self._replies and isinstance(item, dict):
                name, replies = _found(item, self._replies)
                if isinstance(replies, list):
                    self._report.unread_of_comments.discard(name)
                    above = _first(item, self._id) if comment is None else comment.id
                    below = f"{inside}[{index}].{name}"
                    waiting += reversed([(one, below, at, str(above or "")) for at, one in enumerate(replies)])
        return self.distinct(made, lambda index: (where, line, "{}[{}]".format(*kept[index])))

    def _parallel(self, columns: Record, field: str) -> list[Record]:
        """Convert an object of arrays to objects."""
        there: dict[str, list[object]] = {}
        for name, values in columns.items():
            if name not in self._known_of_comments:
                continue
            if values is None or isinstance(values, list):
                there[name] = values or []
            else:
                place = f"{field}.{name}" if self._names["comments"] else name
                raise InvalidInput(f"expected an array, one value per comment, got {shown(values)}", field=place)
        if not any(name in there for name in self._text):
            names = ", ".join(columns) or "no fields"
            raise InvalidInput(f"no texts of comments; there are: {names}", field=field)
        lengths = {name: len(values) for name, values in there.items()}
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{length} {name}" for name, length in lengths.items())
            raise InvalidInput(f"expected arrays of one length, got {found}", field=field)
        return [dict(zip(there, values, strict=True)) for values in zip(*there.values(), strict=True)]

    def _as_dict(self, item: object) -> Record:
        if isinstance(item, list):
            return dict(zip(PLACES, item, strict=False))
        if item is None or isinstance(item, str):
            return dict.fromkeys(self._text[:1], item)
        raise InvalidInput(f"expected a comment, got {shown(item)}")

    def _check_text(self, item: Record) -> None:
        if not any(name in item for name in self._text):
            names = ", ".join(item) or "nothing"
            raise InvalidInput(f"missing; the comment has: {names}", field=" or ".join(self._text) or "text")

    def _check_field(self, row: Mapping[str, object], what: str) -> None:
        names = self._names[what]
        if names and not any(name in row for name in names):
            raise InvalidInput(f"missing; the line has: {', '.join(row) or 'no fields'}", field=" or ".join(names))

    def _dated(self, field: str, value: object) -> str | None:
        try:
            return optional_date(value)
        except InvalidInput as error:
            problem = Message("{problem}{advice}", problem=error.problem, advice=self._advice)
            raise InvalidInput(problem, field=field) from None

    def _votes(self, value: object) -> int | None:
        if _is_missing(value):
            return None
        number = _number(value) if isinstance(value, str) else value
        if not is_number(number) or number != int(number):
            problem = f"expected a whole number of votes, got {shown(value)}"
            raise InvalidInput(problem, field=" or ".join(self._upvotes))
        self._report.settled += not self._texts
        return int(number)

    def _graded(self, value: object) -> float | None:
        if _is_missing(value):
            return None
        number = _number(value) if isinstance(value, str) else value
        if not is_number(number):
            raise InvalidInput(f"expected a number, got {shown(value)}", field=" or ".join(self._grade))
        report = self._report
        report.graded += 1
        report.low, report.high = min(report.low, number), max(report.high, number)
        return float(number)


def _is_missing(value: object) -> bool:
    """True for a missing value: blank in a table, NaN in Parquet, as pandas writes it."""
    return not value.strip() if isinstance(value, str) else isinstance(value, float) and math.isnan(value)


def _number(text: str) -> float | None:
    """Parse a number; without the underscores that Python allows."""
    try:
        number = int(text) if text.removeprefix("-").isdecimal() else float(text)
    except ValueError:  # no number, or one of thousands of digits
        return None
    return None if "_" in text else number


def _first(row: Mapping[str, object], names: Names) -> object:
    for name in names:
        value = row.get(name)
        if value is not None:
            return value
    return None


def _found(row: Mapping[str, object], names: Names) -> tuple[str, object]:
    """Name and value of a field; the expected name and None where it is missing."""
    for name in names:
        value = row.get(name)
        if value is not None:
            return name, value
    return (names[0] if names else ""), None


def read_articles(
    paths: Sequence[FilePath],
    report: ImportReport | None,
    fields: Fields,
    objects: Callable[[FilePath, ImportReport], Iterator[tuple[int, Record]]],
) -> Iterator[Article]:
    """Read articles whose comments are in them.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected, without a report raised.
        fields: The field names of the source.
        objects: Function that reads the objects of a file, each with its line.

    Yields:
        An article for each object that is not broken, in the order of the files.

    Raises:
        InvalidInput: There is no such file, or something in it is broken.
    """
    report = report or ImportReport()
    builder = ArticleBuilder(fields, report)
    for path in paths:
        for line, row in objects(path, report):
            article = builder.article(row, os.fspath(path), line)
            if article is not None:
                yield article


TABLES: Final = """
    CREATE TABLE articles (number INTEGER PRIMARY KEY, name TEXT UNIQUE, row BLOB);
    CREATE TABLE comments (
        number INTEGER PRIMARY KEY, name TEXT, above TEXT, article, found INTEGER,
        place TEXT, line INTEGER, row BLOB
    );
    CREATE TABLE roots (name TEXT, article TEXT);
    CREATE TABLE decisions (number INTEGER PRIMARY KEY, name TEXT, above TEXT, article TEXT, row BLOB);
    CREATE TABLE reasons (name TEXT PRIMARY KEY, reason TEXT);
"""
"""SQL of the tables of `Threads`."""
# Comments that name what they answer, but not their article: it is where the answers lead up to.
ROOTS: Final = """
    CREATE INDEX answers ON comments (above);
    INSERT INTO roots WITH RECURSIVE tree (name, article) AS (
        SELECT name, name FROM articles
        UNION SELECT comments.name, tree.article FROM comments JOIN tree ON comments.above = tree.name
    ) SELECT name, article FROM tree;
    CREATE INDEX root ON roots (name);
    UPDATE comments SET article = (SELECT article FROM roots WHERE roots.name = comments.above), found = 1
        WHERE article IS NULL;
"""
JOINED: Final = """
    SELECT articles.number, comments.place, comments.line, comments.row, comments.found AND above = article
    FROM comments JOIN articles ON articles.name = comments.article
    WHERE comments.row IS NOT NULL ORDER BY articles.number, comments.number
"""
DECIDED: Final = """
    SELECT decisions.row, COALESCE(decisions.article, roots.article), reasons.reason FROM decisions
    LEFT JOIN roots ON decisions.article IS NULL AND roots.name = decisions.above
    LEFT JOIN reasons ON reasons.name = decisions.name ORDER BY decisions.number
"""
NUMBERED: Final = "SELECT article, place, line, row, 0 FROM comments ORDER BY article, number"
"""The same where comments name the numbers of articles."""


class Threads:
    """Articles and comments on the way to one another.

    Args:
        rows: A database made with `TABLES`.
        report: Counts; what is broken is rejected.
        builder: Builder of both.
        where: File of comments that are built already.
        lang: Language of decisions.
    """

    def __init__(
        self,
        rows: sqlite3.Connection,
        report: ImportReport,
        builder: ArticleBuilder,
        where: str = "",
        lang: str | None = None,
    ) -> None:
        self.report, self._lang = report, lang
        self._rows, self._builder, self._where = rows, builder, where
        self._encode = msgspec.msgpack.Encoder().encode

    def add_article(self, row: Mapping[str, object], where: str, line: int) -> None:
        """Add an article.

        Args:
            row: Its fields, by the names of `EXPORTED`, without comments.
            where: Its file.
            line: Its line.
        """
        article = self._builder.article(row, where, line, joined=True)
        if article is not None:
            self.insert_article(article)

    def insert_article(self, article: Article) -> None:
        """Add an article that is built already.

        Args:
            article: The article, without comments.
        """
        row = self._encode(article)
        self._rows.execute("INSERT INTO articles (name, row) VALUES (?, ?)", (article.id, row))

    def add_comment(
        self,
        row: Mapping[str, object] | None,
        where: str,
        line: int,
        *,
        name: str,
        above: str | None,
        article: str | None = None,
    ) -> None:
        """Add a comment.

        Args:
            row: Its fields, by the names of `EXPORTED`; None for a comment that is left out, and leads to an article.
            where: Its file.
            line: Its line.
            name: Its id.
            above: The id of what it answers, a comment or the article.
            article: The id of its article; None if `above` leads there.

        Raises:
            InvalidInput: A field is broken; says which.
        """
        comment = None if row is None else self._builder.comment(dict(row), 1)
        data = None if comment is None else self._encode(comment)
        self._rows.execute(
            "INSERT INTO comments (name, above, article, place, line, row) VALUES (?, ?, ?, ?, ?, ?)",
            (name, above, article, where, line, data),
        )

    def decide(
        self,
        verdict: Verdict,
        comment: Callable[[], Mapping[str, object]],
        *,
        name: str,
        author: str | None,
        above: str | None = None,
        article: str | None = None,
    ) -> None:
        """Add the verdict on a comment, where decisions are wanted.

        Args:
            verdict: The verdict.
            comment: Function that makes its fields, as of `add_comment`.
            name: Its id.
            author: Any text that only its author has; it is not kept.
            above: The id of what it answers.
            article: The id of its article; None if `above` leads there.

        Raises:
            InvalidInput: A field of a comment that is held is broken; says which.
        """
        if self.report.decisions is None:
            return
        made = self.report.decisions.made(verdict, comment, article=article, author=author, lang=self._lang)
        if made is not None:
            self._rows.execute(
                "INSERT INTO decisions (name, above, article, row) VALUES (?, ?, ?, ?)",
                (name, above, article, self._encode(made)),
            )

    def add_reason(self, name: str, reason: str) -> None:
        """Add the reason why a comment is held, which stands apart from it; the last one counts.

        Args:
            name: The id of the comment.
            reason: The reason.
        """
        self._rows.execute("INSERT OR REPLACE INTO reasons (name, reason) VALUES (?, ?)", (name, reason))

    def insert_comment(self, comment: Comment, line: int, article: int) -> None:
        """Add a comment that is built already.

        Args:
            comment: The comment.
            line: Its line.
            article: Number of its article, from 1.
        """
        values = article, line, self._encode(comment)
        self._rows.execute("INSERT INTO comments (article, line, row) VALUES (?, ?, ?)", values)

    def articles(self, joined: str = JOINED) -> Iterator[Article]:
        """Join them.

        Args:
            joined: Query for the comments by article.

        Yields:
            The articles, in the order in which they were added, with their comments in theirs.
        """
        decode_article = msgspec.msgpack.Decoder(Article).decode
        decode_comment = msgspec.msgpack.Decoder(Comment).decode
        if self._count("comments WHERE article IS NULL"):
            self._rows.executescript(ROOTS)
        self._write_decisions()
        self.report.orphans += self._count("comments WHERE row IS NOT NULL")
        groups = groupby(self._rows.execute(joined), itemgetter(0))
        number, group = next(groups, (None, iter(())))
        for place, row in self._rows.execute("SELECT number, row FROM articles ORDER BY number"):
            article = decode_article(row)
            if place == number:
                found = list(group)
                self.report.orphans -= len(found)
                comments = [decode_comment(row[3]) for row in found]
                for at in (at for at, row in enumerate(found) if row[4]):  # answers to the article
                    comments[at] = msgspec.structs.replace(comments[at], parent=None)
                kept = self._builder.distinct(comments, partial(self._place, found))
                article = msgspec.structs.replace(article, comments=kept)
                number, group = next(groups, (None, iter(())))
            self._builder.count(article)
            yield article

    def _write_decisions(self) -> None:
        """Hand on the decisions, in the order in which they were added, with their articles."""
        if (decisions := self.report.decisions) is None:
            return
        decode = msgspec.msgpack.Decoder(Decision).decode
        for row, article, reason in self._rows.execute(DECIDED):
            made = decode(row)
            why = reason if made.decision == "hold" and reason else made.reason
            decisions.write(msgspec.structs.replace(made, article=article, reason=why))

    def _place(self, found: Sequence[tuple[int, str | None, int, bytes, int]], index: int) -> tuple[str, int, str]:
        """File, line and field of a comment."""
        _, where, line, *_ = found[index]
        return where or self._where, line, "id"

    def _count(self, rows: str) -> int:
        count: int = self._rows.execute(f"SELECT COUNT(*) FROM {rows}").fetchone()[0]  # noqa: S608 - ours
        return count


def read_threads(
    paths: Sequence[FilePath],
    report: ImportReport,
    lang: str | None,
    add: Callable[[T, str, int, Threads], None],
    objects: Callable[[FilePath, ImportReport], Iterator[tuple[int, T]]],
) -> Iterator[Article]:
    """Read articles and comments that come apart.

    Args:
        paths: The files.
        report: Counts; what is broken is rejected.
        lang: Language of articles without one.
        add: Callback that adds an object, with its file and line; an `InvalidInput` of it rejects the object.
        objects: Function that reads the objects of a file, each with its line.

    Yields:
        The articles, in the order of the files.

    Raises:
        InvalidInput: There is no such file, or something in it is broken.
        PostilError: There is no room for the temporary file.
    """
    with temporary(TABLES) as rows:
        threads = Threads(rows, report, ArticleBuilder(EXPORTED.mapped(lang=lang), report), lang=lang)
        for path in paths:
            where = os.fspath(path)
            for line, row in objects(path, report):
                try:
                    add(row, where, line, threads)
                except InvalidInput as error:
                    report.refuse_at(error, where, line)
        yield from threads.articles()


def text_at(row: Record, *names: str) -> str | None:
    """The text in the first of some fields that is there and not null; an integer becomes text.

    Args:
        row: The object.
        names: Names of the fields.

    Raises:
        InvalidInput: It holds something else.

    >>> text_at({"id": None, "objectID": 7}, "id", "objectID")
    '7'
    """
    name, value = _found(row, names)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(f"expected text, got {shown(value)}", field=name)
    return str(value)
