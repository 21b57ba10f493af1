"""View of the result of `postil judge`: one row per system, controls below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.records.names import control
from postil.render.formats import counted
from postil.render.numbers import number
from postil.render.passages import signature_lines
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.results import Estimate, JudgeResult
    from postil.render.formats import Grid

__all__ = ["summary", "view"]

FIELDS = ("system", "metric", "n", "absent", "mean", "low", "high", "mass", "sampled")


def view(result: JudgeResult) -> View:
    """Make the view of a judge's grades.

    Args:
        result: The result.
    """
    rows: list[dict[str, object]] = [
        {
            "system": row.system,
            "metric": result.metric,
            "n": row.n,
            "absent": row.absent,
            "mean": row.mean.value if row.mean else None,
            "low": row.mean.low if row.mean else None,
            "high": row.mean.high if row.mean else None,
            "mass": row.mass,
            "sampled": row.sampled,
        }
        for row in result.systems
    ]
    return View(
        rows=rows,
        fields=FIELDS,
        grids=[_systems(result), *([_controls(result)] if result.controls else [])],
        head=f"{result.metric}, {_work(result)}",
        remarks=[*_findings(result), *(f"note: {note}" for note in result.notes)],
        signatures=list(signature_lines([result.signatures[result.metric]])),
    )


def summary(result: JudgeResult) -> str:
    """The judge, its work and the best system.

    Args:
        result: The result.
    """
    means = {row.system: row.mean.value for row in result.systems if row.mean is not None}
    best = max(means, key=means.__getitem__, default=None)
    return f"{result.metric}, {_work(result)}" + ("" if best is None else f", best {best} {means[best]:.3g}")


def _work(result: JudgeResult) -> str:
    texts = sum(row.n for row in result.systems)
    cost = "" if result.usage.cost is None else f", cost {result.usage.cost:.4g}"
    return f"{counted(texts, 'text')}, {counted(result.usage.calls, 'answer')}{cost}"


def _systems(result: JudgeResult) -> Grid:
    grid = [["system", "mean grade [95 % CI]", "texts", "without a grade", "mean mass", "by samples"]]
    return grid + [
        [
            row.system,
            _grade(row.mean),
            f"{row.n:,}",
            f"{row.absent:,}",
            "" if row.mass is None else f"{row.mass:.2f}",
            f"{row.sampled:,}",
        ]
        for row in result.systems
    ]


def _controls(result: JudgeResult) -> Grid:
    grid = [["control", "texts", "mean grade", "difference [95 % CI]", "same grade"]]
    return grid + [
        [
            _label(row.control),
            f"{row.n:,}",
            f"{row.mean:.2f}",
            _grade(row.difference),
            f"{100 * row.equal:.0f} %",
        ]
        for row in result.controls
    ]


def _label(name: str) -> str:
    return "permuted grades of anchors" if name == "shuffled" else control(f"control:{name}")


def _grade(value: Estimate | None) -> str:
    if value is None:
        return ""
    ends = "" if value.low is None or value.high is None else f" [{value.low:.2f}, {value.high:.2f}]"
    return f"{value.value:.2f}{ends}".replace("-", "−")


def _findings(result: JudgeResult) -> Iterator[str]:
    """Lines on length and on the judge's own texts."""
    if result.length is not None:
        words = "undefined" if result.length.words is None else number(result.length.words)
        yield f"length: Pearson correlation of grade and number of words {words}"
        if result.length.human is not None:
            partial = result.length.human_partial
            rest = "undefined" if partial is None else number(partial)
            yield (
                f"human ratings: Pearson correlation {number(result.length.human)}; {rest} after a linear fit of both "
                f"on the number of words ({counted(result.length.human_n, 'text')})"
            )
    if (own := result.self_preference) is not None:
        others = "" if own.others is None else f", of others {_grade(own.others)}"
        preference = "" if own.preference is None else f"; difference {_grade(own.preference)}"
        yield f"own texts ({own.system}, {own.n:,}): judge minus people {_grade(own.own)}{others}{preference}"
