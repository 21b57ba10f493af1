#!/usr/bin/env python3
"""Write what type checkers are told of `postil`: python tools/write_stub.py.

Capabilities say which names they add; what they are called at run time and what type checkers are told is one list. The
keywords of a function are the fields of its options, which are written once as well.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import postil
from postil.capabilities import capabilities
from postil.meta.rated import JudgedKeywords
from postil.options import is_options
from postil.results.table_options import TableOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE: Final = Path(__file__).resolve().parent.parent / "src" / "postil"
STUB: Final = SOURCE / "__init__.pyi"
KEYWORDS: Final = SOURCE / "keywords.pyi"
READING: Final[dict[str, Any]] = dict.fromkeys(
    ("apply_combination", "budget", "correlate", "estimate", "fit_combination"), JudgedKeywords
)
"""The functions that take data in columns or tables, and the keywords that say how they are read."""
OTHERS: Final = {"TableKeywords": TableOptions}
"""Options of methods of results."""


def stub() -> str:
    """The text of the stub of names."""
    modules = dict[str, str](vars(postil)["_HOMES"])
    for capability in capabilities():
        modules.update({f"{capability.package}.{module}": names for module, names in capability.names.items()})
    lines = [
        f"from {module} import {name} as {name}"
        for module, names in sorted(modules.items())
        for name in sorted(names.split())
    ]
    return "\n".join([*lines, "", "__version__: str", ""])


def keywords() -> str:
    """The text of the stub of keywords: a class for each function with options."""
    classes: dict[str, str] = {}
    imports: dict[str, set[str]] = {"typing": {"TypedDict"}}
    for function in map(vars(postil)["__getattr__"], sorted(set(dir(postil)) - {"__version__"})):
        given = inspect.signature(function).parameters if inspect.isfunction(function) else {}
        if "keywords" not in given:
            continue
        name = str(given["keywords"].annotation).removeprefix("Unpack[").removesuffix("]")
        reading = READING.get(function.__name__)
        read = () if reading is None else reading.__annotations__
        if reading is not None:
            imports.setdefault(reading.__module__, set()).add(reading.__name__)
        lines = [f"class {name}({'TypedDict' if reading is None else reading.__name__}, total=False):"]
        for field, hint, module in _fields(options_of(function)):
            if field not in given and field not in read:
                lines.append(f"    {field}: {hint}")
                for home, one in _names(hint, module):
                    imports.setdefault(home, set()).add(one)
        classes[name] = "\n".join(lines)
    for name, options in OTHERS.items():
        lines = [f"class {name}(TypedDict, total=False):"]
        for field, hint, module in _fields(options):
            lines.append(f"    {field}: {hint}")
            for home, one in _names(hint, module):
                imports.setdefault(home, set()).add(one)
        classes[name] = "\n".join(lines)
    head = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(imports.items())]
    own = [line for line in head if line.startswith("from postil")]
    top = [*(line for line in head if line not in own), "", *own]
    return "\n\n".join(["\n".join(top), *(classes[name] for name in sorted(classes))]) + "\n"


def options_of(function: Any) -> Any:
    """The class of the options of a function."""
    name = str(inspect.signature(function).parameters["options"].annotation).split(" | ")[0]
    found = getattr(inspect.getmodule(function), name)
    if not is_options(found):
        raise TypeError(f"{function.__name__}: {name} is no class of options")
    return found


def _fields(options: Any) -> Iterator[tuple[str, str, str]]:
    """Name, type and module of each field."""
    homes = {
        name: each.__module__ for each in reversed(options.__mro__) for name in vars(each).get("__annotations__", ())
    }
    for each in fields(options):
        body = ast.parse(str(each.type), mode="eval").body
        if (
            isinstance(body, ast.Subscript)
            and ast.unparse(body.value) == "Annotated"
            and isinstance(body.slice, ast.Tuple)
        ):
            body = body.slice.elts[0]  # the rest is for the command line
        yield each.name, ast.unparse(body), homes[each.name]


def _names(hint: str, module: str) -> Iterator[tuple[str, str]]:
    """Module and name of each name in a type that is not built in."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    homes = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    for node in ast.walk(ast.parse(hint)):
        if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
            yield homes.get(node.id, module), node.id


if __name__ == "__main__":
    for path, text in ((STUB, stub()), (KEYWORDS, keywords())):
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {len(text.splitlines())} lines")
