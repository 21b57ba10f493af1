"""`postil demo`: flags, nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from postil.cli.command import Option, command
from postil.cli.output import emit, say
from postil.data.options import ThreadOptions
from postil.errors import needs

__all__ = ["demo"]


@command
def demo(
    *,
    out: Annotated[Path, Option(metavar="DIR", help="Output folder, with the sample's files.")] = Path("demo"),
    serve: Annotated[
        bool, Option(help="Open the editor's desk and the grading page with the sample, until Ctrl+C.")
    ] = False,
    port: Annotated[
        int,
        Option(
            metavar="N", min=0, max=65534, help="With --serve: port of the desk; the grading page has the next one."
        ),
    ] = 8000,
    options: ThreadOptions,
) -> None:
    """Take the bundled sample through scores, audit, estimate, suggestions, interesting passages and both studies.

    Each chapter shows its command, and index.html in the output folder leads to all pages. With --serve the chapters
    run only if the folder does not have them yet.

    Example: postil demo --serve
    """
    from postil.studies.demo.calls import is_prepared, run_demo  # noqa: PLC0415

    if serve:
        with needs("postil demo --serve", "serve,tables"):
            import pyarrow as pa  # type: ignore[import-untyped]  # noqa: F401, PLC0415 - the model needs it

            from postil.studies.demo.desk import serve_demo  # noqa: PLC0415
    if not serve or not is_prepared(out):
        run_demo(out, options.jobs, lambda text: emit(f"{text}\n", "table"), say)
    if serve:
        serve_demo(out, port, options.jobs, on_message=say)
