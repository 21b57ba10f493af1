"""The pages of `postil demo --serve`: the editor's desk and the grading page, in one process."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from threading import Thread
from typing import TYPE_CHECKING

from postil.campaigns.pages.server import LIMITS, WebOptions, make_app
from postil.campaigns.store import Store
from postil.cli.signals import unwound
from postil.service.options import ServiceOptions
from postil.service.server import serve
from postil.studies.demo.calls import DESK, MODEL
from postil.studies.demo.campaign import demo_campaign, demo_links
from postil.web.connections import listen, make_server

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import uvicorn

__all__ = ["serve_demo"]

HOST = "127.0.0.1"


def serve_demo(out: Path, port: int, jobs: int, *, on_message: Callable[[str], None]) -> None:
    """Serve both pages until it is interrupted.

    Args:
        out: The folder of the demo, as `postil.studies.demo.calls.run_demo` left it.
        port: Port of the desk; the grading page has the next one. 0 for free ones.
        jobs: Threads of the desk per request.
        on_message: Callback for status messages.

    Raises:
        PostilError: A port is taken, or the model or the campaign cannot be opened.
    """
    campaign = demo_campaign(out)
    options = ServiceOptions(
        host=HOST, port=port, articles=str(out / DESK), data=str(out / "labels"), workers=1, jobs=jobs
    )
    with unwound(serving=True), ExitStack() as until:
        store = until.enter_context(Store.open(campaign, alarm=on_message))
        listening, grading = until.enter_context(listen(HOST, port + 1 if port else 0))
        app = make_app(store, WebOptions(base_url=grading, url=campaign))
        until.enter_context(_running(make_server(app, limits=LIMITS), listening))

        def ready(desk: str) -> None:
            annotator, lead = demo_links(campaign, grading)
            for line in _what_to_do(desk, annotator, lead):
                on_message(line)

        serve([f"sample={out / MODEL}"], options, on_message=on_message, on_ready=ready)


def _what_to_do(desk: str, annotator: str, lead: str) -> Iterator[str]:
    yield f"The editor's desk: {desk}"
    yield "  Choose the first article of the list. s: you would show the suggestion, d: you would not; ? has all keys."
    yield f"The grading page: {annotator}"
    yield "  Grade each comment from 1 to 5, or as many as you like. Two people, A and B, have graded them all."
    yield f"The pages of the lead: {lead}"
    yield "  Progress, agreement and estimate. Open it in a private window: a browser is signed in as one person."
    yield "Only this machine reaches them. The links work once; a new start prints new ones. Stop both with Ctrl+C."


@contextmanager
def _running(server: uvicorn.Server, listening: socket.socket) -> Iterator[None]:
    """Run a server beside the one of the main thread, which alone gets signals; stop it at the end of the block."""
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, name="grading")
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
