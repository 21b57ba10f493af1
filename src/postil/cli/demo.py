"""`postil demo`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from postil.cli.errors import emit, exits, say
from postil.cli.options import JobsOption

__all__ = ["demo"]


@exits
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the sample's files, to go on with.")] = Path("demo"),
    jobs: JobsOption = 1,
) -> None:
    """Score the bundled sample and correlate the metrics with its ratings.

    Four commenters on 24 articles, with readers' comments, grades, and two annotators.
    """
    from postil.app.demo import run_demo  # noqa: PLC0415

    run_demo(out, jobs, lambda text: emit(f"{text}\n", "table"), say)
