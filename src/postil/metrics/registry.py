"""Registry of metrics from outside the package: registered in Python, by plug-ins, and by entry points."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
import traceback
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Final

from postil.errors import PostilError, UsageError
from postil.metrics.own import define

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from importlib.metadata import EntryPoint
    from types import ModuleType

    from postil.metrics.base import Metric

__all__ = ["GROUP", "Registry"]

GROUP: Final = "postil.metrics"
"""Group of entry points whose names are those of metrics."""


class _PlugInLoader(SourceFileLoader):
    """Loader of a file without bytecode: Python would take that of an earlier text of the same second and size."""

    def path_stats(self, path: str) -> Mapping[str, float]:
        """Say that nothing is known of the file, so that Python neither reads nor writes bytecode."""
        raise OSError(path)


class Registry(Mapping[str, "type[Metric]"]):
    """Metrics from outside the package, by name.

    Looking up a name that is not registered looks among the functions of plug-ins, then among the entry points of
    installed packages, and loads the one of that name alone.

    Args:
        reserved: Names of the metrics of the package.
    """

    def __init__(self, reserved: Collection[str]) -> None:
        self._reserved = reserved
        self._made: dict[str, tuple[type[Metric], object]] = {}
        self._plugins: dict[str, ModuleType] = {}
        self._loaded: dict[str, bytes] = {}  # content of files, which are run again when they have changed

    def __getitem__(self, name: str) -> type[Metric]:
        if name not in self._made:
            given = self._in_plugins(name) or self._installed(name)
            if given is None:
                raise KeyError(name)
            if name not in self._made:  # a decorator has not registered it under this name
                self.add(given, define(given, name=name))
        return self._made[name][0]

    def __iter__(self) -> Iterator[str]:
        listed = dict.fromkeys([*self._made, *(name for name, _ in self._functions()), *_installed()])
        return (name for name in listed if name not in self._reserved)

    def __len__(self) -> int:
        return len(list(iter(self)))

    @property
    def registered(self) -> dict[str, type[Metric]]:
        """The metrics that are registered by now."""
        return {name: made for name, (made, _) in self._made.items()}

    def of(self, given: Callable[..., object]) -> type[Metric]:
        """The metric of a function or class, registered or not.

        Args:
            given: It.

        Raises:
            UsageError: It is no metric, or its name is that of another.
        """
        for made, other in self._made.values():
            if other is given:
                return made
        made = define(given)
        self._check(made().name, given)
        return made

    def add(self, given: object, made: type[Metric]) -> None:
        """Register a metric.

        Args:
            given: The function or class that it is made of.
            made: The metric.

        Raises:
            UsageError: Another has its name.
        """
        name = made().name
        self._check(name, given)
        self._made[name] = (made, given)

    def load(self, plugin: str) -> None:
        """Import a plug-in, whose code may register metrics and whose functions are metrics if they are asked for.

        Args:
            plugin: A ``.py`` file, or the name of a module that Python finds.

        Raises:
            UsageError: There is no such file or module, or it registers what is no metric.
            PostilError: Its code raises an error.
        """
        path = Path(plugin)
        if path.suffix != ".py":
            try:
                self._plugins[plugin] = importlib.import_module(plugin)
            except BaseException as error:
                raise _import_failed(plugin, error) from error
            return
        if not path.is_file():
            raise UsageError(f"plugin {plugin}: there is no such file")
        place, content = str(path.resolve()), path.read_bytes()
        name = f"postil_plugin_{hashlib.sha256(place.encode()).hexdigest()[:8]}_{path.stem}"
        if self._loaded.get(name) == content:
            return
        self._made = {each: pair for each, pair in self._made.items() if getattr(pair[1], "__module__", "") != name}
        found = spec_from_file_location(name, path, loader=_PlugInLoader(name, str(path)))
        assert found is not None and found.loader is not None  # noqa: S101, PT018 - it ends in .py
        module = sys.modules[name] = module_from_spec(found)
        try:
            found.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[name]
            raise _import_failed(plugin, error) from error
        self._plugins[name], self._loaded[name] = module, content

    def _check(self, name: str, given: object) -> None:
        if name in self._reserved:
            raise UsageError(f"metric {name}: the package has one of that name; register_metric(name=…) gives another")
        other = self._made[name][1] if name in self._made else given
        if other is not given and not _same_place(given, other):
            both = f"{_home(other)} and {_home(given)}"
            raise UsageError(f"metric {name}: two have this name, {both}; register_metric(name=…) gives another")

    def _functions(self) -> Iterator[tuple[str, Callable[..., object]]]:
        """Public functions and classes of the plug-ins themselves, not those that they import."""
        registered = [given for _, given in self._made.values()]  # under the name that they want
        for module in self._plugins.values():
            for name, value in vars(module).items():
                own = callable(value) and getattr(value, "__module__", "") == module.__name__
                if own and not name.startswith("_") and not any(value is given for given in registered):
                    yield name, value

    def _in_plugins(self, name: str) -> Callable[..., object] | None:
        return dict(self._functions()).get(name)

    @staticmethod
    def _installed(name: str) -> object:
        """Load the entry point of that name; None if there is none."""
        found = _installed().get(name, ())
        if len({point.value for point in found}) > 1:
            both = " and ".join(f"{point.value} of {point.dist.name if point.dist else '?'}" for point in found)
            raise UsageError(f"metric {name}: several packages have one: {both}; uninstall one of them")
        for point in found:
            try:
                return point.load()
            except BaseException as error:
                raise _import_failed(f"{point.value} (entry point of the metric {name})", error) from error
        return None


def _installed() -> dict[str, list[EntryPoint]]:
    """Entry points of all installed packages by name; no package is imported."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - it parses mail, and few names are unknown

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, []).append(point)
    return found


def _home(given: object) -> str:
    """Module and name of a function or class."""
    return f"{getattr(given, '__module__', '?')}.{getattr(given, '__qualname__', type(given).__name__)}"


def _same_place(given: object, other: object) -> bool:
    """True of a module or cell that ran again, and of a module that was imported under two names."""
    return _home(given) == _home(other) or (
        _file(given) == _file(other) and getattr(given, "__qualname__", "") == getattr(other, "__qualname__", "")
    )


def _file(given: object) -> str:
    try:
        return inspect.getfile(given)  # type: ignore[arg-type]  # refused where it is neither function nor class
    except TypeError:
        return str(getattr(given, "__module__", ""))


def _import_failed(plugin: str, error: BaseException) -> PostilError:
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, UsageError):
        return UsageError(f"plugin {plugin}: {error}")
    if isinstance(error, ModuleNotFoundError) and error.name and f"{plugin}.".startswith(f"{error.name}."):
        return UsageError(f"plugin {plugin}: Python finds no such module; a file is given with its ending, {plugin}.py")
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith("<")][1:]
    line = f", line {frames[-1].lineno} of {Path(frames[-1].filename).name}" if frames else ""
    return PostilError(f"plugin {plugin}: {type(error).__name__}: {' '.join(str(error).split())}{line}")
