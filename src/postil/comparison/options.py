"""Options of `postil compare`, apart from what compares so that help does without it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Final, Self

from postil.data.arguments import check_fields, options_of
from postil.data.options import ResamplingOptions
from postil.errors import UnknownName, UsageError
from postil.messages import Listed, Setting
from postil.options import Flag, options

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CompareOptions"]

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

    baseline: Annotated[str | None, Flag(metavar="SYSTEM", first=True)] = None
    intersect: Annotated[bool, Flag(first=True)] = False
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME", first=True)] = ()
    item_means: bool = False
    p_values: Annotated[str, Flag(metavar="NAME", group="Resampling")] = "postil"

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
