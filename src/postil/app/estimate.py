"""Mean grades of systems from few ratings and many scores: the command `postil estimate`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Final, TypedDict, cast, get_args

from postil.app.item_scores import open_judgements, open_score_files, read_judgements
from postil.app.options import JudgedInputOptions
from postil.errors import UnknownName, UsageError
from postil.messages import Setting
from postil.metaeval.estimates import Method, estimate
from postil.metaeval.estimation import Target
from postil.metaeval.rated_outputs import outputs_of
from postil.metaeval.score_matrix import Rated, Scored
from postil.metaeval.severity import RULES, Rule
from postil.options import Flag, options
from postil.records.arguments import check_fields
from postil.records.results import EstimateSettings, replace
from postil.records.rows import Judgement, Score
from postil.records.scale import Scale
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.app.progress import OnMessage
    from postil.metaeval.rated_outputs import RatedOutputs
    from postil.records.results import EstimateResult, Excluded
    from postil.records.row_locations import Source

__all__ = [
    "EstimateKeywords",
    "EstimateOptions",
    "estimate_files",
    "estimate_rows",
    "open_judged_files",
    "rated_outputs",
]

METHODS: Final[tuple[Method, ...]] = get_args(Method)
TARGETS: Final[tuple[Target, ...]] = get_args(Target)


@options
class EstimateOptions:
    """Options of `postil estimate`.

    Args:
        metrics: Metric to use; repeatable. By default all but controls.
        target: Estimand: population (mean grade over the population that the items come from) or items (over these).
        method: Estimator: crossed (all scores and systems together), human (ratings alone; the default without scores)
            or ppi (PPI++ of each system by one metric).
        lower_is_better: Metric for which lower is better, which matters to ppi alone; repeatable.
        aspect: Aspect to keep, where judgements have more than one.
        scale: Scale of the ratings, to check them by: HIGH or LOW:HIGH.
        severity: Severities of annotators, the constants by which they grade higher or lower than others: remove them
            from the ratings, keep them, or auto (remove them where they are significant).
    """

    metrics: Annotated[tuple[str, ...], Flag("metric", short="m", metavar="NAME")] = ()
    target: Annotated[str, Flag(metavar="NAME")] = "population"
    method: Annotated[str, Flag(metavar="NAME")] = "crossed"
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()
    aspect: Annotated[str | None, Flag(metavar="NAME")] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE")] = None
    severity: Annotated[Rule, Flag(metavar="RULE")] = "auto"

    def __post_init__(self) -> None:
        for several in ("metrics", "lower_is_better"):
            if isinstance(given := getattr(self, several), str):
                object.__setattr__(self, several, (given,))
        check_fields(self)
        for kind, name, known in (
            ("target", self.target, TARGETS),
            ("method", self.method, METHODS),
            ("rule of severities", self.severity, RULES),
        ):
            if name not in known:
                raise UnknownName(kind, name, known)


class EstimateKeywords(TypedDict, total=False):
    """Options of `postil.estimate` as keywords; see `EstimateOptions`."""

    metrics: tuple[str, ...]
    target: str
    method: str
    lower_is_better: tuple[str, ...]
    aspect: str | None
    scale: Scale | None
    severity: Rule


def estimate_files(
    scores: Sequence[str],
    judgements: str,
    options: EstimateOptions,
    *,
    command: str = "",
    inputs: JudgedInputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> EstimateResult:
    """Estimate mean grades from the item scores of files and the judgements of another.

    Args:
        scores: Files of score rows, as `postil score --items` writes them; ``-`` for standard input. None to use the
            judgements alone.
        judgements: A file of judgement rows.
        options: The options.
        command: The command line, if there was one.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Raises:
        UsageError: A name or a combination of options is wrong.
        InvalidInput: A file is invalid; the message has the location.
        Undefined: No output has both scores and ratings.
    """
    found = estimate_rows(*open_judged_files(scores, judgements, inputs, on_message), options)
    return replace(found, settings=replace(found.settings, command=command))


def open_judged_files(
    scores: Sequence[str], judgements: str, inputs: JudgedInputOptions | None, on_message: OnMessage
) -> tuple[Source[Score] | None, Source[Judgement]]:
    """Open files of scores, where there are any, and one of judgements.

    Args:
        scores: Files of score rows; ``-`` for standard input.
        judgements: A file of judgement rows.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Raises:
        UsageError: Two of them are standard input.
        InvalidInput: A file cannot be read.
    """
    if [*scores, judgements].count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    inputs = inputs or JudgedInputOptions()
    given = inputs.readings({"scores": Score, "judgements": Judgement}, on_message)
    scored = open_score_files(scores, given["scores"], inputs.metric_columns) if scores else None
    return scored, open_judgements(judgements, given["judgements"], inputs.annotator_columns)


def estimate_rows(
    scores: Source[Score] | None,
    judgements: Source[Judgement],
    options: EstimateOptions,
    *,
    left_out: Sequence[Excluded] = (),
) -> EstimateResult:
    """Estimate mean grades from item scores and judgements.

    Args:
        scores: The item scores; None to use the judgements alone.
        judgements: The judgements.
        options: The options.
        left_out: Rows of either that were left out before.

    Raises:
        UsageError: A combination of options is wrong.
        InvalidInput: A row is invalid; the message has the location.
        Undefined: No output has both scores and ratings.
    """
    rated = rated_outputs(scores, judgements, options)
    method = cast("Method", options.method if scores is not None else "human")
    settings = EstimateSettings(
        postil=VERSION,
        metrics=options.metrics,
        lower_is_better=options.lower_is_better,
        aspect=rated.aspect,
        scale=str(options.scale) if options.scale else None,
    )
    rated = dataclasses.replace(rated, excluded=(*rated.excluded, *left_out))
    return estimate(rated, cast("Target", options.target), method, settings=settings)


def rated_outputs(
    scores: Source[Score] | None, judgements: Source[Judgement], options: EstimateOptions
) -> RatedOutputs:
    """Assemble item scores and judgements.

    Args:
        scores: The item scores; None to use the judgements alone.
        judgements: The judgements.
        options: The options.

    Raises:
        UnknownName: There is no such metric or aspect.
        UsageError: Options of scores without scores.
        InvalidInput: A row is invalid; the message has the location.
        Undefined: No output has both scores and ratings.
    """
    if scores is None and options.method == "ppi":
        raise UsageError("{method} needs scores", method=Setting("method", "ppi"))
    named = (*options.metrics, *options.lower_is_better)
    if named and scores is None:
        raise UsageError(f"there are no scores, so none by {named[0]}")
    scored = Scored(scores, scores.places) if scores is not None else None
    for name in named:
        if scored is not None and name not in scored.metrics:
            raise UnknownName("metric", name, scored.metrics)
    rows, places = read_judgements(judgements)
    rated = Rated(rows, options.aspect, options.scale, places)
    use = options.method != "human"
    return outputs_of(scored, rated, options.metrics, scores=use, severity=options.severity)
