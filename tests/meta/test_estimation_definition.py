"""The crossed estimator against a plain program of its definition, on random designs: complete, with holes, sparse."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pytest

from postil.meta.estimation import Outputs, estimated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from postil.meta.estimation import Target

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]


class Design(NamedTuple):
    """Scores float64[N, S, m], mean ratings float64[N, S] with NaN, flags of the rated ones, and if items count."""

    scores: Floats
    grades: Floats
    rated: Flags
    crossed: bool

    def centered(self, values: Floats, there: Flags) -> Floats:
        values = np.where(there, values, 0.0)
        for _ in range(2000 if self.crossed else 1):
            before = values
            for axis in (1, 0) if self.crossed else (0,):
                size = np.maximum(there.sum(axis=axis, keepdims=True), 1)
                values = np.where(there, values - values.sum(axis=axis, keepdims=True) / size, 0.0)
            if np.abs(values - before).max() <= 1e-14:
                break
        return values

    def outputs(self) -> list[tuple[int, int]]:
        return [(int(i), int(s)) for i, s in np.argwhere(self.rated)]


def within(values: Floats, rated: Flags) -> Floats:
    return np.where(rated, values - np.where(rated, values, 0.0).sum(axis=0) / rated.sum(axis=0), 0.0)


def weighted(design: Design) -> tuple[Floats, Floats]:
    """Composite of all outputs, and that of each rated item by weights that have not seen it."""
    f, everywhere = design.scores.copy(), np.ones(design.rated.shape, bool)
    varying, m = 0, f.shape[2]
    for a in range(m):
        deviation = design.centered(f[:, :, a], everywhere).std()
        varying += bool(deviation > 1e-9)
        f[:, :, a] = f[:, :, a] / deviation if deviation > 1e-9 else 0.0
        f[:, :, a] -= f[:, :, a].mean(axis=0)
    x = np.stack([design.centered(f[:, :, a], design.rated) for a in range(m)], axis=2)
    y, n = design.centered(np.nan_to_num(design.grades), design.rated), design.rated.sum(axis=0)
    penalty, composite, without = 20 * varying * np.eye(m), y, np.zeros(y.shape)
    for item in range(len(y) + 1):  # the last one leaves nothing out
        gram, cross = penalty.copy(), np.zeros(m)
        for i, s in design.outputs():
            share = 1 - n[s] / (n[s] - 1) if i == item else 1.0
            gram += share * np.outer(x[i, s], x[i, s])
            cross += share * y[i, s] * x[i, s]
        if item < len(y):
            without[item] = f[item] @ np.linalg.solve(gram, cross)
        else:
            composite = f @ np.linalg.solve(gram, cross)
    return composite, without


def predicted(design: Design) -> tuple[Floats, Floats]:
    """Predicted ratings, and those of each rated item by a fit that has not seen it."""
    composite, without = weighted(design)
    rated, n = design.rated, design.rated.sum(axis=0)
    y = design.centered(np.nan_to_num(design.grades), rated)
    a, unseen = design.centered(composite, rated), design.centered(without, rated)
    common = float(np.clip((unseen * y).sum() / (unseen**2).sum(), 0, 1))
    h = 20 * (a**2).sum() / rated.sum()
    products, squares, factor = (a * y).sum(axis=0), (a**2).sum(axis=0), n / (n - 1)
    slopes = np.clip((products + h * common) / (squares + h), 0, 1.5) * (common > 0)
    left = (products - factor * a * y + h * common) / (squares - factor * a**2 + h)
    left_out = np.clip(left, 0, 1.5) * (common > 0)
    if not design.crossed:
        return slopes * composite, left_out * without
    k, items = rated.sum(axis=1), rated.any(axis=1)
    means, means_without = composite.mean(axis=1, keepdims=True), without.mean(axis=1, keepdims=True)
    level = within(np.broadcast_to(means, rated.shape), rated).sum(axis=1) / np.maximum(k, 1)
    grades = within(np.nan_to_num(design.grades), rated).sum(axis=1) / np.maximum(k, 1)
    products, squares, factor = k * level * grades, k * level**2, items.sum() / (items.sum() - 1)
    item = np.clip(products.sum() / squares.sum(), 0, 1)
    others = np.clip((products.sum() - factor * products) / (squares.sum() - factor * squares), 0, 1)[:, None]
    return slopes * (composite - means) + item * means, left_out * (without - means_without) + others * means_without


def covariances(values: Floats, rated: Flags) -> tuple[Floats, Floats]:
    """Covariances with moderated variances, and the numbers of shared items."""
    systems, n = rated.shape[1], rated.sum(axis=0)
    plain, shared = np.zeros((systems, systems)), (rated.T.astype(int) @ rated).astype(float)
    for s, t in np.ndindex(systems, systems):
        both = rated[:, s] & rated[:, t]
        plain[s, t] = np.cov(values[both, s], values[both, t])[0, 1] if both.sum() >= 2 else 0.0
    v = np.diag(plain)
    scale = np.sqrt(((n - 1) * v + 4 * v.mean()) / (n + 3) / v)
    return plain * np.outer(scale, scale), shared


def by_definition(design: Design, counts: NDArray[np.int64], s2: float | None, target: str) -> tuple[Floats, Floats]:
    """Means and their covariance where scores are used."""
    fitted, left_out = predicted(design)
    rated, n, items = design.rated, design.rated.sum(axis=0), len(design.rated)
    of_grades, shared = covariances(design.grades, rated)
    residuals, _ = covariances(design.grades - left_out, rated)
    beside = of_grades
    if target == "items":
        noise = [] if s2 is None else [s2 * (1 / counts[rated[:, s], s]).mean() for s in range(rated.shape[1])]
        beside = residuals if s2 is None else np.diag(noise)
    means = np.nanmean(design.grades - fitted, axis=0) + fitted.mean(axis=0)
    return means, (shared / np.outer(n, n) - 1 / items) * residuals + beside / items


@pytest.mark.parametrize("target", ["population", "items"])
@pytest.mark.parametrize(
    ("systems", "holes"),
    [*product((1, 2, 4), (0.0, 0.2, 0.6)), (4, 0.8)],  # the last one: systems that share two items
)
def test_the_estimator_is_its_definition(systems: int, holes: float, target: Target) -> None:
    generator = np.random.default_rng([systems, int(10 * holes)])
    quality = generator.normal(size=(40, systems)) + generator.normal(size=(40, 1))
    scores = quality[..., None] * [1.0, 2.0, 0.0] + generator.normal(size=(40, systems, 3))
    scores += 2 * generator.normal(size=(40, 1, 1)) * (systems > 1)  # so that the slope of items is below 1
    grades = np.clip(np.round(3 + quality + 0.3 * generator.normal(size=quality.shape)), 1, 5)
    grades[generator.permutation(40)[:10]] = np.nan
    grades[generator.random(grades.shape) < holes] = np.nan
    rated = ~np.isnan(grades)
    several = rated.sum(axis=1)[rated.any(axis=1)] >= 2
    design = Design(scores, grades, rated, systems > 1 and several.mean() >= 0.5)
    counts = np.where(rated, generator.integers(1, 4, size=rated.shape), 0)
    s2 = None if systems == 2 else 0.2
    found = estimated(Outputs(scores, grades, counts, s2), target)
    assert found.used
    means, covariance = by_definition(design, counts, s2, target)
    assert found.means == pytest.approx(means, abs=1e-9)
    assert found.covariance == pytest.approx(covariance, abs=1e-9)
