"""`postil combine`: flags, nothing else."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import FiguresOption, FormatOption, Group, Option, ReportOption, ScoresArgument
from postil.cli.output import check_figures, check_page, command_line, emit, print_result, say, write_figures
from postil.combination.options import ApplyOptions, CombineOptions
from postil.data.options import JudgedInputOptions

__all__ = ["combine"]

combine = Group("combine", "Learn human grades from several metrics, and grade texts by them.")


@combine.add()
def fit(
    scores: ScoresArgument,
    *,
    judgements: Annotated[
        str,
        Option(metavar="FILE", once=True, help="Judgements (item, system, annotator, grade)."),
    ],
    options: CombineOptions,
    inputs: JudgedInputOptions,
    report: ReportOption = None,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Fit a combination of metrics to human ratings.

    The table has the correlation of its out-of-fold grades with the ratings: each text is graded by a fit on other
    items. Beside it is what length and mean weight of the references alone give, where scores have these controls.
    Texts without every metric are excluded, counted and named.

    Example: postil combine fit scores.jsonl --judgements judgements.jsonl --out model --items grades.jsonl
    """
    from postil.combination.calls import fit_files  # noqa: PLC0415

    check_figures(figures)
    check_page(report, [*scores, judgements, inputs.maxima])
    result = fit_files(scores, judgements, options, command=command_line(), inputs=inputs, on_message=say)
    write_figures([result], figures)
    print_result(result, format, report)


@combine.add()
def apply(
    scores: ScoresArgument,
    *,
    model: Annotated[str, Option(metavar="DIR", help="Folder that combine fit --out wrote.")],
    candidates: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Texts (item, system, text) to write beside their grades, which are to hundredths then.",
            first=True,
        ),
    ] = None,
    judgements: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="With --candidates: grades that people gave (item, system, annotator, grade), to write there as well.",
            first=True,
        ),
    ] = None,
    options: ApplyOptions,
    inputs: JudgedInputOptions,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Grade texts by a fitted combination of their scores.

    Grades are on the scale of the judgements of the fit. The table has the mean of each system; --out has a row per
    text, for correlate and compare. A list of texts is in place of the table. Scores must have the signatures that the
    combination was fitted on.

    Example: postil combine apply scores.jsonl --model model --out grades.jsonl
    """
    from postil.combination.calls import apply_to_files  # noqa: PLC0415
    from postil.results.views import show  # noqa: PLC0415

    result = apply_to_files(
        scores, model, options, candidates=candidates, judgements=judgements, inputs=inputs, on_message=say
    )
    if candidates is None or format != "table":
        emit(show(format, result), format)
