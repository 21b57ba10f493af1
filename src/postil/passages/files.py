"""Files of `postil passages`: graded passages in; scores and TREC runs out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.corpus.importers.trec import run_lines
from postil.data.atomic_file import check_apart, write_file, writing
from postil.data.explain import shown
from postil.data.grades import Scale
from postil.data.groups import grouped
from postil.data.ranking import Ranking, joined
from postil.data.row_files import kind_of, write
from postil.data.rows import Passage, Score
from postil.errors import InvalidInput, Undefined, UsageError
from postil.messages import Message, Setting
from postil.passages.view import SENSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.data.progress import OnMessage
    from postil.data.row_locations import RowLocations
    from postil.passages.gain import PassageRanking
    from postil.passages.result import NcgResult

__all__ = ["GradedPassages", "PassageScores", "check_passages", "check_scores", "write_runs", "write_scores"]

LARGEST: Final = 1e100
"""Largest grade, so that sums of grades are finite."""

LONGEST: Final = 100
"""Longest name of a run; longer ones are truncated."""


@dataclass(frozen=True, eq=False)
class GradedPassages:
    """Passages with the indices of their topics.

    Args:
        passages: n passages.
        topics: Names of the topics, by first occurrence.
        topic: int64[n], the index of each passage's topic.
        grades: float64[n].
        scale: Their scale; from 0 to the highest grade where none was given.
    """

    passages: Sequence[Passage]
    topics: tuple[str, ...]
    topic: NDArray[np.int64]
    grades: NDArray[np.float64]
    scale: Scale


@dataclass(frozen=True, eq=False)
class PassageScores:
    """The scores of every passage, which are in no result.

    Args:
        passages: t passages.
        groups: int64[t], the topics or folds that intervals are over.
        rankings: Their scores, one ranking per measure and protocol.
        where: The file of the passages.
        words: int64[t], number of words of each passage.
    """

    passages: Sequence[Passage]
    groups: NDArray[np.int64]
    rankings: Sequence[PassageRanking]
    where: str
    words: NDArray[np.int64]


def check_passages(passages: Sequence[Passage], scale: Scale | None, places: RowLocations) -> GradedPassages:
    """Check grades and ids.

    Args:
        passages: The passages.
        scale: The scale of the grades, if it was given.
        places: Locations of the passages, for messages.

    Raises:
        InvalidInput: There are no passages, one has no grade or one that is not on the scale, or an id stands twice in
            a topic.
        Undefined: No passage has a grade above 0.
    """
    if not passages:
        raise InvalidInput("expected passages, got none", where=places.where)
    seen: dict[tuple[str, str], int] = {}
    topics: dict[str, int] = {}
    for place, passage in enumerate(passages):
        if passage.grade is None:
            raise places.error(place, "grade", "expected a grade, got none; gains are sums of grades")
        problem = scale.check(passage.grade) if scale else None
        if problem is None and not 0 <= passage.grade <= LARGEST:
            problem = f"expected a number of at least 0, and at most {LARGEST:g}, got {passage.grade:g}"
        if problem:
            raise places.error(place, "grade", problem)
        first = seen.setdefault((passage.topic, passage.id), place)
        if first != place:
            raise places.error(
                place,
                "id",
                f"a second passage {shown(passage.id)} of topic {shown(passage.topic)}; ids are unique in a topic",
            )
        topics.setdefault(passage.topic, len(topics))
    grades = np.array([passage.grade for passage in passages], np.float64)
    if not grades.any():
        raise Undefined("every grade is 0, so there is nothing to gain")
    return GradedPassages(
        passages=passages,
        topics=tuple(topics),
        topic=np.array([topics[passage.topic] for passage in passages]),
        grades=grades,
        scale=scale or Scale(0, float(grades.max())),
    )


def check_scores(setting: str, path: str, inputs: Sequence[str], printed: str) -> None:
    """Check before the work is done that scores can be written.

    Args:
        setting: Name of the setting that names the file.
        path: Output file.
        inputs: Input files.
        printed: The numbers that standard output is for.

    Raises:
        UsageError: It is standard output, of an unknown kind, or an input file.
    """
    if path == "-":
        raise UsageError(
            "{setting}: expected a file; standard output is for the {printed}",
            setting=Setting(setting),
            printed=printed,
        )
    kind_of(path)
    check_apart(path, inputs)


def write_scores(path: str, scored: PassageScores) -> None:
    """Write one row per passage and measure: item is the topic, system the passage's id; higher is better.

    Args:
        path: JSON Lines or Parquet. A passage without units or reference has no row.
        scored: The scores.

    Raises:
        UsageError: The path is standard output.
    """
    write(
        path,
        (
            Score(passage.topic, passage.id, each.name, score, each.signature)
            for each in scored.rankings
            for passage, score in zip(scored.passages, each.scores.tolist(), strict=True)
            if np.isfinite(score)
        ),
    )


def write_runs(folder: Path, result: NcgResult, scored: PassageScores, on_message: OnMessage) -> None:
    """Write a TREC run per ranking but ``random``, which has no order: one list per topic, whatever the pool.

    A run has no ties: tied passages are in the order of their ids, and `run_lines` writes scores that keep them so. The
    same result gives the same bytes. All runs are made before the first is written, each is written atomically, and
    those of the same name are replaced.

    Args:
        folder: Output folder; made where it is missing.
        result: The result.
        scored: Its scores.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A topic or an id is not one word.
        UsageError: A run would be written over the passages.
        PostilError: The operating system reports an error.
    """
    rankings = [each for each in scored.rankings if each.measure != "random"]
    rows = grouped((passage.topic, row) for row, passage in enumerate(scored.passages))
    runs: dict[Path, bytes] = {}
    tied: dict[str, int] = {}
    sense = SENSES[result.settings.reference]
    for each, name in zip(rankings, _file_names(f"{sense}-{each.name}" for each in rankings), strict=True):
        lists = {topic: _ranking(scored, each, rows[topic]) for topic in sorted(rows)}
        try:
            lines = list(run_lines(lists, name))
        except InvalidInput as error:
            raise InvalidInput(
                Message("{runs}: {problem}", runs=Setting("runs"), problem=error.problem), where=scored.where
            ) from None
        runs[folder / f"{name}.run"] = "".join(f"{line}\n" for line in lines).encode()
        tied[each.name] = sum(_tied(ranking.scores) for ranking in lists.values())
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for path in runs:
        check_apart(path, [scored.where])
    for path, data in runs.items():
        write_file(path, data)
        on_message(f"written: {path}")
    for remark in _remarks(result, tied):
        on_message(remark)


def _file_names(names: Iterable[str]) -> list[str]:
    """Portable names of files, unique regardless of case: letters, digits, full stops and hyphens.

    Args:
        names: Names of rankings.

    >>> _file_names(["f1-1(beta=0.5), without itself", "cosine(vectors=My Vectors)", "cosine(vectors=my/vectors)"])
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


def _ranking(scored: PassageScores, each: PassageRanking, rows: list[int]) -> Ranking[str]:
    return Ranking.from_scores([scored.passages[row].id for row in rows], joined(each.scores[rows]))


def _tied(scores: NDArray[np.float64]) -> int:
    """Number of scores that are equal to another."""
    times = np.unique(scores, return_counts=True)[1]
    return int(times[times > 1].sum())


def _remarks(result: NcgResult, tied: dict[str, int]) -> Iterator[str]:
    if result.settings.pool == "all":
        yield Message(
            "a run has one list per topic, as with {pool}; the gains here are of one list of all passages",
            pool=Setting("pool", "topic"),
        )
    some = "; ".join(f"{name}: {n:,}" for name, n in tied.items() if n)
    if some:
        yield f"tied within their topic, in the runs by id, of {result.data.passages:,} passages: {some}"
