"""Additions of the site to the Markdown files: the tree of pages, and the reference, from the program itself.

A Sphinx extension; see `docs/conf.py`. The files stay plain Markdown, so what only the site needs is put behind their
text when they are read.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

import postil
from postil.capabilities import capabilities, load
from postil.cli.help import option_groups

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["commands", "navigation", "options", "python_reference", "python_sections", "setup", "to_files", "verbs"]

ROOT: Final = Path(__file__).parents[1]
INDEX: Final = "docs/index"
SCHEMA: Final = "results.schema.json"
"""File of the site with the JSON Schema of results."""
LINK: Final = re.compile(r"^- \[[^]]+\]\(([^)#]+)\.md\)", re.MULTILINE)
RELATIVE: Final = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)(#[^)\s]*)?\)")
LEFT_OUT: Final = re.compile(r"research/|docs/decisions\.md$")
"""Texts of the repository that are no pages of the site."""
OPTION: Final = re.compile(r"(?<![\w`-])--[a-z][a-z-]*")

BESIDE: Final = (
    "postil.metrics.base.Metric",
    "postil.metrics.base.Scorer",
    "postil.metrics.references.References",
    "postil.text.tokenizers.Tokenizer",
    "postil.meta.correlation.Correlations",
    "postil.meta.correlation.Differences",
    "postil.meta.correlation.SystemMeans",
    "postil.meta.table.Table",
    "postil.data.parts.Estimate",
    "postil.data.parts.Excluded",
    "postil.documents.document.Document",
    "postil.documents.document.Block",
    "postil.corpus.options.Share",
    "postil.comments.commenter.Commenter",
    "postil.comments.prompted_commenter.PromptedCommenter",
    "postil.comments.prompted_commenter.Prompt",
    "postil.screening.filtering.CandidateFilter",
    "postil.comments.options.EvaluateOptions",
    "postil.comments.evaluation.CommenterEvaluation",
    "postil.endpoint.client.Client",
    "postil.endpoint.cache.AnswerCache",
    "postil.data.suggestions.Suggestions",
    "postil.data.suggestions.Suggestion",
    "postil.data.suggestions.Provenance",
    "postil.data.suggestions.Prompting",
    "postil.data.suggestions.Filtered",
    "postil.data.suggestions.Label",
    "postil.data.rows.Candidate",
    "postil.data.rows.Reference",
    "postil.data.rows.Judgement",
    "postil.data.rows.Passage",
    "postil.data.rows.Score",
    "postil.data.row_files.read",
    "postil.data.row_files.write",
)
"""Classes that public functions take and return, besides public names and the structs of results."""


def navigation(text: str) -> Iterator[tuple[str, list[str]]]:
    """The sections of `docs/index.md`, each with the pages that its list names, from the root of the repository.

    >>> list(navigation(chr(10).join(["# All", "## Start", "- [A](a.md), [B](b.md)", "- [C](../c.md)"])))
    [('Start', ['docs/a', 'c'])]
    """
    for section in text.split("\n## ")[1:]:
        linked = [posixpath.normpath(f"docs/{page}") for page in LINK.findall(section)]
        yield section.partition("\n")[0], [page for page in linked if not LEFT_OUT.match(f"{page}.md")]


def _tree(pages: list[str], caption: str = "", *, globs: bool = False) -> str:
    lines = [":hidden:", *([":glob:"] if globs else []), *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["\n", "```{toctree}", *lines, "", *(f"/{page}" for page in pages), "```", ""])


def _as_code(text: str) -> str:
    """The options that a text names, as code."""
    return OPTION.sub(r"`\g<0>`", text)


def _meaning(parameter: Any) -> str:
    """Meaning of an option, in one line of a table."""
    default = parameter.default
    shown = "" if default in (None, False, ()) or parameter.required else f" Default: `{default}`."
    return _as_code(f"{parameter.help or ''}{shown}").replace("|", "\\|")


def options(command: Any) -> dict[str, list[tuple[str, str]]]:
    """The arguments and options of a command by group: how they are written, and what they mean.

    Those that come first are in the group ``""``.
    """
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    groups: dict[str, list[Any]] = {"": arguments}
    for group, inside in option_groups(command).items():
        groups.setdefault(group, []).extend(inside)
    return {group: [(_written(each), _meaning(each)) for each in inside] for group, inside in groups.items() if inside}


def _written(parameter: Any) -> str:
    """Spelling of a parameter, with the placeholder of its value."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    written = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.is_flag:
        return written
    metavar = (parameter.metavar or parameter.name.upper()).replace("|", "\\|")
    return f"{written} {metavar}{' (needed)' if parameter.required else ''}"


def verbs(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """A command and those below it with their full names, but for groups that do nothing themselves and hidden ones."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    if command.callback is not None:
        yield name, command
    for word, below in command.commands.items():
        if not below.hidden:
            yield from verbs(below, f"{name} {word}")


def commands() -> str:
    """The reference of the command line."""
    from postil.cli.main import app  # noqa: PLC0415

    parts = [""]
    for name, command in verbs(app, "postil"):
        said, _, example = (command.help or "").partition("Example: ")
        parts += [f"## {name}", "", _as_code(said.strip()), ""]
        parts += ["```", *example.strip().splitlines(), "```", ""] if example else []
        groups = options(command)
        for group, inside in groups.items():
            rows = [f"| {written} | {meaning} |" for written, meaning in inside]
            parts += [f"| {group or ('First' if len(groups) > 1 else '')} | |", "|---|---|", *rows, ""]
    return "\n".join(parts)


def _structs(module: ModuleType) -> list[str]:
    """The structs that a module of results offers."""
    found = [name for name in module.__all__ if isinstance(getattr(module, name), type)]
    return [f"{module.__name__}.{name}" for name in found if issubclass(getattr(module, name), msgspec.Struct)]


def _title(package: str) -> str:
    """Docstring of a package, to the first colon."""
    said = import_module(f"postil.{package}").__doc__ or ""
    return re.split(r"[:;]\s|\.$", said.strip().splitlines()[0])[0]


def python_sections() -> dict[str, list[str]]:
    """The full names of the reference by title: those of each capability, then those below the capabilities."""
    found: dict[str, list[str]] = {}
    structs: list[ModuleType] = [import_module("postil.meta.parts")]
    for capability in capabilities():
        names = [name for of in capability.names.values() for name in of.split()]
        found[capability.package.split(".")[1]] = [f"postil.{name}" for name in names]
        structs += [import_module(load(capability, kind.struct).__module__) for kind in capability.kinds.values()]
    public = {name.rpartition(".")[2] for of in found.values() for name in of}
    for name in (name for name in dir(postil) if name not in public and name != "__version__"):
        found.setdefault(getattr(postil, name).__module__.split(".")[1], []).append(f"postil.{name}")
    known = {full.rpartition(".")[2] for of in found.values() for full in of}
    for full in dict.fromkeys([*BESIDE, *(name for module in structs for name in _structs(module))]):
        if full.rpartition(".")[2] not in known:
            found.setdefault(full.split(".")[1], []).append(full)
    return {_title(package): names for package, names in found.items() if names}


def python_reference() -> str:
    """The reference of the Python interface, which autodoc fills in."""
    parts = [""]
    for section, names in python_sections().items():
        parts += [f"## {section}", "", "```{eval-rst}"]
        for full in names:
            module, _, name = full.rpartition(".")
            if isinstance(getattr(import_module(module), name), type):
                parts += [f".. autoclass:: {full}", "   :members:", ""]
            else:
                parts += [f".. autofunction:: {full}", ""]
        parts += ["```", ""]
    return "\n".join(parts)


def to_files(text: str, page: str) -> str:
    """A page whose links to texts that are no pages of the site lead to copies of their files.

    >>> to_files("[Why](decisions.md#ties), [how](audit.md)", "docs/score")
    '[Why](path:decisions.md), [how](audit.md)'
    """

    def link(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), found[1]))
        return f"](path:{found[1]})" if LEFT_OUT.match(path) else found[0]

    return RELATIVE.sub(link, text)


def _add(app: Any, page: str, source: list[str]) -> None:  # noqa: ARG001 - Sphinx calls it so
    """Put behind a page what only the site needs."""
    source[0] = to_files(source[0], page)
    if page == "README":
        source[0] += _tree([INDEX])
        for caption, pages in navigation((ROOT / f"{INDEX}.md").read_text(encoding="utf-8")):
            source[0] += _tree([each for each in pages if each != page], caption)
    elif page == "docs/reference/commands":
        source[0] += commands()
    elif page == "docs/reference/python":
        source[0] += python_reference()
    elif children := [each for each in (f"{page}-*", f"{page}/*") if any(ROOT.glob(f"{each}.md"))]:
        source[0] += _tree(children, globs=True)


def _finish(app: Any, problem: Exception | None) -> None:
    """The first page under the name that browsers and servers look for, and the schema of results."""
    if problem is None:
        Path(app.outdir, SCHEMA).write_text(json.dumps(postil.results_schema(), indent=1), encoding="utf-8")
        shutil.copyfile(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _add)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
