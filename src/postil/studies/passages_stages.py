"""Stages that the study of passages has with the preset of the paper alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from postil.corpus.passage_duplicates import merge_duplicates
from postil.data.row_files import read, write
from postil.data.rows import Passage
from postil.messages import Message
from postil.meta.resampling import Draws
from postil.passages.by_length import RankingsByLength
from postil.passages.calls import MEASURES, gains_of_file
from postil.passages.gain import PassageRankings
from postil.results.base import to_json
from postil.studies.passages_figures import ENTITIES
from postil.studies.stages import Stage, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from postil.passages.calls import PassagesOptions
    from postil.passages.result import NcgResult

__all__ = ["anchors_stage", "collection_stage"]


def collection_stage(passages: Path, target: Path, command: str) -> Stage:
    """The stage that merges duplicates of a topic, by their first and last 25 characters.

    Args:
        passages: The collection.
        target: Output file.
        command: Line of the study's command for this stage.
    """
    return Stage(
        name="collection",
        outputs=[target],
        inputs=[passages],
        request={},
        command=command,
        work=lambda: write(str(target), merge_duplicates(read(passages, Passage)).passages),
    )


def anchors_stage(target: Path, passages: Path, options: PassagesOptions, command: str, words: Sequence[str]) -> Stage:
    """The stage that measures whole passages and anchors, so that their differences have intervals.

    Args:
        target: Output file.
        passages: The collection.
        options: Options of whole passages.
        command: Line of the study's command for this stage.
        words: Words of it that the result depends on.
    """
    return Stage(
        name=target.stem,
        outputs=[target],
        inputs=[passages],
        request={"flags": list(words)},
        command=command,
        work=lambda: write_text(target, to_json(_with_anchors(passages, options))),
    )


def _with_anchors(passages: Path, options: PassagesOptions) -> NcgResult:
    """Rankings of whole passages and of their anchors in one result; the names of the latter say so."""
    whole, scored = gains_of_file(str(passages), replace(options, measures=(*MEASURES, "random")), lines=False)
    alone, parts = gains_of_file(str(passages), replace(options, measures=MEASURES, anchors=True), lines=False)
    rankings = PassageRankings(
        rankings=[
            *scored.rankings,
            *(replace(each, measure=each.measure + ENTITIES) for each in parts.rankings),
        ],
        grades=np.array([passage.grade for passage in scored.passages], np.float64),
        groups=scored.groups,
        pool=options.pool,
        draws=Draws(resamples=options.resamples, seed=options.seed, jobs=options.jobs),
    )
    curves = rankings.curves(options.k)
    return msgspec.structs.replace(
        whole,
        gains=rankings.gains(curves, options.reference),
        differences=rankings.differences(curves),
        lines=rankings.lines(),
        by_length=RankingsByLength(rankings, scored.words, options.strata_k).rows(),
        notes=tuple(dict.fromkeys((*whole.notes, *(Message("anchors: {note}", note=note) for note in alone.notes)))),
    )
