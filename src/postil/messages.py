"""Messages as data: a template with facts, which a face puts into words.

Below a face nothing names a flag, a keyword or a field of JSON: a message has a `Setting`, and each face spells it in
its own way. Templates are literals, one for one thing and one for several, so that catalogues of translations can be
made of them.

>>> need = Message("{name} compares systems, so it needs {need}", name="spa", need=Setting("by", "system"))
>>> for face in (COMMAND_LINE, PYTHON, JSON):
...     print(face.words(need))
spa compares systems, so it needs --by system
spa compares systems, so it needs by="system"
spa compares systems, so it needs "by": "system"
"""

from __future__ import annotations

import json
import shlex
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "COMMAND_LINE",
    "JSON",
    "PYTHON",
    "Blank",
    "CommandLine",
    "Face",
    "Fact",
    "Hint",
    "Json",
    "Listed",
    "Message",
    "Python",
    "Setting",
    "Words",
]


class Blank(str):
    """A value that the reader is to fill in, in capitals.

    >>> PYTHON.setting(Setting("sheet", Blank("NAME"))), JSON.setting(Setting("sheet", Blank("NAME")))
    ('sheet=NAME', '"sheet": "NAME"')
    """

    __slots__ = ()


class Setting(NamedTuple):
    """A setting, and the value that it has or should have.

    Args:
        name: Its name: the field of the options class, or the parameter of the function.
        value: The value; None for the setting itself, True for a switch that is on.
        python: The value in Python, where it is an expression and no text.

    >>> background = Setting("background", Blank("FOLDER"), python="postil.DocumentFrequencies.load(FOLDER)")
    >>> COMMAND_LINE.setting(background), PYTHON.setting(background)
    ('--background FOLDER', 'background=postil.DocumentFrequencies.load(FOLDER)')
    """

    name: str
    value: str | float | bool | None = None
    python: str = ""


class Listed(NamedTuple):
    """Several things in a row.

    Args:
        parts: The things.
        last: Text before the last one.
        between: Text between the others.

    >>> PYTHON.words(Message("expected {names}", names=Listed(("a", "b", Setting("c")), last=" or ")))
    'expected a, b or c'
    """

    parts: Sequence[Fact]
    last: str = " and "
    between: str = ", "


class Message:
    """A template with facts.

    Args:
        template: The words, with the names of facts in braces; without facts braces mean themselves.
        many: The same for several things, where the words differ: the fact ``count`` tells how many there are.
        facts: The facts: names and numbers as they are, settings, lists, and further messages.

    >>> PYTHON.words(Message("{count} row is empty", "{count:,} rows are empty", count=1200))
    '1,200 rows are empty'
    """

    __slots__ = ("facts", "many", "template")

    def __init__(self, template: str, many: str = "", /, **facts: Fact) -> None:
        self.template, self.many, self.facts = template, many, facts

    def __str__(self) -> str:
        return PYTHON.words(self)

    def __repr__(self) -> str:
        facts = "".join(f", {name}={fact!r}" for name, fact in self.facts.items())
        return f"{type(self).__name__}({self.template!r}{f', {self.many!r}' if self.many else ''}{facts})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the facts, so that a worker can send them to another process."""
        return _again, (type(self), self.template, self.many, self.facts)


class Hint(Message):
    """A clause of advice, which a face leaves out that lacks one of its settings.

    >>> hint = Hint(", or give {saved}", saved=Setting("background", Blank("FOLDER")))
    >>> message = Message("one item has no document frequencies{hint}", hint=hint)
    >>> COMMAND_LINE.words(message), Json(frozenset({"scale"})).words(message)
    ('one item has no document frequencies, or give --background FOLDER', 'one item has no document frequencies')
    """

    __slots__ = ()


Fact: TypeAlias = "str | int | float | Setting | Listed | Message"
"""A thing that a template names."""

Words: TypeAlias = str | Message
"""Words that every face uses as they are, or a message."""


class Face:
    """The way in which messages are put into words: that of Python, unless a subclass has another one."""

    def words(self, message: Words) -> str:
        """Put a message into words.

        Args:
            message: The message; words remain as they are.
        """
        if not isinstance(message, Message):
            return message
        if not message.facts:
            return message.template
        many = message.many and message.facts.get("count") != 1
        facts = {name: self._fact(fact) for name, fact in message.facts.items()}
        return (message.many if many else message.template).format_map(facts)

    def setting(self, setting: Setting) -> str:
        """Spell a setting.

        Args:
            setting: The setting.
        """
        if setting.value is None:
            return setting.name
        value = setting.value if isinstance(setting.value, Blank) else _quoted(setting.value)
        return f"{setting.name}={setting.python or value}"

    def has(self, setting: Setting) -> bool:
        """True if the setting exists in this face.

        Args:
            setting: The setting.
        """
        return bool(setting.name)

    def _fact(self, fact: Fact) -> str | float:
        if isinstance(fact, Setting):
            return self.setting(fact)
        if isinstance(fact, Listed):
            *first, last = (f"{self._fact(part)}" for part in fact.parts)
            return fact.last.join([fact.between.join(first), last] if first else [last])
        if isinstance(fact, Hint) and not all(map(self.has, _settings(fact))):
            return ""
        return self.words(fact) if isinstance(fact, Message) else fact


class Python(Face):
    """Keywords of functions and fields of options, as in ``by="system"``."""


class CommandLine(Face):
    """Flags, as in ``--by system``.

    Args:
        flags: Flag of each setting that is not its name with two hyphens before it.
    """

    def __init__(self, flags: Mapping[str, str] = MappingProxyType({})) -> None:
        self._flags = flags

    def setting(self, setting: Setting) -> str:
        """See `Face`."""
        flag = self._flags.get(setting.name) or f"--{setting.name.replace('_', '-')}"
        if setting.value is None or setting.value is True:
            return flag
        value = f"{setting.value}"
        return f"{flag} {value if isinstance(setting.value, Blank) else shlex.quote(value)}"


class Json(Face):
    """Fields of a request, as in ``"by": "system"``.

    Args:
        fields: The fields that the request has; None for any.
    """

    def __init__(self, fields: frozenset[str] | None = None) -> None:
        self._fields = fields

    def setting(self, setting: Setting) -> str:
        """See `Face`."""
        name = json.dumps(setting.name)
        return name if setting.value is None else f"{name}: {json.dumps(setting.value, ensure_ascii=False)}"

    def has(self, setting: Setting) -> bool:
        """See `Face`."""
        return self._fields is None or setting.name in self._fields


COMMAND_LINE: Final = CommandLine()
PYTHON: Final = Python()
JSON: Final = Json()


def _again(kind: type[Message], template: str, many: str, facts: dict[str, Fact]) -> Message:
    return kind(template, many, **facts)


def _settings(message: Message) -> list[Setting]:
    """The settings that a message names, also within its facts."""
    found: list[Setting] = []
    waiting: list[Fact] = list(message.facts.values())
    while waiting:
        fact = waiting.pop()
        if isinstance(fact, Setting):
            found.append(fact)
        elif isinstance(fact, Listed):
            waiting += fact.parts
        elif isinstance(fact, Message):
            waiting += fact.facts.values()
    return found


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else f"{value}"
