"""Scores joined with human ratings, whatever they come from: columns, tables or files.

Functions that take either have one signature, and `JudgedKeywords` declares the keywords for reading once; one that is
of the other form is refused when it is called. The three joins of scores and ratings stay apart, since they leave out
by different rules: texts with all scores (`postil.meta.table.join`), items with all systems
(`postil.meta.estimation.outputs_of`), and texts in the order of their names (`postil.combination.model.judged_texts`).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias, TypedDict, TypeVar, cast

from postil.data.arguments import check_arguments
from postil.data.explain import counted, out_of_range, shown
from postil.data.fields import as_id, is_integer, is_number
from postil.data.frames import (
    CONSTANTS,
    SYSTEM,
    ColumnNames,
    as_list,
    columns_of,
    is_table,
    open_rows,
    plain_value,
    refuse_other_form,
    warn,
)
from postil.data.options import InputOptions, JudgedInputOptions, RatingInputOptions, ScoreInputOptions
from postil.data.reading import Reading, named_in
from postil.data.row_files import check_standard_input, fields_of, say_once
from postil.data.row_locations import FileLocations, LocatedRows, RowLocations, located
from postil.data.rows import Candidate, Judgement, Maximum, Row, Score
from postil.data.streams import KeptInput
from postil.data.workbooks import sheet_names
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Setting
from postil.meta.maxima import ROLE, SHARES, as_shares, open_maxima
from postil.metrics.result import ScoreResult

if TYPE_CHECKING:
    from postil.data.frames import Column, Table
    from postil.data.grades import Scale
    from postil.data.progress import OnMessage
    from postil.data.streams import FilePath
    from postil.meta.table import Key

    Scores: TypeAlias = ScoreResult | Table | Sequence[FilePath]

__all__ = [
    "JUDGED",
    "LARGEST",
    "JudgedKeywords",
    "Rated",
    "aspect_of",
    "checked_judgements",
    "names_of_files",
    "names_of_tables",
    "open_judgements",
    "open_rating_file",
    "open_score_files",
    "open_scores",
    "scores_of",
]

T = TypeVar("T")

LARGEST: Final = 1e100
"""Largest magnitude of a score or a rating, so that no sum of squares overflows."""

JUDGED: Final[Mapping[str, type[Row]]] = {"scores": Score, "judgements": Judgement, ROLE: Maximum}
"""Row type of each table of scores, ratings and maxima of items."""

OF_ONE_QUESTION: Final = "aspect: the grades are of one question; give those of the one that is meant"
"""Problem of an aspect of grades in a column."""

COLUMNS: Final = ("items", "systems", "signatures")
"""The keywords of columns; the others are of tables."""


class JudgedKeywords(TypedDict, total=False):
    """Keywords for reading scores and ratings of a call: the first three for columns, the others for tables."""

    items: Column | None
    systems: Column | None
    signatures: Mapping[str, str] | None
    item: str | None
    system: str | None
    columns: Mapping[str, str] | None
    metric_columns: Sequence[str]
    missing: Sequence[str]
    annotator_columns: Sequence[str]
    maxima: Table | None


@dataclass(frozen=True, slots=True)
class Rated:
    """Item scores and human ratings, which meet on item and system.

    Args:
        scores: The scores; None without any.
        judgements: The ratings.
        texts: Texts of the candidates by item and system, where they were given.
        shares: True where the ratings are shares of the maximum of their item; see `postil.meta.maxima`.
    """

    scores: LocatedRows[Score] | None
    judgements: LocatedRows[Judgement]
    texts: Mapping[Key, str] = field(default_factory=dict)
    shares: bool = False

    def scale(self, named: Scale | None) -> Scale | None:
        """Scale of the ratings, which is from 0 to 1 where they are shares.

        Args:
            named: The scale that was named.

        Raises:
            UsageError: A scale was named for shares.
        """
        if not self.shares:
            return named
        if named is not None:
            raise UsageError(
                "{scale}: with {maxima} ratings are from 0 to the maximum of their item; leave the scale out",
                scale=Setting("scale"),
                maxima=Setting("maxima"),
            )
        return SHARES

    def repeated(self, n: int) -> list[Rated]:
        """The same scores and ratings n times, each to be read once, in place of this one.

        Args:
            n: The number.
        """
        scores = [None] * n if self.scores is None else self.scores.repeated(n)
        return [Rated(*rows, self.texts, self.shares) for rows in zip(scores, self.judgements.repeated(n), strict=True)]

    @classmethod
    def of(
        cls,
        scores: Mapping[str, Column] | Scores | None,
        grades: Column | Table | None,
        judgements: Table | None,
        given: JudgedKeywords,
        *,
        aspect: str | None,
        candidates: Table | None = None,
        roles: Mapping[str, type[Row]] = JUDGED,
    ) -> Rated:
        """Open scores and ratings of a call, in columns or in tables.

        Args:
            scores: Scores by metric, a result, a table, or None; see `postil.correlate`.
            grades: Ratings, or a table of judgements.
            judgements: A table of judgements.
            given: Keywords for reading them.
            aspect: The aspect that was asked for, which columns do not have.
            candidates: A table of the texts, where ``roles`` has it.
            roles: Row type of each table that ``columns`` may name.

        Raises:
            InvalidInput: A file, a column or a value is wrong.
            UsageError: An argument is of the other form.
        """
        if judgements is None and scores is None and grades is not None and not is_table(grades):
            scores = {}
        if isinstance(scores, ScoreResult) and judgements is None and grades is not None and not is_table(grades):
            if aspect is not None:
                raise UsageError(OF_ONE_QUESTION)
            return cls.of_result(scores, cast("Column", grades), given, candidates, roles)
        if judgements is not None or scores is None or _are_tables(scores):
            _refuse(given, of_columns=True)
            table = grades if judgements is None else judgements
            if not is_table(table):
                raise UsageError(
                    "judgements: expected a table: a data frame, a path, or a list of rows or dictionaries, got "
                    f"{type(table).__name__}{_advice(scores, judgements, grades)}"
                )
            if isinstance(scores, Mapping):
                raise UsageError("judgements: scores are columns, so expected grades, a column as well")
            names = names_of_tables(given, roles)
            return cls.tables(scores, table, names, candidates, [aspect], maxima=given.get("maxima"))
        _refuse({**given, "candidates": candidates}, of_columns=False)
        if aspect is not None:
            raise UsageError(OF_ONE_QUESTION)
        return cls.columns(
            cast("Mapping[str, Column]", scores),
            cast("Column", grades),
            items=given.get("items"),
            systems=given.get("systems"),
            signatures=given.get("signatures"),
        )

    @classmethod
    def columns(
        cls,
        scores: Mapping[str, Column],
        grades: Column,
        *,
        items: Column | None = None,
        systems: Column | None = None,
        signatures: Mapping[str, str] | None = None,
    ) -> Rated:
        """Make rows of columns, one entry per text.

        Args:
            scores: n scores by metric.
            grades: Human rating of each of n texts: a number, a list with one number per annotator, or None.
            items: Item of each text; by default each text is an item of its own.
            systems: System that wrote each text; by default all are of one, or numbered within their item.
            signatures: Signature of each metric.

        Raises:
            InvalidInput: Columns differ in length, something is no number, or there is no grade.
        """
        rated = as_list(grades, "grades")
        of_item, of_system = _texts(len(rated), items, systems)
        judgements = _judgements(rated, list(zip(of_item, of_system, strict=True)))
        rows = _score_rows(scores, of_item, of_system, signatures)
        return cls(rows if scores else None, judgements)

    @classmethod
    def of_result(
        cls,
        scores: ScoreResult,
        grades: Column,
        given: JudgedKeywords,
        candidates: Table | None = None,
        roles: Mapping[str, type[Row]] = JUDGED,
    ) -> Rated:
        """Join the item scores of a result with grades in the order of its texts.

        Args:
            scores: The result.
            grades: Human rating of each text: a number, a list with one number per annotator, or None.
            given: Keywords for reading the candidates.
            candidates: A table of the texts, where ``roles`` has it.
            roles: Row type of each table that ``columns`` may name.

        Raises:
            InvalidInput: There are not as many grades as texts, something is no number, or there is no grade.
            UsageError: A result has no item scores, or a keyword is for scores.
        """
        problem = "scores are a result, whose texts have names; expected none"
        refuse_other_form(problem, **{name: each for name, each in given.items() if name in COLUMNS})
        names = names_of_tables(given, roles)
        texts, rated = scores.texts(), as_list(grades, "grades")
        if len(rated) != len(texts):
            raise InvalidInput(
                f"expected a grade for each of the {counted(len(texts), 'text')} of the result, in their order, got "
                f"{len(rated)}; grades of some texts are a table of item, system, annotator and grade",
                where="grades",
            )
        written = () if candidates is None else open_rows(candidates, Candidate, "candidates", names)
        judgements, maxima = _judgements(rated, texts), given.get("maxima")
        if maxima is not None:
            judgements = as_shares(judgements, open_maxima(maxima, names))
        return cls(
            open_scores(scores, names),
            judgements,
            {(row.item, row.system): row.text for row in written},
            maxima is not None,
        )

    @classmethod
    def tables(
        cls,
        scores: Scores | None,
        judgements: Table | Sequence[FilePath],
        names: ColumnNames,
        candidates: Table | None = None,
        aspects: Sequence[str | None] = (),
        *,
        maxima: Table | None = None,
    ) -> Rated:
        """Open tables: data frames, rows or files.

        Args:
            scores: The scores; None without any.
            judgements: The ratings; see `open_judgements`.
            names: Names of the columns.
            candidates: The texts.
            aspects: The aspects that are asked for.
            maxima: The highest grade of each item, where the ratings are to be shares of it.

        Raises:
            InvalidInput: A file, a column or a value is wrong.
            UsageError: Scores are no table.
        """
        names.assume("scores", {"system": SYSTEM})
        rows = None if scores is None else open_scores(scores, names)
        names.assume("judgements", CONSTANTS)
        rated = open_judgements(judgements, names, aspects)
        if maxima is not None:
            rated = as_shares(rated, open_maxima(maxima, names))
        written = () if candidates is None else open_rows(candidates, Candidate, "candidates", names)
        return cls(rows, rated, {(row.item, row.system): row.text for row in written}, maxima is not None)

    @classmethod
    def files(
        cls,
        scores: Sequence[str],
        judgements: str | Sequence[str],
        inputs: JudgedInputOptions | None = None,
        on_message: OnMessage = lambda _: None,
        *,
        aspects: Sequence[str | None] = (),
        candidates: str | None = None,
        roles: Mapping[str, type[Row]] = JUDGED,
    ) -> Rated:
        """Open files that a command names.

        Args:
            scores: Files of score rows, as `postil score --items` writes them; ``-`` for standard input.
            judgements: A file of judgement rows, or several; see `open_judgements`.
            inputs: Options of reading the files.
            on_message: Callback for status messages.
            aspects: The aspects that are asked for.
            candidates: A file of candidate rows, where ``roles`` has it.
            roles: Row type of each file that an option of reading may name.

        Raises:
            UsageError: Two of them are standard input, or an option of reading makes no sense.
            InvalidInput: A file cannot be read.
        """
        files = [judgements] if isinstance(judgements, str) else judgements
        inputs = inputs or JudgedInputOptions()
        check_standard_input(*scores, *files, candidates, inputs.maxima)
        names = names_of_files(roles, inputs, on_message)
        return cls.tables(scores or None, files, names, candidates, aspects, maxima=inputs.maxima)


def scores_of(
    scores: Mapping[str, Column] | Scores, given: JudgedKeywords, roles: Mapping[str, type[Row]]
) -> LocatedRows[Score]:
    """Open scores of a call without ratings, in columns or in tables.

    Args:
        scores: Scores by metric, a result, or a table.
        given: Keywords for reading them.
        roles: Row type of each table that ``columns`` may name.

    Raises:
        InvalidInput: A file, a column or a value is wrong.
        UsageError: An argument is of the other form.
    """
    if not isinstance(scores, Mapping):
        _refuse(given, of_columns=True)
        return open_scores(scores, names_of_tables(given, roles))
    _refuse(given, of_columns=False)
    if not scores:
        raise UsageError("scores: expected at least one column")
    n = len(as_list(next(iter(scores.values())), str(next(iter(scores)))))
    of_item, of_system = _texts(n, given.get("items"), given.get("systems"))
    return _score_rows(scores, of_item, of_system, given.get("signatures"))


def open_scores(scores: Scores, names: ColumnNames) -> LocatedRows[Score]:
    """Open item scores of any kind but columns.

    Args:
        scores: A result of `postil.score`, a table, or several paths.
        names: Names of the columns of ``scores``.

    Raises:
        UsageError: A result has no item scores, or it is no table, or none.
        InvalidInput: A file or a column is missing, or a value is wrong.
    """
    if isinstance(scores, ScoreResult):
        if names.given("scores"):
            raise UsageError("columns: scores are a result, whose items and systems have names already")
        sources = [located(scores.score_rows(), "scores")]
    else:
        tables = cast("Sequence[Table]", scores if _are_paths(scores) else [scores])
        sources = [open_rows(table, Score, "scores", names, wide=not _is_long(table, names)) for table in tables]
    if not sources:
        raise UsageError("expected at least one file of scores")
    places = FileLocations(", ".join(source.places.where for source in sources))
    rows = LocatedRows(places.rows(sources), places)
    return _limited(rows, lambda row: (row.score, *row.statistics), "score", "statistics")


def _is_long(table: Table, names: ColumnNames) -> bool:
    """True for a file with a row per score, among others with a column per metric."""
    wide = names.wide.get("scores", ())
    if not wide or not isinstance(table, str | os.PathLike):
        return False
    columns = fields_of(table, Score, names.reading("scores"))
    folded = {column.casefold() for column in columns}
    return {"metric", "score"} <= folded and not any(named_in(each, column) for each in wide for column in columns)


def open_score_files(
    paths: Sequence[str],
    inputs: ScoreInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> LocatedRows[Score]:
    """Open files of item scores that a command names.

    Args:
        paths: Files of score rows, or of tables with one column per metric; ``-`` for standard input.
        inputs: Options of reading them.
        on_message: Callback for status messages.

    Raises:
        UsageError: There is no file, two of them are standard input, or an option of reading makes no sense.
        InvalidInput: A file is missing.
    """
    check_standard_input(*paths)
    return open_scores(paths, names_of_files({"scores": Score}, inputs or ScoreInputOptions(), on_message))


def open_rating_file(
    path: str,
    inputs: RatingInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
    aspect: str | None = None,
) -> LocatedRows[Judgement]:
    """Open a file of ratings alone; without a column of systems every item is one text.

    Args:
        path: A file of judgement rows, or a table with one column per annotator; ``-`` for standard input.
        inputs: Options of reading it.
        on_message: Callback for status messages.
        aspect: The aspect that is asked for.

    Raises:
        UsageError: An option of reading makes no sense.
        InvalidInput: The file is missing, or a value is wrong.
    """
    names = names_of_files({"judgements": Judgement}, inputs or RatingInputOptions(), on_message)
    names.assume("judgements", {"system": SYSTEM})
    return open_judgements(path, names, [aspect])


def open_judgements(
    judgements: Table | Sequence[FilePath], names: ColumnNames, aspects: Sequence[str | None] = ()
) -> LocatedRows[Judgement]:
    """Open a table of judgements, with a warning about those that are left out.

    Args:
        judgements: The table; or several files, each of an aspect that is called like it.
        names: Names of its columns.
        aspects: Aspects that are asked for; a table without a column of the aspect has a column or a sheet of each.

    Raises:
        UsageError: It is no table, or two files have the same name.
        UnknownName: Some of the aspects are columns or sheets, and one is not.
        InvalidInput: A file or a column is missing, or a value is wrong.
    """
    tables = list(cast("Sequence[Table]", judgements if _are_paths(judgements) and judgements else [judgements]))
    called = _called(cast("Sequence[FilePath]", tables)) if len(tables) > 1 else None
    if called or any(aspect is not None for aspect in aspects):  # its columns are looked at first
        tables = [KeptInput() if isinstance(table, str) and table == "-" else table for table in tables]
    sources = [
        open_rows(table, Judgement, "judgements", of)
        for place, table in enumerate(tables)
        for of in _of_aspects(table, names, aspects, called[place] if called else None)
    ]
    left_out = tuple(each for rows in sources for each in rows.left_out)
    for each in left_out:
        warn(f"judgements left out: {each}")
    if len(sources) == 1:
        return checked_judgements(sources[0])
    places = FileLocations(", ".join(dict.fromkeys(rows.places.where for rows in sources)))
    return checked_judgements(LocatedRows(places.rows(sources), places, left_out))


def aspect_of(path: FilePath) -> str:
    """Aspect of a file of judgements that has no column of it, among several files: its name without the ending.

    Args:
        path: The file.

    >>> aspect_of("ratings/fluency.csv.gz")
    'fluency'
    """
    return Path(path).name.partition(".")[0]


def _called(paths: Sequence[FilePath]) -> list[str]:
    """Aspects of several files."""
    found: dict[str, FilePath] = {}
    for path in paths:
        other = found.setdefault(aspect_of(path), path)
        if other is not path:
            raise UsageError(f"{other} and {path} are both called {aspect_of(path)}, as an aspect; rename one of them")
    return list(found)


def _of_aspects(
    table: Table, names: ColumnNames, aspects: Sequence[str | None], called: str | None
) -> Sequence[ColumnNames]:
    """Names of the columns of a table, once for each part of it that is of an aspect.

    Args:
        table: The table.
        names: Names of its columns.
        aspects: The aspects that are asked for.
        called: Aspect of the whole table, where it is one of several.
    """
    reading = names.reading("judgements")
    wanted = list(dict.fromkeys(aspect for aspect in aspects if aspect is not None)) if called is None else [called]
    if not wanted or "aspect" in reading.columns:
        return [names]
    columns = columns_of(table, "judgements", Judgement, reading)
    if "aspect" not in map(str.casefold, columns) and not (called is None and set(wanted) <= set(columns)):
        columns = columns_of(table, "judgements", Judgement, reading, every=True)
    if "aspect" in map(str.casefold, columns):
        return [names]
    if called is not None:
        return [_of_aspect(names, reading, called)]
    by_column = "grade" not in reading.columns and not names.wide.get("judgements")
    others = [name for name in columns if by_column and name not in Judgement.__struct_fields__]
    if set(wanted) <= set(others):
        say = partial(say_once, reading.say, set())
        # Whoever rates some of several aspects leaves the cells of the others empty.
        beside = replace(reading, also=(*reading.also, *wanted), missing=reading.missing | {""}, say=say)
        return [_of_aspect(names, beside, aspect, grade=aspect) for aspect in wanted]
    sheets = sheet_names(table) if reading.sheet is None and isinstance(table, str | os.PathLike) else ()
    if set(wanted) <= set(sheets):
        return [_of_aspect(names, replace(reading, sheet=aspect), aspect) for aspect in wanted]
    for known, things in ((others, "columns"), (sheets, "sheets")):
        if not set(wanted).isdisjoint(known):
            lacking = next(aspect for aspect in wanted if aspect not in known)
            raise UnknownName("aspect", lacking, known, f"; these are {things}, as the other aspects are")
    return [names]


def _of_aspect(names: ColumnNames, reading: Reading, aspect: str, **columns: str) -> ColumnNames:
    columns = {**reading.columns, "aspect": f"={aspect}", **columns}
    return names.but("judgements", replace(reading, columns=MappingProxyType(columns)))


def checked_judgements(judgements: Iterable[Judgement]) -> LocatedRows[Judgement]:
    """Judgements; one whose rating is too large to calculate with is refused.

    Args:
        judgements: Judgement rows.
    """
    return _limited(located(judgements, "judgements"), lambda row: (row.grade,), "grade")


def _limited(rows: LocatedRows[T], numbers: Callable[[T], Sequence[float]], *fields: str) -> LocatedRows[T]:
    """The rows; one with a number that is too large to calculate with is refused.

    Args:
        rows: The rows.
        numbers: Function from a row to its numbers.
        fields: Field of the first of them, and that of all others.
    """

    def passed() -> Iterator[T]:
        for place, row in enumerate(rows):
            for index, value in enumerate(numbers(row)):
                if abs(value) > LARGEST:
                    raise rows.places.error(
                        place, fields[min(index, len(fields) - 1)], out_of_range(value, -LARGEST, LARGEST)
                    )
            yield row

    return LocatedRows(passed(), rows.places, rows.left_out)


def _are_paths(scores: object) -> bool:
    return isinstance(scores, list | tuple) and all(isinstance(each, str | os.PathLike) for each in scores)


def _are_tables(scores: object) -> bool:
    """True for scores that are no columns: a result, a table, or a list of paths."""
    return isinstance(scores, ScoreResult) or _are_paths(scores) or is_table(scores)


def _refuse(given: Mapping[str, object], *, of_columns: bool) -> None:
    """Refuse the keywords of columns, or those of tables."""
    problem = (
        "scores are a table; name its columns"
        if of_columns
        else "only for tables; expected none with scores that are columns"
    )
    refuse_other_form(problem, **{name: given[name] for name in given if (name in COLUMNS) == of_columns})


def names_of_tables(given: JudgedKeywords, roles: Mapping[str, type[Row]]) -> ColumnNames:
    """Names of the columns of tables, as keywords name them.

    Args:
        given: The keywords.
        roles: Row type of each table.
    """
    return ColumnNames(
        roles,
        given.get("columns"),
        everywhere={"item": given.get("item"), "system": given.get("system")},
        wide={
            "scores": given.get("metric_columns", ()),
            "judgements": given.get("annotator_columns", ()),
        },
        missing=given.get("missing", ()),
    )


def names_of_files(roles: Mapping[str, type[Row]], inputs: InputOptions, on_message: OnMessage) -> ColumnNames:
    """Names of the columns of files, as flags name them.

    Args:
        roles: Row type of each file by its role.
        inputs: Options of reading the files.
        on_message: Callback for status messages.
    """
    wide = {"scores": _split(inputs.metric_columns)} if isinstance(inputs, ScoreInputOptions) else {}
    if isinstance(inputs, RatingInputOptions):
        wide["judgements"] = _split(inputs.annotator_columns)
    return ColumnNames(roles, given=inputs.readings(roles, on_message), wide=wide)


def _split(columns: Sequence[str]) -> list[str]:
    """Names of columns, with commas between them."""
    names = [name.strip() for each in columns for name in each.split(",")]
    if "" in names:
        raise UsageError(f"expected names of columns with commas between them, got '{','.join(columns)}'")
    return names


def _texts(n: int, items: Column | None, systems: Column | None) -> tuple[list[str], list[str]]:
    """Item and system of each text; by default each is an item of its own, and all are of one system.

    With items and no systems the texts of an item are numbered.
    """
    of_item = list(map(str, range(n))) if items is None else _ids(items, n, "items")
    if systems is not None:
        return of_item, _ids(systems, n, "systems")
    if items is None:
        return of_item, ["system"] * n
    numbers: defaultdict[str, count[int]] = defaultdict(lambda: count(1))
    return of_item, [str(next(numbers[item])) for item in of_item]


def _judgements(grades: Sequence[object], texts: Sequence[tuple[str, str]]) -> LocatedRows[Judgement]:
    """Judgements of grades.

    Args:
        grades: Human rating of each text.
        texts: Its item and system.

    Raises:
        InvalidInput: Something is no number, or there is no grade.
    """
    places = RowLocations("grades")
    found: list[Judgement] = []
    for row, ((item, system), grade) in enumerate(zip(texts, grades, strict=True)):
        for annotator, rating in enumerate(_ratings(grade, row), start=1):
            if rating is not None:
                found.append(Judgement(item, system, str(annotator), rating))
                places.extend([row + 1])
    if not found:
        raise InvalidInput("expected at least one grade, got none", where="grades")
    return LocatedRows(iter(found), places)


def _advice(scores: object, judgements: object, grades: object) -> str:
    """Remedy where ratings are no table: the call in which a column of them goes."""
    if judgements is not None and isinstance(scores, ScoreResult):
        return "; a column with a grade for each text of the result goes in as grades"
    if grades is not None:
        return "; with grades in a column the scores are columns as well, such as {'bleu': table['bleu']}"
    return ""


def _score_rows(
    scores: Mapping[str, Column], of_item: Sequence[str], of_system: Sequence[str], signatures: Mapping[str, str] | None
) -> LocatedRows[Score]:
    check_arguments(_score_rows, locals())
    n = len(of_item)
    places = RowLocations("scores")
    places.extend(list(range(1, n + 1)) * len(scores))
    rows = (
        Score(item, system, metric, _number(value, metric, row), (signatures or {}).get(metric, ""))
        for metric, column in scores.items()
        for row, (item, system, value) in enumerate(zip(of_item, of_system, _column(column, n, metric), strict=True))
    )
    return LocatedRows(rows, places)


def _column(column: Column, n: int, where: str) -> list[object]:
    values = as_list(column, where)
    if len(values) != n:
        raise InvalidInput(f"expected an entry for each of {n} texts, got {len(values)}", where=where)
    return values


def _ids(column: Column, n: int, where: str) -> list[str]:
    values = _column(column, n, where)
    for row, value in enumerate(values):
        if not isinstance(value, str) and not is_integer(value):
            got = repr(value) if isinstance(value, float) else shown(value)
            raise InvalidInput(f"expected text or an integer, got {got}", where=where, line=row + 1)
    return [as_id(str(value)) for value in values]


def _number(value: object, where: str, row: int) -> float:
    if not is_number(value):
        raise InvalidInput(f"expected a number, got {shown(value)}", where=where, line=row + 1)
    if abs(value) > LARGEST:
        raise InvalidInput(out_of_range(value, -LARGEST, LARGEST), where=where, line=row + 1)
    return float(value)


def _ratings(grade: object, row: int) -> list[float | None]:
    """Ratings of one text."""
    several = [grade] if grade is None or isinstance(grade, str | float) or is_number(grade) else grade
    ratings = map(plain_value, as_list(several, f"grades:{row + 1}"))
    return [None if rating is None else _number(rating, "grades", row) for rating in ratings]
