"""Warnings about similarity-weighted means of the weights of references, ``over=near`` and ``over=kernel``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.meta.correlation import correlations
from postil.results.formats import value_with_interval
from postil.results.names import metric_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.meta.parts import Difference
    from postil.meta.resampling import Draws
    from postil.meta.table import Table

__all__ = ["near_warnings"]

MEAN_WEIGHT: Final = "control:mean-weight("
"""Prefix of the controls that are the mean weight of a text's references."""


def near_warnings(table: Table, differences: Sequence[Difference], draws: Draws) -> Iterator[str]:
    """Signs in the data against ``over=near`` and ``over=kernel``, each in a sentence that names it.

    Args:
        table: Scores and ratings.
        differences: Differences of the metrics in one coefficient.
        draws: Random draws.
    """
    if not any("over=" in name or name.startswith(MEAN_WEIGHT) for name in table.metrics):
        return
    from postil.metrics.reference_aggregation import Over, averages_weights, differ_in_over  # noqa: PLC0415 - all metrics
    from postil.metrics.spec import known_metric  # noqa: PLC0415 - the same

    # Within items whatever level was asked for: between items the mean weight says how many good comments there were.
    weights = [name for name in table.metrics if name.startswith(MEAN_WEIGHT)]
    found = correlations(table.only(weights), ("pearson",), "item", draws) if weights else None
    for row in found.rows if found else ():
        spec = metric_of(row.metric)
        metric = known_metric(spec)
        if metric is not None and row.high is not None and row.high < 0:
            yield (
                f"{spec}: within items the mean weight of the references falls as the human score rises (pearson "
                f"{value_with_interval(row.value, row.low, row.high)}); over={Over.of(metric).name} follows that mean, "
                "over=max less so"
            )
    specs = {name: metric for name in table.metrics if (metric := known_metric(name)) is not None}
    pairs = [
        (near, Over.of(metric).name, other)
        for near, metric in specs.items()
        if averages_weights(metric)
        for other, same in specs.items()
        if differ_in_over(metric, same)
    ]
    for near, over, other in pairs:
        for each in differences:
            if {each.first, each.second} != {near, other}:
                continue
            ahead = each if each.first == near else each.reversed()
            if ahead.high is not None and ahead.high < 0:
                yield (
                    f"{near}: {ahead.coefficient} is lower than that of {other}: difference "
                    f"{value_with_interval(ahead.value, ahead.low, ahead.high)}; over={over} loses where references "
                    "get worse as texts get better, and where many references have few distinct weights"
                )
