"""Judged texts with many references, and how far scores follow the judges: what the studies of references share.

No script by itself; `ungraded_references.py` and `graded_references.py` are. Their FOLDER holds the files that
`mohler_to_rows.py`, `dstc7_to_rows.py` and `wmt21_to_rows.py` read, in folders ``mohler``, ``dstc7`` and
``wmt21_ted_zhen``.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import dstc7_to_rows
import mohler_to_rows
import wmt21_to_rows
from postil.data.grades import METHODS
from postil.meta.coefficient_kinds import kind_of
from postil.meta.column_correlations import Texts
from postil.meta.resampling import Draws, bootstrap_counts, interval
from postil.text.tokenizers import is_han_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.meta.coefficients import By, Measure

    Floats: TypeAlias = NDArray[np.float64]

LEVELS: tuple[tuple[By, Measure], ...] = (
    ("pool", "pearson"),
    ("pool", "spearman"),
    ("item", "pearson"),
    ("item", "spearman"),
)
WORDS = {"pool": "pooled", "item": "within item"}
RESAMPLES = 1000
POSTS = 6
"""Every sixth of the posts with votes is taken."""


@dataclass(frozen=True)
class Graded:
    """n texts on some items and what people think of them, in [0, 1]."""

    name: str
    texts: list[str]
    grades: Floats
    item: NDArray[np.int32]
    """The item of each text, rising from 0."""


@dataclass(frozen=True)
class Judged:
    """n texts, their references, and what people think of both."""

    name: str
    candidates: list[str]
    references: list[list[str]]
    weights: list[list[float]]
    """Human ratings of the references, in [0, 1]; empty where nobody was asked."""
    grades: Floats
    item: NDArray[np.int32]
    """The item of each text, rising from 0; texts of an item meet the same references, or all but themselves."""
    cluster: NDArray[np.int32]
    """The question, thread or segment of each item; these are drawn for intervals."""

    def __str__(self) -> str:
        sizes = [len(row) for row in self.references]
        return (
            f"{self.name}: {len(self.candidates):,} texts on {self.cluster[-1] + 1:,} items, {min(sizes)} to "
            f"{max(sizes)} references each (median {np.median(sizes):g})"
        )


def mohler(folder: Path) -> Graded:
    """Students' answers to questions, graded 0 to 5 by two people."""
    questions = mohler_to_rows.read(folder / "mohler" / mohler_to_rows.NAME)
    rows = [(answer.question, answer.text, answer.grade / 5) for answers in questions.values() for answer in answers]
    return _graded("mohler", rows)


def dstc7(folder: Path, aspect: str = "relevance") -> Graded:
    """Ten responses to each web thread; their relevance or informativeness, graded 1 to 5 by three people."""
    with gzip.open(folder / "dstc7" / dstc7_to_rows.NAME, "rt", encoding="utf-8") as lines:
        threads = [json.loads(line) for line in lines]
    rows = [
        (thread["id"], row["text"], (float(np.mean(row[aspect])) - 1) / 4)
        for thread in threads
        for row in thread["candidates"]
        if not is_han_text(row["text"])
    ]
    return _graded(f"dstc7 {aspect}", rows)


def wmt21(folder: Path) -> Graded:
    """Fifteen translations of each segment of a talk, by 13 systems and two people; experts' errors, 0 to 25."""
    rows = wmt21_to_rows.read(folder / "wmt21_ted_zhen" / wmt21_to_rows.NAME).values()
    lowest = wmt21_to_rows.LOWEST
    return _graded("wmt21", [(row.segment, row.text, 1 - row.grade / lowest) for row in rows])


def voted(path: Path, first: int = 0) -> Graded:
    """Comments on posts and the votes that they got, as ``--weights votes`` reads them: log rank within the post.

    The ranks say nothing of one post's comments beside another's, so only the levels within items mean something.

    Args:
        path: A gzipped file with a post a line: ``id`` and ``comments``, each with ``text`` and ``votes``.
        first: The first post that is taken, and from there every sixth.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        posts = [json.loads(line) for number, line in enumerate(lines) if number % POSTS == first]
    rows = [
        (post["id"], row["text"], float(row["votes"]))
        for post in posts
        for row in post["comments"]
        if dstc7_to_rows.words(row["text"]) and not is_han_text(row["text"])
    ]
    raw = _graded(f"votes from post {first}", rows)
    ranks = METHODS["votes"].apply(raw.grades, raw.item.astype(np.int64), 0.0, 1.0)
    return Graded(raw.name, raw.texts, ranks, raw.item)


def _graded(name: str, rows: Sequence[tuple[str, str, float]]) -> Graded:
    """Rows of item, text and grade, item by item."""
    number: dict[str, int] = {}
    item = np.array([number.setdefault(row[0], len(number)) for row in rows], dtype=np.int32)
    order = np.argsort(item, kind="stable").tolist()
    return Graded(name, [rows[i][1] for i in order], np.array([rows[i][2] for i in order]), item[order])


def everyone_else(data: Graded) -> Judged:
    """Every text against all others of its item.

    A good text then meets the worse ones: within an item the mean grade of the others falls exactly as the own grade
    rises. `halves` is free of that.
    """
    rows = [np.flatnonzero(data.item == item).tolist() for item in range(data.item[-1] + 1)]
    others = [[j for j in texts if j != i] for texts in rows for i in texts]
    return Judged(
        name=data.name,
        candidates=data.texts,
        references=[[data.texts[j] for j in row] for row in others],
        weights=[data.grades[row].tolist() for row in others],
        grades=data.grades,
        item=data.item,
        cluster=np.arange(len(rows), dtype=np.int32),
    )


def halves(data: Graded, seed: int = 20181) -> Judged:
    """The texts of each item split at random: those of one half have those of the other as references.

    Args:
        data: Texts and grades.
        seed: The seed of the split.
    """
    rng = np.random.default_rng(seed)
    rows: list[int] = []
    references: list[list[str]] = []
    weights: list[list[float]] = []
    sizes: list[int] = []
    for item in range(data.item[-1] + 1):
        texts = rng.permutation(np.flatnonzero(data.item == item)).tolist()
        parts = [sorted(texts[: len(texts) // 2]), sorted(texts[len(texts) // 2 :])]
        for part, others in zip(parts, parts[::-1], strict=True):
            rows += part
            references += [[data.texts[j] for j in others]] * len(part)
            weights += [data.grades[others].tolist()] * len(part)
            sizes.append(len(part))
    return Judged(
        name=f"{data.name}, halves",
        candidates=[data.texts[i] for i in rows],
        references=references,
        weights=weights,
        grades=data.grades[rows],
        item=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        cluster=np.repeat(np.arange(len(sizes) // 2, dtype=np.int32), 2),
    )


def compared_whole(data: Judged) -> Judged:
    """The same scores and grades, with the texts of both halves of an item compared with one another.

    The half with the better texts has the worse ones as references, so the mean grade of the references falls as the
    own grade rises; less than in `everyone_else`, where it falls exactly.
    """
    return replace(
        data,
        name=f"{data.name} compared whole",
        item=data.cluster[data.item],
        cluster=np.arange(data.cluster[-1] + 1, dtype=np.int32),
    )


def two_grades(data: Graded) -> Graded:
    """Grade 1 for the texts from the median of their item up, 0 for the others."""
    medians = np.array([np.median(data.grades[data.item == item]) for item in range(data.item[-1] + 1)])
    grades = (data.grades >= medians[data.item]).astype(np.float64)
    return replace(data, name=f"{data.name}, two grades", grades=grades)


def posts(folder: Path) -> Judged:
    """The responses of `dstc7` against what people wrote in the threads, which nobody has graded."""
    rows = dstc7_to_rows.read(folder / "dstc7" / dstc7_to_rows.NAME)
    texts: dict[str, list[str]] = {}
    for row in rows.references:
        texts.setdefault(row.item, []).append(row.text)
    number = {name: i for i, name in enumerate(texts)}
    grades = [row.grade for row in rows.judgements if row.aspect == "relevance"]
    return Judged(
        name="dstc7, posts",
        candidates=[row.text for row in rows.candidates],
        references=[texts[row.item] for row in rows.candidates],
        weights=[],
        grades=(np.array(grades).reshape(len(rows.candidates), -1).mean(axis=1) - 1) / 4,
        item=np.array([number[row.item] for row in rows.candidates], dtype=np.int32),
        cluster=np.arange(len(texts), dtype=np.int32),
    )


def correlated(
    data: Judged, scores: Mapping[str, Floats], by: By, coefficient: Measure, jobs: int = 1
) -> tuple[dict[str, float], dict[str, Floats]]:
    """Correlations with the grades, and those of resamples of the items, by name.

    Args:
        data: Whose grades.
        scores: Item scores by name, float64[n]; several draws of a control, float64[n, d], count as the mean of their
            correlations.
        by: Level.
        coefficient: Coefficient.
        jobs: Threads.
    """
    columns = {name: values.reshape(len(data.grades), -1) for name, values in scores.items()}
    ends = np.cumsum([values.shape[1] for values in columns.values()])[:-1]
    counts = bootstrap_counts(int(data.cluster[-1]) + 1, RESAMPLES)[:, data.cluster]
    texts = Texts(np.column_stack(list(columns.values())), data.grades, data.item, np.zeros_like(data.item))
    found = kind_of(coefficient).resampled(texts, counts, by, Draws(jobs=jobs))
    values = dict(zip(columns, (float(part.mean()) for part in np.split(found.values, ends)), strict=True))
    return values, dict(
        zip(columns, (part.mean(axis=1) for part in np.split(found.samples, ends, axis=1)), strict=True)
    )


def shown(value: float, samples: Floats, *, signed: bool = False) -> str:
    """A number with its 95 % interval as tables have it.

    Args:
        value: The number; NaN where it is not defined.
        samples: Its values on resamples.
        signed: True for a difference.
    """
    if np.isnan(value):
        return "constant" if signed else "-"
    middle = interval(samples)
    sign = "+" if signed else ""
    return f"{value:{sign}.3f} [{middle.low:{sign}.3f}, {middle.high:{sign}.3f}]"


def print_table(
    data: Judged, scores: Mapping[str, Floats], base: str, pairs: Sequence[tuple[str, str]] = (), jobs: int = 1
) -> None:
    """Correlations with the grades: a row for each score, with its difference from one of them and a 95 % interval.

    Args:
        data: Whose grades.
        scores: Item scores by name, float64[n]; several draws of a control, float64[n, d], count as the mean of their
            correlations.
        base: The name that differences are from.
        pairs: Names whose differences, the first minus the second, get a row of their own.
        jobs: Threads.
    """
    rows: dict[str, list[str]] = {name: [] for name in [*scores, *(f"{one} minus {other}" for one, other in pairs)]}
    for by, coefficient in LEVELS:
        values, samples = correlated(data, scores, by, coefficient, jobs)

        def difference(
            one: str, other: str, values: dict[str, float] = values, samples: dict[str, Floats] = samples
        ) -> str:
            return shown(values[one] - values[other], samples[one] - samples[other], signed=True)

        for name in scores:
            value = "-" if np.isnan(values[name]) else f"{values[name]:.3f}"
            rows[name].append(value + (f" ({difference(name, base)})" if name != base else ""))
        for one, other in pairs:
            rows[f"{one} minus {other}"].append(difference(one, other))
    print(f"\n| {data.name} | " + " | ".join(f"{coefficient}, {WORDS[by]}" for by, coefficient in LEVELS) + " |")
    print("|---|" + "---|" * len(LEVELS))
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |")
