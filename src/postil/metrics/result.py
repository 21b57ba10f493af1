"""The result of scoring texts by metrics: scores of systems and of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec.structs import replace

from postil.data.groups import nested
from postil.data.parts import Part
from postil.data.rows import Score
from postil.errors import InvalidInput, UsageError
from postil.messages import Blank, Command, Setting
from postil.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ScoreResult", "SystemScore", "joined_scores"]


class SystemScore(Part, frozen=True, kw_only=True):
    """The corpus score of one system by one metric.

    Args:
        system: The system.
        metric: The metric, as it was asked for.
        score: The corpus score.
        n: Number of candidates.
        signature: All that the number depends on.
    """

    system: str
    metric: str
    score: float
    n: int
    signature: str


class ScoreResult(Result, frozen=True, kw_only=True, eq=False, tag="score"):
    """The scores of systems against graded references.

    Args:
        scores: One row per system and metric.
        aggregation: Aggregation of item scores: ``corpus``, the metric's own corpus score.
        items: Item scores by metric, float64[n] in the order of the candidates, controls among them; empty where they
            went to a file.
        item_signatures: Signatures of the controls in `items`, by name.
        item_names: Item of each candidate in `items`; empty where none was given.
        system_names: System of each candidate in `items`; empty where none was given.
        statistics: Item statistics by metric, float64[n, k], of metrics whose corpus score is not the mean of the item
            scores. They are in memory alone, never in the JSON.
        equal_references: Number of references of its item that are the same text, for each candidate in `items`; empty
            where no candidate has any.
        like: Program whose metrics these are, where it was asked for by name.
    """

    scores: tuple[SystemScore, ...]
    aggregation: Literal["corpus"]
    items: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}
    item_signatures: dict[str, str] = {}
    item_names: tuple[str, ...] = ()
    system_names: tuple[str, ...] = ()
    statistics: dict[str, np.ndarray[Any, np.dtype[np.float64]]] = {}
    equal_references: tuple[int, ...] = ()
    like: str = ""

    def __eq__(self, other: object) -> bool:
        """Compare all numbers; arrays have no truth value of their own."""
        return isinstance(other, ScoreResult) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.scores)

    def to_dict(self) -> dict[str, object]:
        """See `Result.to_dict`."""
        return Result.to_dict(replace(self, statistics={}) if self.statistics else self)

    @property
    def corpus(self) -> dict[str, float]:
        """The corpus score by metric, of the only system.

        Raises:
            UsageError: There are several systems.
        """
        systems = self.by_system
        if len(systems) > 1:
            raise UsageError(f"corpus is of one system, and these are {len(systems)}: take by_system or scores")
        return next(iter(systems.values()), {})

    @property
    def by_system(self) -> dict[str, dict[str, float]]:
        """The corpus scores of each system, by metric."""
        return nested((row.system, row.metric, row.score) for row in self.scores)

    def texts(self) -> list[tuple[str, str]]:
        """Item and system of each candidate in `items`; candidates without a name are numbered from 0.

        Raises:
            UsageError: The result has no item scores, as they went to a file, or columns of several lengths.
        """
        if not self.items:
            raise UsageError(
                "the result has no item scores; give the file that {scored} wrote, or score in Python",
                scored=Command("score", settings=(Setting("items", Blank("FILE")),)),
            )
        n, system = len(next(iter(self.items.values()))), self.scores[0].system
        items = self.item_names or tuple(map(str, range(n)))
        systems = self.system_names or (system,) * n
        several = (items, systems, self.equal_references or items, *self.items.values())
        if {n} != set(map(len, several)):
            raise UsageError(
                "items, item_names, system_names and equal_references are of several lengths; score the texts again"
            )
        return list(zip(items, systems, strict=True))

    def score_rows(self) -> Iterator[Score]:
        """The item scores as rows, as ``--items`` writes them, of the texts that `texts` names.

        Raises:
            UsageError: As `texts`.
        """
        texts, signatures = self.texts(), self.signatures
        n = len(texts)
        equal = self.equal_references or (0,) * n
        none: list[tuple[float, ...]] = [()] * n
        statistics = {name: list(map(tuple, rows.tolist())) for name, rows in self.statistics.items()}
        values = {name: (scores.tolist(), statistics.get(name, none)) for name, scores in self.items.items()}
        for row, (item, of) in enumerate(texts):
            for name, (scores, of_text) in values.items():
                about = signatures.get(name, "external"), of_text[row], equal[row] or None
                yield Score(item, of, name, scores[row], *about)

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of each metric and control."""
        return {row.metric: row.signature for row in self.scores} | self.item_signatures


def joined_scores(results: Mapping[str, ScoreResult]) -> ScoreResult:
    """Join the scores of systems by several runs into one result.

    Args:
        results: The results by their names, at least one; a score that several have counts once.

    Raises:
        InvalidInput: Two results have another score of one system and metric, or other numbers of candidates.

    >>> one = SystemScore(system="a", metric="bleu", score=0.5, n=2, signature="bleu")
    >>> other = replace(one, metric="chrf")
    >>> runs = {name: ScoreResult(scores=(row,), aggregation="corpus") for name, row in (("x", one), ("y", other))}
    >>> joined_scores(runs).by_system
    {'a': {'bleu': 0.5, 'chrf': 0.5}}
    """
    found: dict[tuple[str, str], tuple[str, SystemScore]] = {}
    for name, result in results.items():
        for row in result.scores:
            before, known = found.setdefault((row.system, row.metric), (name, row))
            if known != row:
                problem = f"{row.score:g} of {row.system} by {row.metric}, and {before} has {known.score:g}"
                if known.score == row.score:
                    problem = f"{row.signature} of {row.system} by {row.metric}, and {before} has {known.signature}"
                raise InvalidInput(f"expected the same score and signature in all results, got {problem}", where=name)
    first, least = next(iter(found.values()))
    for name, row in found.values():
        if row.n != least.n:
            problem = f"expected {least.n} candidates of a system, as {first} has, got {row.n} of {row.system}"
            raise InvalidInput(f"{problem}; score the same items", where=name)
    return ScoreResult(scores=tuple(row for _, row in found.values()), aggregation="corpus")
