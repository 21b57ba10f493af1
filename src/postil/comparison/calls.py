"""Comparison of systems with a baseline: the command `postil compare`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Final, TypedDict

from postil.comparison.systems import compare as compare_systems
from postil.data.arguments import check_arguments, check_fields, options_of
from postil.data.frames import ColumnNames
from postil.data.options import ResamplingOptions
from postil.data.rows import Score
from postil.errors import UnknownName, UsageError
from postil.messages import Listed, Setting
from postil.meta.rated import open_scores
from postil.meta.resampling import Draws
from postil.meta.score_matrix import Scored
from postil.metrics.spec import known_metric
from postil.options import Flag, options
from postil.results.base import replace
from postil.results.names import copies_remark
from postil.scoring.names import summed
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self, Unpack

    from postil.comparison.result import Comparison
    from postil.data.row_locations import LocatedRows
    from postil.meta.rated import Scores
    from postil.metrics.base import Metric

__all__ = ["CompareKeywords", "CompareOptions", "compare", "compare_rows"]

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
        check_fields(self)
        UnknownName.check("definition of p-values", self.p_values, P_VALUES)

    @classmethod
    def of(cls, options: Self | None, keywords: Mapping[str, object], baseline: str | None) -> Self:
        """Options of a call, whose baseline may be an argument of its own.

        Args:
            options: The object, where one is given.
            keywords: Fields of it.
            baseline: The baseline; by default that of the options.

        Raises:
            UsageError: Object and keywords are given, or a keyword is no field.
        """
        options = options_of(cls, options, keywords)
        return options if baseline is None else dataclasses.replace(options, baseline=baseline)

    def check_for(self, setting: Setting) -> None:
        """Raise a `UsageError` if an option for scores is not as by default.

        Args:
            setting: The setting that says what is compared instead of scores.
        """
        if self != CompareOptions(baseline=self.baseline, resamples=self.resamples, seed=self.seed):
            raise UsageError(
                "{setting}: only {some} and options of reading files go with it",
                setting=setting,
                some=Listed([Setting(name) for name in ("baseline", "resamples", "seed")], last=", "),
            )


class CompareKeywords(TypedDict, total=False):
    """Options of `postil.compare` as keywords; see `CompareOptions`."""

    seed: int
    resamples: int
    permutations: int
    intersect: bool
    lower_is_better: tuple[str, ...]
    item_means: bool
    p_values: str


def compare(
    scores: Scores,
    baseline: str | None = None,
    *,
    item: str | None = None,
    system: str | None = None,
    columns: Mapping[str, str] | None = None,
    metric_columns: Sequence[str] = (),
    options: CompareOptions | None = None,
    **keywords: Unpack[CompareKeywords],
) -> Comparison:
    """Compare systems by their scores of the same items.

    Args:
        scores: A result of `postil.score` with systems; or item scores (item, system, metric, score) as a data frame
            (pandas, Polars, pyarrow, or another that narwhals takes), as a list of rows or of dictionaries, or as one
            or more paths of files.
        baseline: The system to compare with; by default that of the options, else the first.
        item: Column of the item.
        system: Column of the system.
        columns: Columns of a table by field, such as ``{"metric": "name", "score": "value"}``.
        metric_columns: Columns of a table that each are a metric, where there is no column ``metric``.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object.

    Returns:
        The comparison: one row per metric and system, with intervals and p-values.

    Raises:
        UnknownName: There is no such baseline or metric; the message offers the nearest.
        InvalidInput: A value is wrong, or systems cover different items; the message has the location.
        UsageError: An argument is of another kind.
        Undefined: Systems share fewer than two items.

    >>> import postil
    >>> texts, references = ["a b", "b c", "a x", "b c"], [["a b"], ["b c d"]] * 2
    >>> scores = postil.score(
    ...     texts, references, items=[1, 2, 1, 2], systems=["old", "old", "new", "new"], metrics="rouge-l")
    >>> for row in postil.compare(scores, baseline="old").systems:
    ...     print(row.system, round(row.mean, 3), row.difference and round(row.difference, 3))
    old 0.886 None
    new 0.636 -0.25
    """
    check_arguments(compare, locals())
    names = ColumnNames(
        {"scores": Score}, columns, everywhere={"item": item, "system": system}, wide={"scores": metric_columns}
    )
    return compare_rows(open_scores(scores, names), CompareOptions.of(options, keywords, baseline))


def compare_rows(scores: LocatedRows[Score], options: CompareOptions, command: str = "") -> Comparison:
    """Compare the systems of item scores: by corpus scores where the rows have statistics.

    Args:
        scores: Score rows.
        options: The options.
        command: The command line, if there was one.

    Raises:
        UsageError: There is no such baseline.
        InvalidInput: A row is invalid, or systems cover different items; the message has the location.
        Undefined: Systems share fewer than two items.
    """
    scored = Scored(scores, statistics=not options.item_means)
    found = compare_systems(
        scored,
        options.baseline,
        intersect=options.intersect,
        lower_is_better=options.lower_is_better,
        draws=Draws(options.resamples, options.permutations, options.seed),
        metric_of=None if options.item_means else _metric_of,
        sacrebleu=options.p_values == "sacrebleu",
    )
    notes = (*found.notes, *_notes(found, options), *filter(None, [copies_remark(len(scored.copies))]))
    return replace(found, notes=notes, settings=replace(found.settings, postil=VERSION, command=command))


def _metric_of(name: str, signature: str) -> Metric:
    """The metric of scores with statistics, by the spec in their signature, which has all its parameters."""
    metric = known_metric(name, signature)
    if metric is None:
        raise UsageError(
            "{name}: its corpus score cannot be computed here (unknown metric with the signature {signature}); compare "
            "means of item scores: {means}",
            name=name,
            signature=signature,
            means=Setting("item_means", value=True),
        )
    return metric


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
