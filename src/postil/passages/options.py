"""Options of `postil passages`, apart from what ranks so that help does without it."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias, get_args

from postil.data.grades import Scale
from postil.data.options import SeedOptions, ThreadOptions
from postil.errors import UnknownName, check_least
from postil.metrics.folds import FOLDS, FoldsBy
from postil.metrics.preprocessing import Preprocessing
from postil.options import Flag, options

__all__ = [
    "OF_OTHERS",
    "STRATA_K",
    "Asked",
    "EqualTexts",
    "PassagesOptions",
    "Pool",
    "RankingOptions",
    "RepeatedTexts",
]

OF_OTHERS: Final = ("folds_by", "repeated_texts", "equal_texts")
"""Options of the references of other topics."""

STRATA_K: Final = 5
"""Default rank cutoff within thirds."""

Pool: TypeAlias = Literal["topic", "all"]
"""`topic` ranks each topic by itself and averages; `all` ranks all rows in one list."""

Asked: TypeAlias = Literal["topic", "others"]
"""Reference of a passage: the informative passages of its topic, or those of other topics."""

RepeatedTexts: TypeAlias = Literal["each", "once"]
EqualTexts: TypeAlias = Literal["leave", "stay"]


@options(group="Rankings")
class RankingOptions(SeedOptions, ThreadOptions):
    """Options of rankings of passages and their nCG.

    Args:
        pool: all: one list; topic: one list per topic, and their mean.
        k: Rank cutoff; repeatable. By default some that suit the pool.
        folds: Largest number of folds of topics, for interestingness (references of other topics).
        scale: Scale of the grades; by default 0 to the highest.
        resamples: Number of resamples of topics or folds, for confidence intervals.
    """

    pool: Annotated[Pool, Flag(metavar="HOW", first=True)] = "all"
    k: Annotated[tuple[int, ...], Flag("k", short="k", metavar="K", min=1, first=True)] = ()
    folds: Annotated[int, Flag(min=2)] = FOLDS
    scale: Annotated[Scale | None, Flag(metavar="LOW:HIGH")] = None
    resamples: Annotated[int, Flag(min=1, group="Resampling")] = 1000


@options
class PassagesOptions(Preprocessing, RankingOptions):
    """Options of `postil passages`.

    Args:
        measures: Spec of a measure, such as f1-2, w-logsim-1 or kl-sk; repeatable. By default the nine of the paper,
            their weighted F1 and the baselines.
        reference: topic: informativeness; others: interestingness, by passages of other topics.
        leave_one_out: Score passages without themselves in their reference as well. Measures with w- and --reference
            others are always leave-one-out.
        folds_by: seed: topics at random; order: topic i in fold i modulo their number; consecutive: runs of topics in
            their order.
        repeated_texts: A text that is informative for several topics, with --reference others: each: once for every
            topic; once: in all, with its highest grade.
        equal_texts: A text of another topic that is equal to the scored passage, with --reference others: leave: out of
            the reference; stay: part of it.
        strata_k: Rank cutoff of nCG by length, within thirds of a list by number of words.
    """

    measures: Annotated[tuple[str, ...], Flag("measure", short="m", metavar="SPEC", first=True)] = ()
    reference: Annotated[Asked, Flag(metavar="WHAT", first=True)] = "topic"
    leave_one_out: Annotated[bool, Flag(group="References")] = False
    folds_by: Annotated[FoldsBy, Flag(metavar="HOW", group="References")] = "seed"
    repeated_texts: Annotated[RepeatedTexts, Flag(metavar="HOW", group="References")] = "each"
    equal_texts: Annotated[EqualTexts, Flag(metavar="HOW", group="References")] = "leave"
    strata_k: Annotated[int, Flag(metavar="K", min=1, group="Rankings")] = STRATA_K

    def __post_init__(self) -> None:
        for kind, choice, known in (
            ("reference", self.reference, get_args(Asked)),
            ("pool", self.pool, get_args(Pool)),
            ("way to make folds", self.folds_by, get_args(FoldsBy)),
            ("way to pool repeated texts", self.repeated_texts, get_args(RepeatedTexts)),
            ("way with equal texts", self.equal_texts, get_args(EqualTexts)),
        ):
            UnknownName.check(kind, choice, known)
        check_least(1, resamples=self.resamples, jobs=self.jobs, k=min(self.k, default=1), strata_k=self.strata_k)
        check_least(0, seed=self.seed)
        check_least(2, folds=self.folds)
