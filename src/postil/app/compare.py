"""Comparison of systems with a baseline: the command `postil compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from postil.app.item_scores import ScoreFiles
from postil.app.names import summed
from postil.app.options import ResamplingOptions
from postil.errors import PostilError, UnknownName, UsageError
from postil.metaeval.systems import compare
from postil.metrics.spec import parse_metric
from postil.options import Flag, options
from postil.records.results import replace
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from postil.metrics.base import Metric
    from postil.records.results import Comparison
    from postil.records.row_locations import RowLocations
    from postil.records.rows import Score

__all__ = ["CompareOptions", "compare_files", "compare_rows"]

P_VALUES: Final = ("postil", "sacrebleu")
"""Definitions of p-values, by the program that has them."""


@options
class CompareOptions(ResamplingOptions):
    """Options of `postil compare`.

    Args:
        baseline: System to compare with; by default the first.
        intersect: Compare on shared items, where systems cover different ones.
        lower_is_better: Metric for which lower is better; repeatable.
        item_means: Compare the means of item scores, also of metrics whose corpus score is another number.
        p_values: Definition of the p-values: postil, or sacrebleu (with --seed 12345 the very numbers of its
            --paired-bs and --paired-ar).
    """

    baseline: Annotated[str | None, Flag(metavar="SYSTEM")] = None
    intersect: bool = False
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()
    item_means: bool = False
    p_values: Annotated[str, Flag(metavar="NAME")] = "postil"

    def __post_init__(self) -> None:
        if self.p_values not in P_VALUES:
            raise UnknownName("definition of p-values", self.p_values, P_VALUES)


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
    return compare_rows(scored.rows(), options, scored, command)


def compare_rows(
    scores: Iterable[Score], options: CompareOptions, places: RowLocations | None = None, command: str = ""
) -> Comparison:
    """Compare the systems of item scores: by corpus scores where the rows have statistics.

    Args:
        scores: Score rows.
        options: The options.
        places: Locations of the rows, for messages.
        command: The command line, if there was one.

    Raises:
        UsageError: There is no such baseline.
        InvalidInput: A row is invalid, or systems cover different items; the message has the location.
        Undefined: Systems share fewer than two items.
    """
    found = compare(
        scores,
        options.baseline,
        intersect=options.intersect,
        lower_is_better=options.lower_is_better,
        resamples=options.resamples,
        permutations=options.permutations,
        seed=options.seed,
        metric_of=None if options.item_means else _metric_of,
        sacrebleu=options.p_values == "sacrebleu",
        places=places,
    )
    settings = replace(found.settings, postil=VERSION, command=command)
    return replace(found, notes=(*found.notes, *_notes(found, options)), settings=settings)


def _metric_of(name: str, signature: str) -> Metric:
    """The metric of scores with statistics, by the spec in their signature, which has all its parameters."""
    spec = signature.partition("|")[0] or name
    try:
        return parse_metric(spec)
    except PostilError as error:
        problem = f"{name}: its corpus score cannot be computed here ({error}); compare means of item scores"
        raise UsageError(f"{problem}: --item-means") from None


def _notes(found: Comparison, options: CompareOptions) -> Iterator[str]:
    """Notes on metrics whose means are compared although their corpus score is another number, or is not known."""
    metrics = [name for name in dict.fromkeys(row.metric for row in found.systems) if name not in found.summed]
    others = summed(metrics)
    if others:
        why = "" if options.item_means else "the scores have no statistics, so "
        yield f"{why}means of item scores are compared, not the corpus scores of postil score: {', '.join(others)}"
    named = [name for name in metrics if name not in others and not name.startswith("control:")]
    foreign = [name for name in named if "|postil:" not in found.signatures.get(name, "")]
    if found.summed and foreign:
        yield f"the mean of item scores is taken for the corpus score of {', '.join(foreign)}"
