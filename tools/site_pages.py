"""Additions of the site to the Markdown files: the tree of pages, and the reference, from the program itself.

A Sphinx extension; see `docs/conf.py`. The files stay plain Markdown, so what only the site needs is put behind their
text when they are read.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["API", "commands", "navigation", "options", "python_reference", "setup", "verbs"]

ROOT: Final = Path(__file__).parents[1]
INDEX: Final = "docs/index"
LINK: Final = re.compile(r"^- \[[^]]+\]\(([^)#]+)\.md\)", re.MULTILINE)
OPTION: Final = re.compile(r"(?<![\w`-])--[a-z][a-z-]*")

API: Final = {
    "Score": [
        "postil.score",
        "postil.ScoreResult",
        "postil.Scale",
        "postil.consensus_weights",
        "postil.ControlOptions",
        "postil.DocumentFrequencies",
        "postil.parse_metric",
        "postil.register_metric",
        "postil.metrics.Metric",
        "postil.metrics.Scorer",
        "postil.metrics.References",
        "postil.tokenizer",
        "postil.text.Tokenizer",
    ],
    "Results": ["postil.Result", "postil.read_result", "postil.report"],
    "Compare systems": [
        "postil.compare",
        "postil.CompareOptions",
        "postil.results.Comparison",
        "postil.results.SystemComparison",
    ],
    "Compare models by interleaved suggestions": [
        "postil.compare_interleaved",
        *(
            f"postil.results.{name}"
            for name in ("InterleavingResult", "Preference", "InterleavedPair", "InterleavedRank")
        ),
    ],
    "Compare systems by paired preferences": [
        "postil.compare_preferences",
        *(f"postil.results.{name}" for name in ("PreferencesResult", "PreferredSystem", "PreferredPair")),
    ],
    "Measure agreement": [
        "postil.agreement",
        "postil.AgreementOptions",
        "postil.results.AgreementResult",
    ],
    "Estimate mean grades": [
        "postil.budget",
        "postil.estimate",
        "postil.BudgetOptions",
        "postil.EstimateOptions",
        *(
            f"postil.results.{name}"
            for name in (
                "BudgetResult",
                "BudgetRow",
                "BudgetComponents",
                "EstimateResult",
                "SystemEstimate",
                "SystemDifference",
                "PredictingScore",
                "RelativeEfficiency",
                "IntervalWidths",
                "UndefinedInterval",
            )
        ),
    ],
    "Combine metrics": [
        "postil.fit_combination",
        "postil.apply_combination",
        "postil.CombineOptions",
        "postil.ApplyOptions",
        *(
            f"postil.results.{name}"
            for name in (
                "CombinationResult",
                "CombinationFit",
                "CombinationDifference",
                "CombinationColumn",
                "CombinationTexts",
            )
        ),
    ],
    "Judge texts": [
        "postil.judge",
        "postil.JudgeOptions",
        *(
            f"postil.results.{name}"
            for name in (
                "JudgeResult",
                "JudgedSystem",
                "JudgeControl",
                "LengthCorrelation",
                "SelfPreference",
                "JudgeUsage",
            )
        ),
    ],
    "Judge metrics": [
        "postil.correlate",
        "postil.CorrelateOptions",
        "postil.CorrelationResult",
        *(
            f"postil.results.{name}"
            for name in (
                "Correlation",
                "UndefinedResult",
                "HumanAgreement",
                "Difference",
                "Agreement",
                "PairAgreement",
                "Rater",
                "Estimate",
                "SystemMean",
                "DisagreementText",
                "Excluded",
                "CorrelationData",
                "Points",
            )
        ),
        "postil.meta.correlation.Correlations",
        "postil.meta.significance.Differences",
        "postil.comparison.systems.SystemMeans",
        "postil.meta.table.Table",
    ],
    "Rank passages": [
        "postil.interesting",
        "postil.InterestingOptions",
        "postil.highlight",
        "postil.results.InterestingResult",
        "postil.documents.document.Document",
        "postil.documents.document.Block",
        "postil.rank_passages",
        "postil.RankedPassage",
        "postil.results.UnitContribution",
    ],
    "Make a corpus": ["postil.build_corpus", "postil.BuildOptions", "postil.Corpus", "postil.corpus.split.Share"],
    "Comment": [
        "postil.load_commenter",
        "postil.comments.base.Commenter",
        "postil.comments.prompted_commenter.PromptedCommenter",
        "postil.comments.prompted_commenter.Prompt",
        "postil.endpoint.Client",
        "postil.endpoint.AnswerCache",
        "postil.data.suggestions.Suggestions",
        "postil.data.suggestions.Suggestion",
        "postil.data.suggestions.Provenance",
        "postil.data.suggestions.Prompting",
        "postil.data.suggestions.Filtered",
        "postil.comments.filtering.CandidateFilter",
        "postil.DecodingOptions",
        "postil.forget",
        "postil.ForgetOptions",
        "postil.results.ForgetResult",
        "postil.calibrate",
        "postil.CalibrateOptions",
        *(f"postil.results.{name}" for name in ("CalibrationResult", "CoveragePoint", "ShowColumn")),
        "postil.data.labels.Label",
        "postil.update_model",
        "postil.results.UpdateResult",
        "postil.evaluate_commenters",
        "postil.comments.evaluation.EvaluateOptions",
        "postil.comments.evaluation.CommenterEvaluation",
        "postil.results.CommenterResult",
    ],
    "Rows and files": [
        "postil.Article",
        "postil.Comment",
        "postil.data.Candidate",
        "postil.data.Reference",
        "postil.data.Judgement",
        "postil.data.Passage",
        "postil.data.Score",
        "postil.data.read",
        "postil.data.write",
    ],
    "Errors": ["postil.PostilError", "postil.InvalidInput", "postil.Undefined", "postil.UsageError"],
}
"""The public Python interface: all that `postil` offers, and what that takes and returns."""


def navigation(text: str) -> Iterator[tuple[str, list[str]]]:
    """The sections of `docs/index.md`, each with the pages that its list names, from the root of the repository.

    >>> list(navigation(chr(10).join(["# All", "## Start", "- [A](a.md), [B](b.md)", "- [C](../c.md)"])))
    [('Start', ['docs/a', 'c'])]
    """
    for section in text.split("\n## ")[1:]:
        yield section.partition("\n")[0], [posixpath.normpath(f"docs/{page}") for page in LINK.findall(section)]


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


def options(command: Any) -> Iterator[tuple[str, str]]:
    """The arguments and options of a command as click has them: how they are written, and what they mean."""
    for parameter in command.params:
        written = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        if parameter.param_type_name == "argument":
            yield f"`{parameter.metavar}`", _meaning(parameter)
        elif parameter.is_flag:
            yield written, _meaning(parameter)
        else:
            metavar = parameter.metavar or parameter.name.upper()
            needed = " (needed)" if parameter.required else ""
            yield f"{written} {metavar}{needed}", _meaning(parameter)


def verbs(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """A command, or the commands below it, with their full names; those that are hidden are left out."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for word, below in command.commands.items():
        if not below.hidden:
            yield from verbs(below, f"{name} {word}")


def commands() -> str:
    """The reference of the command line."""
    import typer.main  # noqa: PLC0415

    from postil.cli.main import app  # noqa: PLC0415

    parts = [""]
    for name, command in verbs(typer.main.get_command(app), "postil"):
        said, _, example = (command.help or "").partition("Example: ")
        parts += [f"## {name}", "", _as_code(said.strip()), ""]
        parts += ["```", *example.strip().splitlines(), "```", ""] if example else []
        rows = [f"| {written} | {meaning} |" for written, meaning in options(command)]
        parts += ["| | |", "|---|---|", *rows, ""] if rows else []
    return "\n".join(parts)


def python_reference() -> str:
    """The reference of the Python interface, which autodoc fills in."""
    import importlib  # noqa: PLC0415

    parts = [""]
    for section, names in API.items():
        parts += [f"## {section}", "", "```{eval-rst}"]
        for full in names:
            module, _, name = full.rpartition(".")
            thing = getattr(importlib.import_module(module), name)
            if isinstance(thing, type):
                parts += [f".. autoclass:: {full}", "   :members:", ""]
            else:
                parts += [f".. autofunction:: {full}", ""]
        parts += ["```", ""]
    return "\n".join(parts)


def _add(app: Any, page: str, source: list[str]) -> None:  # noqa: ARG001 - Sphinx calls it so
    """Put behind a page what only the site needs."""
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
    """The first page under the name that browsers and servers look for."""
    if problem is None:
        shutil.copyfile(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _add)
    app.connect("build-finished", _finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
