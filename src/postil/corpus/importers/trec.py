"""TREC: judgements (qrels), collections of texts, and run files.

========== ==================================================================================================
qrels      ``topic Q0 document grade`` a line, columns apart by spaces or tabs; or, as in BEIR, a first line
           ``query-id corpus-id score`` and three columns
collection ``id<TAB>text`` a line, or JSON Lines; see `postil.corpus.importers.collection`
run        ``topic Q0 document rank score tag`` a line, columns apart by spaces or tabs
========== ==================================================================================================

Every file may be compressed with gzip.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from postil.corpus.importers.collection import read_texts
from postil.data.explain import shown
from postil.data.jsonl import text_lines
from postil.data.ranking import Ranking
from postil.data.rows import Passage
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.row_files import FilePath

__all__ = [
    "Pair",
    "Qrels",
    "TrecPassages",
    "Unjudged",
    "read_qrels",
    "read_run",
    "read_trec",
    "run_lines",
]

Pair: TypeAlias = tuple[str, str]
"""A topic and a document."""

Unjudged: TypeAlias = Literal["skip", "zero", "keep"]
"""Treatment of a passage in a run without a judgement: left out, grade 0 as in trec_eval, or no grade."""

LONGEST: Final = 40
"""Largest number of characters of a column in a message."""

BEIR: Final = ["query-id", "corpus-id", "score"]


@dataclass(frozen=True, slots=True, eq=False)
class Qrels:
    """Judgements.

    Args:
        grades: The grade of each pair of topic and document, in the order of the file.
        repeated: Pairs that the file has more than once, with the same grade each time.
        negative: Pairs whose grade was negative and is 0 here.
    """

    grades: Mapping[Pair, float]
    repeated: tuple[Pair, ...] = ()
    negative: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TrecPassages:
    """Judged passages, and the pairs that were changed or left out.

    Args:
        passages: In the order of the judgements, then what runs add.
        missing: Judged pairs whose document is in none of the collections; they have no row.
        repeated: Pairs that were judged twice with the same grade; they have one row.
        negative: Pairs whose grade was negative and is 0 in the row.
        unjudged: Pairs of runs that nobody judged. With ``skip`` they have no row.
        unused: Number of texts of the collections that no judgement and no run names.
    """

    passages: list[Passage]
    missing: tuple[Pair, ...]
    repeated: tuple[Pair, ...]
    negative: tuple[Pair, ...]
    unjudged: tuple[Pair, ...]
    unused: int


def read_qrels(path: FilePath) -> Qrels:
    r"""Read judgements.

    A negative grade (some tracks mark spam so) becomes 0 and is reported; trec_eval gives no gain to it either.

    Args:
        path: The file.

    Raises:
        InvalidInput: A line is not of the format, or judges a document otherwise than an earlier line.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (path := pathlib.Path(folder, "qrels")).write_text("7 Q0 d1 2\n7\tQ0\td2\t-1\n")
    ...     qrels = read_qrels(path)
    >>> qrels.grades, qrels.negative
    ({('7', 'd1'): 2.0, ('7', 'd2'): 0.0}, (('7', 'd2'),))
    """
    where = os.fspath(path)
    grades: dict[Pair, float] = {}
    first: dict[Pair, tuple[int, float]] = {}
    repeated: dict[Pair, None] = {}
    negative: list[Pair] = []
    names, places = ["topic", "Q0", "document", "grade"], [0, 2, 3]
    for line, text in text_lines(path):
        columns = text.split()
        if sorted(columns) == sorted(BEIR) and not first:
            names, places = columns, [columns.index(name) for name in BEIR]
            continue
        if len(columns) != len(names):
            problem = f"expected {len(names)} columns ({' '.join(names)}), got {len(columns)}"
            raise InvalidInput(problem, where=where, line=line)
        topic, document, value = [columns[place] for place in places]
        pair, grade = (topic, document), _number(value, where, line, "grade")
        earlier, known = first.setdefault(pair, (line, grade))
        if known != grade:
            problem = f"document {pair[1]} of topic {pair[0]} has {known:g} in line {earlier}, here {grade:g}; keep one"
            raise InvalidInput(problem, where=where, line=line, field="grade")
        if earlier != line:
            repeated[pair] = None
            continue
        if grade < 0:
            negative.append(pair)
        grades[pair] = max(grade, 0.0)
    return Qrels(grades, tuple(repeated), tuple(negative))


def read_trec(
    qrels: FilePath, collections: Sequence[FilePath], *, runs: Sequence[FilePath] = (), unjudged: Unjudged = "skip"
) -> TrecPassages:
    r"""Read judged passages: judgements joined with the texts of a collection.

    Args:
        qrels: The judgements.
        collections: The files with the texts.
        runs: Run files whose passages are wanted too.
        unjudged: Treatment of passages of the runs without a judgement.

    Raises:
        UnknownName: ``unjudged`` is none of the three.
        UsageError: There are no collections, or unjudged passages are wanted and there are no runs.
        InvalidInput: A file is not of its format, or the collections have none of the judged documents.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (qrels := pathlib.Path(folder, "qrels")).write_text("7 Q0 d1 2\n7 Q0 d9 1\n")
    ...     _ = (texts := pathlib.Path(folder, "texts.tsv")).write_text("d1\tRain.\nd2\tSnow.\n")
    ...     found = read_trec(qrels, [texts])
    >>> found.passages, found.missing, found.unused
    ([Passage(topic='7', id='d1', text='Rain.', anchors=(), grade=2.0)], (('7', 'd9'),), 1)
    """
    UnknownName.check("way with unjudged passages", unjudged, get_args(Unjudged))
    if unjudged != "skip" and not runs:
        raise UsageError("{unjudged} needs at least one {run}", unjudged=Setting("unjudged"), run=Setting("run"))
    if not collections:
        raise UsageError("the texts stand in collections; name at least one")
    judged = read_qrels(qrels)
    grades: dict[Pair, float | None] = dict(judged.grades)
    new: dict[Pair, None] = {}
    for path in runs:
        for topic, ranking in read_run(path).items():
            new.update(((topic, name), None) for name, _ in ranking if (topic, name) not in judged.grades)
    if unjudged != "skip":
        grades.update(dict.fromkeys(new, 0.0 if unjudged == "zero" else None))
    texts, unused = read_texts(collections, {document for _, document in grades})
    if not texts:
        some = next(iter(grades))[1]
        names = ", ".join(os.fspath(path) for path in collections)
        raise InvalidInput(f"none of the judged documents, such as '{some}', is in {names}", where=os.fspath(qrels))
    passages = [
        Passage(topic, document, texts[document], grade=grade)
        for (topic, document), grade in grades.items()
        if document in texts
    ]
    missing = tuple(pair for pair in grades if pair[1] not in texts)
    return TrecPassages(passages, missing, judged.repeated, judged.negative, tuple(new), unused)


def read_run(path: FilePath) -> dict[str, Ranking[str]]:
    """Read a run.

    As in trec_eval the score says the order and the rank column nothing; equal scores are put in order by
    `postil.data.ranking.Ranking`.

    Args:
        path: The file.

    Returns:
        The ranking of each topic, in the order of the file.

    Raises:
        InvalidInput: A line is not of the format, or a topic has a document twice.
    """
    where = os.fspath(path)
    scores: dict[str, dict[str, float]] = {}
    for line, text in text_lines(path):
        columns = text.split()
        if len(columns) != 6:
            problem = f"expected 6 columns (topic Q0 document rank score tag), got {len(columns)}"
            raise InvalidInput(problem, where=where, line=line)
        topic, _, document, _, score, _ = columns
        ranked = scores.setdefault(topic, {})
        if document in ranked:
            raise InvalidInput(f"topic {topic} has '{document}' twice", where=where, line=line, field="document")
        ranked[document] = _number(score, where, line, "score")
    return {topic: Ranking.from_scores(list(ranked), list(ranked.values())) for topic, ranked in scores.items()}


def run_lines(rankings: Mapping[str, Ranking[str]], tag: str) -> Iterator[str]:
    """Write a run.

    Readers of runs go by the score, in single precision (trec_eval), and break ties in ways of their own. So the scores
    are the ranking's where they fall strictly in single precision; in a topic where they do not, or where one is
    infinite, they are n, n - 1, ..., 1.

    Args:
        rankings: A ranking of documents for each topic.
        tag: Names the system.

    Yields:
        Lines ``topic Q0 document rank score tag``, without an end of line; ranks count from 1.

    Raises:
        UsageError: The tag is empty or has white space in it.
        InvalidInput: A topic or a document has; it would make two columns.

    >>> list(run_lines({"7": Ranking.from_scores(["d1", "d2"], [0.5, 0.75])}, "mine"))
    ['7 Q0 d2 1 0.75 mine', '7 Q0 d1 2 0.5 mine']
    >>> list(run_lines({"7": Ranking.from_scores(["d1", "d2"], [0.5, 0.5])}, "mine"))
    ['7 Q0 d1 1 2 mine', '7 Q0 d2 2 1 mine']
    """
    if not _is_column(tag):
        raise UsageError(f"the tag of a run is one word, got '{tag}'")
    for topic, ranking in rankings.items():
        for name in (topic, *ranking.keys.tolist()):
            if not _is_column(name):
                raise InvalidInput(f"expected an id without white space, got {shown(name)}", where="rankings")
        for rank, ((document, _), score) in enumerate(zip(ranking, _written(ranking.scores), strict=True), start=1):
            yield f"{topic} Q0 {document} {rank} {score} {tag}"


def _written(scores: NDArray[np.float64]) -> list[str]:
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    if np.isfinite(single).all() and (single[1:] < single[:-1]).all():
        return [repr(score) for score in scores.tolist()]
    return [str(place) for place in range(len(scores), 0, -1)]


def _is_column(text: str) -> bool:
    return text.split() == [text]


def _number(text: str, where: str, line: int, field: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        got = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        raise InvalidInput(f"expected a number, got '{got}'", where=where, line=line, field=field)
    return value
