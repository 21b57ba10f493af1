"""Capabilities: what each adds to the command line, to results and to Python, by name.

A capability is a folder. Its ``__init__`` holds one `Capability`, in strings, so that listing commands loads nothing of
what they do. Others come from installed packages, by entry points of the group ``postil.capabilities``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

__all__ = [
    "CAPABILITIES",
    "Capability",
    "Command",
    "Kind",
    "capabilities",
    "command",
    "kind",
    "load",
    "others",
    "public",
    "public_names",
]

CAPABILITIES: Final = (
    "scoring",
    "judging",
    "comparison",
    "weights",
    "correlation",
    "combination",
    "wmt",
    "campaigns",
    "raters",
    "estimation",
    "budgeting",
    "comments",
    "threads",
    "calibration",
    "screening",
    "interest",
    "passages",
    "corpus",
    "training",
    "vectors",
    "erasure",
    "endpoint",
    "service",
    "web",
    "results.page",
    "studies",
)
"""Folders of the capabilities, in the order of the help."""

GROUP: Final = "postil.capabilities"
"""Group of the entry points of other packages; each names a `Capability`."""


class Command(NamedTuple):
    """A command.

    Args:
        function: Its function or group, as ``module:name`` below the capability.
        help: Its line in the list of commands.
    """

    function: str
    help: str


class Kind(NamedTuple):
    """A kind of result; functions are named as ``module:name`` below the capability.

    Args:
        struct: Its struct; in full, as ``postil.metrics.result:ScoreResult``, where a library makes the results.
        view: Function that makes its `postil.results.views.View`.
        title: Title of its chapter on a page.
        chapter: Function that makes its chapter; by default the tables of the view.
        pictures: Function that yields its pictures; none where it has no picture.
    """

    struct: str
    view: str
    title: str = ""
    chapter: str = ""
    pictures: str = ""


class Capability(NamedTuple):
    """A capability: what it adds to commands, results and Python.

    Args:
        package: Its package.
        job: Heading of its commands: what people do with it.
        commands: Commands by name.
        kinds: Kinds of results by name.
        names: Names of `postil`, with spaces between them, by the module that has them.
        measures: Measures of passages by name; each a class, named as ``module:name`` below the capability.
    """

    package: str
    job: str
    commands: Mapping[str, Command] = {}
    kinds: Mapping[str, Kind] = {}
    names: Mapping[str, str] = {}
    measures: Mapping[str, str] = {}


@cache
def capabilities() -> tuple[Capability, ...]:
    """The capabilities of this package, in the order of the help."""
    return tuple(import_module(f"postil.{name}").CAPABILITY for name in CAPABILITIES)


@cache
def others() -> tuple[Capability, ...]:
    """The capabilities of other packages, in the order of the names of their entry points."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - not needed for what is ours

    return tuple(found.load() for found in sorted(entry_points(group=GROUP), key=lambda each: each.name))


def load(capability: Capability, target: str) -> Any:
    """Load what a capability names.

    Args:
        capability: The capability.
        target: ``module:name`` below it, or of `postil` in full.
    """
    module, _, name = target.partition(":")
    return getattr(import_module(module if module.startswith("postil.") else f"{capability.package}.{module}"), name)


def command(name: str) -> Any:
    """The function or group of a command.

    Args:
        name: Name of the command.

    Raises:
        KeyError: There is no such command.
    """
    each = _owner(name, lambda capability: capability.commands)
    return load(each, each.commands[name].function)


def kind(name: str) -> tuple[Capability, Kind]:
    """A kind of result, with its capability.

    Args:
        name: Name of the kind.

    Raises:
        KeyError: There is no such kind.
    """
    each = _owner(name, lambda capability: capability.kinds)
    return each, each.kinds[name]


def public(name: str) -> Any:
    """Load a public name of `postil`.

    Args:
        name: The name.

    Raises:
        KeyError: No capability has it.
    """
    each = _owner(name, _modules)
    return load(each, f"{_modules(each)[name]}:{name}")


def public_names() -> list[str]:
    """The names that capabilities of this package add to `postil`."""
    return [name for each in capabilities() for name in _modules(each)]


def _modules(capability: Capability) -> dict[str, str]:
    """Module of each public name."""
    return {name: module for module, names in capability.names.items() for name in names.split()}


def _owner(name: str, named: Callable[[Capability], Container[str]]) -> Capability:
    """The capability that has a name; those of other packages are looked up where none of this package has it."""
    for found in (capabilities, others):
        for each in found():
            if name in named(each):
                return each
    raise KeyError(name)
