"""Training of a screen: `postil train screen`, and training it again without what is to be forgotten."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.corpus.forgotten import erasures, keys_of
from postil.data.atomic_file import check_folder
from postil.data.explain import counted
from postil.data.fields import plain_id
from postil.data.model_folders import Model, changing
from postil.data.options import InputOptions
from postil.data.row_locations import FileLocations, SelectedRows
from postil.encoders.encoder_options import is_address
from postil.encoders.endpoint_encoder import EncoderEndpoint, open_encoder
from postil.errors import UsageError
from postil.messages import Blank, Message, Setting
from postil.screening.decisions import Decisions, keys
from postil.screening.fairness import GroupTerm, read_terms
from postil.screening.learning import answered, learn, named_attributes
from postil.screening.model import KIND, read_decisions, write_screen
from postil.screening.readers import Readers, read_all
from postil.screening.result import Disagreement, ScreenTrainingResult
from postil.screening.words import DecisionRow, decision_words, read_worded
from postil.text.languages import detect_language, primary_language

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.corpus.passes import OnProgress
    from postil.data.progress import OnMessage
    from postil.data.row_locations import RowLocations
    from postil.data.rows import Decision
    from postil.data.streams import FilePath
    from postil.kernel.arrays import Floats
    from postil.screening.learning import LearnedScreen
    from postil.screening.options import ScreenTrainOptions

__all__ = ["FORGOTTEN", "RelearnedScreen", "relearn", "train_screen"]

PRECISION: Final = 0.9
"""Precision that the threshold is chosen for where none is asked for."""
DETECTED: Final = 20_000
"""Largest number of texts whose language is detected, evenly over the rows: some thousand take a second."""
NAMED: Final = 5
"""Number of disagreements of either kind that are told."""
OPTIONS: Final = "options"
FORGOTTEN: Final = "forgotten"
"""Fields of the metadata of a screen."""


def train_screen(
    files: Sequence[str],
    out: str | None,
    options: ScreenTrainOptions,
    inputs: InputOptions | None = None,
    *,
    on_message: OnMessage = lambda _: None,
    on_progress: OnProgress = lambda _what, things, _total=None: nullcontext(iter(things)),
) -> ScreenTrainingResult:
    """Learn what moderators hold from their decisions, and write the screen.

    Args:
        files: Files of rows of `postil.data.rows.Decision`; ``-`` for standard input.
        out: The folder to write; None to change the screen that is updated.
        options: Options of the training.
        inputs: Options of reading the files.
        on_message: Callback for status messages.
        on_progress: Callback for progress.

    Raises:
        UsageError: There is nothing to learn from or no folder to write, or an encoder is named for a screen that has
            read other texts without it.
        UnknownName: A named attribute or reason does not exist.
        InvalidInput: A row, the screen or the list of terms is invalid.
        Undefined: The decisions are too few or of one kind, or what is held cannot be told from what is kept.
        MissingExtra: scikit-learn, or what runs an encoder, is not installed.
    """
    if not files and options.update is None:
        raise UsageError("expected files of decisions, or {update}", update=Setting("update", Blank("DIR")))
    if out is None and options.update is None:
        raise UsageError("expected {out}", out=Setting("out", Blank("DIR")))
    attributes = named_attributes(options.attribute)
    if out is not None and out != options.update:
        check_folder(out)
    run = _Run(options, inputs or InputOptions(), on_message, on_progress)
    if options.update is None:
        readers = run.readers()
        rows, places = run.rows(files)
        decisions = run.decisions(rows, readers)
        return run.written(str(out), decisions, readers, before={}, rows=rows, places=places, attributes=attributes)
    with changing(options.update):
        model = Model.open(options.update, {KIND})
        readers = Readers.open(model, run.endpoint())
        readers.check_endpoint(options.encoder)
        known = keys_of(erasures(model.metadata.get(FORGOTTEN), model.path / "metadata.json"))
        rows, places = run.rows(files)
        decisions = read_decisions(model)
        if rows:
            further, size = run.decisions(rows, readers), len(decisions)
            decisions = decisions.followed_by(further)
            new = len(decisions) - size
            on_message(f"{counted(new, 'new decision')}, {len(further) - new:,} in place of earlier ones")
            decisions = decisions.without(known)
        return run.written(
            out or options.update,
            decisions,
            readers,
            before=model.metadata,
            rows=rows,
            places=places,
            attributes=attributes,
        )


class _Options(msgspec.Struct, frozen=True):
    """Options of a training that a screen keeps."""

    precision: float = PRECISION
    attributes: dict[str, str] = {}
    groups: tuple[GroupTerm, ...] = ()


def _metadata(options: _Options, learned: LearnedScreen, forgotten: object) -> dict[str, object]:
    report = learned.report
    found: dict[str, object] = msgspec.to_builtins(
        {
            OPTIONS: options,
            FORGOTTEN: forgotten,
            "evaluation": {
                "split": report.split,
                "auc": report.auc,
                "points": report.points,
                "fairness": report.fairness,
            },
        },
        enc_hook=plain_id,
    )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class RelearnedScreen:
    """A screen that was learned again from some of its decisions, to be written.

    Args:
        before: The screen before.
        decisions: The decisions that are left.
        options: Options of the training.
        learned: The screen.
        readers: Readers of texts besides n-grams, which are not opened.
    """

    before: Model
    decisions: Decisions
    options: _Options
    learned: LearnedScreen
    readers: Readers

    def write(self, folder: FilePath, forgotten: object) -> None:
        """Write it in place of the screen before.

        Args:
            folder: The folder.
            forgotten: Records of all that was erased; see `postil.corpus.forgotten.Erasure`.

        Raises:
            PostilError: The operating system reports an error.
        """
        write_screen(
            folder,
            self.learned.settings,
            _metadata(self.options, self.learned, forgotten),
            weights=self.learned.weights,
            decisions=self.decisions,
            readers=self.readers,
            replace=True,
            before=self.before,
        )


def relearn(model: Model, decisions: Decisions) -> RelearnedScreen:
    """Learn a screen again from some of its decisions, with the options that it keeps.

    An attribute that the user named a reason for is left out where the reason has too few texts left.

    Args:
        model: The folder of the screen.
        decisions: The decisions that are left.

    Raises:
        InvalidInput: The folder is damaged.
        Undefined: The decisions are too few or of one kind, or what is held cannot be told from what is kept.
        MissingExtra: scikit-learn is not installed.
    """
    readers = Readers.open(model, None)
    kept = msgspec.convert(model.metadata.get(OPTIONS, {}), _Options)
    options = _Options(kept.precision, answered(decisions, kept.attributes), kept.groups)
    learned = learn(decisions, options.precision, options.attributes, tuple(readers.meanings.values()), kept.groups)
    return RelearnedScreen(model, decisions, options, learned, readers)


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """A training: its options, and how it tells of itself."""

    options: ScreenTrainOptions
    inputs: InputOptions
    on_message: OnMessage
    on_progress: OnProgress

    def endpoint(self) -> EncoderEndpoint | None:
        """The endpoint of the encoder of a screen that is updated; only this may be named then."""
        named = self.options.encoder
        if self.options.classifier is not None:
            raise UsageError(
                "a screen is updated with the classifier that it has; leave {classifier} out",
                classifier=Setting("classifier", self.options.classifier),
            )
        if named is None:
            return None
        if not is_address(named) or self.options.encoder_model is not None:
            raise UsageError(
                "a screen is updated with the encoder that it has; of {encoder}, name an address alone",
                encoder=Setting("encoder", named),
            )
        return EncoderEndpoint(url=named, on_message=self.on_message)

    def readers(self) -> Readers:
        """Readers of texts besides n-grams, as the options name them."""
        found, options = Readers(), self.options
        if options.classifier is not None:
            found = found.with_classifier(options.classifier, options.classifier_labels)
        if options.encoder is None:
            return found
        return found.with_encoder(open_encoder(options.encoder, options.encoder_model, on_message=self.on_message))

    def rows(self, files: Sequence[str]) -> tuple[list[Decision], RowLocations]:
        """The rows of files that have a text, with their locations."""
        words = decision_words(self.options.hold, self.options.keep, self.options.skip)
        reading = self.inputs.readings({"decisions": DecisionRow}, self.on_message)["decisions"]
        places = FileLocations(", ".join(files))
        every = places.rows(read_worded(file, words, reading) for file in files)
        kept = SelectedRows(every, places, lambda row: bool(row.text.strip()))
        found = list(kept)
        if kept.skipped:
            self.on_message(f"{counted(kept.skipped, 'decision')} on no text, left out")
        return found, kept.places

    def decisions(self, rows: Sequence[Decision], readers: Readers) -> Decisions:
        """Decisions without their texts, the last one on each comment."""
        unknown = sum(row.lang is None for row in rows)
        if unknown > DETECTED:
            self.on_message(f"languages detected in {DETECTED:,} of {unknown:,} texts, evenly over the rows")
        dense = read_all(readers, [row.text for row in rows], self.options.jobs, self.on_progress)
        found = Decisions.of(rows, list(_languages(rows)), dense)
        last = found.last
        if len(last) < len(rows):
            self.on_message(
                f"{counted(len(rows) - len(last), 'decision')} on comments that were decided on again, left out"
            )
        return found.take(last)

    def written(
        self,
        out: str,
        decisions: Decisions,
        readers: Readers,
        *,
        before: Mapping[str, object],
        rows: Sequence[Decision],
        places: RowLocations,
        attributes: Mapping[str, str],
    ) -> ScreenTrainingResult:
        """Learn and write a screen.

        Args:
            out: The folder.
            decisions: The decisions.
            readers: Readers of texts besides n-grams.
            before: Metadata of the screen that is updated.
            rows: The rows of this training, whose texts are known.
            places: Their locations.
            attributes: Reasons that the user names for attributes.
        """
        kept = msgspec.convert(before.get(OPTIONS, {}), _Options)
        precision = self.options.precision or kept.precision
        named = {**kept.attributes, **attributes}
        terms = kept.groups if self.options.groups is None else read_terms(self.options.groups)
        learned = learn(decisions, precision, named, tuple(readers.meanings.values()), terms)
        if not learned.report.fairness:
            self.on_message(
                Message(
                    "no list of terms that name groups of people in {languages}; {groups} names your own",
                    languages=", ".join(learned.settings.languages),
                    groups=Setting("groups", Blank("FILE")),
                )
            )
        write_screen(
            out,
            learned.settings,
            _metadata(_Options(precision, named, terms), learned, before.get(FORGOTTEN, [])),
            weights=learned.weights,
            decisions=decisions,
            readers=readers,
            replace=out == self.options.update,
        )
        return _result(learned, decisions, rows, places, readers)


def _languages(rows: Sequence[Decision]) -> Iterator[str | None]:
    """Languages of the texts: as the rows have them, else detected in some of them."""
    unknown = sum(row.lang is None for row in rows)
    wanted, seen = min(DETECTED, unknown), 0
    for row in rows:
        if row.lang is not None:
            yield primary_language(row.lang)
            continue
        here = seen * wanted // unknown < (seen + 1) * wanted // unknown
        yield detect_language(row.text) if here else None
        seen += 1


def _result(
    learned: LearnedScreen, decisions: Decisions, rows: Sequence[Decision], places: RowLocations, readers: Readers
) -> ScreenTrainingResult:
    report, settings = learned.report, learned.settings
    return ScreenTrainingResult(
        decisions=len(decisions),
        held=int(decisions.held.sum()),
        split=report.split,
        predicted=int(np.isfinite(report.probabilities).sum()),
        base_rate=report.base_rate,
        auc=report.auc,
        threshold=settings.threshold,
        goal=report.goal,
        points=report.points,
        taken_over=report.taken_over,
        groups=report.groups,
        reasons=report.reasons,
        attributes=settings.attributes,
        not_toxic=report.not_toxic,
        fairness=report.fairness,
        disagreements=_disagreements(report.probabilities, decisions, rows, places),
        languages=settings.languages,
        encoder=readers.signature,
        classifier=readers.classifier_signature,
    )


def _disagreements(
    probabilities: Floats, decisions: Decisions, rows: Sequence[Decision], places: RowLocations
) -> tuple[Disagreement, ...]:
    """Texts that the screen is surest about against the moderators, of those whose texts are at hand."""
    names = {name.tobytes(): number for number, name in enumerate(keys(rows))}
    found = []
    for held in (False, True):
        against = probabilities if not held else 1 - probabilities
        order = np.argsort(np.where(np.isfinite(against) & (decisions.held == held), -against, np.inf), kind="stable")
        there = [at for at in order.tolist() if decisions.held[at] == held and np.isfinite(against[at])]
        known = dict[int, tuple[int, int]]()  # equal texts are told once
        for at in there:
            if (number := names.get(decisions.keys[at].tobytes())) is not None:
                known.setdefault(int(decisions.text[at]), (at, number))
        for at, number in islice(known.values(), NAMED):
            row = rows[number]
            found.append(
                Disagreement(
                    text=row.text,
                    decision=row.decision,
                    probability=float(probabilities[at]),
                    reason=row.reason,
                    article=None if row.article is None else str(row.article),
                    id=None if row.id is None else str(row.id),
                    row=f"{places.file(number)}:{places.line(number)}",
                )
            )
    return tuple(found)
