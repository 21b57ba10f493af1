"""The chapter of a judge: mean grades of systems, controls, length, own texts, notes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from postil.judging.view import controls_table, findings, systems_table, work
from postil.results.names import control
from postil.results.numbers import DASH
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.data.parts import Estimate
    from postil.judging.result import JudgeResult

__all__ = ["chapter", "pictures"]


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
