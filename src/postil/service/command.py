"""`postil serve`: flags, and what is printed."""

from __future__ import annotations

from typing import Annotated

from postil.cli.command import Argument, command
from postil.cli.output import say
from postil.errors import needs
from postil.service.options import ServiceOptions

__all__ = ["serve"]


@command
def serve(
    models: Annotated[
        list[str] | None,
        Argument(metavar="[NAME=]DIR...", help="Models that postil train made; the first one is the default."),
    ] = None,
    *,
    options: ServiceOptions,
) -> None:
    """Serve models by HTTP until Ctrl+C: suggestions as JSON, a documented API, several processes.

    SIGHUP and POST /v1/reload read the folders again, and no request is lost. /docs describes all addresses.

    Example: postil serve news=models/news --port 8080
    """
    with needs("postil serve", "serve"):
        from postil.service.server import serve as serve_web  # noqa: PLC0415 - help does without it
    serve_web(models or (), options, on_message=say)
