"""Options of `postil annotate`, apart from campaigns so that help does without them."""

from __future__ import annotations

import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Annotated, Final, get_args
from urllib.parse import urlsplit

from postil.campaigns.models import FORMER, ITEM_TYPES, ItemOrder, ItemType, Role, parse_context
from postil.data.escaping import visible
from postil.data.hosts import is_loopback
from postil.data.options import ListenOptions, SeedOptions
from postil.errors import UnknownName, UsageError
from postil.messages import Blank, Setting
from postil.options import Flag, options
from postil.raters.options import AgreementOptions, CompetenceModel

__all__ = [
    "TABLE_FORMATS",
    "AddOptions",
    "BackupOptions",
    "CampaignAgreementOptions",
    "ExportOptions",
    "InviteOptions",
    "LabelStudioOptions",
    "MessageOptions",
    "PlanOptions",
    "PotatoOptions",
    "QualityOptions",
    "RemoveOptions",
    "ServeOptions",
    "checked_base_url",
    "is_local",
]

TABLE_FORMATS: Final = ("csv", "xlsx", "jsonl", "parquet")


def checked_base_url(url: str) -> str:
    """Check the URL where people reach the pages of a campaign.

    Args:
        url: Scheme and host, and the port where it is not that of the scheme.

    Returns:
        The URL without a slash at its end.

    Raises:
        UsageError: It is no such URL.

    >>> checked_base_url("https://Grading.example.org/")
    'https://grading.example.org'
    """
    try:
        parts = urlsplit(url.strip())
        rest = parts._replace(scheme="", netloc="").geturl()
        sound = parts.scheme in {"http", "https"} and parts.port != 0 and "@" not in parts.netloc and rest in {"", "/"}
    except ValueError:  # a port that is no number, or brackets that do not match
        sound = False
    if not sound or not parts.hostname:
        raise UsageError(
            "{base_url}: expected http:// or https:// and a host name, without a path, such as {example}; got {got}",
            base_url=Setting("base_url"),
            example="https://grading.example.org",
            got=visible(url),
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"


def is_local(url: str) -> bool:
    """True if only the machine that serves a URL can open it.

    Args:
        url: The URL.

    >>> is_local("http://localhost:8000"), is_local("http://[::1]:8000/join/x"), is_local("http://192.168.1.5:8000")
    (True, True, False)
    """
    return is_loopback(urlsplit(url).hostname or "")


@options
class PlanOptions(SeedOptions):
    """Options of `postil annotate plan`.

    Args:
        annotators: Number of annotators.
        annotators_per_item: Number of annotators per item.
        articles: The articles that the candidates, or the references of weights plan, were written for.
        item_type: Type of the texts: text, comment, answer, summary, translation or passage; comment by
            default, text for candidates without articles.
        context: Texts shown beside each text: none, or article, source, thread and columns of the rows, separated by
            commas; by default the article.
        rubric: en, zh, or a .json or .toml file; by default the language of the items.
        gold: Gold labels (item, system, grade; attention: true for a text that asks for the grade; text of an item of
            its own); every annotator gets these items.
        feedback: Show the gold label after the rating of a gold item, attention checks apart.
        training: Number of gold items that come first, with their label after the rating.
        sample: Number of articles (topics, for passages) to sample at random, each with all its texts; by default all
            articles.
        overlap: Share of the texts (of the articles, with --by-item) that get one annotator more.
        by_item: Give all texts of an article to the same annotators.
        pairs: Ask which of two systems' texts is better: all pairs of an article's texts, or N of them.
        repeat_rate: Share of an annotator's items that are repeated.
        item_order: Items of one article in the presentation order: spread, or together.
        name: Name of the campaign, shown to annotators; by default that of the file of items.
    """

    annotators: Annotated[int, Flag("annotators", short="n", min=1, first=True)]
    annotators_per_item: Annotated[int, Flag("annotators-per-item", short="k", min=1, first=True)] = 2
    articles: Annotated[str | None, Flag(metavar="FILE", once=True, first=True)] = None
    item_type: Annotated[ItemType | None, Flag(metavar="NAME", group="Display")] = None
    context: Annotated[str | None, Flag(metavar="NAME,NAME", group="Display")] = None
    rubric: Annotated[str | None, Flag(metavar="NAME|FILE", first=True)] = None
    gold: Annotated[str | None, Flag(metavar="FILE", once=True, first=True)] = None
    feedback: Annotated[bool, Flag(group="Gold items")] = False
    training: Annotated[int, Flag(metavar="N", min=0, group="Gold items")] = 0
    sample: Annotated[int | None, Flag("items", metavar="N", min=1, first=True)] = None
    overlap: Annotated[float, Flag(metavar="SHARE", min=0, max=1, group="Design")] = 0.0
    by_item: Annotated[bool, Flag(group="Design")] = False
    pairs: Annotated[str | None, Flag(metavar="all|N", group="Design")] = None
    repeat_rate: Annotated[float, Flag(metavar="SHARE", min=0, max=0.5, group="Design")] = 0.0
    item_order: Annotated[ItemOrder, Flag(metavar="NAME", group="Design")] = "spread"
    name: Annotated[str, Flag(metavar="TEXT", group="Display")] = ""

    def __post_init__(self) -> None:
        if self.item_type is not None and self.item_type not in {*FORMER, *ITEM_TYPES}:
            raise UnknownName("item type", self.item_type, ITEM_TYPES)
        if self.context is not None:
            parse_context(self.context)
        UnknownName.check("item order", self.item_order, get_args(ItemOrder))


@options
class AddOptions(SeedOptions):
    """Options of `postil annotate add`.

    Args:
        articles: The articles that the candidates, or the references of weights plan, were written for.
        gold: Gold labels (item, system, grade) of texts of the files; every annotator gets these items.
        dry_run: Print the assignment that would result, and change nothing.
    """

    articles: Annotated[str | None, Flag(metavar="FILE", once=True, first=True)] = None
    gold: Annotated[str | None, Flag(metavar="FILE", once=True, first=True)] = None
    dry_run: Annotated[bool, Flag(first=True)] = False


@options
class InviteOptions:
    """Options of `postil annotate invite`.

    Args:
        role: annotator or lead.
        days: Validity of the link, in days.
        base_url: URL where people reach the pages; by default that of the last serve or of an earlier link, before both
            http://localhost:8000.
        late: Invite an annotator besides those of the plan, who takes a fair share of the open items of the others.
    """

    role: Annotated[Role, Flag(metavar="ROLE")] = "annotator"
    days: Annotated[float, Flag(metavar="N")] = 14.0
    base_url: Annotated[str | None, Flag(metavar="URL")] = None
    late: bool = False

    def __post_init__(self) -> None:
        if self.base_url is not None:
            checked_base_url(self.base_url)
        UnknownName.check("role", self.role, get_args(Role))
        if self.late and self.role != "annotator":
            raise UsageError("{late} goes with annotators: a lead needs no items", late=Setting("late"))


@options
class ServeOptions(ListenOptions):
    """Options of `postil annotate serve`.

    Args:
        base_url: URL where people reach the pages; invitations begin with it. It gives the host name too, and https://
            means that a reverse proxy speaks HTTPS, as with --https.
        tokens: File of tokens, as postil tokens add makes it: programs on other machines read /metrics with one of the
            scope metrics.
        backup: Folder for a copy of the campaign every day, NAME-YYYY-MM-DD.db; for a campaign in an SQLite file.
        keep: Number of copies that are kept there.
    """

    base_url: Annotated[str | None, Flag(metavar="URL")] = None
    tokens: Annotated[str | None, Flag(metavar="FILE")] = None
    backup: Annotated[str | None, Flag(metavar="FOLDER")] = None
    keep: Annotated[int, Flag(metavar="N", min=1)] = 7

    def __post_init__(self) -> None:
        if self.base_url is not None:
            address = checked_base_url(self.base_url)
            if self.https and address.startswith("http://"):
                raise UsageError(
                    "{base_url}: expected https:// with {https}, got {got}",
                    base_url=Setting("base_url"),
                    https=Setting("https"),
                    got=visible(self.base_url),
                )

    @property
    def address(self) -> str:
        """URL where people reach the pages."""
        if self.base_url is not None:
            return checked_base_url(self.base_url)
        if self.https:
            return f"https://{(*self.name, 'localhost')[0]}"
        return f"http://{_host_of(self.host)}:{self.port}"

    @property
    def names(self) -> tuple[str, ...]:
        """Host names of the server, besides localhost."""
        return (*self.name, urlsplit(self.address).hostname or "")

    @property
    def secure(self) -> bool:
        """True if the server is behind a reverse proxy that speaks HTTPS."""
        return self.https or self.address.startswith("https://")

    def answers(self, url: str) -> bool:
        """True if the server answers requests of other machines for a URL, as far as its options say.

        Args:
            url: The URL.

        >>> inside, outside = ServeOptions(name=("grading.lan",)), ServeOptions(host="::")
        >>> [one.answers(url) for one in (inside, outside) for url in ("http://grading.lan", "http://10.1.2.3:8000")]
        [True, False, False, True]
        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        if (parts.scheme == "https") != self.secure:
            return False
        if is_loopback(self.host):
            return host in {name.lower() for name in self.name}  # by a proxy
        with suppress(ValueError):
            return bool(ip_address(host))
        return host in {name.lower() for name in (*self.name, socket.gethostname())}


def _host_of(address: str) -> str:
    """Host in the URL of a server that listens on an address: localhost where it listens on all of them."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.is_unspecified or str(found) in {"127.0.0.1", "::1"}:
        return "localhost"
    return f"[{address}]" if found.version == 6 else address


@options
class CampaignAgreementOptions(AgreementOptions):
    """Options of `postil annotate agreement`.

    Args:
        aspect: Aspect to use, where the rubric has several; by default the first one.
    """

    aspect: Annotated[str | None, Flag(metavar="NAME")] = None


@options
class QualityOptions:
    """Options of `postil annotate quality`.

    Args:
        model: Model of the competence of annotators: one-factor, mace or dawid-skene.
        aspect: Aspect to use, where the rubric has several; by default the first one.
    """

    model: Annotated[CompetenceModel, Flag(metavar="NAME")] = "one-factor"
    aspect: Annotated[str | None, Flag(metavar="NAME")] = None

    def __post_init__(self) -> None:
        UnknownName.check("model", self.model, get_args(CompetenceModel))


@options
class ExportOptions:
    """Options of `postil annotate export`.

    Args:
        out: Folder to write; created if it does not exist.
        table_format: File format of the tables: csv, xlsx, jsonl or parquet.
        timestamps: Include the time of each rating and the seconds that it took.
        texts: Include the texts, and what was shown beside them, in the tables.
    """

    out: Annotated[str, Flag("out", short="o", metavar="FOLDER")]
    table_format: Annotated[str, Flag(metavar="NAME")] = "csv"
    timestamps: bool = False
    texts: bool = True

    def __post_init__(self) -> None:
        UnknownName.check("table format", self.table_format, TABLE_FORMATS)


@options
class RemoveOptions:
    """Options of `postil annotate remove`.

    Args:
        reserve: Reserve the open items for the next annotator who is invited.
    """

    reserve: bool = False


@options
class BackupOptions:
    """Options of `postil annotate backup`.

    Args:
        incomplete: Copy a file that lacks its write-ahead log as far as it goes; annotations may be missing.
    """

    incomplete: bool = False


@options
class MessageOptions:
    """Options of `postil annotate pause` and `postil annotate close`.

    Args:
        message: Message that the annotators' page shows.
    """

    message: Annotated[str, Flag(metavar="TEXT")] = ""


@options
class LabelStudioOptions:
    """Options of `postil annotate import label-studio`.

    Args:
        out: Judgement rows to write, one per annotator, task and question.
        campaign: New campaign to create, with the texts, the annotators and their ratings; several questions become
            aspects.
        item_type: Type of the texts, for a campaign: text, comment, answer, summary, translation or passage; by default
            text, passage for spans.
        question: Questions to import (controls, annotation schemes), by their names; by default all that have grades.
        grade: Grade of a label, as in good=3; by default that of a label that is a number or says it, as in 4. good,
            good (4) and, with --scale 1:5, 4 of 5.
        item: Field of a task with the item; by default item, else the task's id.
        system: Field of a task with the system; by default system, else all tasks are of one system.
        text: Field of a task with the rated text, for a campaign.
        title: Field of a task with a headline to show, for a campaign.
        content: Field of a task with an article to show, for a campaign.
        scale: Lowest and highest grade of every question; by default those that were given.
        decimal: Decimal mark of the numbers of text tables, . or , where both could be one.
        names: Keep the names of annotators in judgement rows, instead of A1, A2, ….
    """

    out: Annotated[str | None, Flag("out", short="o", metavar="FILE", first=True)] = None
    campaign: Annotated[str | None, Flag(metavar="CAMPAIGN", first=True)] = None
    item_type: Annotated[ItemType | None, Flag(metavar="NAME", group="Output")] = None
    question: Annotated[tuple[str, ...], Flag(metavar="NAME", first=True)] = ()
    grade: Annotated[tuple[str, ...], Flag(metavar="LABEL=NUMBER", first=True)] = ()
    item: Annotated[str | None, Flag(metavar="FIELD", group="Fields")] = None
    system: Annotated[str | None, Flag(metavar="FIELD", group="Fields")] = None
    text: Annotated[str, Flag(metavar="FIELD", group="Fields")] = "text"
    title: Annotated[str | None, Flag(metavar="FIELD", group="Fields")] = None
    content: Annotated[str | None, Flag(metavar="FIELD", group="Fields")] = None
    scale: Annotated[str | None, Flag(metavar="LOW:HIGH", first=True)] = None
    decimal: Annotated[str | None, Flag(metavar="CHAR", group="Reading tables")] = None
    names: Annotated[bool, Flag(group="Output")] = False

    def __post_init__(self) -> None:
        if self.out is None and self.campaign is None:
            raise UsageError(
                "nothing to write: give {out} for judgements, {campaign} for a campaign, or both",
                out=Setting("out", Blank("FILE")),
                campaign=Setting("campaign", Blank("NEW.db")),
            )
        if self.item_type is not None and self.item_type not in ITEM_TYPES:
            raise UnknownName("item type", self.item_type, ITEM_TYPES)
        if self.decimal is not None:
            from postil.data.reading import checked_decimal  # noqa: PLC0415

            checked_decimal(self.decimal)


@options
class PotatoOptions(LabelStudioOptions):
    """Options of `postil annotate import potato`.

    Args:
        data: Data files of the project, which have the texts.
        id: Field of the data files with the id of an instance.
    """

    data: Annotated[tuple[str, ...], Flag(metavar="FILE", first=True)] = ()
    id: Annotated[str, Flag(metavar="FIELD", group="Fields")] = "id"
