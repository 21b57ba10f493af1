"""View of the result of `postil judge`: one row per system, controls below; its chapter of a page, and pictures."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from postil.data.explain import counted
from postil.messages import Blank, Message, Setting
from postil.results.formats import noted
from postil.results.names import control
from postil.results.numbers import DASH, number
from postil.results.page.blocks import (
    Chapter,
    Facts,
    Findings,
    Picture,
    Section,
    capital,
    facts,
    isolated,
    left_out,
    sentences,
)
from postil.results.page.chapters import signatures
from postil.results.plots.forest import IntervalRow, intervals
from postil.results.table import Count, Interval, Name, Number, Share, Table
from postil.results.views import View, signature_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.parts import Estimate
    from postil.judging.result import JudgeResult

__all__ = ["chapter", "controls_table", "findings", "pictures", "systems_table", "view", "work"]

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
    cut = any(each.reason == "cut" for each in result.absent)
    return View(
        line=f"{result.metric}, {work(result)}" + ("" if best is None else f", best {best} {means[best]:.3g}"),
        rows=rows,
        fields=FIELDS,
        grids=[systems_table(result), *([controls_table(result)] if result.controls else [])],
        head=f"{result.metric}, {work(result)}",
        remarks=[
            *(f"{name}: {said}" for name, said in findings(result)),
            *noted(result.notes),
            *([Message("note: {tokens} lets answers be longer", tokens=TOKENS)] if cut else []),
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


def chapter(result: JudgeResult, key: str) -> Chapter:
    """The chapter of a judge.

    Args:
        result: The result.
        key: Prefix of the chapter's ids.
    """
    grades, *controls = pictures(result)
    parts = (
        Section("grades", "Mean grades", (grades, systems_table(result))),
        Section("controls", "Controls", (*controls, *([controls_table(result)] if result.controls else ()))),
        Section("notes", "Notes", sentences(result.notes)),
        Section("data", "Data", (Facts(tuple(left_out(result.absent))),) if result.absent else ()),
        Section("settings", "Settings", (_settings(result), signatures(result.signatures.items()))),
    )
    said = tuple((capital(name), f"{sentence}.") for name, sentence in findings(result))
    return Chapter(
        key,
        f"Grades by {isolated(result.settings.model)}",
        work(result),
        (Findings(said),) if said else (),
        tuple(part for part in parts if part.blocks),
    )


def pictures(result: JudgeResult) -> Iterator[Picture]:
    """Mean grades of the systems; differences that the controls make.

    Args:
        result: The result.
    """
    means = [_row(row.system, row.mean, result.metric) for row in result.systems if row.mean is not None]
    yield _picture("grades", "Mean grades of systems, 95 % confidence intervals over items", means)
    changes = [
        _row(control(f"control:{row.control}({result.metric})"), row.difference, "difference")
        for row in result.controls
    ]
    if changes:
        yield _picture("controls", "Mean change of the grade by each control, 95 % confidence intervals", changes)


def _row(name: str, value: Estimate, group: str) -> IntervalRow:
    return IntervalRow(name, value.value, value.low, value.high, group)


def _picture(key: str, caption: str, rows: list[IntervalRow]) -> Picture:
    said = "; ".join(f"{row.name} {row.value:.2f}" for row in rows)
    return Picture(key, caption, caption, f"{caption}: {said}", partial(intervals, rows))


def _settings(result: JudgeResult) -> Facts:
    given, used = result.settings, result.usage
    return facts(
        ("command", given.command),
        ("model", given.model),
        ("scale", given.scale),
        ("anchors", given.anchors),
        ("answers", f"{used.calls:,}"),
        ("tokens", f"{used.prompt_tokens:,} of requests, {used.completion_tokens:,} of answers"),
        ("cost", DASH if used.cost is None else f"{used.cost:.4g}"),
        ("seed", str(given.seed)),
        ("postil", given.postil),
    )
