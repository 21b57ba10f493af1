"""`postil weights`: weights of references, before they are graded."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated

from postil.cli.command import ONE_FILE, Argument, FiguresOption, FormatOption, Group, Option
from postil.cli.output import check_figures, print_result, say, write_figures
from postil.weights.options import WeightsPlanOptions

__all__ = ["weights"]

weights = Group("weights", "Plan which references to grade, where weighted metrics need grades of few.")


@weights.add()
def plan(
    candidates: Annotated[
        str,
        Argument(
            metavar="CANDIDATES",
            help="Texts to be scored (item, system, text): all, or a third of them.",
            extra=ONE_FILE,
        ),
    ],
    *,
    references: Annotated[
        str,
        Option(
            short="r",
            metavar="FILE",
            once=True,
            help="References (item, text); those with a grade, ratings or weight count as chosen.",
        ),
    ],
    options: WeightsPlanOptions,
    figures: FiguresOption = None,
    format: FormatOption = "table",  # noqa: A002
) -> None:
    """Plan which references to grade.

    Few grades serve, if they are of the references that the texts to be scored are most similar to. First comes the
    best reference of every item, then the one that adds most anywhere to the sum over texts of the highest similarity
    to a graded reference. Any beginning of the list is a plan.

    Example: postil weights plan systems.jsonl -r references.jsonl --budget 20% --out rows.jsonl
    """
    from postil.weights.calls import plan_weights_files  # noqa: PLC0415

    check_figures(figures)
    with redirect_stdout(sys.stderr):  # where own metrics print, the result stays readable
        result = plan_weights_files(candidates, references, options, say)
    write_figures([result], figures)
    print_result(result, format)
