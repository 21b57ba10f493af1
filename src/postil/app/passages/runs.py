"""The rankings of `postil passages` as TREC runs, for trec_eval and all that read what it reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.passages.output import SENSES
from postil.corpus.formats.trec import run_lines
from postil.errors import InvalidInput
from postil.records.atomic_file import Replacement, check_apart, refused
from postil.records.ranking import Ranking
from postil.records.ties import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.app.passages.files import PassageFindings, Ranked
    from postil.app.progress import Say

__all__ = ["file_names", "write_runs"]

LONGEST: Final = 100
"""Longer names of files are cut."""


def write_runs(folder: Path, found: PassageFindings, say: Say) -> None:
    """Write a run for each ranking but ``random``, which has no order: a list a topic, whatever the pool.

    A run has no ties: tied passages are in the order of their ids, and `run_lines` writes scores that keep them so.
    The same findings give the same bytes. All runs are made before the first is written, each appears whole, and those
    of the same name are replaced.

    Args:
        folder: Where the runs go; made where it is missing.
        found: What was found.
        say: Takes remarks for people.

    Raises:
        InvalidInput: A topic or an id is not one word.
        UsageError: A run would be written over the passages.
        PostilError: The system refuses to write.
    """
    rankings = [each for each in found.ranked if each.measure != "random"]
    rows: dict[str, list[int]] = {}
    for row, passage in enumerate(found.passages):
        rows.setdefault(passage.topic, []).append(row)
    runs: dict[Path, bytes] = {}
    tied: dict[str, int] = {}
    for each, name in zip(
        rankings, file_names(f"{SENSES[found.options.reference]}-{r.name}" for r in rankings), strict=True
    ):
        lists = {topic: _ranking(found, each, rows[topic]) for topic in sorted(rows)}
        try:
            lines = list(run_lines(lists, name))
        except InvalidInput as error:
            raise InvalidInput(f"--runs: {error.problem}", where=found.where) from None
        runs[folder / f"{name}.run"] = "".join(f"{line}\n" for line in lines).encode()
        tied[each.name] = sum(_tied(ranking.scores) for ranking in lists.values())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused(str(folder), error) from error
    for path in runs:
        check_apart(path, [found.where])
    for path, data in runs.items():
        with Replacement(str(path)) as stream:
            stream.write(data)
        say(f"written: {path}")
    for remark in _remarks(found, tied):
        say(remark)


def file_names(names: Iterable[str]) -> list[str]:
    """Names that any file system takes, each another, capitals or not: letters, digits, full stops and hyphens.

    Args:
        names: Of rankings.

    >>> file_names(["f1-1(beta=0.5), without itself", "cosine(vectors=My Vectors)", "cosine(vectors=my/vectors)"])
    ['f1-1-beta-0.5-without-itself', 'cosine-vectors-My-Vectors', 'cosine-vectors-my-vectors-2']
    """
    found: dict[str, str] = {}
    for name in names:
        plain = safe = re.sub(r"[^A-Za-z0-9.]+", "-", name)[:LONGEST].strip("-.")
        number = 1
        while safe.lower() in found:
            number += 1
            safe = f"{plain}-{number}"
        found[safe.lower()] = safe
    return list(found.values())


def _ranking(found: PassageFindings, each: Ranked, rows: list[int]) -> Ranking[str]:
    return Ranking.from_scores([found.passages[row].id for row in rows], joined(each.scores[rows]))


def _tied(scores: NDArray[np.float64]) -> int:
    """How many have the score of another."""
    times = np.unique(scores, return_counts=True)[1]
    return int(times[times > 1].sum())


def _remarks(found: PassageFindings, tied: dict[str, int]) -> Iterator[str]:
    if found.options.pool == "all":
        yield "a run is a list a topic, as with --pool topic; the gains here are of one list of all passages"
    some = "; ".join(f"{name}: {n:,}" for name, n in tied.items() if n)
    if some:
        yield f"tied within their topic, in the runs by id, of {len(found.passages):,} passages: {some}"
