"""Scoring of two large files whose items come in the same order: references are read beside the candidates.

Memory holds a batch of candidates and their references, and a few bytes per item and system. Both files are read once
before, to find whether they can be streamed, and what depends on all references: signatures, the share of Han texts.
Where they cannot, `streamed` is None and the caller reads all references at once, as it does for small files; the
numbers are the same to the last bit.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.reference_rows import weigh_rows
from postil.app.score_rows import Candidates
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.metrics.consensus import similarity_of
from postil.metrics.evaluation import CHUNK, Evaluation, ReferenceTexts, SystemTotals, weighting_signature
from postil.metrics.metric_set import lowest_weight
from postil.metrics.reference_aggregation import is_near
from postil.records.row_files import read
from postil.records.rows import Candidate, Reference
from postil.records.weights import DEFAULT, default_method
from postil.text.han import HanTexts
from postil.text.tokenizers import tokenizer as named_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.app.score_options import ScoreOptions
    from postil.app.score_rows import CandidateBatch
    from postil.engine import Engine
    from postil.metrics.base import Metric
    from postil.metrics.evaluation import ScoredBatch
    from postil.records.reading import Reading
    from postil.records.row_files import Rows
    from postil.records.row_locations import RowLocations

__all__ = ["StreamedEvaluation", "streamed"]

SMALLEST: Final = 64 << 20
"""Size in bytes of the smallest file of references that is worth a second reading."""
PASSES: Final = 64
"""Largest number of times that the references are read: once for each run of candidates in their order."""


class _ItemIndex:
    """Index of each item, found by the hash of its name: 12 bytes per item."""

    def __init__(self, hashes: array[int]) -> None:
        found = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(found, kind="stable")
        self._hashes = array("q", found[order].tobytes())
        self._index = array("i", order.astype(np.int32).tobytes())
        self.distinct = bool((np.diff(found[order]) > 0).all())
        """True if no name, or hash of a name, came twice."""

    def __len__(self) -> int:
        return len(self._hashes)

    def get(self, item: str) -> int | None:
        """Index of an item, None if there is none of that name."""
        key = hash(item)
        at = bisect_left(self._hashes, key)
        return self._index[at] if at < len(self._hashes) and self._hashes[at] == key else None


@dataclass(frozen=True, slots=True)
class _Survey:
    """Findings of a first reading of the references."""

    items: _ItemIndex
    sizes: tuple[int, int]
    method: str | None
    han: HanTexts


@dataclass(frozen=True, slots=True)
class _Group:
    """References of an item, and the number of rows before them."""

    index: int
    rows: list[Reference]
    before: int


def streamed(
    files: tuple[str, str],
    readings: tuple[Reading, Reading],
    options: ScoreOptions,
    asked: dict[str, Metric] | None,
) -> StreamedEvaluation | None:
    """Find whether two files can be streamed, and prepare it.

    Args:
        files: Path of the candidates and of the references.
        readings: The way to read each.
        options: Options of the command.
        asked: The metrics that were named; None for the default ones.

    Returns:
        The evaluation, or None where all references must be read at once: controls, document frequencies, metrics with
        ``over=near``, another engine, standard input, small files, files of another order, and weights that are wrong.

    Raises:
        InvalidInput: A row is wrong, or too many references are Han texts; says where.
    """
    whole = options.controls or options.background or options.save_background
    if asked is None or whole or options.engine != "local" or not _large(files):
        return None
    if any(metric.origin or (metric.needs_weights and is_near(metric)) for metric in asked.values()):
        return None
    silent = [replace(reading, say=lambda _: None) for reading in readings]
    references = read(files[1], Reference, readings[1])
    survey = _survey(references, options, asked)
    if survey is None:
        return None
    if not options.allow_han:
        survey.han.check(lambda i, problem: references.places.error(i, "text", problem))
    if not _in_order(read(files[0], Candidate, readings[0]), survey.items):
        return None
    with suppress(Undefined):  # document frequencies of a single item: a metric counts those of all references
        return StreamedEvaluation(
            read(files[0], Candidate, silent[0]),
            _References(files[1], silent[1]),
            survey=survey,
            options=options,
            metrics=asked,
        )
    return None


def _large(files: tuple[str, str]) -> bool:
    paths = [Path(path) for path in files]
    return all(path.is_file() for path in paths) and paths[1].stat().st_size >= SMALLEST


def _survey(references: Rows[Reference], options: ScoreOptions, asked: Mapping[str, Metric]) -> _Survey | None:
    """Read the references once; None if those of an item are not next to one another, or cannot be weighted."""
    hashes, least, most = array("q"), 1 << 62, 0
    weights = any(metric.needs_weights for metric in asked.values()) or options.weights or options.scale
    consensus = similarity_of(options.weights) is not None
    method, only_weights = None, True
    han = HanTexts(named_tokenizer(options.tokenizer), "references")
    groups = (list(rows) for _, rows in groupby(references, attrgetter("item")))
    while block := list(islice(groups, CHUNK)):
        rows = [row for group in block for row in group]
        han.see([row.text for row in rows])
        hashes.extend(hash(group[0].item) for group in block)
        sizes = [len(group) for group in block]
        least, most = min(least, *sizes), max(most, *sizes)
        only_weights = only_weights and all(row.weight is not None for row in rows)
        if weights and not consensus:
            method = method or options.weights or (DEFAULT if options.scale else default_method(rows))
            try:
                _weights(rows, sizes, method, options=options, asked=asked, places=references.places)
            except (InvalidInput, UsageError, UnknownName):  # said where all rows are known
                return None
    index = _ItemIndex(hashes)
    if not hashes or not index.distinct or (only_weights and not weights):
        return None
    return _Survey(index, (least, most), options.weights if consensus else method, han)


def _weights(
    rows: Sequence[Reference],
    sizes: Sequence[int],
    method: str,
    *,
    options: ScoreOptions,
    asked: Mapping[str, Metric],
    places: RowLocations,
) -> NDArray[np.float64]:
    """Weights of the references of some items."""
    items = np.repeat(np.arange(len(sizes)), sizes)
    return weigh_rows(rows, items, method, options.scale, lowest=lowest_weight(asked, -1.0), places=places)


def _in_order(candidates: Iterable[Candidate], items: _ItemIndex) -> bool:
    """True if all items are known, and the candidates come in few runs in the items' order."""
    last, runs = -1, 1
    for row in candidates:
        index = items.get(row.item)
        if index is None:
            return False
        runs += index < last
        if runs > PASSES:
            return False
        last = index
    return True


class _References:
    """References of a file, item by item; reading begins anew for an item before the last one."""

    def __init__(self, path: str, reading: Reading) -> None:
        self._path = path
        self._reading = reading
        self._groups: Iterator[_Group] = iter(())
        self._last: _Group | None = None
        self.places = read(path, Reference, reading).places

    def of(self, index: int, item: str) -> _Group:
        """References of an item.

        Raises:
            InvalidInput: The file is not what it was in the first reading.
        """
        if self._last is None or self._last.index > index:
            self._groups = self._read()
            self._last = next(self._groups, None)
        while self._last is not None and self._last.index < index:
            self._last = next(self._groups, None)
        if self._last is None or self._last.rows[0].item != item:
            raise InvalidInput("it was changed while it was read; run it again", where=self._path)
        return self._last

    def first(self) -> _Group:
        """References of the first item."""
        return next(self._read())

    def _read(self) -> Iterator[_Group]:
        rows = read(self._path, Reference, self._reading)
        self.places = rows.places
        done = 0
        for index, (_, group) in enumerate(groupby(rows, attrgetter("item"))):
            found = list(group)
            yield _Group(index, found, done)
            done += len(found)


class StreamedEvaluation:
    """Candidate rows against references that are read beside them; as `RowEvaluation` for its callers.

    Args:
        candidates: The candidates.
        references: The references, to be read again.
        survey: Findings of the first reading.
        options: Options of the command.
        metrics: Metrics by spec; none needs document frequencies of all references.
    """

    def __init__(
        self,
        candidates: Rows[Candidate],
        references: _References,
        *,
        survey: _Survey,
        options: ScoreOptions,
        metrics: Mapping[str, Metric],
    ) -> None:
        self.remarks: list[str] = []
        """Remarks on the rows, one line each, when `measure` has ended."""
        self.items = len(survey.items)
        """Number of items."""
        self.candidates = candidates
        """The candidates, for the caller to pass through a progress bar."""
        self._references = references
        self._survey = survey
        self._options = options
        self._metrics = metrics
        self._split = any(metric.reads_tokens for metric in metrics.values())
        self._given = Candidates(candidates, survey.items)
        self.evaluation = self._bind([self._references.first()])
        """The evaluation of the references at hand."""
        self.totals = SystemTotals(self.evaluation.metrics)
        """Statistics of the systems so far."""

    def _bind(self, groups: list[_Group]) -> Evaluation:
        lines = [group.before + i for group in groups for i in range(len(group.rows))]
        rows = [row for group in groups for row in group.rows]
        sizes = [len(group.rows) for group in groups]
        places, method, options = self._references.places, self._survey.method, self._options
        similarity = similarity_of(options.weights)
        return Evaluation(
            self._metrics,
            ReferenceTexts(
                texts=[row.text for row in rows],
                offsets=np.cumsum([0, *sizes]),
                weights=_weights(rows, sizes, method, options=options, asked=self._metrics, places=places)
                if method is not None and similarity is None
                else None,
                weighting="" if method is None else weighting_signature(method, options.scale),
                similarity=similarity,
            ),
            tokenizer=options.tokenizer,
            jobs=options.jobs,
            allow_han=True,  # the share of all references was looked at before
            sizes=self._survey.sizes,
            refuse=lambda i, problem: places.error(lines[i], "text", problem),
        )

    def measure(
        self, candidates: Iterable[Candidate], engine: Engine | None = None
    ) -> Iterator[ScoredBatch[CandidateBatch]]:
        """Measure the candidates batch by batch.

        Args:
            candidates: Their rows, which may pass a progress bar first.
            engine: Not used: other processes take all references.

        Yields:
            Each batch with its statistics, which are in the totals already.

        Raises:
            InvalidInput: A system answers an item twice, or too many candidates are Han texts; says where.
        """
        del engine
        refuse = lambda i, problem: self.candidates.places.error(i, "text", problem)  # noqa: E731
        han = HanTexts(named_tokenizer(self._options.tokenizer), "candidates")
        for batch in self._given.batches(iter(candidates)):
            for part in _runs(batch):
                numbers, firsts, sets = np.unique(part.sets, return_index=True, return_inverse=True)
                names = [part.rows[first].item for first in firsts.tolist()]
                self.evaluation = self._bind(list(map(self._references.of, numbers.tolist(), names)))
                bound = replace(part, sets=sets.astype(np.int32))
                for scored in self.evaluation.measure([bound], refuse):
                    if self._split:
                        han.see(part.texts)
                    self.totals.add_rows([row.system for row in part.rows], scored.stats)
                    yield scored
        if not self._options.allow_han:
            han.check(refuse)
        self.remarks += [each.remark for each in (self._survey.han if self._split else han, han) if each.remark]

    def missing(self) -> list[str]:
        """Remarks on items without candidates, when all were measured."""
        return list(self._given.missing())


def _runs(batch: CandidateBatch) -> Iterator[CandidateBatch]:
    """Parts of a batch in each of which items come in their order."""
    ends = [*(np.flatnonzero(np.diff(batch.sets) < 0) + 1).tolist(), len(batch.sets)]
    begin = 0
    for end in ends:
        yield replace(
            batch,
            texts=batch.texts[begin:end],
            sets=batch.sets[begin:end],
            first=batch.first + begin,
            rows=batch.rows[begin:end],
        )
        begin = end
