"""Comparison of systems with a baseline by item scores: the command `postil compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from postil.app.item_scores import ScoreFiles
from postil.app.options import ResamplingOptions
from postil.errors import UsageError
from postil.metaeval.systems import compare
from postil.options import Flag, options
from postil.records.results import replace
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.records.results import Comparison

__all__ = ["CompareOptions", "compare_files"]


@options
class CompareOptions(ResamplingOptions):
    """Options of `postil compare`.

    Args:
        baseline: System to compare with; by default the first.
        intersect: Compare on shared items, where systems cover different ones.
        lower_is_better: Metric for which lower is better; repeatable.
    """

    baseline: Annotated[str | None, Flag(metavar="SYSTEM")] = None
    intersect: bool = False
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()


def compare_files(scores: Sequence[str], options: CompareOptions, command: str = "") -> Comparison:
    """Compare the systems of files of item scores.

    Args:
        scores: Files of score rows; ``-`` for standard input.
        options: The options.
        command: The command line, if there was one.

    Raises:
        UsageError: There is no file, or no such baseline.
        InvalidInput: A file is invalid, or systems cover different items; the message has the location.
        Undefined: Systems share fewer than two items.
    """
    if scores.count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    scored = ScoreFiles(scores)
    found = compare(
        scored.rows(),
        options.baseline,
        intersect=options.intersect,
        lower_is_better=options.lower_is_better,
        resamples=options.resamples,
        permutations=options.permutations,
        seed=options.seed,
        places=scored,
    )
    return replace(found, settings=replace(found.settings, postil=VERSION, command=command))
