"""`postil demo`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from postil.app.options import ThreadOptions
from postil.cli.command import command
from postil.cli.errors import emit, say

__all__ = ["demo"]


@command
def demo(
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder, with the sample's files.")] = Path("demo"),
    options: ThreadOptions,
) -> None:
    """Score the bundled sample and correlate the metrics with its ratings.

    Four commenters on 24 articles, with readers' comments, grades, and two annotators.
    """
    from postil.app.demo import run_demo  # noqa: PLC0415

    run_demo(out, options.jobs, lambda text: emit(f"{text}\n", "table"), say)
