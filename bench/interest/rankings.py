"""Graded passages by page, rankings of them, and the numbers of a ranking as a row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.data.reading import Reading
from postil.data.row_files import read
from postil.data.row_locations import RowLocations
from postil.data.rows import Passage
from postil.interest.training import RatedPages
from postil.meta.resampling import Draws
from postil.metrics.passage_pools import informativeness
from postil.metrics.preprocessing import Preprocessing
from postil.metrics.spec import parse_measure
from postil.passages.by_length import RankingsByLength
from postil.passages.gain import PassageRanking, PassageRankings, gain_differences
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.interest.model import PageScores

    Floats = NDArray[np.float64]

__all__ = ["LONGEST", "Graded", "Numbers", "numbers_of", "table"]

CUTOFFS: Final = (10, 20, 50)
LONGEST: Final = "longest first"
RESAMPLES: Final = 1000
SEED: Final = 20181


@dataclass(frozen=True, eq=False)
class Graded:
    """n graded passages of several pages.

    Args:
        passages: The passages.
    """

    passages: Sequence[Passage]

    @classmethod
    def of(cls, path: str) -> Graded:
        """Read rows of passages."""
        return cls(list(read(path, Passage, Reading())))

    @cached_property
    def texts(self) -> list[str]:
        """The texts."""
        return [each.text for each in self.passages]

    @cached_property
    def grades(self) -> Floats:
        """Their grades."""
        return np.array([each.grade for each in self.passages], np.float64)

    @cached_property
    def page(self) -> NDArray[np.int64]:
        """Number of the page of each."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(each.topic, len(numbers)) for each in self.passages], np.int64)

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """Number of words of each."""
        return Vocabulary().encode(self.texts, tokenizer("words"), allow_han=True).lengths

    @cached_property
    def rated(self) -> RatedPages:
        """The passages as columns of a fit."""
        return RatedPages.of(self.texts, self.grades, self.page)

    @property
    def pages(self) -> int:
        """Number of pages."""
        return int(self.page.max()) + 1

    def by_page(self, scores: Callable[[list[str]], PageScores]) -> Floats:
        """Scores of every page by itself."""
        out = np.zeros(len(self.passages))
        for number in range(self.pages):
            rows = np.flatnonzero(self.page == number)
            out[rows] = scores([self.texts[row] for row in rows.tolist()]).scores
        return np.where(np.isfinite(out), out, -1e9)

    def measure(self, spec: str, stop: str = "none") -> Floats:
        """Scores by a measure against the other passages of the page, whatever their grades."""
        collection = Preprocessing(stop=stop).collection(self.passages, RowLocations("passages"))
        pools = informativeness(self.page, np.ones(len(self.passages)))
        measure = parse_measure(spec)
        out = np.zeros(len(self.passages))
        out[pools.texts] = measure.ranked(measure.values(collection, pools))
        return out

    def standard(self, values: Floats) -> Floats:
        """Values in standard deviations from the mean of their page."""
        out = np.zeros(len(values))
        for number in range(self.pages):
            here = self.page == number
            spread = values[here].std()
            out[here] = (values[here] - values[here].mean()) / spread if spread > 0 else 0.0
        return out


@dataclass(frozen=True)
class Numbers:
    """Numbers of a ranking.

    Args:
        name: Its name.
        gains: nCG at each of `CUTOFFS`.
        thirds: nCG@5 within thirds by length.
        with_length: Spearman correlation with the number of words.
        above: nCG@10 minus that of the longest first, with its interval over pages.
    """

    name: str
    gains: tuple[float, ...]
    thirds: float
    with_length: float | None
    above: tuple[float, float, float]


def numbers_of(graded: Graded, scores: Mapping[str, Floats]) -> list[Numbers]:
    """Compute the numbers of rankings, those of the longest passages first among them.

    Args:
        graded: The passages.
        scores: Scores of all passages by ranking.
    """
    every = {LONGEST: graded.words.astype(np.float64), **scores}
    rankings = PassageRankings(
        rankings=[
            PassageRanking(
                measure=name, leave_one_out=False, is_baseline=True, signature=name, values=values, scores=values
            )
            for name, values in every.items()
        ],
        grades=graded.grades,
        groups=graded.page,
        pool="topic",
        draws=Draws(resamples=RESAMPLES, seed=SEED),
    )
    curves = dict(zip(every, rankings.curves(CUTOFFS), strict=True))
    found = []
    for row in RankingsByLength(rankings, graded.words).rows():
        name, above = row.measure, (0.0, 0.0, 0.0)
        if name != LONGEST:
            pair = {name: curves[name], LONGEST: curves[LONGEST]}
            (difference,) = gain_differences(pair, CUTOFFS[:1], flips=1)
            above = (difference.value, difference.low or 0.0, difference.high or 0.0)
        found.append(Numbers(name, tuple(curves[name].ncg.tolist()), row.ncg.value, row.with_length.value, above))
    return found


def table(rows: Sequence[Numbers]) -> str:
    """The rows as a table of Markdown."""
    lines = [
        "| ranking | @10 | @20 | @50 | thirds | with length | @10 minus longest first |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        numbers = [_short(each) for each in (*row.gains, row.thirds)]
        length = "" if row.with_length is None else _short(row.with_length)
        value, low, high = row.above
        above = "" if row.name == LONGEST else f"{_short(value, '+')} [{_short(low)}, {_short(high)}]"
        lines.append(f"| {' | '.join((row.name, *numbers, length, above))} |")
    return "\n".join(lines)


def _short(value: float, sign: str = "") -> str:
    return f"{value:{sign}.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign}.3f}"
