"""Logs of interleaved suggestions with a known preference, and how often intervals and tests are right about it.

Readers click on a suggestion with a probability that falls with its rank and is higher for the model that they like;
how much they like it depends on the article. Clicks at different ranks are independent (a position-based click model).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.comparison.interleaved import interleaved_preferences
from postil.data.suggestions import Impression
from postil.meta.resampling import Draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Design", "Found", "draw", "preference", "simulate", "tilt_of"]

MODELS: Final = ("base", "new")
RANKS: Final = 4
CLICKED: Final = 0.3 * 0.6 ** np.arange(RANKS)
"""Probability of a click by rank, of a reader who likes both models equally."""
MOST: Final = 0.95


@dataclass(frozen=True, slots=True)
class Design:
    """A log and its readers.

    Args:
        articles: Number of articles.
        each: Number of impressions of each.
        spread: Standard deviation between articles of the tilt, the logarithm of the ratio of click probabilities.
        coin: Probability that the new model picks first in a round; .5 for a fair coin.
        fixed: All impressions of an article have the same list, as where the article is the seed of the coin.
    """

    articles: int
    each: int
    spread: float = 0.0
    coin: float = 0.5
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Shares of many logs.

    Args:
        preference: Mean preference.
        covered: The interval has the true preference.
        sign: The sign test has p below .05.
        articles: The test by article has p below .05.
        said: The test by article has p below .05 and the interval excludes 0, which the command says in words.
        unfair: The balance of teams at a rank shows that the coin is not fair.
    """

    preference: float
    covered: float
    sign: float
    articles: float
    said: float
    unfair: float


def _probabilities(teams: NDArray[np.int64], tilt: NDArray[np.float64]) -> NDArray[np.float64]:
    """Click probabilities of lists, of readers with these tilts towards the new model."""
    return np.asarray(np.minimum(MOST, CLICKED * np.exp((teams - 0.5) * tilt)), np.float64)


def _teams(first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Teams by rank, of the team that picks first in each round."""
    return np.stack([first, 1 - first], axis=-1).reshape(*first.shape[:-1], RANKS)


def preference(tilt: float, spread: float = 0.0) -> float:
    """The true preference for the new model: over all coins, clicks and, by Gauss-Hermite quadrature, articles.

    Args:
        tilt: Mean tilt.
        spread: Its standard deviation between articles.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    credit = total = 0.0
    for first in product((0, 1), repeat=RANKS // 2):
        teams = _teams(np.array(first))
        p = _probabilities(teams, (tilt + spread * nodes)[:, None])
        for clicks in product((0, 1), repeat=RANKS):
            clicked = np.array(clicks)
            chance = float(weights @ np.prod(np.where(clicked, p, 1 - p), axis=1))
            credit += chance * float(np.sign(clicked @ (2 * teams - 1)))
            total += chance * bool(clicked.any())
    return credit / total / 2


def tilt_of(wanted: float, spread: float = 0.0) -> float:
    """The mean tilt that has a preference, by bisection.

    Args:
        wanted: The preference.
        spread: Standard deviation of the tilt between articles.
    """
    low, high = 0.0, 8.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if preference(middle, spread) < wanted else (low, middle)
    return low


def draw(design: Design, tilt: float, random: np.random.Generator) -> list[Impression]:
    """Draw a log.

    Args:
        design: Its design.
        tilt: Mean tilt towards the new model.
        random: The generator.
    """
    shape = design.articles, design.each
    coins = random.random((design.articles, 1 if design.fixed else design.each, RANKS // 2)) < design.coin
    teams = np.broadcast_to(_teams(coins.astype(np.int64)), (*shape, RANKS))
    likings = tilt + design.spread * random.standard_normal((design.articles, 1, 1))
    clicked = random.random(teams.shape) < _probabilities(teams, likings)
    lists, ranks = teams.reshape(-1, RANKS).tolist(), range(1, RANKS + 1)
    return [
        Impression(
            str(place),
            str(place // design.each),
            MODELS,
            tuple(lists[place]),
            tuple(rank for rank, click in zip(ranks, clicks, strict=True) if click),
        )
        for place, clicks in enumerate(clicked.reshape(-1, RANKS).tolist())
    ]


def simulate(design: Design, wanted: float, *, logs: int, seed: int, resamples: int = 1000) -> Found:
    """Draw logs and analyse them.

    Args:
        design: Their design.
        wanted: The true preference.
        logs: Number of logs.
        seed: Seed of the draws.
        resamples: Number of resamples of each log.
    """
    random, tilt = np.random.default_rng(seed), tilt_of(wanted, design.spread) if wanted else 0.0
    truth = preference(tilt, design.spread)
    found = []
    for number in range(logs):
        result = interleaved_preferences(draw(design, tilt, random), MODELS[0], Draws(resamples=resamples, seed=number))
        row = next(row for row in result.rows if row.measure == "clicked")
        covered = row.low is not None and row.high is not None and row.low <= truth <= row.high
        tests = [p is not None and p < 0.05 for p in (row.p_sign, row.p_articles)]
        found.append([row.preference, covered, *tests, row.significant, not result.pairs[0].balanced])
    return Found(*np.mean(found, axis=0).tolist())
