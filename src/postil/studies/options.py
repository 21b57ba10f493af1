"""Options of `postil study comments` and of `postil study uses`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Final

from postil.data.grades import Scale
from postil.data.options import PluginOptions, ResamplingOptions, SeedOptions, ThreadOptions
from postil.errors import UnknownName, UsageError
from postil.messages import Listed, Setting
from postil.options import Flag, options

__all__ = ["FITTING", "FITTING_PLAIN", "METRICS", "PAPER_METRICS", "SYSTEMS", "CommentsOptions", "Names", "UsesOptions"]

SOFTMAXES: Final = ("full", "sampled")

SYSTEMS: Final = ("ir-t", "ir-tc", "seq2seq", "att", "att-tc")
"""The commenters of the paper."""

PRESETS: Final = ("paper",)

SEEDS: Final = 100
"""Largest number of seeds: each is a training of all commenters."""

FITTING: Final = "w-meteor(params=en,characters=true,corpus=chosen)"
"""The W-METEOR that fits the paper's own tables best, with weights grade / 5."""

FITTING_PLAIN: Final = FITTING.removeprefix("w-").replace(",corpus=chosen", "")
"""The same without weights."""

METRICS: Final = (
    *(
        f"{w}{name}"
        for name in ("meteor", "rouge-l", "cider", "bleu-1", "bleu-2", "bleu-3", "bleu-4")
        for w in ("", "w-")
    ),
    FITTING_PLAIN,
    FITTING,
)

PRINTED: Final = ("meteor(params=2005,alignment=2005,penalty=outside)", "rouge-l(reading=union)", "cider")
"""The metrics of equations B.3 to B.5 as they are printed, with parameters and alignment of the METEOR of 2005 that the
paper cites."""

READINGS: Final = (
    "meteor(params=2005,alignment=2005)",
    "meteor(params=2005,penalty=outside)",
    "meteor(params=2005)",
    "meteor(penalty=outside)",
    "meteor",
)
"""Other readings of METEOR: with the penalty inside the maximum, with alignment and parameters of METEOR 1.5."""

PAPER_METRICS: Final = (
    *(f"{w}{spec}" for spec in (*PRINTED, "bleu-1", "bleu-2", "bleu-3", "bleu-4") for w in ("", "w-")),
    *(f"{w}{spec}" for spec in READINGS for w in ("", "w-")),
    FITTING_PLAIN,
    FITTING,
    *(f"{w}rouge-l" for w in ("", "w-")),
)
"""The metrics of ``--preset paper``: first as printed, then in the readings that the equations leave open."""


class Names(tuple[str, ...]):
    """Names separated by commas."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Names:
        """Parse names.

        Args:
            text: The names, separated by commas.

        >>> Names.parse("ir-t,att")
        ('ir-t', 'att')
        """
        return cls(filter(None, text.split(",")))


@options
class CommentsOptions(PluginOptions, ResamplingOptions, ThreadOptions):
    """Options of `postil study comments`.

    Args:
        preset: Preset of all other options: paper, the systems and conventions of the publication; by default ours.
        systems: Commenters to train, with commas; by default ir-t,ir-tc,seq2seq,att,att-tc, or none with --model or
            --candidates.
        models: Trained model to take; repeatable. One that is among --systems is not trained.
        ranker: Ranker of ir-t and ir-tc: both (default), relevance (default with --preset paper) or tf-idf.
        softmax: Softmax of generators: full (default), or sampled, several times faster (default with --preset paper).
        epochs: Maximum number of epochs of each network.
        grid: Values of an option that all networks to be trained have, to choose from on dev, with --preset paper;
            repeatable.
        grid_epochs: Maximum number of epochs of each combination of that grid; 0 for no grid.
        seeds: Number of seeds that each commenter is trained with: --seed and those after it; with --preset paper.
        device: Device for training: auto, cpu or cuda.
        candidates: Texts of other systems for the test articles (item, system, text); a system human takes the place
            of the readers' comment.
        references: Human ratings of the test articles' comments (item, id, ratings), as postil annotate export writes
            them to references.jsonl; they take the place of those in the corpus.
        judgements: Human ratings of the suggestions (item, system, annotator, grade).
        aspect: Aspect to use, where judgements have more than one.
        scale: Scale of all ratings: HIGH (from 0) or LOW:HIGH.
        judgement_scale: Scale of the judgements, where it differs from --scale.
        weights: Source of the references' weights, as for postil evaluate; by default human ratings, else votes, else
            consensus.
        metrics: Metric; repeatable; by default those of the paper.
        draws: Number of draws of controls that shuffle the weights.
        stage: Run this stage alone; by default all that are not done yet.
    """

    preset: Annotated[str | None, Flag(metavar="NAME", first=True)] = None
    systems: Annotated[Names | None, Flag(metavar="NAMES", first=True)] = None
    models: Annotated[Mapping[str, str], Flag("model", metavar="NAME=DIR", group="Training")] = field(
        default_factory=dict
    )
    ranker: Annotated[str | None, Flag(metavar="NAME", group="Training")] = None
    softmax: Annotated[str | None, Flag(metavar="NAME", group="Training")] = None
    epochs: Annotated[int | None, Flag(min=1, first=True)] = None
    grid: Annotated[tuple[str, ...], Flag(metavar="OPTION=V1,V2,…", group="Training")] = ()
    grid_epochs: Annotated[int | None, Flag(min=0, group="Training")] = None
    seeds: Annotated[int, Flag(min=1, max=SEEDS, group="Training")] = 1
    device: Annotated[str | None, Flag(metavar="NAME", group="Training")] = None
    candidates: Annotated[str | None, Flag(metavar="FILE", once=True, group="Ratings")] = None
    references: Annotated[str | None, Flag(metavar="FILE", once=True, group="Ratings")] = None
    judgements: Annotated[str | None, Flag(metavar="FILE", once=True, first=True)] = None
    aspect: Annotated[str | None, Flag(metavar="NAME", group="Ratings")] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE", group="Metrics")] = None
    judgement_scale: Annotated[Scale | None, Flag(metavar="SCALE", group="Ratings")] = None
    weights: Annotated[str | None, Flag(metavar="METHOD", group="Metrics")] = None
    metrics: Annotated[tuple[str, ...], Flag("metric", short="m", metavar="SPEC", group="Metrics")] = ()
    draws: Annotated[int, Flag(min=1, group="Metrics")] = 100
    stage: Annotated[str | None, Flag(metavar="NAME", first=True)] = None

    def __post_init__(self) -> None:
        from postil.comments.options import RANKERS  # noqa: PLC0415 - help does without it
        from postil.comments.result import HUMAN  # noqa: PLC0415
        from postil.metrics.metric_set import parse_all  # noqa: PLC0415
        from postil.metrics.spec import load_plugins  # noqa: PLC0415

        if self.preset not in (None, *PRESETS):
            raise UnknownName("preset", str(self.preset), PRESETS)
        for name in self.systems or ():
            if name not in (*SYSTEMS, *self.models):
                raise UnknownName("commenter", name, SYSTEMS)
        for what, given, known in (("ranker", self.ranker, RANKERS), ("softmax", self.softmax, SOFTMAXES)):
            if given is not None and given not in known:
                raise UnknownName(what, given, known)
        if not 1 <= self.seeds <= SEEDS:
            raise UsageError(
                "{seeds}: expected 1 to {most}, got {got:,}", seeds=Setting("seeds"), most=SEEDS, got=self.seeds
            )
        if HUMAN in self.models:
            raise UsageError(
                "{model}: the name of the system of readers' comments; give another", model=Setting("models", HUMAN)
            )
        if not self.names and self.candidates is None:
            sources = Listed([Setting(name) for name in ("systems", "models", "candidates")], last=" or ")
            raise UsageError("no commenter: expected {sources}", sources=sources)
        if self.preset is None and (self.seeds > 1 or self.grid or self.grid_epochs is not None):
            settings = Listed([Setting(name) for name in ("seeds", "grid", "grid_epochs")])
            raise UsageError("{settings} belong to {preset}", settings=settings, preset=Setting("preset", "paper"))
        if self.grid and self.grid_epochs == 0:
            raise UsageError(
                "{none} is for no grid, and {grid} gives one; leave one of them out",
                none=Setting("grid_epochs", 0),
                grid=Setting("grid"),
            )
        load_plugins(self.plugins)
        parse_all(self.specs)

    @property
    def specs(self) -> tuple[str, ...]:
        """The metrics: those asked for, else those of the preset."""
        return self.metrics or (METRICS if self.preset is None else PAPER_METRICS)

    @property
    def names(self) -> tuple[str, ...]:
        """The commenters, those of the paper in its order."""
        usual = () if self.models or self.candidates is not None else SYSTEMS
        return tuple(dict.fromkeys([*(usual if self.systems is None else self.systems), *self.models]))

    @property
    def resampling(self) -> dict[str, int]:
        """Options of intervals and tests, by name."""
        return {"resamples": self.resamples, "permutations": self.permutations, "seed": self.seed}


@options
class UsesOptions(SeedOptions, ThreadOptions):
    """Options of `postil study uses`.

    Args:
        model: Trained ir-t or ir-tc, whose ranker is one more scorer of comments.
        folds: Number of folds of articles; a comment is scored by a fit on the other folds.
        resamples: Number of resamples of the articles, for confidence intervals.
        train: Train generators of titles, from contents and from comments.
        epochs: Maximum number of epochs of each.
        device: Device for training: auto, cpu or cuda.
        stage: Run this stage alone; by default all that are not done yet.
    """

    model: Annotated[str | None, Flag(metavar="DIR", first=True)] = None
    folds: Annotated[int, Flag(min=2, group="Resampling")] = 5
    resamples: Annotated[int, Flag(min=1, group="Resampling")] = 1000
    train: Annotated[bool, Flag(first=True)] = True
    epochs: Annotated[int, Flag(min=1, first=True)] = 10
    device: Annotated[str, Flag(metavar="NAME", first=True)] = "auto"
    stage: Annotated[str | None, Flag(metavar="NAME", first=True)] = None
