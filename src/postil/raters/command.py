"""`postil agreement`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from postil.cli.command import Argument, FiguresOption, FormatOption, ReportOption, command
from postil.cli.output import check_figures, check_page, emit, say, write_figures, write_page
from postil.data.options import RatingInputOptions
from postil.raters.options import FileAgreementOptions

if TYPE_CHECKING:
    from postil.raters.options import AgreementOptions
    from postil.raters.result import AgreementResult
    from postil.results.formats import Format

__all__ = ["agreement", "print_agreement"]


@command
def agreement(
    ratings: Annotated[
        str,
        Argument(
            metavar="RATINGS",
            help="Ratings (item, annotator, grade, and system if there is one), or one column per annotator.",
        ),
    ],
    *,
    options: FileAgreementOptions,
    inputs: RatingInputOptions,
    report: ReportOption = None,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Measure inter-annotator agreement of a table of ratings.

    Cohen's kappa per pair and Scott's pi pooled (unweighted, linear, quadratic), Krippendorff's alpha, confidence
    intervals, the confusion matrix of grades, and the bias of each annotator. Without a column of systems every item
    is one text.

    Example: postil agreement ratings.csv --annotator-columns 'Rater *'
    """
    from postil.raters.calls import agreement_files  # noqa: PLC0415

    check_figures(figures)
    check_page(report, [ratings])
    found = agreement_files(ratings, options, inputs, say)
    write_figures([found], figures)
    write_page(found, report)
    print_agreement(found, format, options, options.aspect)


def print_agreement(found: AgreementResult, form: Format, options: AgreementOptions, aspect: str | None) -> None:
    """Print agreement, and what is to be said besides where the format has no place for it.

    Args:
        found: The result.
        form: The format.
        options: Options that it was measured with.
        aspect: Aspect that was asked for.
    """
    from postil.raters.view import remarks  # noqa: PLC0415 - figures are behind it
    from postil.results.views import show  # noqa: PLC0415

    emit(show(form, found), form)
    if found.agreement is not None and form != "json":
        for line in remarks(found.agreement):
            say(line)
        of_aspect = f"aspect {aspect}, " if aspect else ""
        say(f"{of_aspect}seed {options.seed}, {options.resamples} resamples")
