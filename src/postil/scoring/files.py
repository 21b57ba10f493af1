"""`postil score`: files in, a result out; candidates stream, so memory does not grow with them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from postil.data.atomic_file import check_apart
from postil.data.paired_tables import PAIR, pair_files
from postil.data.progress import progress, steps
from postil.data.row_files import Writer, read
from postil.data.rows import Candidate, Score
from postil.engine.engines import elsewhere
from postil.errors import UsageError
from postil.messages import Blank, Setting
from postil.metrics.background import DocumentFrequencies
from postil.metrics.controls import ControlOptions
from postil.metrics.metric_set import parse_all
from postil.metrics.spec import load_plugins
from postil.scoring.graded import graded_rows
from postil.scoring.names import summed
from postil.scoring.reference_rows import Weighting
from postil.scoring.result import ScoreResult
from postil.scoring.stream import streamed
from postil.text.tokenizers import tokenizer as named_tokenizer

if TYPE_CHECKING:
    from postil.data.progress import OnMessage
    from postil.metrics.evaluation import Evaluation, ScoredBatch
    from postil.scoring.options import ScoreOptions

__all__ = ["notes", "score_files"]


def notes(result: ScoreResult) -> list[str]:
    """Notes on the numbers, one line each.

    Args:
        result: Scores of systems.
    """
    different = ", ".join(summed(dict.fromkeys(row.metric for row in result.scores)))
    lead = "corpus scores; the means of item scores are other numbers for "
    return [lead + different] if different else []


def score_files(candidates: str, references: str, options: ScoreOptions, on_message: OnMessage) -> ScoreResult:
    """Score every system of a file of candidates against graded references.

    Args:
        candidates: A file of candidate rows; ``-`` for standard input.
        references: A file of reference rows; ``-`` for standard input.
        options: Options of the command.
        on_message: Callback for status messages.

    Returns:
        Scores by system, in the order of their first candidates, and metric.

    Raises:
        UsageError: A name or a combination of options makes no sense.
        InvalidInput: Something in a file is wrong; says where.
        Undefined: CIDEr of a single item without a background.
    """
    load_plugins(options.plugins)
    asked = parse_all(options.metrics) if options.metrics else None
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
    _check_files(candidates, references, options)
    pair = pair_files(candidates, references, options.readings(PAIR, said.append))
    given = pair.readings
    if options.controls and not options.items:
        raise UsageError(
            "{controls} writes item scores; say where to: {items}",
            controls=Setting("controls", value=True),
            items=Setting("items", Blank("FILE")),
        )
    background = None
    if options.background is not None:
        background = DocumentFrequencies.load(options.background)
        background.check_tokenizer(tokenizer, options.background)
    controls = ControlOptions(draws=options.control_draws, seed=options.seed) if options.controls else None

    with ExitStack() as stack:
        out = stack.enter_context(Writer(options.items, Score)) if options.items else None
        weighting = Weighting(options.weights, options.scale, asked)
        files, both = (candidates, references), (given["candidates"], given["references"])
        graded = None if pair.joint else streamed(files, both, options, weighting, stack)
        if graded is None:
            rows = read(candidates, Candidate, given["candidates"])
            of_rows = pair.references(references, weighting.fields)
            graded = graded_rows(rows, of_rows, options, weighting, background=background, controls=controls)
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
    return ScoreResult(scores=graded.totals.scores(), aggregation="corpus")


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


def _check_files(candidates: str, references: str, options: ScoreOptions) -> None:
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
        check_apart(items, [candidates, references])
    if options.background is not None and options.save_background is not None:
        check_apart(options.save_background, [options.background])
