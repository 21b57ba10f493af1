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
        "postil.metrics.base.Metric",
        "postil.metrics.base.Scorer",
        "postil.metrics.references.References",
        "postil.tokenizer",
        "postil.text.tokenizers.Tokenizer",
    ],
    "Results": [
        "postil.Result",
        "postil.read_result",
        "postil.report",
    ],
    "Compare systems": [
        "postil.compare",
        "postil.CompareOptions",
        "postil.comparison.result.Comparison",
        "postil.comparison.result.SystemComparison",
    ],
    "Compare models by interleaved suggestions": [
        "postil.compare_interleaved",
        "postil.comparison.result.InterleavingResult",
        "postil.comparison.result.Preference",
        "postil.comparison.result.InterleavedPair",
        "postil.comparison.result.InterleavedRank",
    ],
    "Compare systems by paired preferences": [
        "postil.compare_preferences",
        "postil.comparison.result.PreferencesResult",
        "postil.comparison.result.PreferredSystem",
        "postil.comparison.result.PreferredPair",
    ],
    "Measure agreement": [
        "postil.agreement",
        "postil.AgreementOptions",
        "postil.raters.result.AgreementResult",
    ],
    "Estimate mean grades": [
        "postil.budget",
        "postil.estimate",
        "postil.BudgetOptions",
        "postil.EstimateOptions",
        "postil.budgeting.result.BudgetResult",
        "postil.budgeting.result.BudgetRow",
        "postil.estimation.result.BudgetComponents",
        "postil.estimation.result.EstimateResult",
        "postil.estimation.result.SystemEstimate",
        "postil.estimation.result.SystemDifference",
        "postil.estimation.result.PredictingScore",
        "postil.estimation.result.RelativeEfficiency",
        "postil.estimation.result.IntervalWidths",
        "postil.estimation.result.UndefinedInterval",
    ],
    "Combine metrics": [
        "postil.fit_combination",
        "postil.apply_combination",
        "postil.CombineOptions",
        "postil.ApplyOptions",
        "postil.combination.result.CombinationResult",
        "postil.combination.result.CombinationFit",
        "postil.combination.result.CombinationDifference",
        "postil.combination.result.CombinationColumn",
        "postil.combination.result.CombinationTexts",
    ],
    "Judge texts": [
        "postil.judge",
        "postil.JudgeOptions",
        "postil.judging.result.JudgeResult",
        "postil.judging.result.JudgedSystem",
        "postil.judging.result.JudgeControl",
        "postil.judging.result.LengthCorrelation",
        "postil.judging.result.SelfPreference",
        "postil.judging.result.JudgeUsage",
    ],
    "Judge metrics": [
        "postil.correlate",
        "postil.CorrelateOptions",
        "postil.CorrelationResult",
        "postil.meta.parts.Correlation",
        "postil.meta.parts.UndefinedResult",
        "postil.meta.parts.HumanAgreement",
        "postil.meta.parts.Difference",
        "postil.meta.parts.Agreement",
        "postil.meta.parts.PairAgreement",
        "postil.meta.parts.Rater",
        "postil.results.parts.Estimate",
        "postil.meta.parts.SystemMean",
        "postil.correlation.result.DisagreementText",
        "postil.results.parts.Excluded",
        "postil.correlation.result.CorrelationData",
        "postil.meta.parts.Points",
        "postil.meta.correlation.Correlations",
        "postil.meta.correlation.Differences",
        "postil.meta.system_means.SystemMeans",
        "postil.meta.table.Table",
    ],
    "Rank passages": [
        "postil.interesting",
        "postil.InterestingOptions",
        "postil.highlight",
        "postil.interest.result.InterestingResult",
        "postil.documents.document.Document",
        "postil.documents.document.Block",
        "postil.rank_passages",
        "postil.RankedPassage",
        "postil.passages.result.UnitContribution",
    ],
    "Make a corpus": [
        "postil.build_corpus",
        "postil.BuildOptions",
        "postil.Corpus",
        "postil.corpus.split.Share",
    ],
    "Comment": [
        "postil.load_commenter",
        "postil.comments.commenter.Commenter",
        "postil.comments.prompted_commenter.PromptedCommenter",
        "postil.comments.prompted_commenter.Prompt",
        "postil.endpoint.client.Client",
        "postil.endpoint.cache.AnswerCache",
        "postil.data.suggestions.Suggestions",
        "postil.data.suggestions.Suggestion",
        "postil.data.suggestions.Provenance",
        "postil.data.suggestions.Prompting",
        "postil.data.suggestions.Filtered",
        "postil.screening.filtering.CandidateFilter",
        "postil.DecodingOptions",
        "postil.forget",
        "postil.ForgetOptions",
        "postil.erasure.result.ForgetResult",
        "postil.calibrate",
        "postil.CalibrateOptions",
        "postil.calibration.result.CalibrationResult",
        "postil.calibration.result.CoveragePoint",
        "postil.calibration.result.ShowColumn",
        "postil.data.labels.Label",
        "postil.update_model",
        "postil.comments.result.UpdateResult",
        "postil.evaluate_commenters",
        "postil.comments.evaluation.EvaluateOptions",
        "postil.comments.evaluation.CommenterEvaluation",
        "postil.comments.result.CommenterResult",
    ],
    "Rows and files": [
        "postil.Article",
        "postil.Comment",
        "postil.data.rows.Candidate",
        "postil.data.rows.Reference",
        "postil.data.rows.Judgement",
        "postil.data.rows.Passage",
        "postil.data.rows.Score",
        "postil.data.row_files.read",
        "postil.data.row_files.write",
    ],
    "Errors": [
        "postil.PostilError",
        "postil.InvalidInput",
        "postil.Undefined",
        "postil.UsageError",
    ],
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
