"""Synthetic sets of ratings and scores, each large enough to be a population."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bench.estimation.simulation import Judged

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DESIGNS", "made"]

POPULATION: Final = 20_000
RATERS: Final = 4

DESIGNS: Final = {
    "useless": "two systems, two scores without any information",
    "useless, many": "ten systems, eight scores without any information",
    "judge": "four systems, a good judge and a weak metric",
    "favoring judge": "the same, and the judge adds one grade to the first system",
    "ceiling": "four systems, ratings from 1 to 5, most of them 5, and a good judge",
    "unlike slopes": "four systems; the judge sees only two of them",
}
"""Description of each design."""


def made(design: str, seed: int, size: int = POPULATION) -> Judged:
    """A population of a design.

    Args:
        design: Its name, one of `DESIGNS`.
        seed: Random seed.
        size: Number of items.
    """
    generator = np.random.default_rng([seed, list(DESIGNS).index(design)])
    systems = {"useless": 2, "useless, many": 10}.get(design, 4)

    def noise(*shape: int) -> NDArray[np.float64]:
        return generator.normal(size=(size, *shape))

    quality = np.linspace(0, 0.6, systems) + 0.6 * noise(1) + 0.7 * noise(systems)
    ratings = 3 + quality[..., None] + 0.7 * noise(systems, RATERS)
    if design == "ceiling":
        ratings = np.clip(np.round(ratings + 1.6), 1, 5)
    if design.startswith("useless"):
        return Judged(noise(systems, 8 if "many" in design else 2), ratings)
    judge, weak = quality + 0.5 * noise(systems), quality + 3 * noise(systems)
    if design == "favoring judge":
        judge[:, 0] += 1
    if design == "unlike slopes":
        judge[:, 2:] = noise(2)
    return Judged(np.stack([judge, weak], axis=2), ratings)
