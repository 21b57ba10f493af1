"""Options of `postil weights plan`, apart from what plans so that help does without it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Final

from postil.data.arguments import check_fields
from postil.data.options import InputOptions, PluginOptions, ThreadOptions
from postil.errors import UsageError
from postil.options import Flag, options

__all__ = ["WeightsPlanOptions", "parse_budget"]

BUDGET: Final = re.compile(r"(?P<count>[0-9]{1,18})|(?P<share>[0-9]{1,3}(\.[0-9]{1,9})?) ?%")


@options
class WeightsPlanOptions(PluginOptions, ThreadOptions, InputOptions):
    """Options of `postil weights plan`.

    Args:
        budget: Number of references to grade, or a share such as 20% of those that have no grade and whose item has
            candidates.
        metric: Similarity of a candidate to a reference: a metric without w-.
        each: Number of references of every item that come first, graded ones included.
        tokenizer: Tokenizer, as of postil score.
        out: Write the references here in the order of the plan, for postil annotate plan: .jsonl, .csv, .xlsx or
            .parquet.
    """

    budget: Annotated[str, Flag(metavar="N|SHARE%", first=True)]
    metric: Annotated[str, Flag("metric", short="m", metavar="SPEC", first=True)] = "rouge-l"
    each: Annotated[int, Flag(min=1, first=True)] = 1
    tokenizer: Annotated[str, Flag(metavar="NAME", group="Metrics")] = "words"
    out: Annotated[str | None, Flag("out", short="o", metavar="FILE", first=True)] = None

    def __post_init__(self) -> None:
        check_fields(self)
        parse_budget(self.budget)


def parse_budget(text: str) -> int | Fraction:
    """Parse a budget: a number of references, or the share of them, that may be graded.

    Args:
        text: The budget.

    Raises:
        UsageError: It is neither, or not above 0; or a share above 100 %.
    """
    match = BUDGET.fullmatch(text.strip())
    if match is None:
        hint = f"; for a share of them: {float(text) * 100:g}%" if re.fullmatch(r"0?\.[0-9]{1,9}", text) else ""
        raise UsageError(
            f"budget: expected a number of references such as 100, or a share such as 20%, got '{text}'{hint}"
        )
    budget = int(match["count"]) if match["count"] else Fraction(match["share"]) / 100
    if budget == 0:
        raise UsageError(f"budget: expected at least one reference, got '{text}'")
    if match["share"] and budget > 1:
        raise UsageError(f"budget: expected a share of at most 100%, got '{text}'")
    return budget
