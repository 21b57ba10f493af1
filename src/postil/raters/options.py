"""Options of measuring agreement."""

from __future__ import annotations

from typing import Annotated, TypedDict

from postil.data.arguments import check_fields
from postil.data.options import SeedOptions
from postil.options import Flag, options

__all__ = ["AgreementKeywords", "AgreementOptions"]


@options
class AgreementOptions(SeedOptions):
    """Options of measuring agreement.

    Args:
        resamples: Number of resamples of the articles, for confidence intervals.
    """

    resamples: Annotated[int, Flag(min=1)] = 1000

    def __post_init__(self) -> None:
        check_fields(self)


class AgreementKeywords(TypedDict, total=False):
    """Options of `postil.agreement` as keywords; see `AgreementOptions`."""

    seed: int
    resamples: int
