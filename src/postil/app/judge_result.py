"""The result of `postil judge`: means of systems, controls and notes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from postil.app.judge_controls import MAIN, ItemMeans, control_of, length_correlation, self_preference
from postil.endpoint import refusal_words
from postil.records.results import JudgedSystem, JudgeResult, JudgeSettings
from postil.render.formats import counted
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.app.judge_options import JudgeOptions
    from postil.app.judge_run import JudgeRun
    from postil.metaeval.score_matrix import Key

__all__ = ["judge_result"]


def judge_result(run: JudgeRun, human: Mapping[Key, float], options: JudgeOptions, command: str) -> JudgeResult:
    """Put the result of a run together.

    Args:
        run: The run at its end; some text has a grade.
        human: Mean human rating of texts.
        options: Options of the command.
        command: The command line, if there was one.
    """
    rows, grades, asked = run.texts.rows, run.grades[MAIN], options.controls
    means, there = ItemMeans([row.item for row in rows], options.seed), ~np.isnan(grades)
    ratings = np.array([human.get((row.item, row.system), np.nan) for row in rows])
    served = sorted({outcome.served for outcome in run.outcomes if outcome is not None})
    own = [name for model in (options.model, *served) for name in (model, model.rpartition("/")[2])]
    return JudgeResult(
        metric=run.metric,
        systems=tuple(_systems(run, means)),
        controls=tuple(
            control_of(name, grades, of, means) for name, of in run.grades.items() if name and not np.isnan(of).all()
        ),
        length=length_correlation(grades[there], run.texts.words[there], ratings[there]) if asked else None,
        self_preference=self_preference([row.system for row in rows], own, grades - ratings, means) if asked else None,
        rows=tuple(run.written),
        absent=run.absent,
        usage=run.usage,
        not_sent=run.not_sent,
        notes=(*run.texts.notes, *_notes(run, options, served)),
        signatures={row.metric: row.signature for row in run.written},
        settings=JudgeSettings(
            postil=VERSION,
            command=command,
            model=options.model,
            scale=str(options.scale),
            anchors=options.anchors,
            seed=options.seed,
        ),
    )


def _systems(run: JudgeRun, means: ItemMeans) -> Iterator[JudgedSystem]:
    names = np.array([row.system for row in run.texts.rows])
    grades = run.grades[MAIN]
    for system in dict.fromkeys(names.tolist()):
        mine = names == system
        graded = mine & ~np.isnan(grades)
        found = [outcome for outcome, of in zip(run.outcomes, mine.tolist(), strict=True) if of and outcome is not None]
        masses = [outcome.mass for outcome in found if outcome.mass is not None]
        yield JudgedSystem(
            system=system,
            n=int(graded.sum()),
            absent=int((mine & ~graded).sum()),
            mean=means.of(grades, graded) if graded.any() else None,
            mass=math.fsum(masses) / len(masses) if masses else None,
            sampled=sum(outcome.samples > 0 for outcome in found),
        )


def _notes(run: JudgeRun, options: JudgeOptions, served: Sequence[str]) -> Iterator[str]:
    """Notes on the grades."""
    texts = len(run.outcomes)
    if absent := sum(each.n for each in run.absent):
        yield f"{absent:,} of {counted(texts, 'text')} without a grade: {'; '.join(run.unread)}"
    if run.not_sent:
        yield f"the endpoint {refusal_words(run.not_sent)}"
    sampled = [outcome for outcome in run.outcomes if outcome is not None and outcome.samples]
    if sampled and len(sampled) + absent < texts:
        yield f"{len(sampled):,} of {counted(texts, 'text')} graded by samples, as their grades have too little mass"
    if few := sum(outcome.samples < options.samples for outcome in sampled):
        yield f"{counted(few, 'text')} graded by fewer than {options.samples} samples, as others are no grade"
    if cut := sum(case.article is not None and case.article.omitted > 0 for case in run.texts.cases):
        yield f"{counted(cut, 'text')} judged with the first {options.article_words:,} words of the article"
    if len(served) > 1:
        yield f"several models answered: {', '.join(served)}; scores of one signature at a time can be compared"
