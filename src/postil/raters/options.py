"""Options of measuring agreement, apart from its functions so that help does not load statistics."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from postil.data.arguments import check_fields
from postil.data.grades import Scale
from postil.data.options import SeedOptions
from postil.options import Flag, options

__all__ = ["AgreementOptions", "CompetenceModel", "FileAgreementOptions"]

CompetenceModel: TypeAlias = Literal["one-factor", "mace", "dawid-skene"]
"""Name of a model of the competence of annotators."""


@options
class AgreementOptions(SeedOptions):
    """Options of measuring agreement.

    Args:
        resamples: Number of resamples of the articles, for confidence intervals.
    """

    resamples: Annotated[int, Flag(min=1, group="Resampling")] = 1000

    def __post_init__(self) -> None:
        check_fields(self)


@options
class FileAgreementOptions(AgreementOptions):
    """Options of `postil agreement`.

    Args:
        scale: Scale of the ratings, to check them by: HIGH (from 0) or LOW:HIGH.
        aspect: Aspect to use, where ratings have several: of the column aspect, or else a column or
            sheet of that name.
    """

    scale: Annotated[Scale | None, Flag(metavar="SCALE", first=True)] = None
    aspect: Annotated[str | None, Flag(metavar="NAME", first=True)] = None
