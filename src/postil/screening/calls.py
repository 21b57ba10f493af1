"""`postil screen`: texts in, what moderators would do with them out."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from postil.data.options import InputOptions
from postil.data.progress import OnMessage, progress
from postil.data.row_files import read
from postil.data.rows import Date, Id, Row
from postil.encoders.endpoint_encoder import EncoderEndpoint
from postil.errors import InvalidInput
from postil.messages import Blank, Command, Setting
from postil.options import changed_settings
from postil.screening.model import Screen
from postil.screening.result import CARRIED, ScreenedRow, ScreeningResult

if TYPE_CHECKING:
    from postil.screening.options import ScreenOptions

__all__ = ["screen_file", "screening_command"]

BATCH: Final = 256
"""Number of texts that are screened together."""
_TEXTS: Final = "texts"
_DECISIONS: Final = "decisions"
"""Roles of the files of a screening, and of a training of a screen."""


_Other: TypeAlias = list[object] | dict[str, object] | bool | float | None
"""Values of fields that are not carried along; a screen has no use for them, so that they are no error."""


class _Text(Row, frozen=True, omit_defaults=True, gc=False):
    """Any row with a text, such as a comment or a decision."""

    text: str
    id: Id | None = None
    article: Id | _Other = None
    author: Id | _Other = None
    date: Date | _Other = None

    def carried(self) -> dict[str, str]:
        """Fields that tell which text it is, as they were written."""
        values = {name: getattr(self, name) for name in CARRIED}
        return {name: str(value) for name, value in values.items() if type(value) in {str, int} and value != ""}


def screen_file(
    texts: str,
    options: ScreenOptions,
    inputs: InputOptions | None = None,
    *,
    on_message: OnMessage = lambda _: None,
) -> ScreeningResult:
    """Tell what moderators would do with texts.

    Args:
        texts: Rows with a text and, if they have them, id, article, author and date; ``-`` for standard input.
        options: The screen, its threshold, and whether to order the texts.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: The file or the screen is invalid, or there are no texts.
        UsageError: The encoder of the screen is behind an endpoint that nobody named, or an endpoint is named
            for a screen that has none.
        PostilError: What reads texts besides n-grams fails.
    """
    endpoint = None if options.encoder is None else EncoderEndpoint(url=options.encoder, on_message=on_message)
    screen = Screen.open(options.model, endpoint).holding_from(options.threshold)
    screen.readers.check_endpoint(options.encoder)
    rows = read(texts, _Text, (inputs or InputOptions()).readings({_TEXTS: _Text}, on_message)[_TEXTS])
    found: list[ScreenedRow] = []
    with progress("texts", rows) as stream:
        while batch := list(islice(stream, BATCH)):
            for row, one in zip(batch, screen.judge([row.text for row in batch], options.jobs), strict=True):
                found.append(
                    ScreenedRow(
                        **row.carried(),
                        id=str(len(found) + 1) if row.id is None else str(row.id),
                        probability=one.probability,
                        decision=one.decision,
                        reasons=dict(one.reasons),
                        text=row.text,
                    )
                )
    if not found:
        raise InvalidInput("expected rows with a text, got none", where=texts)
    if options.sort:
        found.sort(key=lambda one: one.probability, reverse=True)  # which keeps the order of equal ones
    return ScreeningResult(rows=tuple(found), threshold=screen.threshold, model=screen.hash)


def screening_command(model: str, encoder: str | None, inputs: InputOptions) -> Command:
    """The command that screens texts of a table like one of decisions.

    Args:
        model: Folder of the screen.
        encoder: Address of the endpoint that its sentence encoder is behind; None for none.
        inputs: Options of reading the decisions; of those that are of these alone, such as a sheet, none is kept.
    """
    columns = [each.removeprefix(f"{_DECISIONS}.") for each in inputs.column]
    kept = replace(
        inputs,
        column=tuple(each for each in columns if each.partition("=")[0] in _Text.__struct_fields__),
        input_format=_of_texts(inputs.input_format),
        encoding=_of_texts(inputs.encoding),
        delimiter=_of_texts(inputs.delimiter),
        decimal=(),
        sheet=(),
        missing=_of_texts(inputs.missing),
        split=(),
    )
    named = () if encoder is None else (Setting("encoder", encoder),)
    return Command("screen", (Blank("TEXTS"),), (Setting("model", model), *changed_settings(kept), *named))


def _of_texts(given: tuple[str, ...]) -> tuple[str, ...]:
    """Values of a setting, of texts where they are of decisions."""
    role = f"{_DECISIONS}="
    return tuple(f"{_TEXTS}={each.removeprefix(role)}" if each.startswith(role) else each for each in given)
