"""The journeys of `postil annotate`: texts in, a plan, grades out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from postil.annotation.models import Campaign, Person, Refused
from postil.annotation.plan import SEED, plan
from postil.annotation.store import Store
from postil.annotation.validation import words
from postil.app.annotating.agreement import agreement_of
from postil.app.annotating.exports import TABLES, exported, write_rows
from postil.app.annotating.texts import WHAT, items_of, rubric_for, with_gold
from postil.errors import UnknownName, UsageError
from postil.metaeval.resampling import RESAMPLES
from postil.metaeval.resampling import SEED as RESAMPLING_SEED
from postil.records.atomic_file import Replacement, check_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from postil.annotation.models import Handover, Role
    from postil.annotation.plan import PlanStatistics
    from postil.app.annotating.agreement import CampaignAgreement
    from postil.app.annotating.texts import What

__all__ = ["PlanOptions", "back_up", "export", "invite_first_lead", "let_go", "measure", "plan_campaign", "welcome"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanOptions:
    """What `postil annotate plan` was asked for.

    Args:
        annotators: How many annotators.
        each: How many of them a text has.
        what: What is graded; None to tell by whether there are articles beside the texts.
        articles: A file of article rows that the candidates were written for.
        rubric: A file, or the language of the bundled rubric; None for the language of the texts.
        gold: A file of grades that are known.
        repeats: The share of an annotator's texts that come again.
        order: ``spread`` or ``together``: where the texts of one article are.
        name: What people call the campaign.
        seed: The seed.
    """

    annotators: int
    each: int = 2
    what: str | None = None
    articles: str | None = None
    rubric: str | None = None
    gold: str | None = None
    repeats: float = 0.0
    order: str = "spread"
    name: str = ""
    seed: int = SEED

    def __post_init__(self) -> None:
        if self.what is not None and self.what not in WHAT:
            raise UnknownName("kind of text", self.what, WHAT)
        if self.order not in {"spread", "together"}:
            raise UnknownName("order", self.order, ("spread", "together"))
        if self.what == "outputs" and self.articles is None:
            raise UsageError("outputs are graded beside their articles: --articles FILE")
        if self.what in {"comments", "passages"} and self.articles is not None:
            raise UsageError(f"--articles goes with outputs, and {self.what} are graded")


def plan_campaign(texts: str, url: str, options: PlanOptions) -> PlanStatistics:
    """Lay a campaign down.

    Args:
        texts: A file of article rows, whose comments are graded, of candidate rows, or of passage rows.
        url: Where the campaign is to live; see `postil.annotation.store.Store.open`.
        options: What was asked for.

    Returns:
        What the plan is like.

    Raises:
        InvalidInput: Something in a file is wrong; says where.
        UsageError: The numbers make no plan, or there is a campaign already.
    """
    what: What = options.what or ("outputs" if options.articles else "comments")  # type: ignore[assignment]  # checked
    if texts == options.articles == "-":
        raise UsageError("only one of the files can be standard input")
    items = list(items_of(texts, what, options.articles))
    rubric = rubric_for(options.rubric, items, what)
    if options.gold:
        items = with_gold(items, options.gold, rubric)
    made = plan(
        [(item.item, item.system) for item in items],
        options.annotators,
        options.each,
        seed=options.seed,
        gold=[number for number, item in enumerate(items) if item.gold is not None],
        repeats=options.repeats,
        together=options.order == "together",
        balance="system" if what == "outputs" else "article",
    )
    campaign = Campaign(name=options.name or Path(texts).stem, what=what, each=options.each, seed=options.seed)
    with Store.open(url, make=True) as store:
        store.create(campaign, items, made, rubric)
    return made.statistics()


def welcome(url: str, name: str, role: Role, days: float, address: str) -> str:
    """Invite someone.

    Args:
        url: Where the campaign lives.
        name: Who.
        role: What the person may do.
        days: For how long the invitation holds.
        address: Where the server is reached.

    Returns:
        The link to send; it works once.

    Raises:
        Refused: See `postil.annotation.store.Store.invite`.
    """
    with Store.open(url) as store:
        return f"{address.rstrip('/')}/join/{store.people.invite(name, role, days)}"


def invite_first_lead(url: str, address: str) -> str | None:
    """A link for a lead, where the campaign has none yet.

    Args:
        url: Where the campaign lives.
        address: Where the server is reached.

    Returns:
        The link to open; it works once. None where there is a lead.
    """
    with Store.open(url, read_only=True) as store:
        if any(person.role == "lead" and not person.left for person in store.people.everyone()):
            return None
    return welcome(url, "lead", "lead", 1, address)


def let_go(url: str, name: str, *, replace: bool = False) -> Handover:
    """Let someone go and give what they did not grade to the others.

    Args:
        url: Where the campaign lives.
        name: Who, by name or pseudonym.
        replace: Keep it for someone new instead.

    Raises:
        UnknownName: There is no such person.
        Refused: The person has left already.
    """
    with Store.open(url) as store:
        return store.people.leave(_called(store.people.everyone(), words("name", name)), replace=replace)


def _called(people: Iterable[Person], name: str) -> Person:
    known = {person.name or person.pseudonym: person for person in people}
    pseudonyms = {person.pseudonym: person for person in known.values()}
    found = known.get(name) or pseudonyms.get(name)
    if found is None:
        raise UnknownName("person", name, known)
    if found.left:
        raise Refused("left", f"{name} has left the campaign")
    return found


def measure(url: str, *, resamples: int = RESAMPLES, seed: int = RESAMPLING_SEED) -> CampaignAgreement:
    """How far the annotators agree so far.

    Args:
        url: Where the campaign lives.
        resamples: How many resamples the intervals are of.
        seed: Their seed.
    """
    with Store.open(url, read_only=True) as store:
        ratings, rubric = store.results.ratings(), store.rubric()
    return agreement_of(ratings, rubric, resamples=resamples, seed=seed)


def export(url: str, folder: str, *, table: str = "csv", timed: bool = False, say: Callable[[str], None]) -> None:
    """Write what was graded: two tables and a codebook, and rows that other commands read.

    Args:
        url: Where the campaign lives.
        folder: Where to write; it is made.
        table: The kind of file of the two tables.
        timed: Say when each grade was given, and how long it took.
        say: Tells people what happens.

    Raises:
        UnknownName: There is no such kind of file.
        InvalidInput: Nothing was graded yet.
    """
    if table not in TABLES:
        raise UnknownName("kind of table", table, TABLES)
    with Store.open(url, read_only=True) as store:
        files = exported(store, table=table, timed=timed)
    for name in files:
        check_apart(f"{folder}/{name}", [url.removeprefix("sqlite:///")])
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        write_rows(f"{folder}/{name}", rows)
        say(f"written: {folder}/{name}" + ("" if isinstance(rows, str) else f" ({len(rows):,} rows)"))


def back_up(url: str, copy: str, *, incomplete: bool = False, say: Callable[[str], None]) -> None:
    """Copy a campaign, as it is at one moment, while its server runs or not.

    Args:
        url: Where the campaign lives.
        copy: The file to write, which appears whole or not at all.
        incomplete: Take what an SQLite file holds whose write-ahead log is missing or of another time.
        say: Tells people what happens.

    Raises:
        UsageError: The file exists already, or the campaign is not in an SQLite file.
        InvalidInput: There is no campaign, or a part of it is missing.
    """
    _refuse_existing(copy)
    # A copy is private, as it holds the names of the annotators.
    with Store.open(url, read_only=True, incomplete=incomplete) as store, Replacement(copy, private=True) as stream:
        store.copy(stream.name)
        with Store.open(stream.name, read_only=True) as copied:
            ratings = len(copied.results.ratings())
        _refuse_existing(copy)  # again: it takes a while
    if incomplete:
        say(f"{copy}: answers that were given shortly before {store.where} was copied may be missing")
    say(f"written: {copy} ({ratings:,} ratings)")


def _refuse_existing(file: str) -> None:
    if Path(file).exists():
        raise UsageError(f"{file}: exists already; name a new file")
