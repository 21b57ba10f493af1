"""Messages as data: a template with facts, which an interface puts into words.

Below an interface (command line, Python, HTTP, page) nothing names a flag, a keyword or a field of JSON: a message has
a `Setting`, and each interface spells it in its own way. Templates are literals, one for one thing and one for several,
so that catalogues of translations can be made of them.

>>> need = Message("{name} compares systems, so it needs {need}", name="spa", need=Setting("by", "system"))
>>> for interface in (COMMAND_LINE, PYTHON, JSON):
...     print(interface.words(need))
spa compares systems, so it needs --by system
spa compares systems, so it needs by="system"
spa compares systems, so it needs "by": "system"
"""

from __future__ import annotations

import json
import shlex
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "COMMAND_LINE",
    "INTERFACE",
    "JSON",
    "PYTHON",
    "Blank",
    "Command",
    "CommandLine",
    "Fact",
    "Hint",
    "Interface",
    "Json",
    "Listed",
    "Message",
    "Note",
    "Python",
    "Setting",
    "spoken",
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
        value: The value; None for the setting itself, True or False for a switch that is on or off; several values
            for a setting that may be repeated.
        python: The value in Python, where it is an expression and no text.
        instead: Expression that Python has in place of such a setting.
        json: Words of JSON in place of such a setting.

    >>> background = Setting("background", Blank("FOLDER"), python="postil.DocumentFrequencies.load(FOLDER)")
    >>> COMMAND_LINE.setting(background), PYTHON.setting(background)
    ('--background FOLDER', 'background=postil.DocumentFrequencies.load(FOLDER)')
    >>> whole = Setting("format", "json", instead="result.to_json()")
    >>> COMMAND_LINE.setting(whole), PYTHON.setting(whole)
    ('--format json', 'result.to_json()')
    """

    name: str
    value: str | float | bool | tuple[str, ...] | None = None
    python: str = ""
    instead: str = ""
    json: str = ""


class Command(NamedTuple):
    """A command to run next, which is a call in Python where there is one.

    Args:
        name: Its name, such as ``annotate plan``.
        words: Its arguments.
        settings: Its settings.
        call: The call in Python; empty if there is none, and Python names the command as well.

    >>> train = Command("train quality", (Blank("ROWS"),), (Setting("out", Blank("DIR")),))
    >>> COMMAND_LINE.command(train)
    'postil train quality ROWS --out DIR'
    >>> PYTHON.command(Command("correlate", (Blank("SCORES"),), call="postil.correlate(scores, ratings)"))
    'postil.correlate(scores, ratings)'
    """

    name: str
    words: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    call: str = ""


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


class Message(str):
    """A template with facts; as a string it is what Python says.

    Args:
        template: The words, with the names of facts in braces; without facts braces mean themselves.
        many: The same for several things, where the words differ: the fact ``count`` tells how many there are.
        facts: The facts: names and numbers as they are, settings, commands, lists, and further messages.

    >>> Message("{count} row is empty", "{count:,} rows are empty", count=1200) == "1,200 rows are empty"
    True
    """

    __slots__ = ("facts", "many", "template")
    facts: Mapping[str, Fact]
    many: str
    template: str

    def __new__(cls, template: str, many: str = "", /, **facts: Fact) -> Self:
        """Keep the facts beside the words."""
        made = super().__new__(cls, _filled(PYTHON, template, many, facts))
        made.template, made.many, made.facts = template, many, MappingProxyType(facts)
        return made

    def but(self, **facts: Fact) -> Message:
        """Make the same message with other facts in place of some.

        Args:
            facts: The facts.

        >>> Message("{setting}: expected {least} or more", setting=Setting("size"), least=2).but(setting="here")
        Message('{setting}: expected {least} or more', setting='here', least=2)
        """
        return Message(self.template, self.many, **{**self.facts, **facts})

    def __repr__(self) -> str:
        facts = "".join(f", {name}={fact!r}" for name, fact in self.facts.items())
        return f"{type(self).__name__}({self.template!r}{f', {self.many!r}' if self.many else ''}{facts})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the facts, so that a worker can send them to another process."""
        return _again, (type(self), (self.template, self.many), dict(self.facts))


class Note(Message):
    """A remark on a result, which is known by its code.

    Args:
        code: Key of its subject, for programs.
        template: See `Message`.
        many: See `Message`.
        facts: See `Message`.

    >>> note = Note("unused", "{count} score not used", "{count:,} scores not used", count=2)
    >>> note.code, str(note)
    ('unused', '2 scores not used')
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, template: str, many: str = "", /, **facts: Fact) -> Self:
        """See `Message`."""
        made = super().__new__(cls, template, many, **facts)
        made.code = code
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """See `Message`."""
        return _again, (type(self), (self.code, self.template, self.many), dict(self.facts))


class Hint(Message):
    """A clause of advice, which an interface leaves out that lacks one of its settings.

    >>> hint = Hint(", or give {saved}", saved=Setting("background", Blank("FOLDER")))
    >>> message = Message("one item has no document frequencies{hint}", hint=hint)
    >>> COMMAND_LINE.words(message), Json(frozenset({"scale"})).words(message)
    ('one item has no document frequencies, or give --background FOLDER', 'one item has no document frequencies')
    """

    __slots__ = ()


Fact: TypeAlias = "str | int | float | Setting | Command | Listed"
"""A thing that a template names; a string may be a message."""


class Interface:
    """The way in which messages are put into words: that of Python, unless a subclass has another one."""

    def words(self, message: str) -> str:
        """Put a message into words; other strings remain as they are.

        Args:
            message: The message.
        """
        if not isinstance(message, Message):
            return message
        return _filled(self, message.template, message.many, message.facts)

    def form(self, template: str, many: str, count: Fact | None) -> str:
        """Choose the template of one thing or of several.

        Args:
            template: That of one thing.
            many: That of several; empty where the words are the same.
            count: Number of things, where it is known.
        """
        return many if many and count != 1 else template

    def setting(self, setting: Setting) -> str:
        """Spell a setting.

        Args:
            setting: The setting.
        """
        if setting.instead or setting.value is None:
            return setting.instead or setting.name
        value = setting.value if isinstance(setting.value, Blank) else _quoted(setting.value)
        return f"{setting.name}={setting.python or value}"

    def command(self, command: Command) -> str:
        """Spell a command.

        Args:
            command: The command.
        """
        return command.call or COMMAND_LINE.command(command)

    def has(self, setting: Setting) -> bool:
        """True if the setting exists in this interface.

        Args:
            setting: The setting.
        """
        return bool(setting.name)

    def _fact(self, fact: Fact) -> str | float:
        if isinstance(fact, Setting):
            return self.setting(fact)
        if isinstance(fact, Command):
            return self.command(fact)
        if isinstance(fact, Listed):
            *first, last = (f"{self._fact(part)}" for part in fact.parts)
            return fact.last.join([fact.between.join(first), last] if first else [last])
        if isinstance(fact, Hint) and not all(map(self.has, _settings(fact))):
            return ""
        return self.words(fact) if isinstance(fact, Message) else fact


class Python(Interface):
    """Keywords of functions and fields of options, as in ``by="system"``."""


class CommandLine(Interface):
    """Flags, as in ``--by system``.

    Args:
        flags: Flag of each setting that is not its name with two hyphens before it.
    """

    def __init__(self, flags: Mapping[str, str] = MappingProxyType({})) -> None:
        self._flags = flags

    def setting(self, setting: Setting) -> str:
        """See `Interface`."""
        flag = self._flags.get(setting.name) or f"--{setting.name.replace('_', '-')}"
        if setting.value is False:
            return f"--{OFF}{flag.removeprefix('--')}"
        if setting.value is None or setting.value is True:
            return flag
        if isinstance(setting.value, tuple):
            return " ".join(self.setting(setting._replace(value=each)) for each in setting.value)
        value = f"{setting.value}"
        return f"{flag} {value if isinstance(setting.value, Blank) else shlex.quote(value)}"

    def command(self, command: Command) -> str:
        """See `Interface`."""
        words = [word if isinstance(word, Blank) else shlex.quote(word) for word in command.words]
        return " ".join(["postil", command.name, *words, *map(self.setting, command.settings)])


class Json(Interface):
    """Fields of a request, as in ``"by": "system"``.

    Args:
        fields: The fields that the request has; None for any.
    """

    def __init__(self, fields: frozenset[str] | None = None) -> None:
        self._fields = fields

    def setting(self, setting: Setting) -> str:
        """See `Interface`."""
        if setting.json:
            return setting.json
        name = json.dumps(setting.name)
        return name if setting.value is None else f"{name}: {json.dumps(setting.value, ensure_ascii=False)}"

    def has(self, setting: Setting) -> bool:
        """See `Interface`."""
        return bool(setting.json) or self._fields is None or setting.name in self._fields


OFF: Final = "no-"
"""Beginning of the name that turns a switch off."""

COMMAND_LINE: Final = CommandLine()
PYTHON: Final = Python()
JSON: Final = Json()


INTERFACE: Final[ContextVar[Interface]] = ContextVar("postil_interface", default=PYTHON)
"""The interface in which results, notes and warnings are put into words."""


def spoken(message: str) -> str:
    """Put a message into the words of the interface in use.

    Args:
        message: The message; other strings remain as they are.

    >>> spoken(Message("choose {by}", by=Setting("by", "system")))
    'choose by="system"'
    """
    return INTERFACE.get().words(message)


def _filled(interface: Interface, template: str, many: str, facts: Mapping[str, Fact]) -> str:
    if not facts:
        return interface.form(template, "", None)
    chosen = interface.form(template, many, facts.get("count"))
    return chosen.format_map({name: interface._fact(fact) for name, fact in facts.items()})  # noqa: SLF001 - its own


def _again(kind: type[Message], words: tuple[str, ...], facts: dict[str, Fact]) -> Message:
    return kind(*words, **facts)


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
