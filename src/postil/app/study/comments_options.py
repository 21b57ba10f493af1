"""Options of `postil study comments`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Final

from postil.app.options import ResamplingOptions, ThreadOptions
from postil.app.readers import HUMAN
from postil.errors import UnknownName, UsageError
from postil.metrics.metric_set import parse_all
from postil.options import Flag, options
from postil.records.scale import Scale

__all__ = ["FITTING", "FITTING_PLAIN", "METRICS", "SYSTEMS", "CommentsOptions", "Names"]

SYSTEMS: Final = ("ir-t", "ir-tc", "seq2seq", "att", "att-tc")
"""The commenters of the paper."""

PRESETS: Final = ("paper",)

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
class CommentsOptions(ResamplingOptions, ThreadOptions):
    """Options of `postil study comments`.

    Args:
        preset: Preset of all other options: paper, the systems and conventions of the publication; by default ours.
        systems: Commenters to train, with commas; by default ir-t,ir-tc,seq2seq,att,att-tc, or none with --model or
            --candidates.
        models: Trained model to take; repeatable. One that is among --systems is not trained.
        ranker: Ranker of ir-t and ir-tc: both, relevance (as in the paper) or tf-idf.
        softmax: Softmax of generators: full, or sampled, several times faster.
        epochs: Maximum number of epochs of each network.
        device: Device for training: auto, cpu or cuda.
        candidates: Texts of other systems for the test articles (item, system, text); a system human takes the place
            of the readers' comment.
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

    preset: Annotated[str | None, Flag(metavar="NAME")] = None
    systems: Annotated[Names | None, Flag(metavar="NAMES")] = None
    models: Annotated[Mapping[str, str], Flag(("--model",), metavar="NAME=DIR")] = field(default_factory=dict)
    ranker: Annotated[str, Flag(metavar="NAME")] = "both"
    softmax: Annotated[str, Flag(metavar="NAME")] = "full"
    epochs: Annotated[int | None, Flag(min=1)] = None
    device: Annotated[str | None, Flag(metavar="NAME")] = None
    candidates: Annotated[str | None, Flag(metavar="FILE")] = None
    judgements: Annotated[str | None, Flag(metavar="FILE")] = None
    aspect: Annotated[str | None, Flag(metavar="NAME")] = None
    scale: Annotated[Scale | None, Flag(metavar="SCALE")] = None
    judgement_scale: Annotated[Scale | None, Flag(metavar="SCALE")] = None
    weights: Annotated[str | None, Flag(metavar="METHOD")] = None
    metrics: Annotated[tuple[str, ...], Flag(("--metric", "-m"), metavar="SPEC")] = METRICS
    draws: Annotated[int, Flag(min=1)] = 100
    stage: Annotated[str | None, Flag(metavar="NAME")] = None

    def __post_init__(self) -> None:
        if self.preset not in (None, *PRESETS):
            raise UnknownName("preset", str(self.preset), PRESETS)
        for name in self.systems or ():
            if name not in (*SYSTEMS, *self.models):
                raise UnknownName("commenter", name, SYSTEMS)
        if HUMAN in self.models:
            raise UsageError(f"--model {HUMAN}: the name of the system of readers' comments; give another")
        if not self.names and self.candidates is None:
            raise UsageError("no commenter: expected --systems, --model or --candidates")
        parse_all(self.metrics)

    @property
    def names(self) -> tuple[str, ...]:
        """The commenters, those of the paper in its order."""
        usual = () if self.models or self.candidates is not None else SYSTEMS
        return tuple(dict.fromkeys([*(usual if self.systems is None else self.systems), *self.models]))

    @property
    def resampling(self) -> dict[str, int]:
        """Options of intervals and tests, by the names of their flags."""
        return {"resamples": self.resamples, "permutations": self.permutations, "seed": self.seed}
