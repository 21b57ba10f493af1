"""Profanity by a model: alt-profanity-check, a linear model over the words of a comment in English.

The package reads its parameters from pickles as it is imported, so it is imported only where it was asked for.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from postil.comments.needs import PROFANITY
from postil.errors import MissingExtra
from postil.messages import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ProfanityFilter", "ProfanityModel", "check_profanity_model"]

ProfanityFilter: TypeAlias = Literal["list", "model"]
_PROFANE: Final = 0.5
_BATCH: Final = 64
"""Number of texts that are scored together: little more than one alone takes."""


def check_profanity_model() -> None:
    """Check that the model is installed, without importing it.

    Raises:
        MissingExtra: It is not.
    """
    if find_spec("profanity_check") is None:
        raise MissingExtra("the profanity model", "profanity")


class ProfanityModel:
    """Profanity of the candidates for one article; those ahead are scored together with the one that is asked for.

    Args:
        texts: The candidates.
        order: Their positions, in the order in which most of them are asked for.
    """

    def __init__(self, texts: Sequence[str], order: Sequence[int]) -> None:
        self._texts, self._order = texts, order
        self._known: dict[int, float] = {}

    def reason(self, rank: int) -> str | None:
        """Reason to filter a candidate out, or None.

        Args:
            rank: Its index in the order.

        Raises:
            MissingExtra: The model is not installed.
        """
        position = self._order[rank]
        if position not in self._known:
            ahead = self._order[rank : rank + _BATCH]
            self._known.update(zip(ahead, _probabilities(self._texts[one] for one in ahead), strict=True))
        probability = self._known[position]
        if probability < _PROFANE:
            return None
        shown = f"{probability:.2f}".removeprefix("0")
        return Note(PROFANITY, "{kind} (probability {probability})", kind=PROFANITY, probability=shown)


def _probabilities(texts: Iterable[str]) -> list[float]:
    try:
        from profanity_check import predict_prob  # noqa: PLC0415 - it reads pickles
    except ImportError as error:
        raise MissingExtra("the profanity model", "profanity") from error
    return [float(one) for one in predict_prob(list(texts))]
