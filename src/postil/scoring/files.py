"""`postil score`: files in, a result out; candidates stream, so memory does not grow with them.

References of two large files whose items come in the same order are read beside the candidates: memory holds a batch of
candidates and their references, and a few bytes per item and system. Both files are read once before, to find whether
they can be streamed, and what depends on all references: signatures, the share of Han texts. That costs less than 2 µs
per reference, so that nobody has to say that files are in order. Document frequencies are counted on disk then, and
each batch gets those of its n-grams. Where they cannot, `streamed` is None and all references are read at once, as for
small files; the numbers are the same to the last bit.
"""

from __future__ import annotations

from array import array
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from postil.data.atomic_file import check_apart
from postil.data.explain import NoColumn
from postil.data.paired_tables import PAIR, alone, firsts, pair_tables, repeated
from postil.data.progress import OnMessage, progress, steps
from postil.data.reading import ROLE, Reading
from postil.data.row_files import Writer, read
from postil.data.rows import Candidate, Reference, Score
from postil.engine import elsewhere
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Blank, Command, Message, Setting
from postil.metrics.background import DocumentFrequencies, ExternalFrequencies
from postil.metrics.controls import ControlOptions
from postil.metrics.evaluation import (
    CHUNK,
    Batch,
    Evaluation,
    ReferenceTexts,
    ScoredBatch,
    check_background,
    counts,
    reads_run_tokens,
)
from postil.metrics.metric_set import default_metrics, parse_all
from postil.metrics.reference_aggregation import averages_weights
from postil.metrics.result import ScoreResult
from postil.metrics.spec import known_metric, load_plugins
from postil.scoring.graded import (
    SCALE_MISSING,
    Candidates,
    Graded,
    ItemIndex,
    Weighting,
    graded_rows,
    maxima_remark,
)
from postil.text.tokenizers import tokenizer as named_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from postil.scoring.options import ScoreOptions
    from postil.text.han import HanTexts

__all__ = ["notes", "score_files", "streamed"]

SMALLEST: Final = 64 << 20
"""Size in bytes of the smallest file of references that is worth a second reading."""
COUNTED: Final = 2
"""Factor of that size with an idf: to count on disk takes twice as long as in memory (1 kB per reference)."""
TOGETHER: Final = 1 << 24
"""Number of characters of references from which on no further item joins a batch: they take some ten bytes each."""
FEW: Final = 16
"""Number of items as large as the largest from which on streaming saves memory: it has one at a time in memory."""
PASSES: Final = 64
"""Largest number of times that the references are read: once for each run of candidates in their order."""
APART: Final = Message(
    "where the files of candidates have other columns each, score each by itself, with its own {column} and {items}: "
    "{compare} and {correlate} take several files of item scores",
    column=Setting("column", Blank("FIELD=COLUMN"), instead="columns"),
    items=Setting("items", Blank("FILE")),
    compare=Command("compare"),
    correlate=Command("correlate"),
)
"""Remedy where one of several files of candidates lacks a column."""


def notes(result: ScoreResult) -> list[str]:
    """Notes on the numbers, one line each.

    Args:
        result: Scores of systems.
    """
    found = {row.metric: known_metric(row.metric, row.signature) for row in result.scores}
    different = ", ".join(name for name, metric in found.items() if metric and metric.aggregation == "sums")
    lead = "corpus scores; the means of item scores are other numbers for "
    return [lead + different] if different else []


def score_files(
    candidates: str | Sequence[str],
    references: str | Sequence[str],
    options: ScoreOptions,
    on_message: OnMessage,
    *,
    on_metrics: Callable[[Collection[str]], object] = lambda _: None,
) -> ScoreResult:
    """Score every system of one or several files of candidates against graded references, or alone.

    Args:
        candidates: A file of candidate rows, or several, of which one without systems is a system with the name of the
            file; ``-`` for standard input.
        references: A file of reference rows, or several; ``-`` for standard input; none where no metric needs any.
        options: Options of the command.
        on_message: Callback for status messages.
        on_metrics: Callback for the metrics before anything is computed of them, which may refuse them.

    Returns:
        Scores by system, in the order of their first candidates, and metric.

    Raises:
        UsageError: A name or a combination of options makes no sense.
        InvalidInput: Something in a file is wrong; says where.
        Undefined: CIDEr of a single item without a background.
    """
    of_candidates = [candidates] if isinstance(candidates, str) else list(candidates)
    several = [references] if isinstance(references, str) else list(references)
    with _told_apart(of_candidates):
        return _score_files(of_candidates, several, options, on_message, on_metrics)


@contextmanager
def _told_apart(candidates: Sequence[str]) -> Iterator[None]:
    """Add a remedy to the error that one of several files of candidates has other columns than those that are named."""
    try:
        yield
    except InvalidInput as error:
        first = error.line in {None, 1}  # else the file has the column, and a row is wrong
        if not (first and error.where in candidates and isinstance(error.message, NoColumn) and len(candidates) > 1):
            raise
        problem = Message("{problem}; {apart}", problem=error.message, apart=APART)
        raise InvalidInput(problem, where=error.where, line=error.line, field=error.field) from None
    except UnknownName as error:
        names = {name for each in candidates for name in (Path(each).name, Reading().system_name(each))}
        if error.kind != ROLE or Path(error.name).name not in names or len(candidates) == 1:
            raise
        raise UsageError("{problem}; {apart}", problem=error.message, apart=APART) from None


def _score_files(
    of_candidates: Sequence[str],
    several: Sequence[str],
    options: ScoreOptions,
    on_message: OnMessage,
    on_metrics: Callable[[Collection[str]], object],
) -> ScoreResult:
    """Score files; see `score_files`."""
    load_plugins(options.plugins)
    asked = parse_all(options.metrics) if options.metrics else None
    if asked is not None:
        on_metrics(asked)
    own = [spec for spec, metric in (asked or {}).items() if metric.origin]
    if own and options.engine != "local":
        raise UsageError(
            "{metric}: metrics from outside the package run with {engine}, not {got}",
            metric=own[0],
            engine=Setting("engine", "local"),
            got=options.engine,
        )
    tokenizer = named_tokenizer(options.tokenizer)
    said: list[str] = []
    _check_files([*of_candidates, *several], options)
    readings = options.readings(PAIR, said.append)
    pair = pair_tables(of_candidates, several, readings) if several else alone(of_candidates, readings)
    if options.controls and not options.items:
        raise UsageError(
            "{controls} writes item scores; say where to: {items}",
            controls=Setting("controls", value=True),
            items=Setting("items", Blank("FILE")),
        )
    background = None
    if options.background is not None:
        background = DocumentFrequencies.load(options.background)
        check_background(background, asked or {}, tokenizer, options.background)
    controls = ControlOptions(draws=options.control_draws, seed=options.seed) if options.controls else None

    with ExitStack() as stack:
        out = stack.enter_context(Writer(options.items, Score)) if options.items else None
        weighting = Weighting(options.weights, options.scale, asked)
        graded = None
        if len(of_candidates) == len(several) == 1 and not (pair.joint or pair.counts):
            both = pair.readings["candidates"], pair.readings["references"]
            graded = streamed((of_candidates[0], several[0]), both, options, weighting, stack)
        if graded is None:
            rows = pair.candidates(of_candidates)
            of_rows = pair.references(several, weighting.fields) if several else None
            graded = graded_rows(rows, of_rows, options, weighting, background=background, controls=controls)
        if asked is None:  # they depend on the weights
            on_metrics(graded.evaluation.metrics.metrics)
        # The controls of a batch take far longer than its scores, and have a bar of their own.
        shown = graded.candidates if controls else stack.enter_context(progress("candidates", graded.candidates))
        engine = stack.enter_context(elsewhere(options.engine, options.jobs, options.address, on_message))
        for scored in graded.measure(shown, engine):
            if out:
                _write(out, scored, graded.evaluation)
        remarks = graded.remarks
        if options.save_background:
            found = DocumentFrequencies.of(graded.evaluation.references, tokenizer.signature)
            found.save(options.save_background)
            remarks.append(f"background of {found.items} items saved in {options.save_background}")
    # When all went well, so that an error stands alone; files that were looked at before say all twice.
    for remark in (*dict.fromkeys(said), *remarks, *graded.missing()):
        on_message(remark)
    return ScoreResult(scores=graded.totals.scores(), aggregation="corpus", like=options.like or "")


def _write(out: Writer[Score], scored: ScoredBatch, evaluation: Evaluation) -> None:
    """Write the item scores of a batch: of metrics candidate by candidate, then of controls one by one."""
    batch, signatures, controls = scored.batch, evaluation.metrics.signatures, evaluation.controls
    copies = [number or None for number in scored.copies.tolist()]
    names = list(zip(batch.items, batch.systems, copies, strict=True))
    statistics = {spec: rows.tolist() for spec, rows in scored.statistics.items()}
    none: list[list[float]] = [[]] * len(names)
    columns = [(spec, values.tolist(), statistics.get(spec, none)) for spec, values in scored.item_scores()]
    for row, (item, system, copied) in enumerate(names):
        for spec, values, several in columns:
            out.write(Score(item, system, spec, values[row], signatures[spec], tuple(several[row]), copied))
    if controls is None:
        return
    with steps(len(controls.signatures)) as begin:
        for name, scores in scored.control_scores():
            begin(f"controls of candidates {batch.first + 1:,} to {batch.first + len(names):,}")
            for (item, system, copied), value in zip(names, scores.tolist(), strict=True):
                out.write(Score(item, system, name, value, controls.signatures[name], (), copied))


def _check_files(inputs: Sequence[str], options: ScoreOptions) -> None:
    """Refuse a file that is asked to be two things, and empty names."""
    items = options.items
    for name, path in (("items", items), ("save_background", options.save_background)):
        if path == "":  # as a variable that is not set would have it
            raise UsageError("{option}: expected a name, got an empty one", option=Setting(name))
    if items == "-":
        raise UsageError(
            "{items}: expected a file; standard output is for the scores of the systems", items=Setting("items")
        )
    if items is not None:
        check_apart(items, inputs)
    if options.background is not None and options.save_background is not None:
        check_apart(options.save_background, [options.background])


def streamed(
    files: tuple[str, str],
    readings: tuple[Reading, Reading],
    options: ScoreOptions,
    weighting: Weighting,
    stack: ExitStack,
) -> Graded[Candidate] | None:
    """Find whether two files can be streamed, and prepare it.

    Args:
        files: Path of the candidates and of the references.
        readings: The way to read each.
        options: Options of the command.
        weighting: Weights of the references, and the metrics.
        stack: Contexts that end with the scoring; document frequencies are in a temporary folder until then.

    Returns:
        Candidates and references, or None where all references must be read at once: controls, saved document
        frequencies, those of a single item or of a metric's own tokenizer, metrics with ``over=near`` or
        ``over=kernel``, another engine, standard input, small files, files of a few very long items, files of another
        order, weights that are wrong, and ungraded references to exclude, without which few are left.

    Raises:
        InvalidInput: A row is wrong, or too many references are Han texts; says where.
        PostilError: The disk has no room for the document frequencies.
    """
    whole = options.controls or options.background or options.save_background or options.ungraded == "drop"
    if whole or options.as_grade or options.engine != "local" or not _large(files, SMALLEST):
        return None
    metrics = weighting.metrics or parse_all(default_metrics(weighted=False))
    if any(each.origin or averages_weights(each) or each.reads_all_references for each in metrics.values()):
        return None
    each = [*metrics.values(), *filter(None, [weighting.similarity])]
    if any(metric.idf_order and metric.own_tokenizer for metric in each):
        return None
    order = max(metric.idf_order for metric in each)
    if order and not _large(files, COUNTED * SMALLEST):
        return None
    stream = _Stream(files[1], readings[1], options, weighting)
    split = reads_run_tokens(each)
    if not stream.survey(order, stack, split=split) or not _in_order(
        read(files[0], Candidate, readings[0]), stream.items
    ):
        return None
    if stream.frequencies is not None:
        with steps(stream.frequencies.order - 1) as begin:
            stream.frequencies.count(begin)
    first = stream.block(Batch((), np.zeros(0, np.int32)), [next(stream.groups())])
    evaluation = Evaluation(
        stream.metrics,
        cast("ReferenceTexts", first.references),
        tokenizer=options.tokenizer,
        background=first.background,
        jobs=options.jobs,
        allow_han=options.allow_han,
        sizes=stream.sizes,
        met=stream.han,
    )
    rows = read(files[0], Candidate, replace(readings[0], say=_silent))
    given = Candidates(rows, stream.items)
    batches = lambda several: stream.blocks(given.batches(several))  # noqa: E731
    return Graded(evaluation, rows, batches, given.refuse, given.missing, stream.remarks)


def _silent(_: str) -> None:
    """Say nothing again that the first reading said."""


def _large(files: tuple[str, str], smallest: int) -> bool:
    paths = [Path(path) for path in files]
    return all(path.is_file() for path in paths) and paths[1].stat().st_size >= smallest


def _block(groups: Iterator[_Group]) -> tuple[list[_Group], int]:
    """The next items with their references, and the number of characters of the largest of them."""
    block: list[_Group] = []
    characters = most = 0
    while characters < TOGETHER and len(block) < CHUNK and (group := next(groups, None)):
        block.append(group)
        characters += (own := _characters(group.rows))
        most = max(most, own)
    return block, most


def _characters(rows: Iterable[Reference]) -> int:
    return sum(len(row.text) for row in rows)


def _in_order(candidates: Iterable[Candidate], items: ItemIndex) -> bool:
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


@dataclass(frozen=True, slots=True)
class _Group:
    """References of an item, each once, and the number of the row of each."""

    index: int
    rows: list[Reference]
    numbers: list[int]
    repeated: int


class _Stream:
    """References of a file, item by item: read once to find what depends on all, then again beside the candidates.

    Args:
        path: The file.
        reading: The way to read it.
        options: Options of the command.
        weighting: Weights of the references, and the metrics.
    """

    def __init__(self, path: str, reading: Reading, options: ScoreOptions, weighting: Weighting) -> None:
        self._path, self._reading, self._options, self._weighting = path, reading, options, weighting
        self._places = read(path, Reference, reading).places
        self._ahead: Iterator[_Group] = iter(())
        self._last: _Group | None = None
        self.han: list[HanTexts] = []
        self.frequencies: ExternalFrequencies | None = None
        self.remarks: list[str] = []

    def survey(self, order: int, stack: ExitStack, *, split: bool) -> bool:
        """Read the references once.

        Args:
            order: Length of the longest n-gram whose document frequency is needed; 0 for none.
            stack: Contexts that end with the scoring.
            split: True if the references are tokenized.

        Returns:
            False if the references of an item are too long, are not next to one another, or cannot be weighted.

        Raises:
            InvalidInput: Too many are Han texts; says where.
        """
        groups, longest = self.groups(), Path(self._path).stat().st_size // FEW
        block, characters = _block(groups)
        self._method = self._weighting.of([row for group in block for row in group.rows])
        asked = self._weighting.metrics
        self.metrics = parse_all(default_metrics(weighted=self._method is not None)) if asked is None else asked
        tokenizer = named_tokenizer(self._options.tokenizer)
        every = [*self.metrics.values(), *filter(None, [self._weighting.similarity])]
        self.han = counts(every, tokenizer, "references", split=split)
        if order:
            folder = stack.enter_context(TemporaryDirectory(prefix="postil-", ignore_cleanup_errors=True))
            self.frequencies = ExternalFrequencies(folder, tokenizer, order, self._options.jobs)
        hashes, least, most, repetitions, heaviest = array("q"), 1 << 62, 0, 0, array("d")
        graded = self._method is None and asked is None
        while block:
            if characters > longest:
                return False
            try:
                heaviest.extend(self._weighting.heaviest(self._texts(block), self._method))
            except (InvalidInput, UsageError, UnknownName):  # said where all rows are known
                return False
            texts, sizes = [row.text for group in block for row in group.rows], [len(group.rows) for group in block]
            for han in self.han:
                han.see(texts)
            if self.frequencies is not None:
                self.frequencies.add(texts, sizes)
            hashes.extend(hash(group.rows[0].item) for group in block)
            repetitions += sum(group.repeated for group in block)
            least, most = min(least, *sizes), max(most, *sizes)
            graded = graded and all(row.mean_grade is not None for group in block for row in group.rows)
            block, characters = _block(groups)
        self.items, self.sizes = ItemIndex(hashes), (least, most)
        if not self.items.distinct or len(hashes) < (1 if self.frequencies is None else 2):
            return False
        self.remarks += maxima_remark(np.array(heaviest))
        if graded:
            self.remarks.append(SCALE_MISSING)
        if repetitions:
            what = repeated(repetitions, self._reading.column_setting("id"))
            self.remarks.append(Message("{where}: {what}", where=self._places.where, what=what))
        self._reading = replace(self._reading, say=_silent)
        for han in () if self._options.allow_han else self.han:
            han.check(self._refuse)
        return True

    def groups(self) -> Iterator[_Group]:
        """Read the file from its beginning, item by item."""
        rows = read(self._path, Reference, self._reading)
        self._places = rows.places
        done = 0
        for index, (_, several) in enumerate(groupby(rows, attrgetter("item"))):
            found = list(several)
            first = firsts(found, map(self._places.line, range(done, done + len(found))))
            kept = [i for i, same in enumerate(first) if i == same]
            yield _Group(index, [found[i] for i in kept], [done + i for i in kept], len(found) - len(kept))
            done += len(found)

    def blocks(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Cut batches into parts in each of which items come in their order, each with the references of its items."""
        for batch in batches:
            groups: list[_Group] = []
            begin = characters = 0
            for end, (index, item) in enumerate(zip(batch.sets.tolist(), batch.items, strict=True)):
                if groups and index == groups[-1].index:
                    continue
                if groups and (index < groups[-1].index or characters >= TOGETHER):
                    yield self.block(_part(batch, begin, end), groups)
                    groups, begin, characters = [], end, 0
                groups.append(self._of(index, item))
                characters += _characters(groups[-1].rows)
            yield self.block(_part(batch, begin, len(batch.texts)), groups)

    def block(self, batch: Batch, groups: Sequence[_Group]) -> Batch:
        """A batch with the references of some items, and the document frequencies of the n-grams of both."""
        references, background = self._texts(groups), None
        if self.frequencies is not None:
            background = self.frequencies.of(cast("list[str]", [*references.texts, *batch.texts]))
        return replace(batch, references=references, background=background)

    def _texts(self, groups: Sequence[_Group]) -> ReferenceTexts:
        """The references of some items with their weights."""
        items = np.repeat(np.arange(len(groups)), [len(group.rows) for group in groups])
        return self._weighting.texts([row for group in groups for row in group.rows], items, self._method, self._places)

    def _of(self, index: int, item: str) -> _Group:
        """References of an item; reading begins anew for one before the last.

        Raises:
            InvalidInput: The file is not what it was in the first reading.
        """
        if self._last is None or self._last.index > index:
            self._ahead = self.groups()
            self._last = next(self._ahead, None)
        while self._last is not None and self._last.index < index:
            self._last = next(self._ahead, None)
        if self._last is None or self._last.rows[0].item != item:
            raise InvalidInput("it was changed while it was read; run it again", where=self._path)
        return self._last

    def _refuse(self, index: int, problem: str) -> InvalidInput:
        """The error for the text of a reference, for which the file is read again, by its index among those kept."""
        for group in self.groups():
            if index < len(group.numbers):
                return self._places.error(group.numbers[index], "text", problem)
            index -= len(group.numbers)
        return InvalidInput(problem, where=self._path)


def _part(batch: Batch, begin: int, end: int) -> Batch:
    """Some candidates of a batch, with sets as numbers of their items among those that they are of."""
    return Batch(
        batch.texts[begin:end],
        np.unique(batch.sets[begin:end], return_inverse=True)[1].astype(np.int32),
        batch.first + begin,
        batch.items[begin:end],
        batch.systems[begin:end],
    )
