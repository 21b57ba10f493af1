"""Inter-annotator agreement of judgements in Python: `postil.agreement`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from postil.data.arguments import check_arguments, options_of
from postil.data.frames import ColumnNames
from postil.data.rows import Judgement
from postil.errors import Undefined
from postil.meta.agreement import FEWEST
from postil.meta.agreement import agreement as measure
from postil.meta.rated import open_judgements, open_rating_file
from postil.meta.resampling import Draws
from postil.raters.options import AgreementOptions
from postil.raters.result import AgreementResult
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from postil.data.frames import Table
    from postil.data.grades import Scale
    from postil.data.options import RatingInputOptions
    from postil.data.progress import OnMessage
    from postil.data.row_locations import LocatedRows
    from postil.keywords import AgreementKeywords
    from postil.raters.options import FileAgreementOptions

__all__ = ["AgreementOptions", "agreement", "agreement_files"]


def agreement(
    judgements: Table,
    *,
    item: str | None = None,
    system: str | None = None,
    columns: Mapping[str, str] | None = None,
    annotator_columns: Sequence[str] = (),
    missing: Sequence[str] = (),
    scale: Scale | None = None,
    aspect: str | None = None,
    options: AgreementOptions | None = None,
    **keywords: Unpack[AgreementKeywords],
) -> AgreementResult:
    """Measure inter-annotator agreement: percent agreement, kappas, Krippendorff's alphas.

    Kappas and alphas of fewer than 10 texts with two ratings tell nothing; ``agreement.absent`` says so.

    Args:
        judgements: Ratings (item, system, annotator, grade) as a data frame (pandas, Polars, pyarrow, or another that
            narwhals takes), as a list of rows or of dictionaries, or as the path of a file. Without a column of systems
            every item is one text.
        item: Column of the item.
        system: Column of the system.
        columns: Columns by field, such as ``{"annotator": "rater", "grade": "stars"}``.
        annotator_columns: Columns that each have the ratings of one annotator, where there is no column ``grade``.
        missing: Texts of cells that hold no value, such as ``["n/a"]``.
        scale: Scale of the ratings, to check them by.
        aspect: Aspect to keep, where judgements have more than one: of the column aspect, or else a column or
            sheet of that name.
        options: Options; by default those of the command.
        keywords: Fields of the options, in place of an object.

    Returns:
        The agreement, or the reason why there is none.

    Warns:
        UserWarning: Rows without a rating were left out; they are in ``agreement.left_out`` as well.

    Raises:
        InvalidInput: A column is missing, or a value is wrong; the message has the location.
        UnknownName: There is no such field or aspect.
        UsageError: An argument is of another kind.

    >>> rows = [{"item": i, "ann": a, "bob": b} for i, (a, b) in enumerate([(1, 1), (2, 2), (3, 3), (3, 2)] * 3)]
    >>> found = agreement(rows, annotator_columns=["ann", "bob"]).agreement
    >>> found.estimates["agreement"].value, round(found.estimates["alpha-interval"].value, 3)
    (0.75, 0.803)
    """
    check_arguments(agreement, locals())
    names = ColumnNames(
        {"judgements": Judgement},
        columns,
        everywhere={"item": item, "system": system},
        wide={"judgements": annotator_columns},
        missing=missing,
    )
    opened = open_judgements(judgements, names, [aspect])
    return _measured(opened, options_of(AgreementOptions, options, keywords), scale, aspect)


def agreement_files(
    path: str, options: FileAgreementOptions, inputs: RatingInputOptions | None, on_message: OnMessage
) -> AgreementResult:
    """Measure inter-annotator agreement of the ratings in a file.

    Args:
        path: A file of judgement rows, or a table with one column per annotator; ``-`` for standard input.
        options: Options of the command.
        inputs: Options of reading the file.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: The file or a column is missing, or a value is wrong; says where.
        UnknownName: There is no such aspect.
        UsageError: An option of reading makes no sense.
    """
    return _measured(open_rating_file(path, inputs, on_message, options.aspect), options, options.scale, options.aspect)


def _measured(
    ratings: LocatedRows[Judgement], options: AgreementOptions, scale: Scale | None, aspect: str | None
) -> AgreementResult:
    draws = Draws(resamples=options.resamples, seed=options.seed)
    try:
        found = measure(ratings, aspect=aspect, scale=scale, draws=draws, fewest=FEWEST)
    except Undefined as error:
        return AgreementResult(agreement=None, reason=error.message, repeated=(), gold=())
    found = replace(found, left_out=(*found.left_out, *ratings.left_out))
    return AgreementResult(agreement=found, reason="", repeated=(), gold=())
