"""View of the result of `postil judge`: one row per system, controls below."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.messages import Blank, Message, Setting
from postil.results.formats import noted
from postil.results.names import control
from postil.results.numbers import number
from postil.results.table import Count, Interval, Name, Number, Share, Table
from postil.results.views import View, signature_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.parts import Estimate
    from postil.judging.result import JudgeResult

__all__ = ["controls_table", "findings", "systems_table", "view", "work"]

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
    means = {row.system: row.mean.value for row in result.systems if row.mean is not None}
    best = max(means, key=means.__getitem__, default=None)
    return View(
        line=f"{result.metric}, {work(result)}" + ("" if best is None else f", best {best} {means[best]:.3g}"),
        rows=rows,
        fields=FIELDS,
        grids=[systems_table(result), *([controls_table(result)] if result.controls else [])],
        head=f"{result.metric}, {work(result)}",
        remarks=[
            *(f"{name}: {said}" for name, said in findings(result)),
            *noted(result.notes),
            *([Message("note: {tokens} lets answers be longer", tokens=TOKENS)] if any(_cut(result)) else []),
        ],
        signatures=list(signature_lines([result.signatures[result.metric]])),
    )


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


def systems_table(result: JudgeResult) -> Table:
    """Mean grades of the systems.

    Args:
        result: The result.
    """
    return Table(
        key="judged",
        caption="Mean grades, 95 % confidence intervals over items in brackets; mean probability of all grades "
        "together",
        rows=result.systems,
        columns=(
            Name("system", "system"),
            Interval("mean grade", "value", at=attrgetter("mean"), plain="mean grade [95 % CI]", grade=True, none=""),
            Count("texts", "n"),
            Count("without a grade", "absent"),
            Number("mass", "mass", plain="mean mass", grade=True, none=""),
            Count("by samples", "sampled"),
        ),
    )


def controls_table(result: JudgeResult) -> Table:
    """Mean grades of the same texts by changed prompts.

    Args:
        result: The result.
    """
    return Table(
        key="judge-controls",
        caption="The same texts by changed prompts: mean grade, difference from the judge, share of equal grades",
        rows=result.controls,
        columns=(
            Name("control", lambda row: control(f"control:{row.control}({result.metric})")),
            Count("texts", "n", only="text"),
            Number("mean grade", "mean", grade=True),
            Interval(
                "difference", "value", at=attrgetter("difference"), plain="difference [95 % CI]", grade=True, none=""
            ),
            Share("same grade", "equal"),
            Count("texts", "n", only="page"),
        ),
        kind=lambda _: "control",
    )


def _grade(value: Estimate | None) -> str:
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
        others = "" if own.others is None else f", of others {_grade(own.others)}"
        preference = "" if own.preference is None else f"; difference {_grade(own.preference)}"
        what = f"judge minus people {_grade(own.own)} on {counted(own.n, 'text')} of {own.system}"
        yield "own texts", f"{what}{others}{preference}"


def _pearson(value: float | None) -> str:
    return "undefined" if value is None else number(value)
