"""What `postil study comments` is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from postil.app.readers import HUMAN
from postil.errors import UnknownName, UsageError
from postil.metrics.metric_set import parse_all

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.records.scale import Scale

__all__ = ["FITTING", "FITTING_PLAIN", "METRICS", "SYSTEMS", "CommentsOptions"]

SYSTEMS: Final = ("ir-t", "ir-tc", "seq2seq", "att", "att-tc")
"""The five of the paper."""

FITTING: Final = "w-meteor(params=en,characters=true,corpus=chosen)"
"""What comes nearest to the W-METEOR of the paper's own tables, with weights grade / 5."""

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


@dataclass(frozen=True, kw_only=True)
class CommentsOptions:
    """What `postil study comments` is asked for.

    Args:
        systems: The commenters to train, each by its kind.
        models: Trained ones to take, name -> folder; one that is among ``systems`` is then not trained.
        ranker: Of ``ir-t`` and ``ir-tc``: ``both``, ``relevance`` (the paper's) or ``tf-idf``.
        softmax: Of those that write: ``full`` or ``sampled``.
        epochs: The most each network goes through the corpus.
        device: Where networks are trained.
        candidates: What systems that were run elsewhere say of the test articles, beside the commenters; a system
            `HUMAN` among them is then the reader's comment.
        judgements: People's grades of the candidates.
        aspect: Which question, where judgements answer more than one.
        scale: The scale of all grades.
        judged_scale: That of the judgements, where it is another.
        weights: Where the references' weights come from; None for people's grades where every reference has one, else
            votes where they differ within some article, else consensus.
        metrics: Specs.
        draws: How many times controls shuffle weights.
        resamples: How many resamples of the articles.
        permutations: How many permutations, for tests.
        seed: Seed of all that is random.
        jobs: Threads; but for what is trained, nothing depends on it.
        stage: The one stage to run; None for all.
    """

    systems: tuple[str, ...] = SYSTEMS
    models: Mapping[str, str] = field(default_factory=dict)
    ranker: str = "both"
    softmax: str = "full"
    epochs: int | None = None
    device: str | None = None
    candidates: str | None = None
    judgements: str | None = None
    aspect: str | None = None
    scale: Scale | None = None
    judged_scale: Scale | None = None
    weights: str | None = None
    metrics: tuple[str, ...] = METRICS
    draws: int = 100
    resamples: int = 1000
    permutations: int = 10_000
    seed: int = 20181
    jobs: int = 1
    stage: str | None = None

    def __post_init__(self) -> None:
        for name in self.systems:
            if name not in (*SYSTEMS, *self.models):
                raise UnknownName("commenter", name, SYSTEMS)
        if HUMAN in self.models:
            raise UsageError(f"--model {HUMAN}: that is what the readers' comment is called")
        if not self.names and self.candidates is None:
            raise UsageError("no commenter: expected --systems, --model or --candidates")
        parse_all(self.metrics)

    @property
    def names(self) -> tuple[str, ...]:
        """The commenters, those of the paper in its order."""
        return tuple(dict.fromkeys([*self.systems, *self.models]))

    @property
    def resampling(self) -> dict[str, int]:
        """What intervals and tests depend on, by the names of their flags."""
        return {"resamples": self.resamples, "permutations": self.permutations, "seed": self.seed}
