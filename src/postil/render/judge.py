"""View of the result of `postil judge`: one row per system, controls below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.messages import Blank, Message, Setting
from postil.records.names import control
from postil.render.formats import counted, noted
from postil.render.numbers import number
from postil.render.passages import signature_lines
from postil.render.views import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.records.results import Estimate, JudgeResult
    from postil.render.formats import Grid

__all__ = ["findings", "grade_text", "summary", "view", "work"]

TOKENS: Final = Setting("answer_tokens", Blank("N"))
FIELDS: Final = ("system", "metric", "n", "absent", "mean", "low", "high", "mass", "sampled")


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
        head=f"{result.metric}, {work(result)}",
        remarks=[
            *(f"{name}: {said}" for name, said in findings(result)),
            *noted(result.notes),
            *([Message("note: {tokens} lets answers be longer", tokens=TOKENS)] if any(_cut(result)) else []),
        ],
        signatures=list(signature_lines([result.signatures[result.metric]])),
    )


def summary(result: JudgeResult) -> str:
    """The judge, its work and the best system.

    Args:
        result: The result.
    """
    means = {row.system: row.mean.value for row in result.systems if row.mean is not None}
    best = max(means, key=means.__getitem__, default=None)
    return f"{result.metric}, {work(result)}" + ("" if best is None else f", best {best} {means[best]:.3g}")


def work(result: JudgeResult) -> str:
    """Number of texts, answers, and their cost.

    Args:
        result: The result.
    """
    texts = sum(row.n for row in result.systems)
    cost = "" if result.usage.cost is None else f", cost {result.usage.cost:.4g}"
    return f"{counted(texts, 'text')}, {counted(result.usage.calls, 'answer')}{cost}"


def _cut(result: JudgeResult) -> Iterator[bool]:
    return (each.reason == "cut" for each in result.absent)


def _systems(result: JudgeResult) -> Grid:
    grid = [["system", "mean grade [95 % CI]", "texts", "without a grade", "mean mass", "by samples"]]
    return grid + [
        [
            row.system,
            grade_text(row.mean),
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
            control(f"control:{row.control}({result.metric})"),
            f"{row.n:,}",
            f"{row.mean:.2f}",
            grade_text(row.difference),
            f"{100 * row.equal:.0f} %",
        ]
        for row in result.controls
    ]


def grade_text(value: Estimate | None) -> str:
    """A mean grade, or a difference of two, with its interval; empty where there is none.

    Args:
        value: The value.
    """
    if value is None:
        return ""
    ends = "" if value.low is None or value.high is None else f" [{value.low:.2f}, {value.high:.2f}]"
    return f"{value.value:.2f}{ends}".replace("-", "−")


def findings(result: JudgeResult) -> Iterator[tuple[str, str]]:
    """Name and sentence of each finding: on length, human ratings and the judge's own texts.

    Args:
        result: The result.
    """
    if result.length is not None:
        yield "length", f"Pearson correlation of grade and number of words {_pearson(result.length.words)}"
        if result.length.human is not None:
            after = f"{_pearson(result.length.human_partial)} after a linear fit of both on the number of words"
            of = counted(result.length.human_n, "text")
            yield "human ratings", f"Pearson correlation {_pearson(result.length.human)}; {after} ({of})"
    if (own := result.self_preference) is not None:
        others = "" if own.others is None else f", of others {grade_text(own.others)}"
        preference = "" if own.preference is None else f"; difference {grade_text(own.preference)}"
        what = f"judge minus people {grade_text(own.own)} on {counted(own.n, 'text')} of {own.system}"
        yield "own texts", f"{what}{others}{preference}"


def _pearson(value: float | None) -> str:
    return "undefined" if value is None else number(value)
