"""Options of reading files: their format, and which column, or which of several, holds which field."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from postil.data.delimited import Wanted, column_names
from postil.data.explain import COLUMN, NoColumn, column_setting, file_setting, shown
from postil.data.rows import Reference, Row
from postil.data.synonyms import LISTS, other_names
from postil.errors import InvalidInput, UnknownName, UsageError, nearest
from postil.messages import Blank, Command, Hint, Listed, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

__all__ = [
    "DECIMALS",
    "FORMATS",
    "NESTED",
    "ROLE",
    "Reading",
    "by_role",
    "checked_decimal",
    "is_folded",
    "items_by_column",
    "named_in",
    "names_systems",
    "parts_of",
    "pattern_of",
    "readings",
    "system_pattern",
]


def is_folded(source: str) -> bool:
    """True if a mapping names several columns: ``gpt|llama``, or ``Answer *``.

    Args:
        source: Text behind the ``=`` of ``--column``.

    >>> [is_folded(each) for each in ("gpt|llama", "Answer *", "answer", "=a|b")]
    [True, True, False, False]
    """
    return not source.startswith("=") and ("*" in source or "|" in source)


def named_in(source: str, name: str) -> bool:
    """True if a mapping names a column.

    Args:
        source: Text behind the ``=`` of ``--column``.
        name: The column.

    >>> [named_in(each, "Gold 1") for each in ("Gold 1", "Gold *", "Gold 1|Gold 2", "Gold")]
    [True, True, True, False]
    """
    return source == name or any(part == name or pattern_of(part).fullmatch(name) for part in parts_of(source))


def items_by_column(columns: Mapping[str, str]) -> bool:
    """True if each of several columns side by side is an item, whose name has what the star stands for.

    Args:
        columns: Column or pattern by field.

    >>> [items_by_column({"text": "Answer *", "item": item}) for item in ("*", "=Question *", "nr", "=1")]
    [True, True, False, False]
    """
    item = columns.get("item", "")
    return item == "*" or (item.startswith("=") and "*" in item)


def parts_of(source: str) -> list[str]:
    """Columns and patterns that a mapping names.

    Args:
        source: Text behind the ``=`` of ``--column``.

    >>> parts_of("gpt | Answer *")
    ['gpt', 'Answer *']
    """
    return [part.strip() for part in source.split("|")]


def pattern_of(part: str) -> re.Pattern[str]:
    """Regular expression of a column or pattern, whose group is what the star stands for.

    Args:
        part: One of the parts of a mapping.

    >>> pattern_of("Rater * (2024)").fullmatch("Rater Ann (2024)")[1]
    'Ann'
    """
    before, star, after = part.partition("*")
    return re.compile(f"{re.escape(before)}{'(.+)' if star else ''}{re.escape(after)}")


def system_pattern(part: str) -> tuple[re.Pattern[str], str]:
    """Regular expression of columns that are the ratings of one system by one rater each, and the system.

    Args:
        part: One of the parts of a mapping. Two stars are the system and the rater; with one, the system is the word
            before the name of the rater, or else what is behind it.

    Returns:
        The expression, whose last group is the rater and whose first of two is the system, and the system where it is
        not a group; empty if the pattern has none.

    >>> system_pattern("Ours R*")[1], system_pattern("R* of Ours")[1], system_pattern("Rater *")[1]
    ('Ours', 'of Ours', '')
    >>> system_pattern("* R*")[0].fullmatch("Ours R1").groups()
    ('Ours', '1')
    """
    before, _, after = part.partition("*")
    if "*" in after:
        between, _, end = after.partition("*")
        # A name of at most 200 characters, since two open ends take time that grows with the square of a column's name.
        return re.compile(f"{re.escape(before)}(.{{1,200}}){re.escape(between)}(.{{1,200}}){re.escape(end)}"), ""
    words = before.rstrip(_BETWEEN)
    last = max(map(words.rfind, _BETWEEN)) + 1
    return pattern_of(part), words[:last].strip(_BETWEEN) or after.strip(_BETWEEN)


def heads_of(source: str) -> list[str]:
    """Fields that a mapping looks into.

    Args:
        source: Text behind the ``=`` of ``--column``.

    >>> heads_of("runs.output|answer"), heads_of("outputs.*.text")
    (['runs'], ['outputs'])
    """
    return [part.partition(".")[0] for part in parts_of(source) if "." in part]


def names_systems(source: str) -> bool:
    """True if a mapping names columns of one system and one rater each.

    Args:
        source: Text behind the ``=`` of ``--column``.

    >>> [names_systems(each) for each in ("Ours R*|Theirs R*", "* R*", "Rater *", "ann|bob")]
    [True, True, False, False]
    """
    parts = [part for part in parts_of(source) if "*" in part]
    return bool(parts) and all(part.count("*") == 2 or system_pattern(part)[1] for part in parts)


_BETWEEN: Final = " \t_:./-"
"""Characters between the name of a system and that of a rater."""
FORMATS: Final = ("csv", "tsv", "json", "jsonl", "lines", "parquet", "arrow", "xlsx", "ods")
"""Formats that may be named."""
DECIMALS: Final = (".", ",")
"""Characters that may stand before the decimals of a number."""
ROLE: Final = "file of this command"
"""Kind of the names of roles, for messages."""
NESTED: Final = LISTS
"""Field of a row that has all references of an item."""
COLUMNS: Final = Setting("column", instead="columns")
"""Setting that maps fields to columns."""
WIDE: Final = {
    field: Setting(f"{field}_columns", Blank("NAME,NAME"), python='["NAME", "NAME"]')
    for field in ("metric", "annotator")
}
"""Setting that names the columns of a wide table, by the field that such a table lacks."""


def _unheard(_message: str) -> None:
    """Say nothing."""


def checked_decimal(given: str) -> str:
    """Check a decimal mark that a user names.

    Args:
        given: The mark.

    Raises:
        UsageError: It is neither a point nor a comma.
    """
    if given not in DECIMALS:
        raise UsageError(
            "{decimal}: expected . or , for the mark before the decimals, got {got}",
            decimal=Setting("decimal"),
            got=shown(given),
        )
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Options of reading one file.

    Args:
        columns: Column of each field that has another name in the file; `answer.body` is a field within a field,
            `=VALUE` a constant, and an empty name says that there is no such column. An item `*` is what the star of
            columns side by side stands for, and `=Question *` has words around it.
        role: Role of the file where a command reads several, for messages; empty for the main file.
        format: Format, where the name of the file does not tell it.
        always: True if the format is that, whatever the name.
        encoding: Encoding of text tables; by default UTF-8, else detected.
        delimiter: Character between the columns of text tables; by default detected.
        decimal: Decimal mark of numbers that are text in a table, of which the other one may separate thousands; by
            default a point, or a comma where it cannot be anything else.
        quotes: True if cells of text tables may be quoted.
        sheet: Sheet of a workbook; in JSON the path of the array of rows.
        fill_down: True if an empty cell of an id stands for the cell above it.
        missing: Texts of cells of tables that hold no value.
        split: Split of a dataset folder.
        say: Callback for what was guessed and what is not read, one line each.
        also: Columns that are read for another role, as `columns` has them.
        advice: Remedy besides, where a file lacks columns that nobody named, for messages.
        folder: Dataset folder that the file is part of, whose name a system without one gets, and messages have.
        part: Role that messages have beside the file, where one file has several.
        wide: Field whose columns, with bars between them, were named one by one: each is a metric or an annotator.
        assumed: Value of fields that have no column, in a table that lacks nothing else.
    """

    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    role: str = ""
    format: str | None = None
    always: bool = False
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    quotes: bool = True
    sheet: str | None = None
    fill_down: bool = False
    missing: frozenset[str] = frozenset()
    split: str | None = None
    say: Callable[[str], None] = _unheard
    also: Sequence[str] = ()
    advice: str = ""
    folder: str = ""
    part: str = ""
    wide: str = ""
    assumed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def signature(self) -> dict[str, object]:
        """All that the rows depend on besides the file, as a JSON object."""
        return {
            "columns": dict(self.columns),
            "format": self.format,
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            **({"decimal": self.decimal} if self.decimal else {}),
            "quotes": self.quotes,
            "sheet": self.sheet,
            **({"fill_down": True} if self.fill_down else {}),
            **({"missing": sorted(self.missing)} if self.missing else {}),
            "split": self.split,
        }

    @property
    def names(self) -> dict[str, str]:
        """Column of each field that has another one in the file, less constants and items that columns are."""
        starred = {"item"} if items_by_column(self.columns) else ()
        named = {name: column for name, column in self.columns.items() if name not in starred}
        return {name: column for name, column in named.items() if column and not column.startswith("=")}

    def unread(self, names: Sequence[str], read: Collection[str]) -> list[str]:
        """Columns of a file that are read for no role.

        Args:
            names: Columns of the file.
            read: Those that are read for this one.

        >>> Reading(also=["Gold *"]).unread(["id", "Gold 1", "note"], ["id"])
        ['note']
        """
        others = [name for each in self.also for name in [each, *heads_of(each)]]
        return [
            name for name in names if name and name not in read and not any(named_in(each, name) for each in others)
        ]

    def column_setting(self, *names: str) -> Setting:
        """Setting that maps fields, for messages.

        Args:
            names: The fields.
        """
        return column_setting(self.role, dict.fromkeys(names, COLUMN))

    def tell(self, where: str, what: str) -> None:
        """Say what was guessed and what is not read.

        Args:
            where: The file.
            what: It, in words or as a message.
        """
        place = self.folder or where
        self.say(Message("{where}: {what}", where=f"{place}, {self.part}" if self.part else place, what=what))

    def no_column(
        self,
        where: str,
        missing: Sequence[str],
        names: Sequence[str],
        line: int | None = None,
        fields: Collection[str] = (),
    ) -> InvalidInput:
        """Make the error for fields whose columns a file lacks: for the first one that was named, else for all.

        Args:
            where: The file.
            missing: The fields.
            names: Columns of the file.
            line: Line of their names.
            fields: Fields of the row, whose own columns another field does not mean where nobody named its column.
        """
        missing = [name for name in missing if name in self.columns][:1] or missing
        missing = [name for name in missing if name not in self.assumed] or missing
        sources = [self.columns.get(name) or name for name in missing]
        free = [name for name in names if missing[0] in self.columns or name not in fields]
        near = nearest(sources[0], free) if len(missing) == 1 < len(names) and sources[0] not in names else None
        guess = Message("did you mean '{near}'? The", near=near) if near else Message("the")
        advice = [] if missing[0] in self.columns else self._ways_to_name(where, missing, names)
        if len(names) == 1 and (found := next((mark for mark in ";\t|," if mark in names[0]), None)):
            guess = Message("the")
            word = Blank("tab" if found == "\t" else shown(found))
            between = file_setting("delimiter", word, python=f"delimiter={shown(found)}")
            advice = [Message("; is {mark} between the columns? {delimiter}", mark=shown(found), delimiter=between)]
        problem = NoColumn(
            "no such column; {guess} file has: {columns}{advice}",
            "no such columns; {guess} file has: {columns}{advice}",
            count=len(missing),
            guess=guess,
            columns=column_names(names),
            advice=Listed(["", *advice], last="", between=""),
        )
        return InvalidInput(problem, where=where, line=line, field=", ".join(sources))

    def _ways_to_name(self, where: str, missing: Sequence[str], names: Sequence[str]) -> list[Message]:
        """Clauses on what to do where a file lacks columns that nobody named."""
        ways: list[Message] = [
            Hint(
                "; name the one for it: {columns}",
                "; name the ones for them: {columns}",
                count=len(missing),
                columns=self.column_setting(*missing),
            )
        ]
        starred = items_by_column(self.columns)  # so that columns are no annotators or metrics
        ways += [
            Message("; or, where all is of one {field}: {columns}", field=name, columns=self._constant(name))
            if starred
            else Message("; or, where each {field} has a column: {columns}", field=name, columns=WIDE[name])
            for name in missing
            if name in WIDE
        ]
        if "comments" in missing and len(names) > 1:  # one row per comment, most likely
            importing = Command("corpus import csv", settings=(Setting("comments", where),))
            ways.append(Message("; or, where each row is a comment, first: {importing}", importing=importing))
        return ways + [Message("; or, {advice}", advice=self.advice)] * bool(self.advice)

    def _constant(self, field: str) -> Setting:
        """Setting that names the one value of a field, for messages."""
        return column_setting(self.role, {field: "=NAME"})

    def system_name(self, where: str) -> str:
        """Name of the system whose file has no column for it: that of the file, or of the dataset that it is part of.

        Args:
            where: The file.

        >>> Reading().system_name("runs/gpt.jsonl.gz"), Reading(folder="runs/llama").system_name("runs/llama/1.csv")
        ('gpt', 'llama')
        """
        stem = Path(self.folder).resolve().name if self.folder else Path(where).name
        for ending in (".gz", ".zst"):
            stem = stem.removesuffix(ending)
        return stem if self.folder else Path(stem).stem or where

    def system_of(self, where: str) -> str:
        """Name of the system whose file has no column for it, which is told.

        Args:
            where: The file.
        """
        stem = self.system_name(where)
        other = Setting("column", Blank("system==NAME"), instead="columns={'system': '=NAME'}")
        self.tell(
            where,
            Message("no column system; the system is called '{stem}' (another name: {other})", stem=stem, other=other),
        )
        return stem

    def wanted(self, row_type: type[Row]) -> Wanted:
        """Columns that a file should have.

        Args:
            row_type: The row.
        """
        required = [each.encode_name for each in msgspec.structs.fields(row_type) if each.required]
        found = [source for name, source in self.sources(row_type).items() if name in self.columns or name in required]
        names = [*found, *(part.strip() for source in found for part in source.split("|"))]
        return Wanted(names, other_names(row_type, self.columns))

    def sources(self, row_type: type[Row]) -> dict[str, str]:
        """Column or constant of each field, as asked for or by its own name.

        Args:
            row_type: The row.
        """
        names = [each.encode_name for each in msgspec.structs.fields(row_type)]
        return {name: self.columns.get(name, name) for name in (*names, *self.columns)}


def readings(
    roles: Mapping[str, type[Row]],
    say: Callable[[str], None],
    *,
    column: Sequence[str] = (),
    input_format: Sequence[str] = (),
    encoding: Sequence[str] = (),
    delimiter: Sequence[str] = (),
    decimal: Sequence[str] = (),
    quotes: bool = True,
    sheet: Sequence[str] = (),
    fill_down: bool = False,
    missing: Sequence[str] = (),
    split: Sequence[str] = (),
) -> dict[str, Reading]:
    """Options of reading each file of a command, from the words of its flags.

    Args:
        roles: Row type of each file by its role; the first one is the main file.
        say: Callback for what was guessed and what is not read.
        column: `FIELD=COLUMN` for the main file, `ROLE.FIELD=COLUMN` for another; `FIELD==VALUE` is a constant.
        input_format: Format of standard input, and of files whose name does not tell it; `ROLE=FORMAT` of a file
            whatever its name. All that follow are `VALUE` for all files or `ROLE=VALUE` for one.
        encoding: Encoding of text tables.
        delimiter: Character between the columns of text tables.
        decimal: Decimal mark of numbers that are text in a table.
        quotes: True if cells of text tables may be quoted.
        sheet: Sheet of a workbook.
        fill_down: True if an empty cell of an id stands for the cell above it.
        missing: Texts of cells of tables that hold no value; those of all files are of each besides its own ones.
        split: Split of a dataset folder.

    Raises:
        UnknownName: A role, field or format does not exist.
        UsageError: A mapping is not one, or stands twice.

    >>> found = readings({"candidates": Reference, "references": Reference}, print, column=["references.text=gold"])
    >>> dict(found["references"].columns), dict(found["candidates"].columns)
    ({'text': 'gold'}, {})
    """
    columns = _columns(roles, column)
    main = next(iter(roles))
    formats, forced = by_role(roles, input_format, "input_format")
    for name in formats.values():
        UnknownName.check("input format", name, FORMATS)
    of = {
        name: by_role(roles, given, name)[0]
        for name, given in (
            ("encoding", encoding),
            ("delimiter", delimiter),
            ("decimal", decimal),
            ("sheet", sheet),
            ("split", split),
        )
    }
    for each in of["decimal"].values():
        checked_decimal(each)
    unnamed = _missing(roles, missing)
    return {
        role: Reading(
            columns=MappingProxyType(columns[role]),
            role="" if role == main else role,
            format=formats.get(role),
            always=role in forced,
            encoding=of["encoding"].get(role),
            delimiter=of["delimiter"].get(role),
            decimal=of["decimal"].get(role),
            quotes=quotes,
            sheet=of["sheet"].get(role),
            fill_down=fill_down,
            missing=unnamed[role],
            split=of["split"].get(role),
            say=say,
        )
        for role in roles
    }


def _columns(roles: Mapping[str, type[Row]], given: Sequence[str]) -> dict[str, dict[str, str]]:
    """Column of each field by role."""
    found: dict[str, dict[str, str]] = {role: {} for role in roles}
    for pair in given:
        name, equals, source = pair.partition("=")
        role, dot, name = name.rpartition(".")
        if not equals or not name:
            raise UsageError(
                "{column} takes FIELD=COLUMN, such as text=prediction; got '{got}'", column=COLUMNS, got=pair
            )
        if dot and role not in roles:
            raise UnknownName(ROLE, role, roles)
        row_type = roles[role or next(iter(roles))]
        needed = {each.encode_name: each.required for each in msgspec.structs.fields(row_type)}
        needed |= dict.fromkeys(("text", NESTED), False) if row_type is Reference else {}  # one of the two is enough
        if name == NESTED and is_folded(source):  # columns of one reference each
            name = "text"
        if name not in needed:
            fields = {other: [each.encode_name for each in msgspec.structs.fields(of)] for other, of in roles.items()}
            others = [f"{other}.{name}" for other, names in fields.items() if name in names and not dot]
            raise UnknownName(f"field of {role or next(iter(roles))}", name, [*needed, *others])
        if not source and needed[name]:
            raise UsageError(
                "{column}: every {row} needs {field}, so name its column",
                column=column_setting(role if dot else "", {name: source}),
                row=row_type.__name__.lower(),
                field=name,
            )
        columns = found[role or next(iter(roles))]
        if name in columns:
            raise UsageError("{column} names a field twice; got '{got}'", column=COLUMNS, got=pair)
        columns[name] = source
    return found


def _missing(roles: Collection[str], given: Sequence[str]) -> dict[str, frozenset[str]]:
    """Texts that hold no value by role; one that has an equals sign after another word than a role is a text."""
    found: dict[str, set[str]] = {role: set() for role in roles}
    for each in given:
        role, equals, text = each.partition("=")
        of_role = equals and role in found
        for texts in [found[role]] if of_role else found.values():
            texts.add(text if of_role else each)
    return {role: frozenset(texts) for role, texts in found.items()}


def by_role(roles: Collection[str], given: Sequence[str], setting: str) -> tuple[dict[str, str], set[str]]:
    """Value of a setting for each file of a command, and the roles that were named.

    Args:
        roles: Roles of the files.
        given: Values of the setting: `VALUE` for all files, `ROLE=VALUE` for one.
        setting: Its name, for messages.

    Raises:
        UsageError: There are two values for one file.

    >>> by_role(("comments", "articles"), ["One", "articles=Two"], "sheet")
    ({'comments': 'One', 'articles': 'Two'}, {'articles'})
    """
    everywhere: dict[str, str] = {}
    found: dict[str, str] = {}
    for each in given:
        role, equals, value = each.partition("=")
        if not equals or role not in roles:
            if everywhere:
                raise UsageError(
                    "{setting} takes one value, or ROLE=VALUE for each file; got '{got}'",
                    setting=Setting(setting),
                    got=each,
                )
            everywhere = dict.fromkeys(roles, each)
        elif role in found:
            raise UsageError("{setting} names {role} twice; got '{got}'", setting=Setting(setting), role=role, got=each)
        else:
            found[role] = value
    return {**everywhere, **found}, set(found)
