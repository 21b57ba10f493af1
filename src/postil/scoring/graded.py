"""Candidates with graded references, in blocks, and where the weights of the references come from.

Files, streams, tables and columns become such blocks to be scored.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np

from postil.data.explain import COLUMN, column_setting, counted, have, out_of_range
from postil.data.frames import SYSTEM
from postil.data.grades import DEFAULT, METHODS, NEEDED, SCALE_SETTING, Method, Scale, default_method, weigh
from postil.data.paired_tables import unpaired
from postil.data.row_locations import RowLocations, SelectedRows, Source
from postil.data.synonyms import ROW
from postil.data.wide import words_around
from postil.errors import InvalidInput, Undefined, UnknownName, UsageError
from postil.messages import Blank, Command, Hint, Listed, Message, Setting
from postil.metrics.background import BACKGROUND, DocumentFrequencies
from postil.metrics.evaluation import (
    CHUNK,
    NO_REFERENCES,
    Batch,
    Evaluation,
    ReferenceTexts,
    ScoredBatch,
    SystemTotals,
    weighting_signature,
)
from postil.metrics.metric_set import default_metrics, lowest_weight, parse_all
from postil.metrics.reference_aggregation import Over
from postil.metrics.ungraded import NAME, similarity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.data.progress import OnMessage
    from postil.data.rows import Candidate, Reference
    from postil.engine import Engine
    from postil.metrics.base import Metric
    from postil.metrics.controls import ControlOptions
    from postil.scoring.options import ScoreOptions

__all__ = [
    "SCALE_MISSING",
    "Candidates",
    "Graded",
    "ItemIndex",
    "ReferenceRows",
    "Weighting",
    "check_alone",
    "graded_rows",
    "maxima_remark",
    "read_references",
]

SCALE_MISSING: Final = Message(
    "the references have grades: with {scale} the w- metrics are shown too", scale=SCALE_SETTING
)
"""Remark where no metric is named and all references have grades."""

DROP: Final = Setting("ungraded", "drop")
"""The setting that excludes references without a weight."""


T = TypeVar("T")

OTHER_FILES: Final = 255
"""Number of a file of candidates after 254 others, as a byte has no higher ones; it stands for all further files."""

NAMED: Final = 3
"""Largest number of systems that a remark names."""

LIGHT: Final = 0.75
"""Weight of the best reference of an item up to which a maximum of its own is likelier than a poor set."""

AS_GRADE: Final = Setting("as_grade", value=True)
"""The setting that gives kernel scores as grades."""

OF_REFERENCES: Final = ("scale", "weights", "as_grade", "save_background")
"""Options that say nothing where there are no references."""


@dataclass(frozen=True, eq=False, slots=True)
class ReferenceRows:
    """References of k items, in the order of the items' first lines.

    Args:
        items: Index of each item.
        references: m texts, one set per item.
        refuse: Error for a text by its index, which says where it stands.
        ungraded_items: Items that are excluded, as none of their references has a grade.
        numbered: True if the items are the numbers of the references' rows.
    """

    items: dict[str, int]
    references: ReferenceTexts
    refuse: Callable[[int, str], InvalidInput]
    ungraded_items: Collection[str] = ()
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Weighting:
    """Choice of the references that have a weight, and of how it is made.

    Args:
        method: Name of a weights method; consensus weights are made later, as they need tokens.
        scale: Scale of the grades.
        metrics: The metrics that were named; None for the default ones.
    """

    method: str | None = None
    scale: Scale | None = None
    metrics: Mapping[str, Metric] | None = None

    @property
    def similarity(self) -> Metric | None:
        """The metric of consensus weights; None for weights that rows have."""
        return similarity_of(self.method)

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields of references that their weights are made of; none where no weights are asked for.

        >>> Weighting("votes").fields, Weighting().fields
        (('upvotes',), ())
        """
        if self.method is not None:
            fields = (METHODS[self.method].field,) if self.method in METHODS else ()
            return ("grade", "ratings") if fields == ("grade",) else fields
        return ("grade", "ratings", "weight") if self.scale is not None or self._needed else ()

    @property
    def _needed(self) -> bool:
        return any(metric.needs_weights for metric in (self.metrics or {}).values())

    def of(self, rows: Sequence[Reference]) -> str | None:
        """The method that weights references: where none is named, weights are made if needed or if all rows have one.

        Args:
            rows: The references.
        """
        if self.method or not (self.scale or self._needed or all(row.weight is not None for row in rows)):
            return self.method or None
        return DEFAULT if self.scale else default_method(rows)

    def graded(self, references: Source[Reference], sizes: Counter[str]) -> Source[Reference]:
        """Select the references that have what the method reads.

        Args:
            references: The references.
            sizes: Count of the references of each item, which grows as they come.

        Raises:
            UsageError: There is no such weights method, or it reads no grades.
        """
        if self.similarity is not None:
            raise UsageError(
                "{ungraded}: the weights method '{method}' reads no grades", ungraded=DROP, method=str(self.method)
            )
        name = self.method or (DEFAULT if self.scale else None)
        fields = ("grade", "weight") if name is None else (_method(name).field,)

        def is_graded(row: Reference) -> bool:
            sizes[row.item] += 1
            return any(_value(row, field) is not None for field in fields)

        return SelectedRows(references, references.places, is_graded)

    def texts(
        self, rows: Sequence[Reference], items: NDArray[np.int64], name: str | None, places: RowLocations
    ) -> ReferenceTexts:
        """Group references by item, and weight them.

        Args:
            rows: m references.
            items: int64[m], index of the item of each; every item has one.
            name: Name of the method; None for no weights.
            places: Locations of the rows.

        Raises:
            UsageError: There is no such weights method, or the grades need a scale.
            InvalidInput: A row has not what the method needs, or a weight that the metrics do not take.
        """
        weights = None if name is None or self.similarity else self._weights(rows, items, name, places)
        order = np.argsort(items, kind="stable")
        return ReferenceTexts(
            texts=[rows[i].text for i in order.tolist()],
            offsets=np.concatenate([[0], np.cumsum(np.bincount(items))]).astype(np.int64),
            weights=None if weights is None else weights[order],
            weighting="" if name is None else weighting_signature(name, self.scale),
            similarity=self.similarity,
        )

    def heaviest(self, texts: ReferenceTexts, name: str | None) -> NDArray[np.float64]:
        """Weight of the best reference of each item, where metrics read grades over the top of one scale by default.

        Args:
            texts: The references.
            name: Name of the method that made their weights.

        Returns:
            float64[items]; empty otherwise.
        """
        default = self.method is None and name == DEFAULT and (self.metrics is None or self._needed)
        if not default or texts.weights is None:
            return np.zeros(0)
        return np.asarray(np.maximum.reduceat(texts.weights, texts.offsets[:-1]), np.float64)

    def _weights(
        self, rows: Sequence[Reference], items: NDArray[np.int64], name: str, places: RowLocations
    ) -> NDArray[np.float64]:
        method, lowest = _method(name), lowest_weight(self.metrics or {}, -1.0 if self.metrics else 0.0)
        if method.needs_scale and self.scale is None:
            if any(row.mean_grade is not None for row in rows):
                raise UsageError(
                    "{where}: the grades need a scale (weights '{name}'): {scale}",
                    where=places.where,
                    name=name,
                    scale=SCALE_SETTING,
                )
            there = ", ".join(places.fields(0) or ())
            problem = "missing; a w- metric needs a grade, ratings or a weight on every reference"
            raise places.error(0, method.field, f"{problem} (is the field misspelt? this row has: {there})")
        missing = [i for i, row in enumerate(rows) if _value(row, method.field) is None]
        if 0 < len(missing) < len(rows):
            problem = Message(
                "missing; {needed}, and {count:,} of {all:,} have none; {ungraded} excludes those, and {plan} chooses "
                "which to grade",
                needed=NEEDED[method.field],
                count=len(missing),
                all=len(rows),
                ungraded=DROP,
                plan=Command("weights plan"),
            )
            raise places.error(missing[0], method.field, problem)
        if method.field == "weight":
            for i, row in enumerate(rows):
                if row.weight is not None and not lowest <= row.weight <= 1.0:
                    raise places.error(i, "weight", out_of_range(row.weight, lowest, 1.0))
        weights = weigh(rows, items, method=name, scale=self.scale, places=places)
        for i in np.flatnonzero(weights < lowest).tolist():
            raise places.error(
                i,
                method.field,
                f"the method '{name}' makes the weight {weights[i]:g} of it; only delta-bleu takes weights below 0",
            )
        return weights


def maxima_remark(heaviest: NDArray[np.float64]) -> Iterator[Message]:
    """A remark where the scale does not fit all items, as the points of questions with different maxima.

    Args:
        heaviest: float64[items], weight of the best reference of each item.

    >>> print(*maxima_remark(np.array([1.0, 0.4, 0.5])))
    the best reference of 2 of 3 items weighs .75 or less; where items have maxima of their own, as points of \
questions do: weights="item-max"
    """
    light = int((heaviest <= LIGHT).sum())
    if light and heaviest.max() > heaviest.min():
        yield Message(
            "the best reference of {light:,} of {items:,} items weighs .75 or less; where items have maxima of their "
            "own, as points of questions do: {weights}",
            light=light,
            items=len(heaviest),
            weights=Setting("weights", "item-max"),
        )


def read_references(
    references: Source[Reference], weighting: Weighting, on_message: OnMessage, *, drop: bool = False
) -> ReferenceRows:
    """Read references, group them by item and weight them where weights are needed or can be had.

    Args:
        references: Reference rows.
        weighting: Their weights.
        on_message: Callback for status messages.
        drop: True to exclude references without what the weights method reads, and items that have no others.

    Raises:
        UsageError: There is no such weights method, the grades need a scale, or consensus weights, which read no
            grades, with ``drop``.
        InvalidInput: Something in the rows is wrong, or ``drop`` leaves none; says where.
    """
    sizes = Counter[str]()
    if drop:
        references = weighting.graded(references, sizes)
    rows, places = list(references), references.places
    if drop and not rows:
        raise InvalidInput("no reference has a grade, so none is left", where=places.where)
    if drop and (excluded := sizes.total() - len(rows)):
        on_message(f"{excluded:,} of {sizes.total():,} references {have(excluded)} no grade: excluded")
    items: dict[str, int] = {}
    number = np.fromiter((items.setdefault(row.item, len(items)) for row in rows), dtype=np.int64, count=len(rows))
    texts = weighting.texts(rows, number, method := weighting.of(rows), places)
    for remark in maxima_remark(weighting.heaviest(texts, method)):
        on_message(remark)
    if method is None and not weighting.metrics and all(row.mean_grade is not None for row in rows):
        on_message(SCALE_MISSING)
    return ReferenceRows(
        items=items,
        references=replace(texts, whole=(min(map(sizes.__getitem__, items)), max(map(sizes.__getitem__, items))))
        if drop
        else texts,
        refuse=lambda i, problem: places.error(int(np.argsort(number, kind="stable")[i]), "text", problem),
        ungraded_items=sizes.keys() - items.keys(),
        numbered=places.column("item") == ROW,
    )


def _method(name: str) -> Method:
    if name not in METHODS:
        raise UnknownName("weights method", name, [*METHODS, NAME])
    return METHODS[name]


def _value(row: Reference, field: str) -> float | None:
    """Value that a weights method reads; the mean of the ratings stands in for a missing grade."""
    value: float | None = getattr(row, "mean_grade" if field == "grade" else field)
    return value


@dataclass(eq=False)
class Graded(Generic[T]):
    """Candidates with graded references, block by block: one block where all references are in memory, as of columns.

    Args:
        evaluation: The metrics, bound to the references of the first block.
        candidates: The candidates.
        batches: Function that makes batches of them; one that begins a further block has its references.
        refuse: Error for a candidate by its index and the problem.
        missing: Function that yields remarks on items without candidates, when all were measured.
        remarks: Remarks on the texts, one line each; those on candidates are added when `measure` ends.
    """

    evaluation: Evaluation
    candidates: Iterable[T]
    batches: Callable[[Iterator[T]], Iterable[Batch]]
    refuse: Callable[[int, str], InvalidInput] | None = None
    missing: Callable[[], Iterable[str]] = tuple
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.totals = SystemTotals(self.evaluation.metrics)
        """Statistics of the systems so far."""

    def measure(self, candidates: Iterable[T] | None = None, engine: Engine | None = None) -> Iterator[ScoredBatch]:
        """Measure the candidates batch by batch.

        Args:
            candidates: The candidates, where they pass a progress bar first.
            engine: Engine that computes the statistics; by default this process.

        Yields:
            Each batch with its statistics, which are in the totals already.

        Raises:
            InvalidInput: An item has no references, or a system answers one twice; says where.
        """
        batches = self.batches(iter(self.candidates if candidates is None else candidates))
        for scored in self.evaluation.measure(batches, self.refuse, engine):
            self.totals.add_rows(scored.batch.systems or [SYSTEM] * len(scored.batch.texts), scored.stats)
            yield scored
        self.remarks += self.evaluation.remarks


class ItemIndex:
    """Index of each item, found by the hash of its name: 12 bytes per item."""

    def __init__(self, hashes: array[int]) -> None:
        found = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(found, kind="stable")
        self._hashes = array("q", found[order].tobytes())
        self._index = array("i", order.astype(np.int32).tobytes())
        self.distinct = bool((found[order[1:]] != found[order[:-1]]).all())
        """True if no name, or hash of a name, came twice."""

    def __len__(self) -> int:
        return len(self._hashes)

    def get(self, item: str) -> int | None:
        """Index of an item, None if there is none of that name."""
        key = hash(item)
        at = bisect_left(self._hashes, key)
        return self._index[at] if at < len(self._hashes) and self._hashes[at] == key else None


class Candidates:
    """Candidates of a file, batch by batch; checks that every item is known and that no system answers one twice.

    Args:
        rows: Rows of the file.
        items: Index of each item; None where there are no references, so that any item may come.
        ungraded: Items whose candidates are excluded, as they have no graded reference.
        numbered: True if the items are the numbers of the references' rows.
    """

    def __init__(
        self,
        rows: Source[Candidate],
        items: dict[str, int] | ItemIndex | None,
        ungraded: Collection[str] = (),
        *,
        numbered: bool = False,
    ) -> None:
        self.places = rows.places
        """Locations of the candidates that are not excluded."""
        self._met: dict[str, int] = {}  # where there are no references
        self._items, self._alone = (self._met if items is None else items), items is None
        self._ungraded, self._numbered = ungraded, numbered
        self._excluded = 0
        self._answered: dict[str, bytearray] = {}  # by system, a byte per item: the number of the file, from 1
        self._files: dict[str, int] = {}

    def batches(self, rows: Iterator[Candidate]) -> Iterator[Batch]:
        """Group the rows, which may pass a progress bar first."""
        done = 0
        if self._ungraded:
            selected = SelectedRows(rows, self.places, lambda row: row.item not in self._ungraded)
            rows, self.places = selected, selected.places
        while batch := list(islice(rows, CHUNK)):
            sets = np.fromiter((self._item(done + i, row) for i, row in enumerate(batch)), np.int32, len(batch))
            if self._alone:
                sets = np.zeros(len(batch), np.int32)
            texts, items, systems = (
                [row.text for row in batch],
                [row.item for row in batch],
                [row.system for row in batch],
            )
            yield Batch(texts, sets, done, items, systems)
            done += len(batch)
        if self._ungraded:
            self._excluded = selected.skipped

    def refuse(self, index: int, problem: str) -> InvalidInput:
        """Make the error for the text of a candidate.

        Args:
            index: Number of candidates before it, less those that are excluded.
            problem: The problem, in words.
        """
        return self.places.error(index, "text", problem)

    def _item(self, place: int, row: Candidate) -> int:
        item = self._met.setdefault(row.item, len(self._met)) if self._alone else self._items.get(row.item)
        if item is None:
            known = self._items if isinstance(self._items, dict) else ()  # else only their hashes are known
            problem = Message(
                "expected an item that has references{some}, got '{item}'{remedy}",
                some=self._some_items(),
                item=row.item,
                remedy=words_around(row.item, known, self.places.column("text")),
            )
            raise unpaired(self.places, place, problem, "references", numbered=self._numbered)
        answered = self._answered.get(row.system)
        if answered is None:
            answered = self._answered[row.system] = bytearray(len(self._items))
        answered.extend(bytes(max(0, item + 1 - len(answered))))
        where = self.places.file(place)
        file = self._files.get(where) or self._files.setdefault(where, min(len(self._files) + 1, OTHER_FILES))
        if answered[item]:
            problem = Message(
                "expected one candidate for each item and system, got a second for '{item}' by '{system}'{first}; "
                "leave one out, or name the column of the system: {column}",
                item=row.item,
                system=row.system,
                first=self._first(answered[item], file),
                column=column_setting("", {"system": COLUMN}),
            )
            raise self.places.error(place, "item", problem)
        answered[item] = file
        return item

    def _first(self, earlier: int, here: int) -> str:
        """Clause on the file of the first of two candidates; empty if it is the same, or one of too many."""
        if earlier in {here, OTHER_FILES}:
            return ""
        return Message(" (the first is in {file})", file=list(self._files)[earlier - 1])

    def _some_items(self) -> str:
        """The first items with references, since ids may be written in two ways: 1, 01 and 1.0."""
        if not isinstance(self._items, dict):  # only their hashes are known
            return ""
        more = len(self._items) - NAMED
        return f" ({', '.join(islice(self._items, NAMED))}{f' and {more:,} more' if more > 0 else ''})"

    def missing(self) -> Iterator[str]:
        """Summary of the items without graded references and of those without candidates, one line each."""
        items, systems = len(self._items), self._answered
        if ungraded := len(self._ungraded):
            of = f"{ungraded:,} of {items + ungraded:,} items {have(ungraded)} no graded reference"
            yield f"{of}: excluded with their {counted(self._excluded, 'candidate')}"
        numbers = {name: seen.count(0) + items - len(seen) for name, seen in systems.items()}
        missing = {name: number for name, number in numbers.items() if number}
        if not missing:
            return
        names, least, most = list(missing), min(missing.values()), max(missing.values())
        many = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        what = f"no candidate for {many} of {items:,} items"
        if len(names) == 1:
            yield f"{names[0]}: {what}; its scores are over the others"
            return
        *first, last = names if len(names) <= NAMED else [*names[:NAMED], f"{len(names) - NAMED:,} more"]
        who = f"{len(names):,} of {len(systems):,} systems ({', '.join(first)} and {last})"
        yield f"{who}: {what}; their scores are over the others (column n)"


def check_alone(metrics: Mapping[str, Metric] | None, **given: object) -> dict[str, Metric]:
    """Refuse what needs references where there are none.

    Args:
        metrics: The metrics that were named; None for the default ones.
        given: Values of options of references by name.

    Returns:
        The metrics.

    Raises:
        UsageError: A metric needs references, or an option has a value.
    """
    asked = parse_all(default_metrics(weighted=False)) if metrics is None else dict(metrics)
    if needy := [spec for spec, metric in asked.items() if metric.needs_references]:
        raise UsageError(
            "expected references ({references}), which {metrics} read; a metric of the text alone is a function of one "
            "argument ({own})",
            references=Setting("references", Blank("FILE"), instead="references=…"),
            metrics=Listed(needy),
            own=Setting("plugins", Blank("FILE.py"), instead="metrics=[function]"),
        )
    for name, value in given.items():
        if value is not None and value is not False:
            raise UsageError("{option} is of references, and there are none", option=Setting(name))
    return asked


def graded_rows(
    candidates: Source[Candidate],
    references: Source[Reference] | None,
    options: ScoreOptions,
    weighting: Weighting,
    *,
    background: DocumentFrequencies | None = None,
    controls: ControlOptions | None = None,
) -> Graded[Candidate]:
    """Bind reference rows at once, for candidate rows of any systems, which stream.

    Args:
        candidates: The candidates.
        references: The references; None without any.
        options: Tokenizer and threads.
        weighting: Weights of the references, and the metrics.
        background: Saved document frequencies.
        controls: Controls of the weighted metrics; by default none.

    Raises:
        UsageError: There is no such weights method, the grades need a scale, scores as grades make no sense, or there
            are no references and something needs them.
        InvalidInput: Something in the references is wrong; says where.
        Undefined: CIDEr of a single item without a background.
    """
    if references is None:
        of_references = {name: getattr(options, name) for name in OF_REFERENCES}
        drop = options.ungraded == "drop"
        evaluation = Evaluation(
            check_alone(weighting.metrics, **of_references, background=background, ungraded=drop),
            NO_REFERENCES,
            tokenizer=options.tokenizer,
            controls=controls,
            jobs=options.jobs,
            allow_han=options.allow_han,
        )
        alone = Candidates(candidates, None)
        return Graded(evaluation, candidates, alone.batches, alone.refuse, alone.missing)
    remarks: list[str] = []
    grades = _grades(options, weighting.metrics or {})
    found = read_references(references, weighting, remarks.append, drop=options.ungraded == "drop")
    try:
        evaluation = Evaluation(
            weighting.metrics or _default(found, background, remarks.append),
            found.references,
            tokenizer=options.tokenizer,
            background=background,
            controls=controls,
            jobs=options.jobs,
            allow_han=options.allow_han,
            split=options.save_background is not None,
            grades=grades,
            refuse=found.refuse,
        )
    except Undefined as error:
        raise Undefined("{where}: {problem}", where=references.places.where, problem=error.message) from None
    if options.engine == "local":
        found.references.texts.clear()  # memory: from here on only other processes need them
    given = Candidates(candidates, found.items, found.ungraded_items, numbered=found.numbered)
    return Graded(evaluation, candidates, given.batches, given.refuse, given.missing, remarks)


def _grades(options: ScoreOptions, metrics: Mapping[str, Metric]) -> Scale | None:
    """The scale for kernel scores as grades, None where that is not asked for."""
    if not options.as_grade:
        return None
    if options.weights != "minmax" or options.scale is None:
        raise UsageError(
            "{as_grade} goes with the weights method minmax and a scale alone, got {weights} and {scale}: {needed}",
            as_grade=AS_GRADE,
            weights="none" if options.weights is None else f"'{options.weights}'",
            scale=str(options.scale or "no scale"),
            needed=Listed((Setting("weights", "minmax"), SCALE_SETTING)),
        )
    if not any(Over.of(metric).name == "kernel" for metric in metrics.values()):
        raise UsageError(
            "{as_grade} prints metrics with over=kernel as grades; ask for one, such as w-meteor(over=kernel)",
            as_grade=AS_GRADE,
        )
    return options.scale


def _default(found: ReferenceRows, background: DocumentFrequencies | None, on_message: OnMessage) -> dict[str, Metric]:
    """Metrics where none is named."""
    idf = len(found.items) > 1 or background is not None
    if not idf:
        saved = Hint("; {background} gives saved ones", background=BACKGROUND)
        on_message(Message("cider-d is excluded: one item alone has no document frequencies{saved}", saved=saved))
    return parse_all(default_metrics(weighted=bool(found.references.weighting), idf=idf))
