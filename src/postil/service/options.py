"""Options of `postil serve`, apart from its configuration so that help loads no model."""

from __future__ import annotations

import os
from typing import Annotated, Final, Literal, TypeAlias

from postil.data.hosts import is_loopback
from postil.data.options import ListenOptions, ThreadOptions
from postil.errors import UsageError
from postil.messages import Blank, Command, Setting
from postil.options import Flag, options
from postil.screening.reasons import ProfanityFilter

__all__ = ["CoralStatus", "ServiceOptions"]

CoralStatus: TypeAlias = Literal["SYSTEM_WITHHELD", "PREMOD"]
"""Status of a comment in Coral that is held; both wait in the queue of pending comments."""

MOST_WORKERS: Final = 8
"""Largest number of workers by default; each has a copy of what cannot be mapped into memory."""


@options
class ServiceOptions(ListenOptions, ThreadOptions):
    """Options of `postil serve`.

    Args:
        workers: Number of processes that compute; by default one per processor core, at most 8.
        max_body: Maximum size of a request, in bytes.
        timeout: Seconds that a request may wait for a worker, and that it may compute.
        queue: Largest number of requests that wait for a worker; further ones are refused.
        min_words: Filter out comments of fewer words; three Han characters count as two.
        max_words: Filter out comments of more words.
        blocklist: Filter out comments with any of these words or phrases, one per line.
        allow: Accept comments of a kind: replies, quotations, edits, trackbacks, code, profanity, addresses,
            unfinished, figures, or all; repeatable.
        tokens: File of tokens, as postil tokens add makes it; clients need one then. It is read again when it changes.
        rate: Largest number of requests per minute of a token, and of an address without one; a token may have its own.
        audit: File to add a line to for each request, without texts; see postil check-audit.
        data: Folder that keeps labels, outcomes of suggestions, and what is to be delivered.
        coral_secret: File of signing secrets of Coral's external moderation phase, one per line: Coral may ask then.
        coral_status: Status in Coral of comments that are held: SYSTEM_WITHHELD or PREMOD.
        webhook: Address that gets suggestions and passages for each article of POST /v1/hooks/article; needs --data.
        webhook_secret: File of the webhook's secrets, whsec_…, one per line; all of them sign.
        screens: Screen of comments, NAME=DIR or DIR, which answers as Perspective does; repeatable. Of several the
            first one that knows the attribute and the language answers.
        threshold: Probability from which screens hold a comment; by default that of each screen.
        any_language: Let screens answer for comments in languages that they did not learn from, too.
        articles: Articles to choose from on the page for editors: a table of any format, read when the service starts;
            repeatable.
        encoder: Address of the endpoint that the sentence encoder of a model's filter is behind, of models that were
            made with one.
        profanity: Filter of profanity and insults: list (of words), or model (the lists, and a probability of .5 or
            more by alt-profanity-check).
        metrics: Metric that reads a file or folder, which requests may ask for, such as vector-f1(vectors=DIR);
            repeatable. Those that read none always may be.
    """

    workers: Annotated[int | None, Flag(min=1, group="Requests")] = None
    max_body: Annotated[int, Flag(min=1024, max=1 << 28, metavar="BYTES", group="Requests")] = 1 << 20
    timeout: Annotated[float, Flag(min=0.1, metavar="SECONDS", group="Requests")] = 10.0
    queue: Annotated[int, Flag(min=1, group="Requests")] = 256
    min_words: Annotated[int, Flag(min=0, group="Filter")] = 4
    max_words: Annotated[int | None, Flag(min=1, group="Filter")] = None
    blocklist: Annotated[str | None, Flag(metavar="FILE", group="Filter")] = None
    allow: Annotated[tuple[str, ...], Flag(metavar="KIND", group="Filter")] = ()
    profanity: Annotated[ProfanityFilter, Flag(metavar="WHAT", group="Filter")] = "list"
    metrics: Annotated[tuple[str, ...], Flag("metric", metavar="SPEC", group="Metrics")] = ()
    tokens: Annotated[str | None, Flag(metavar="FILE", first=True)] = None
    rate: Annotated[int | None, Flag(min=1, group="Requests")] = None
    audit: Annotated[str | None, Flag(metavar="FILE", group="Requests")] = None
    data: Annotated[str | None, Flag(metavar="DIR", first=True)] = None
    coral_secret: Annotated[str | None, Flag(metavar="FILE", group="Coral and webhooks")] = None
    coral_status: Annotated[CoralStatus, Flag(metavar="STATUS", group="Coral and webhooks")] = "SYSTEM_WITHHELD"
    webhook: Annotated[str | None, Flag(metavar="URL", group="Coral and webhooks")] = None
    webhook_secret: Annotated[str | None, Flag(metavar="FILE", group="Coral and webhooks")] = None
    screens: Annotated[tuple[str, ...], Flag("screen", metavar="[NAME=]DIR", first=True)] = ()
    threshold: Annotated[float | None, Flag(min=0, max=1, metavar="P", group="Screens")] = None
    any_language: Annotated[bool, Flag(group="Screens")] = False
    articles: Annotated[tuple[str, ...], Flag(metavar="FILE", first=True)] = ()
    encoder: Annotated[str | None, Flag(metavar="URL", group="Encoders")] = None

    def __post_init__(self) -> None:
        if self.tokens is None and (self.https or self.name or not is_loopback(self.host)):
            raise UsageError(
                "tokens: expected a file of tokens, as other machines reach the service; make it: {command}",
                command=Command("tokens add", (Blank("FILE"), Blank("NAME")), (Setting("scope", Blank("SCOPE")),)),
            )
        if (self.webhook is None) != (self.webhook_secret is None):
            raise UsageError("webhook: expected an address and a file of secrets, got one of them")
        if self.webhook is not None and self.data is None:
            raise UsageError(
                "webhook: expected {data}, a folder that keeps what is to be delivered", data=Setting("data")
            )

    def worker_count(self) -> int:
        """Number of worker processes."""
        return self.workers or min(os.cpu_count() or 1, MOST_WORKERS)
