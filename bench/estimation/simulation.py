"""Draw few ratings from a fully rated set, many times: squared errors and coverage of each estimator."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from postil.estimation.designs import Campaign, components_of
from postil.meta.estimation import Outputs, estimated, prediction_powered
from postil.meta.significance import student_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from postil.meta.estimation import Target

__all__ = ["METHODS", "Cell", "Judged", "planned", "simulate"]

Floats: TypeAlias = "NDArray[np.float64]"
HUMAN: Final = "human"
METHODS: Final = (HUMAN, "ppi", "regression", "best", "crossed")
"""Ratings alone, PPI++ of each system by the best score, a ridge regression of each system on all scores, and
the crossed estimator with the best score and with all of them."""
NORMAL: Final = 1.959963984540054
CONSTANT: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Judged:
    """A set whose outputs all have scores and ratings.

    Args:
        scores: float64[N, S, m].
        ratings: float64[N, S, R], NaN where an output has fewer than R ratings.
    """

    scores: Floats
    ratings: Floats

    @property
    def truth(self) -> Floats:
        """float64[S], means of all ratings."""
        return np.asarray(np.nanmean(self.ratings, axis=2).mean(axis=0))

    def best(self) -> tuple[int, float]:
        """Place of the score that explains most within systems, and its slope: what PPI++ cannot know is told to it."""
        x, y = (each - each.mean(axis=0) for each in (self.scores, np.nanmean(self.ratings, axis=2)))
        products, squares = np.einsum("isa,is->a", x, y), (x**2).sum(axis=(0, 1))
        slopes = np.divide(products, squares, out=np.zeros(len(squares)), where=squares > 0)
        place = int(np.argmax(slopes * products))
        return place, float(slopes[place])

    def draw(self, n: int, k: int, target: Target, generator: np.random.Generator, items: int | None = None) -> Outputs:
        """Rate n random items by k random raters each.

        Args:
            n: Number of rated items.
            k: Number of ratings per output, where it has so many.
            target: For ``population`` all items are drawn from the set, with replacement; for ``items`` they are those
                of the set.
            generator: Generator of random numbers.
            items: Number of items of the population's draw; by default that of the set.
        """
        size = len(self.scores)
        again = target == "population"
        chosen = generator.integers(size, size=items or size) if again else generator.permutation(size)
        ratings = self.ratings[chosen[:n]]
        order = np.where(np.isnan(ratings), np.inf, generator.random(ratings.shape)).argsort(axis=2)[..., :k]
        ratings = np.take_along_axis(ratings, order, axis=2)
        given = (~np.isnan(ratings)).sum(axis=2)
        grades, counts = (
            np.full((len(chosen), ratings.shape[1]), np.nan),
            np.zeros((len(chosen), ratings.shape[1]), int),
        )
        grades[:n], counts[:n] = np.nanmean(ratings, axis=2), given
        spare = int((given - 1).sum())
        apart = np.nansum((ratings - grades[:n, :, None]) ** 2)
        return Outputs(self.scores[chosen], grades, counts, float(apart / spare) if spare else None)


@dataclass
class Cell:
    """Sums over the draws of one method.

    Args:
        squared: Squared errors of means, and of differences.
        covered: Shares of 95 % intervals that cover, likewise.
        draws: Number of draws.
    """

    squared: Floats = field(default_factory=lambda: np.zeros(2))
    covered: Floats = field(default_factory=lambda: np.zeros(2))
    draws: int = 0

    def add(self, means: Floats, covariance: Floats | None, truth: Floats, quantile: float) -> None:
        """Add a draw; without a covariance there are no intervals."""
        wrong = means - truth
        first, second = np.triu_indices(len(truth), 1)
        errors = wrong, wrong[first] - wrong[second]
        self.draws += 1
        self.squared += [float((each**2).mean()) if len(each) else math.nan for each in errors]
        if covariance is None:
            self.covered += math.nan
            return
        variances = np.diag(covariance)
        widths = variances, variances[first] + variances[second] - 2 * covariance[first, second]
        self.covered += [
            float((np.abs(each) <= quantile * np.sqrt(np.maximum(0.0, wide))).mean()) if len(each) else math.nan
            for each, wide in zip(errors, widths, strict=True)
        ]

    def coverage(self) -> tuple[float, float]:
        """Mean coverage of means, and of differences."""
        return tuple(map(float, self.covered / self.draws))  # type: ignore[return-value]

    def relative(self, to: Cell) -> tuple[float, float]:
        """Squared errors relative to those of another method."""
        return tuple(map(float, self.squared / to.squared))  # type: ignore[return-value]


def simulate(
    judged: Judged,
    n: int,
    k: int,
    target: Target,
    *,
    draws: int,
    seed: int,
    items: int | None = None,
    methods: Sequence[str] = METHODS,
) -> dict[str, Cell]:
    """Sum squared errors and coverage of each method over draws; the same draws for all.

    Args:
        judged: The set.
        n: Number of rated items.
        k: Number of ratings per output.
        target: The estimand.
        draws: Number of draws.
        seed: Random seed.
        items: Number of items, for the population.
        methods: Names of the methods.
    """
    generator = np.random.default_rng([seed, n, k])
    cells = {name: Cell() for name in methods}
    truth, best = judged.truth, judged.best()
    student = student_quantile(0.975, n - 1)
    for _ in range(draws):
        outputs = judged.draw(n, k, target, generator, items)
        for name, means, covariance in _estimates(outputs, target, best, methods):
            cells[name].add(means, covariance, truth, NORMAL if name == "ppi" else student)
    return cells


def _estimates(
    outputs: Outputs, target: Target, best: tuple[int, float], methods: Sequence[str]
) -> Iterator[tuple[str, Floats, Floats | None]]:
    place, slope = best
    alone = Outputs(outputs.scores[..., [place]], outputs.grades, outputs.counts, outputs.rater_variance)
    for name in methods:
        if name == "ppi":
            if target == "population" and not outputs.rated.all():
                scaled = Outputs(slope * alone.scores, outputs.grades, outputs.counts, None)
                powered = prediction_powered(scaled, ("",) * outputs.grades.shape[1])
                yield name, powered.means, powered.covariance
        elif name == "regression":
            yield name, _regression(outputs), None
        else:
            used = alone if name == "best" else outputs
            found = estimated(used, target, scores=name != HUMAN)
            yield name, found.means, found.covariance


def _regression(outputs: Outputs) -> Floats:
    """Means by a ridge regression of each system's grades on all scores: the regression estimator of each system."""
    deviations = outputs.scores.std(axis=0)
    varies = deviations > CONSTANT * np.abs(outputs.scores).max(axis=0, initial=0.0)
    scores = (outputs.scores - outputs.scores.mean(axis=0)) * varies / np.where(varies, deviations, 1.0)
    found = outputs.over_systems(outputs.filled)
    for system in range(len(found)):
        rated = outputs.rated[:, system]
        y, x = outputs.grades[rated, system], scores[rated, system]
        centered = x - x.mean(axis=0)
        slopes = np.linalg.solve(centered.T @ centered + np.eye(x.shape[1]), centered.T @ (y - y.mean()))
        found[system] -= x.mean(axis=0) @ slopes  # the mean over all items is 0
    return found


def planned(judged: Judged, pilot: int, n: int, k: int, *, pilots: int, seed: int) -> Floats:
    """Planned standard errors of a difference for the population, one per random pilot with two ratings per output.

    Args:
        judged: The set.
        pilot: Number of rated items of a pilot.
        n: Number of rated items that are planned.
        k: Number of ratings per output that are planned.
        pilots: Number of pilots.
        seed: Random seed.
    """
    generator = np.random.default_rng([seed, pilot])
    size, systems = judged.scores.shape[:2]
    found = []
    for _ in range(pilots):
        outputs = judged.draw(pilot, 2, "population", generator)
        estimate = estimated(outputs)
        components = components_of(outputs, estimate.fit if estimate.used else None)
        campaign = Campaign(components=components, items=size, systems=systems)
        found.append(campaign.standard_error(n, k, difference=True))
    return np.array(found)
