"""Options of `postil serve`, and the configuration of its workers that they make."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeAlias

from postil.comments import neural_commenter, retrieval
from postil.comments.store import Model
from postil.data.options import ListenOptions, ThreadOptions
from postil.endpoint.transport import is_loopback
from postil.errors import UsageError
from postil.messages import Blank, Command, Setting
from postil.metrics.spec import parse_metric
from postil.options import Flag, options
from postil.screening.filtering import CandidateFilter
from postil.screening.reasons import Blocklist, ProfanityFilter
from postil.threads import quality

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["CoralStatus", "ServiceConfig", "ServiceOptions"]

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
        allow: Accept comments of a kind: replies, quotations, edits, trackbacks, code, profanity, addresses, or all;
            repeatable.
        tokens: File of tokens, as postil tokens add makes it; clients need one then. It is read again when it changes.
        rate: Largest number of requests per minute of a token, and of an address without one; a token may have its own.
        audit: File to add a line to for each request, without texts; see postil check-audit.
        data: Folder that keeps labels, outcomes of suggestions, and what is to be delivered.
        coral_secret: File of signing secrets of Coral's external moderation phase, one per line: Coral may ask then.
        coral_status: Status in Coral of comments that are held: SYSTEM_WITHHELD or PREMOD.
        webhook: Address that gets suggestions and passages for each article of POST /v1/hooks/article; needs --data.
        webhook_secret: File of the webhook's secrets, whsec_…, one per line; all of them sign.
        articles: Articles to choose from on the page for editors: a table of any format, read when the service starts.
        profanity: Filter of profanity and insults: list (of words), or model (the lists, and a probability of .5 or
            more by alt-profanity-check).
        metrics: Metric that reads a file or folder, which requests may ask for, such as vector-f1(vectors=DIR);
            repeatable. Those that read none always may be.
    """

    workers: Annotated[int | None, Flag(min=1)] = None
    max_body: Annotated[int, Flag(min=1024, max=1 << 28, metavar="BYTES")] = 1 << 20
    timeout: Annotated[float, Flag(min=0.1, metavar="SECONDS")] = 10.0
    queue: Annotated[int, Flag(min=1)] = 256
    min_words: Annotated[int, Flag(min=0)] = 4
    max_words: Annotated[int | None, Flag(min=1)] = None
    blocklist: Annotated[str | None, Flag(metavar="FILE")] = None
    allow: Annotated[tuple[str, ...], Flag(metavar="KIND")] = ()
    profanity: Annotated[ProfanityFilter, Flag(metavar="WHAT")] = "list"
    metrics: Annotated[tuple[str, ...], Flag("metric", metavar="SPEC")] = ()
    tokens: Annotated[str | None, Flag(metavar="FILE")] = None
    rate: Annotated[int | None, Flag(min=1)] = None
    audit: Annotated[str | None, Flag(metavar="FILE")] = None
    data: Annotated[str | None, Flag(metavar="DIR")] = None
    coral_secret: Annotated[str | None, Flag(metavar="FILE")] = None
    coral_status: Annotated[CoralStatus, Flag(metavar="STATUS")] = "SYSTEM_WITHHELD"
    webhook: Annotated[str | None, Flag(metavar="URL")] = None
    webhook_secret: Annotated[str | None, Flag(metavar="FILE")] = None
    articles: Annotated[str | None, Flag(metavar="FILE")] = None

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

    def candidate_filter(self) -> CandidateFilter:
        """The filter of suggestions; every request is a run of its own, so that no text was suggested before.

        Raises:
            InvalidInput: The blocklist cannot be read.
            UsageError: A setting is out of range.
        """
        return CandidateFilter(
            min_words=self.min_words,
            max_words=self.max_words,
            allow=self.allow,
            blocklist=None if self.blocklist is None else Blocklist.read(self.blocklist),
            repeat=0,
            profanity=self.profanity,
        )


DEFAULTS: Final = ServiceOptions()


@dataclass(frozen=True, kw_only=True)
class ServiceConfig:
    """Configuration of a worker of the service.

    Args:
        models: Folders of the models that suggest comments, by name; the first one is the default.
        quality: Folders of the models of comment quality, by name; the first one is the default.
        options: Options of the command.
    """

    models: Mapping[str, str] = field(default_factory=dict)
    quality: Mapping[str, str] = field(default_factory=dict)
    options: ServiceOptions = DEFAULTS

    def without_paths(self, text: str) -> str:
        """A message that names models where it named their folders, which are no client's concern.

        Args:
            text: The message.

        >>> ServiceConfig(models={"news": "/srv/m"}).without_paths("/srv/m/model.json: no such file")
        'model news: no such file'
        """
        names = {folder: name for group in (self.models, self.quality) for name, folder in group.items()}
        names = {os.path.realpath(folder): name for folder, name in names.items()} | names
        for path in sorted(names, key=len, reverse=True):
            named = f"model {names[path]}".replace("\\", r"\\")
            text = re.sub(rf"{re.escape(path)}(/[^\s:,;]+)?", named, text)
        return text

    @classmethod
    def of_folders(cls, folders: Sequence[str], options: ServiceOptions = DEFAULTS) -> Self:
        """Name the models of a command, tell models that suggest from models of quality, and check the options.

        A folder is opened when the service starts, and again when it reloads: a symbolic link may then lead elsewhere.

        Args:
            folders: ``NAME=DIR`` or ``DIR``, which is named as its last part.
            options: Options of the command.

        Raises:
            UsageError: Two models have one name, a name is empty, there is no model, a setting is out of range, or a
                metric is none.
            InvalidInput: A folder holds no model, or the blocklist cannot be read.
        """
        found: dict[str, dict[str, str]] = {"models": {}, "quality": {}}
        for word in folders:
            name, equals, folder = word.partition("=")
            if not equals or os.sep in name:  # a folder may have = in its name
                folder, name = word, Path(word).absolute().name
            if not name or not folder:
                raise UsageError(f"expected a model as NAME=DIR or DIR, got '{word}'")
            if name in found["models"] or name in found["quality"]:
                raise UsageError(f"two models are named '{name}'; name one of them otherwise: NAME=DIR")
            kinds = (*retrieval.KINDS, *neural_commenter.KINDS, quality.KIND)
            kind = Model.open(folder, kinds).kind
            found["quality" if kind == quality.KIND else "models"][name] = str(Path(folder).absolute())
        if not folders:
            raise UsageError("expected at least one model: NAME=DIR or DIR")
        for spec in options.metrics:
            parse_metric(spec)
        options.candidate_filter()  # checks them
        return cls(models=found["models"], quality=found["quality"], options=options)
