"""Scores of commenters that were trained with several seeds: means, with intervals over seeds and test articles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.comments.ranking_evaluation import distinct
from postil.data.row_files import read
from postil.data.rows import Candidate, Reference
from postil.meta.resampling import Draws, crossed_estimate
from postil.metrics.evaluation import Batch, Evaluation
from postil.metrics.metric_set import parse_all
from postil.scoring.graded import Weighting, read_references

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.metrics.evaluation import ScoredBatch
    from postil.results.parts import Estimate
    from postil.studies.comments_data import CommentsStudy

__all__ = ["DISTINCT", "WORDS", "scores_over_seeds"]

WORDS: Final = "mean words"
DISTINCT: Final = {"distinct-1": 1, "distinct-2": 2}
"""Statistics of texts by name; the mean over seeds alone, since a resample with repetitions has fewer distinct ones."""


def scores_over_seeds(study: CommentsStudy) -> dict[str, dict[str, Estimate | float]]:
    """The mean corpus score of each system over the seeds, by metric and system.

    Args:
        study: The study of the first seed; its candidates and references are written.

    Returns:
        Values with their 95 % intervals over seeds and articles, and statistics of the texts by the same names as
        Table 7 has.
    """
    options = study.options
    metrics = parse_all(options.specs)
    references = read(study.shared / "references.jsonl", Reference)
    found = read_references(references, Weighting(study.weights, study.scale, metrics), study.on_message)
    evaluation = Evaluation(
        metrics, found.references, tokenizer=study.corpus.tokenizer, jobs=options.jobs, allow_han=True
    )
    texts = [_texts(each.out / "candidates.jsonl", found.items) for each in study.by_seed]
    systems = list(texts[0])
    sets = np.arange(len(found.items), dtype=np.int32)
    runs = evaluation.measure(Batch(of_seed[system], sets) for system in systems for of_seed in texts)
    draws = Draws(resamples=options.resamples, seed=options.seed)
    table: dict[str, dict[str, Estimate | float]] = {}
    for system in systems:
        for name, value in _estimates(evaluation, [next(runs) for _ in texts], draws):
            table.setdefault(name, {})[system] = value
    return table


def _texts(path: Path, items: Mapping[str, int]) -> dict[str, list[str]]:
    """The texts of each system in the order of the items; empty where there is none."""
    found: dict[str, list[str]] = {}
    for row in read(path, Candidate):
        found.setdefault(row.system, [""] * len(items))[items[row.item]] = row.text
    return found


def _estimates(
    evaluation: Evaluation, runs: Sequence[ScoredBatch], draws: Draws
) -> Iterator[tuple[str, Estimate | float]]:
    """Every number of a system, of its runs."""
    for spec in evaluation.metrics.metrics:
        stats = np.stack([run.stats[spec] for run in runs])
        score = evaluation.metrics.scorer(spec).score
        yield spec, crossed_estimate(stats, score, draws)
    lengths = np.stack([np.diff(run.tokens.offsets) for run in runs]).astype(np.float64)  # [runs, items]
    said = (lengths > 0).astype(np.float64)
    if said.sum(axis=1).all():
        yield WORDS, crossed_estimate(np.stack([lengths, said], axis=2), _ratio, draws)
        for name, n in DISTINCT.items():
            if all((np.diff(run.tokens.offsets) >= n).any() for run in runs):
                shares = [distinct(run.tokens.ids, run.tokens.offsets, n) for run in runs]
                yield name, float(np.mean(shares))


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[:, 0] / np.maximum(sums[:, 1], 1.0)
