"""The exception hierarchy.

The tree, and the exit code that the command line gives to each branch::

    PostilError                 1  failed while running
    ├── LimitReached            1  stopped at a limit of calls or cost; what is finished is kept
    ├── LimitMissed             4  a score is worse than the limit that was set for it
    ├── UsageError              2  asked for something that does not exist or does not fit together
    │   ├── UnknownName            a metric, tokenizer, method … that is not in its table
    │   └── MissingExtra           an optional package that the request needs is not installed
    ├── InvalidInput            3  the data is not what it should be; says where
    └── Undefined               3  the number asked for does not exist for this data; says why
"""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from postil.messages import Fact, Interface, Message

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


__all__ = [
    "InvalidInput",
    "LimitMissed",
    "LimitReached",
    "MissingExtra",
    "PostilError",
    "Undefined",
    "UnknownName",
    "UsageError",
    "nearest",
    "needs",
]


class PostilError(Exception):
    """Base of every error that postil raises on purpose; its text is in the words of Python.

    Args:
        message: The words, or the template of a message with facts, or a message.
        many: The template for several things, where the words differ.
        facts: The facts of the template; without any, the words are taken as they are.

    >>> from postil.messages import COMMAND_LINE, Setting
    >>> error = UsageError("{name} needs {need}", name="spa", need=Setting("by", "system"))
    >>> str(error), error.words(COMMAND_LINE)
    ('spa needs by="system"', 'spa needs --by system')
    """

    exit_code = 1

    def __init__(self, message: str = "", many: str = "", /, **facts: Fact) -> None:
        self.message = message if isinstance(message, Message) else Message(message, many, **facts)
        super().__init__(str(self.message))

    def words(self, interface: Interface) -> str:
        """Put the error into the words of an interface.

        Args:
            interface: The interface.
        """
        return interface.words(self.message)

    def freeze(self, interface: Interface) -> None:
        """Take the words of an interface for good, for those who hear no other.

        Args:
            interface: The interface.
        """
        self.args = (self.words(interface),)
        self.message = Message(interface.words(self.message))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle message and attributes, without a second ``__init__``."""
        return _again, (type(self), *self.args), self.__dict__


def _again(kind: type[PostilError], *args: object) -> PostilError:
    return kind.__new__(kind, *args)


class LimitReached(PostilError):  # noqa: N818 - says what has happened
    """A limit of calls or cost, set by the user, is reached; what is finished is kept."""


class LimitMissed(PostilError):  # noqa: N818 - says what has happened
    """A score is worse than the limit that was set for it."""

    exit_code = 4


class UsageError(PostilError):
    """The request itself does not make sense, whatever the data."""

    exit_code = 2


class UnknownName(UsageError):  # noqa: N818 - says what is wrong
    """A name that is not in its table; the message offers the nearest that is.

    Args:
        kind: The kind of name, in words.
        name: The name.
        known: The names of the table.
        more: A clause to add, with what stands before it.

    >>> raise UnknownName("metric", "metor", ["bleu-1", "meteor"])
    Traceback (most recent call last):
    ...
    postil.errors.UnknownName: unknown metric 'metor'; did you mean 'meteor'? Known: bleu-1, meteor
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], more: str = "") -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        near = nearest(str(name), self.known)
        guess = "." if near is None else f"; did you mean '{near}'?"
        problem = f"unknown {kind} '{name}'{guess} Known: {', '.join(self.known)}"
        super().__init__(Message("{problem}{more}", problem=problem, more=more) if more else problem)

    @classmethod
    def check(cls, kind: str, name: str, known: Collection[str]) -> None:
        """Raise the error where a name is not in its table.

        Args:
            kind: The kind of name, in words.
            name: The name.
            known: The names of the table.
        """
        if name not in known:
            raise cls(kind, name, known)


def check_least(least: int, /, **numbers: float | None) -> None:
    """Raise a `UsageError` for the first of some numbers that is too small.

    Args:
        least: The least value.
        numbers: Numbers by the name of their argument; None is no number.
    """
    for name, number in numbers.items():
        if number is not None and number < least:
            raise UsageError(f"{name}: expected at least {least}, got {number}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Known name that was probably meant, in upper or lower case; None where none is near.

    Args:
        name: The name that is not known.
        known: The names that are.

    >>> nearest("Ref", ["Antworten", "Referenzen"]), nearest("bleu", ["meteor", "cider"])
    ('Referenzen', None)
    """
    folded = {each.lower(): each for each in reversed(tuple(known)) if each}
    wanted = name.lower()
    longer = [each for each in folded if wanted and wanted in each]
    near = difflib.get_close_matches(wanted, longer or folded, n=1, cutoff=0.0 if longer else 0.5)
    return folded[near[0]] if near else None


class MissingExtra(UsageError):  # noqa: N818 - says what is wrong
    """An optional package is needed.

    >>> raise MissingExtra("tokenizer 'rjieba'", "zh")
    Traceback (most recent call last):
    ...
    postil.errors.MissingExtra: tokenizer 'rjieba' needs an optional package: pip install 'postil[zh]'
    """

    def __init__(self, what: str, extra: str) -> None:
        self.what, self.extra = what, extra
        super().__init__("{what} needs an optional package: pip install 'postil[{extra}]'", what=what, extra=extra)


@contextmanager
def needs(what: str, extra: str) -> Iterator[None]:
    """Import packages of an extra: one that is not installed is a `MissingExtra`, unless it is a part of postil.

    Args:
        what: The purpose, for the error.
        extra: The extra.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "postil":
            raise
        raise MissingExtra(what, extra) from error


class InvalidInput(PostilError):  # noqa: N818 - says what is wrong
    """Data that cannot be used, with its location.

    Args:
        problem: The problem: expected, got and, where it helps, what to do.
        where: The file, or the name of the argument.
        line: Line (JSONL) or row (Parquet, lists) counted from 1.
        field: The field of the row.

    >>> raise InvalidInput("expected a number from 1 to 5, got 7", where="refs.jsonl", line=17, field="grade")
    Traceback (most recent call last):
    ...
    postil.errors.InvalidInput: refs.jsonl:17: grade: expected a number from 1 to 5, got 7
    """

    exit_code = 3

    def __init__(self, problem: str, *, where: str = "", line: int | None = None, field: str = "") -> None:
        self.problem, self.where, self.line, self.field = problem, where, line, field
        super().__init__(self._at_place(problem))
        self.message = problem if isinstance(problem, Message) else Message(problem)

    @property
    def placed(self) -> Message:
        """The problem with its place before it, for another message."""
        place = self._at_place("")
        return Message("{place}: {problem}", place=place, problem=self.message) if place else self.message

    def words(self, interface: Interface) -> str:
        """See `PostilError`."""
        return self._at_place(interface.words(self.message))

    def freeze(self, interface: Interface) -> None:
        """See `PostilError`."""
        super().freeze(interface)
        self.problem = self.message

    def _at_place(self, problem: str) -> str:
        place = self.where if self.line is None else f"{self.where}:{self.line}"
        return ": ".join(part for part in (place, self.field, problem) if part)


class Undefined(PostilError):  # noqa: N818 - says what is wrong
    """The number does not exist for this data, for example the CIDEr of a single item without a background."""

    exit_code = 3
