"""The journeys of `postil annotate`: texts in, a plan, grades out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

import msgspec

from postil.annotation.answers import words
from postil.annotation.export import codebook, long_table, passages, references, resolved_table
from postil.annotation.nouns import Campaign, Item, Person, Refused
from postil.annotation.plan import SEED, plan
from postil.annotation.rubric import LANGUAGES, Rubric
from postil.annotation.store import Store
from postil.app.annotating.agreement import agreement_of, judgements_of
from postil.app.output import rows_as_csv, to_json
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.metaeval.resampling import RESAMPLES
from postil.metaeval.resampling import SEED as RESAMPLING_SEED
from postil.records.files import Writer, read
from postil.records.replace import Replacement
from postil.records.rows import Article, Candidate, Passage, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from postil.annotation.nouns import Handover, Role
    from postil.annotation.plan import PlanStatistics
    from postil.app.annotating.agreement import CampaignAgreement

__all__ = [
    "TABLES",
    "WHAT",
    "PlanOptions",
    "export",
    "exported",
    "invite_first_lead",
    "let_go",
    "measure",
    "plan_campaign",
    "welcome",
    "write_rows",
]

What = Literal["comments", "outputs", "passages"]
WHAT: Final[tuple[What, ...]] = get_args(What)
"""What can be graded."""

TABLES: Final = ("csv", "jsonl", "parquet")
"""The kinds of file for tables."""


class _Gold(Row, frozen=True, gc=False):
    """A grade that is known."""

    item: str
    system: str
    grade: float


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
    items = list(_items(texts, what, options.articles))
    rubric = _rubric(options.rubric, items, what)
    if options.gold:
        items = _with_gold(items, options.gold, rubric)
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


def _items(path: str, what: What, articles: str | None) -> Iterator[Item]:
    seen: set[tuple[str, str]] = set()
    texts = {"comments": _comments, "passages": _passages, "outputs": _outputs}[what](path, str(articles))
    for item in texts:
        if (item.item, item.system) in seen:
            raise InvalidInput(f"{item.item} has two texts with the name {item.system}", where=path)
        seen.add((item.item, item.system))
        if any("\0" in text for text in (item.item, item.system, item.text, item.title, item.content, item.lang)):
            raise InvalidInput(f"{item.item}, {item.system}: there is a NUL character in it", where=path)
        yield item


def _comments(path: str, _articles: str) -> Iterator[Item]:
    for article in read(path, Article):
        for comment in article.comments:
            yield _item(article, comment.id, comment.text)


def _outputs(path: str, articles: str) -> Iterator[Item]:
    known = {article.id: article for article in read(articles, Article)}
    rows = read(path, Candidate)
    for place, row in enumerate(rows):
        if row.item not in known:
            raise rows.places.error(place, "item", f"there is no article '{row.item}' in {articles}")
        yield _item(known[row.item], row.system, row.text)


def _passages(path: str, _articles: str) -> Iterator[Item]:
    for row in read(path, Passage):
        yield Item(item=row.topic, system=row.id, text=row.text, title=row.topic)


def _item(article: Article, system: str, text: str) -> Item:
    return Item(
        item=article.id,
        system=system,
        text=text,
        title=article.title,
        content=article.content or "",
        lang=article.lang or "",
    )


def _rubric(named: str | None, items: Sequence[Item], what: What) -> Rubric:
    if named is not None and named not in LANGUAGES:
        return Rubric.read(named)
    languages = Counter(item.lang.partition("-")[0].lower() for item in items)
    usual = next((lang for lang, _ in languages.most_common() if lang in LANGUAGES), LANGUAGES[0])
    return Rubric.default(named or usual, "spans" if what == "passages" else "grade")


def _with_gold(items: Sequence[Item], path: str, rubric: Rubric) -> list[Item]:
    numbers = {(item.item, item.system): number for number, item in enumerate(items)}
    found = list(items)
    rows = read(path, _Gold)
    for place, row in enumerate(rows):
        number = numbers.get((row.item, row.system))
        if number is None:
            raise rows.places.error(place, "item", f"there is no text {row.system} of {row.item}")
        if row.grade not in rubric.grades and not (rubric.kind == "spans" and 0 <= row.grade <= 1):
            grades = f"a whole number from {rubric.low} to {rubric.high}" if rubric.grades else "a share from 0 to 1"
            raise rows.places.error(place, "grade", f"expected {grades}, got {row.grade:g}")
        found[number] = msgspec.structs.replace(found[number], gold=row.grade)
    return found


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
    with Store.open(url) as store:
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
    with Store.open(url) as store:
        return agreement_of(store.results.ratings(), store.rubric(), resamples=resamples, seed=seed)


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
    with Store.open(url) as store:
        files = exported(store, table=table, timed=timed)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        write_rows(f"{folder}/{name}", rows)
        say(f"written: {folder}/{name}" + ("" if isinstance(rows, str) else f" ({len(rows):,} rows)"))


def exported(store: Store, *, table: str = "csv", timed: bool = False) -> dict[str, Sequence[Row] | str]:
    """The files of an export by name: rows, or the text of the codebook. Files without rows are left out.

    Args:
        store: Where the campaign lives.
        table: The kind of file of the two tables.
        timed: Say when each grade was given, and how long it took.

    Raises:
        InvalidInput: Nothing was graded yet.
    """
    campaign, rubric, items = store.campaign(), store.rubric(), store.items()
    ratings, adjudications = store.results.ratings(), store.results.adjudications()
    if not ratings:
        raise InvalidInput("nothing was graded yet", where=store.where)
    resolved = list(resolved_table(items, ratings, adjudications, rubric))
    files: dict[str, Sequence[Row]] = {
        f"ratings.{table}": list(long_table(ratings, timed=timed)),
        f"resolved.{table}": resolved,
        "judgements.jsonl": list(judgements_of(ratings)),
    }
    if campaign.what == "comments":
        files["references.jsonl"] = list(references(items, ratings, adjudications))
    if campaign.what == "passages":
        files["passages.jsonl"] = list(passages(items, resolved))
    counts = {
        "texts": len(items),
        "graded texts": len(resolved),
        "grades": len(ratings),
        "annotators": len({rating.annotator for rating in ratings}),
        "adjudicated texts": len({one.number for one in adjudications}),
    }
    made = {name: rows for name, rows in files.items() if rows}
    return {**made, "codebook.json": to_json(codebook(campaign, rubric, counts))}


def write_rows(path: str, rows: Sequence[Row] | str) -> None:
    """Write a file of an export, whole or not at all.

    Args:
        path: The file; its ending says its kind.
        rows: Rows of one type, or a text.
    """
    if isinstance(rows, str) or path.endswith(".csv"):
        text = rows if isinstance(rows, str) else rows_as_csv([msgspec.structs.asdict(row) for row in rows])
        with Replacement(path) as stream:
            stream.write(text.encode())
        return
    with Writer(path, type(rows[0])) as out:
        for row in rows:
            out.write(row)
