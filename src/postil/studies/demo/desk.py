"""The pages of `postil demo --serve`: the editor's desk, and the grading page with its campaign, in one process."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from threading import Thread
from typing import TYPE_CHECKING

from postil.campaigns.calls import invite, open_campaign
from postil.campaigns.models import Given, Item
from postil.campaigns.options import InviteOptions, PlanOptions
from postil.campaigns.pages.server import LIMITS, WebOptions, make_app
from postil.campaigns.planning import plan
from postil.campaigns.store import Store
from postil.cli.output import unwound
from postil.data.row_files import read
from postil.data.rows import Judgement
from postil.service.options import ServiceOptions
from postil.service.server import serve
from postil.studies.demo.calls import DESK, MODEL
from postil.web.connections import listen, make_server

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import uvicorn


__all__ = ["serve_demo"]

GRADING = "grading.db"
PEOPLE = {"A": "A1", "B": "A2"}
"""Pseudonym in the campaign of each person whose grades the sample has; a third place is free."""


def _demo_campaign(out: Path) -> str:
    """Make the campaign, or find the one of an earlier run.

    Args:
        out: The folder of the demo.

    Returns:
        Its location. Two annotators have graded all texts, and a third has none of them yet.
    """
    campaign, new = out / GRADING, out / f"{GRADING}.new"
    if not campaign.exists():
        new.unlink(missing_ok=True)  # an earlier run was interrupted
        options = PlanOptions(
            annotators=len(PEOPLE) + 1,
            annotators_per_item=len(PEOPLE) + 1,
            articles=str(out / "articles.en.jsonl"),
            name="Comments of the sample",
        )
        plan(str(out / "candidates.en.jsonl"), str(new), options)
        with open_campaign(str(new)) as store:
            store.load({place: name for name, place in PEOPLE.items()}, list(_given(out, store.items())))
        new.replace(campaign)
    return str(campaign)


def _given(out: Path, items: Sequence[Item]) -> Iterator[Given]:
    numbers = {(item.item, item.system): number for number, item in enumerate(items)}
    for row in read(out / "judgements.jsonl", Judgement):
        if (row.item, row.system) in numbers:
            number = numbers[row.item, row.system]
            yield Given(item=number, annotator=PEOPLE[row.annotator], value=row.grade, time=None, seconds=None)


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
    campaign = _demo_campaign(out)
    options = ServiceOptions(
        host=HOST, port=port, articles=(str(out / DESK),), data=str(out / "labels"), workers=1, jobs=jobs
    )
    with unwound(serving=True), ExitStack() as until:
        store = until.enter_context(Store.open(campaign, alarm=on_message))
        listening, grading = until.enter_context(listen(HOST, port + 1 if port else 0))
        app = make_app(store, WebOptions(base_url=grading, url=campaign))
        until.enter_context(_running(make_server(app, limits=LIMITS), listening))

        def ready(desk: str) -> None:
            annotator = invite(campaign, "You", InviteOptions(base_url=grading))  # goes on where an earlier run ended
            lead = invite(campaign, "Lead", InviteOptions(role="lead", base_url=grading))
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
