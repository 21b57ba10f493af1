"""Commands of `postil annotate`: read, call, return a result."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, get_args

import msgspec

from postil.annotation.aspects import ratings_of
from postil.annotation.consistency import with_gold_labels, with_themselves
from postil.annotation.export import TABLE_FORMATS, export_files, judgements
from postil.annotation.inputs import GoldLabel, rubric_for, sampled_items, with_gold, with_training
from postil.annotation.item_files import ItemFiles, has_candidates, has_comments, is_reference_plan
from postil.annotation.item_order import ItemOrder
from postil.annotation.item_types import FORMER, ITEM_TYPES, ItemType, parse_context
from postil.annotation.models import Campaign, Role
from postil.annotation.pairs import GoldPreference, read_gold
from postil.annotation.plan import plan as assign_items
from postil.app.annotate_pairs import asks_for_pairs, pairs_per_item, planned_pairs
from postil.app.campaign_serving import checked_base_url
from postil.app.inferred_grades import inferred_grades
from postil.app.options import InputOptions, SeedOptions
from postil.errors import Undefined, UnknownName, UsageError
from postil.options import Flag, options
from postil.records.arguments import check_fields
from postil.records.atomic_file import AtomicFile, check_apart
from postil.records.results import AgreementResult, AnnotatorCompetence, replace
from postil.records.row_files import Writer
from postil.records.rows import Article, Row
from postil.render.formats import rows_as_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.annotation.models import Item, Rating, Reassignment
    from postil.annotation.quality import InferredGrades
    from postil.annotation.rubric import Rubric
    from postil.annotation.store import Store
    from postil.app.progress import OnMessage
    from postil.records.reading import Reading
    from postil.records.results import PlanResult

__all__ = [
    "AgreementOptions",
    "BackupOptions",
    "CampaignAgreementOptions",
    "ExportOptions",
    "InviteOptions",
    "PlanOptions",
    "RemoveOptions",
    "Written",
    "agreement",
    "agreement_of",
    "backup",
    "export",
    "invite",
    "invite_first_lead",
    "open_campaign",
    "plan",
    "remove",
    "roles_of",
    "upgrade",
    "write_rows",
]


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

    annotators: Annotated[int, Flag(("--annotators", "-n"), min=1)]
    annotators_per_item: Annotated[int, Flag(("--annotators-per-item", "-k"), min=1)] = 2
    articles: Annotated[str | None, Flag(metavar="FILE")] = None
    item_type: Annotated[ItemType | None, Flag(metavar="NAME")] = None
    context: Annotated[str | None, Flag(metavar="NAME,NAME")] = None
    rubric: Annotated[str | None, Flag(metavar="NAME|FILE")] = None
    gold: Annotated[str | None, Flag(metavar="FILE")] = None
    feedback: bool = False
    training: Annotated[int, Flag(metavar="N", min=0)] = 0
    sample: Annotated[int | None, Flag(("--items",), metavar="N", min=1)] = None
    overlap: Annotated[float, Flag(metavar="SHARE", min=0, max=1)] = 0.0
    by_item: bool = False
    pairs: Annotated[str | None, Flag(metavar="all|N")] = None
    repeat_rate: Annotated[float, Flag(metavar="SHARE", min=0, max=0.5)] = 0.0
    item_order: Annotated[ItemOrder, Flag(metavar="NAME")] = "spread"
    name: Annotated[str, Flag(metavar="TEXT")] = ""

    def __post_init__(self) -> None:
        if self.item_type is not None and self.item_type not in FORMER:
            _check_choice("item type", self.item_type, ITEM_TYPES)
        if self.context is not None:
            parse_context(self.context)
        _check_choice("item order", self.item_order, get_args(ItemOrder))


@options
class InviteOptions:
    """Options of `postil annotate invite`.

    Args:
        role: annotator or lead.
        days: Validity of the link, in days.
        base_url: URL where people reach the pages, as serve has it.
        late: Invite an annotator besides those of the plan, who takes a fair share of the open items of the others.
    """

    role: Annotated[Role, Flag(metavar="ROLE")] = "annotator"
    days: Annotated[float, Flag(metavar="N")] = 14.0
    base_url: Annotated[str, Flag(metavar="URL")] = "http://localhost:8000"
    late: bool = False

    def __post_init__(self) -> None:
        checked_base_url(self.base_url)
        _check_choice("role", self.role, get_args(Role))
        if self.late and self.role != "annotator":
            raise UsageError("--late goes with annotators: a lead needs no items")


@options
class AgreementOptions(SeedOptions):
    """Options of measuring agreement.

    Args:
        resamples: Number of resamples of the articles, for confidence intervals.
    """

    resamples: Annotated[int, Flag(min=1)] = 1000

    def __post_init__(self) -> None:
        check_fields(self)


@options
class CampaignAgreementOptions(AgreementOptions):
    """Options of `postil annotate agreement`.

    Args:
        aspect: Aspect to use, where the rubric has several; by default the first one.
    """

    aspect: Annotated[str | None, Flag(metavar="NAME")] = None


@options
class ExportOptions:
    """Options of `postil annotate export`.

    Args:
        out: Folder to write; created if it does not exist.
        table_format: File format of the tables: csv, jsonl or parquet.
        timestamps: Include the time of each rating and the seconds that it took.
        texts: Include the texts, and what was shown beside them, in the tables.
    """

    out: Annotated[str, Flag(("--out", "-o"), metavar="FOLDER")]
    table_format: Annotated[str, Flag(metavar="NAME")] = "csv"
    timestamps: bool = False
    texts: Annotated[bool, Flag(("--texts/--no-texts",))] = True

    def __post_init__(self) -> None:
        _check_choice("table format", self.table_format, TABLE_FORMATS)


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


def _check_choice(kind: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise UnknownName(kind, value, choices)


class Written(NamedTuple):
    """A file that was written.

    Args:
        path: The file.
        rows: Number of rows; None for a file that is no table.
    """

    path: str
    rows: int | None


def plan(
    items: str,
    url: str,
    options: PlanOptions,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> PlanResult:
    """Assign items to annotators and create the campaign.

    Args:
        items: File of article rows, whose comments become items, of a plan of references, of candidate rows, or of
            passage rows.
        url: Location of the new campaign; see `postil.annotation.store.Store.open`.
        options: Options of the command.
        inputs: Options of reading the files.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A row of a file is invalid; names the row.
        UsageError: The numbers allow no plan, or the database holds a campaign already.
    """
    if items == options.articles == "-":
        raise UsageError("only one of the files can be standard input")
    item_type, files = _files_of(items, options, (inputs or InputOptions()).column)
    paired = asks_for_pairs(options.pairs, options.rubric)
    given = (inputs or InputOptions()).readings(roles_of(files, items, pairs=paired), on_message)
    if files.rows == "articles":
        given["items"] = dataclasses.replace(
            given["items"], advice="where each row is a text of a system: --context none"
        )
    found = list(files.read(items, given))
    rubric = rubric_for(options.rubric, found, item_type, pairs=options.pairs is not None)
    pairs = pairs_per_item(options.pairs, rubric, files.rows)
    found, sampled_from = _planned(found, rubric, pairs, options, given["gold"])
    made = assign_items(
        [(item.item, item.name) for item in found],
        options.annotators,
        options.annotators_per_item,
        seed=options.seed,
        gold=[number for number, item in enumerate(found) if item.gold is not None],
        repeat_rate=options.repeat_rate,
        together=options.item_order == "together",
        balance="system" if files.rows == "candidates" else "article",
        overlap=options.overlap,
        by_item=options.by_item,
        first=[number for number, item in enumerate(found) if item.purpose == "training"],
    )
    campaign = Campaign(
        name=options.name or Path(items).stem,
        item_type=item_type,
        annotators_per_item=options.annotators_per_item,
        seed=options.seed,
        overlapping=tuple(sorted(made.overlapping)),
        by_item=options.by_item,
        sampled_from=sampled_from,
        rows=files.rows,
        context=files.context,
        pairs=pairs,
        feedback="gold" if options.feedback else "training" if options.training else "",
    )
    with open_campaign(url, make=True) as store:
        store.create(campaign, found, made, rubric)
    return replace(made.statistics(), sampled=options.sample, sampled_from=sampled_from)


def _planned(
    texts: list[Item], rubric: Rubric, pairs: int | None, options: PlanOptions, reading: Reading
) -> tuple[list[Item], int | None]:
    """Items of a new campaign, and the number of articles that they were sampled from."""
    sampled_from = None

    def sampled(items: Sequence[Item]) -> Sequence[Item]:
        nonlocal sampled_from
        if options.sample is not None:
            items, sampled_from = sampled_items(items, options.sample, options.seed)
        return items

    if pairs is not None:
        if options.feedback or options.training:
            raise UsageError("--feedback and --training show the labels of single texts; pairs have no feedback")
        gold = {} if options.gold is None else read_gold(options.gold, rubric, reading)
        made = planned_pairs(texts, pairs, gold, options.gold or "", seed=options.seed, sampled=sampled)
        return made, sampled_from
    if options.gold:
        texts = with_gold(texts, options.gold, rubric, reading)
    texts = list(sampled(texts))
    if options.feedback and not any(item.gold is not None and not item.purpose for item in texts):
        raise UsageError("--feedback shows the labels of gold items, and there are none: --gold FILE")
    return with_training(texts, options.training, options.seed), sampled_from


def _files_of(path: str, options: PlanOptions, column: Sequence[str] = ()) -> tuple[ItemType, ItemFiles]:
    """Type of the items of a file, and the way of reading them: candidates where a field of theirs alone is mapped."""
    context = None if options.context is None else parse_context(options.context)
    former = None if options.item_type is None else FORMER.get(options.item_type)
    item_type, rows = former or (options.item_type, None)
    planned = item_type in {None, "comment"} and rows != "candidates" and is_reference_plan(path)
    if rows == "articles" and options.articles is not None and not planned:
        raise UsageError("--articles goes with candidate rows; article rows have the text of the article themselves")
    if item_type == "passage":
        rows = "passages"
    elif planned:
        rows = "articles"
    elif rows is None:
        mapped = any(pair.partition("=")[0] in {"item", "system", "text"} for pair in column)
        alone = context is not None and not {"article", "thread"} & {*context} and not has_comments(path)
        others = options.articles is not None or item_type not in {None, "comment"}
        others = others or mapped or alone or has_candidates(path)
        rows = "candidates" if others else "articles"
    item_type = item_type or ("text" if rows == "candidates" and options.articles is None else "comment")
    return item_type, ItemFiles(rows, ("article",) if context is None else context, options.articles)


def roles_of(files: ItemFiles, path: str, *, pairs: bool = False) -> dict[str, type[Row]]:
    """Row types by role, for options of reading.

    Args:
        files: Reading of the items.
        path: File of items.
        pairs: True for a campaign of pairs.
    """
    gold: type[Row] = GoldPreference if pairs else GoldLabel
    return {"items": files.row_type(path), "articles": Article, "gold": gold}


def invite(url: str, name: str, options: InviteOptions) -> str:
    """Invite a person.

    Args:
        url: Location of the campaign.
        name: Name of the person.
        options: Options of the command.

    Returns:
        The link to send; it works once.

    Raises:
        Refused: See `postil.annotation.people.People.invite`.
    """
    with open_campaign(url) as store:
        return f"{checked_base_url(options.base_url)}/join/{store.people.invite(name, options.role, options.days)}"


def invite_first_lead(url: str, base_url: str) -> str | None:
    """Invite a lead to a campaign that has none yet.

    Args:
        url: Location of the campaign.
        base_url: URL where people reach the pages.

    Returns:
        The link to open; it works once. None if there is a lead.
    """
    with open_campaign(url) as store:
        everyone = store.people.everyone()
        if any(person.role == "lead" and not person.left for person in everyone):
            return None
        taken = {person.name for person in everyone}  # by a lead who was removed, or an annotator
        name = next(name for name in ("lead", *(f"lead {n}" for n in range(2, len(taken) + 3))) if name not in taken)
        return f"{checked_base_url(base_url)}/join/{store.people.invite(name, 'lead', days=1)}"


def remove(url: str, name: str, options: RemoveOptions) -> Reassignment:
    """Remove a person from a campaign; open items of an annotator are reassigned, or reserved.

    Args:
        url: Location of the campaign.
        name: Name or pseudonym of the person.
        options: Options of the command.

    Raises:
        UnknownName: There is no such person.
        Refused: The person was removed already.
    """
    with open_campaign(url) as store:
        return store.people.remove(store.people.named(name), reserve=options.reserve)


def agreement(url: str, options: CampaignAgreementOptions) -> AgreementResult:
    """Measure inter-annotator agreement on the ratings so far.

    Args:
        url: Location of the campaign.
        options: Options of the command.

    Raises:
        UnknownName: There is no such aspect.
    """
    with open_campaign(url, read_only=True) as store:
        rubric, ratings = ratings_of(store.results.ratings(), store.rubric(), options.aspect)
        revisions = store.results.revisions(ratings)
    return replace(agreement_of(ratings, rubric, options), revisions=revisions if len(revisions) > 1 else ())


def agreement_of(
    ratings: Sequence[Rating], rubric: Rubric, options: AgreementOptions, inferred: InferredGrades | None = None
) -> AgreementResult:
    """Measure inter-annotator agreement, and the consistency of annotators.

    Args:
        ratings: Ratings of a campaign, of one aspect.
        rubric: Rubric of the campaign, or of the aspect.
        options: Options of the command.
        inferred: Competence of the annotators, where it is known already.
    """
    from postil.metaeval.agreement import agreement as measure  # noqa: PLC0415 - it loads statistics

    found, reason = None, "agreement needs grades, and there are none"
    rows = list(judgements(ratings, single_texts=True))
    if rows:
        try:
            labels = rubric.grades or None
            found, reason = measure(rows, labels=labels, resamples=options.resamples, seed=options.seed), ""
            if rubric.kind == "pair":  # neither text of a pair is the higher grade
                found = replace(found, raters=tuple(replace(rater, severity=None) for rater in found.raters))
        except Undefined as error:
            reason = str(error)
    known = (inferred or inferred_grades(ratings, rubric)).competence
    return AgreementResult(
        agreement=found,
        reason=reason,
        repeated=with_themselves(ratings),
        gold=with_gold_labels(ratings),
        competence=tuple(AnnotatorCompetence(annotator=name, competence=value) for name, value in known.items()),
    )


def export(url: str, options: ExportOptions) -> list[Written]:
    """Write the ratings: two tables with a codebook, and rows that other commands read.

    Args:
        url: Location of the campaign.
        options: Options of the command.

    Raises:
        InvalidInput: There are no ratings yet.
    """
    with open_campaign(url, read_only=True) as store:
        files = export_files(
            store,
            inferred_grades,
            table_format=options.table_format,
            timestamps=options.timestamps,
            texts=options.texts,
        )
    paths = {name: f"{options.out}/{name}" for name in files}
    for path in paths.values():
        check_apart(path, [url.removeprefix("sqlite:///")])
    Path(options.out).mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        write_rows(paths[name], rows)
    return [Written(paths[name], None if isinstance(rows, str) else len(rows)) for name, rows in files.items()]


def write_rows(path: str, rows: Sequence[Row] | str) -> None:
    """Write a file of an export atomically.

    Args:
        path: The file; its suffix names the format.
        rows: Rows of one type, or the text of the file.
    """
    if isinstance(rows, str) or path.endswith(".csv"):
        text = rows if isinstance(rows, str) else rows_as_csv([msgspec.structs.asdict(row) for row in rows])
        with AtomicFile(path) as stream:
            stream.write(text.encode())
        return
    with Writer(path, type(rows[0])) as out:
        for row in rows:
            out.write(row)


def backup(url: str, copy: str, options: BackupOptions) -> int:
    """Copy a campaign as it is at one moment, also while its server runs.

    Args:
        url: Location of the campaign.
        copy: File to write; it appears atomically.
        options: Options of the command.

    Returns:
        Number of ratings in the copy.

    Raises:
        UsageError: The file exists already or is one of SQLite's beside the campaign, or the campaign is not in an
            SQLite file.
        InvalidInput: There is no campaign, or a part of it is missing.
    """
    _check_new(copy)
    # One of an earlier version can be copied as it is, above all before it is upgraded.
    source = open_campaign(url, read_only=True, incomplete=options.incomplete, earlier=True)
    # A copy is private, as it holds the names of the annotators.
    with source as store, AtomicFile(copy, private=True) as stream:
        _check_beside(copy, store)
        store.copy(stream.name)
        with open_campaign(stream.name, read_only=True, earlier=True) as copied:
            ratings = copied.people.totals()[0].done
        _check_new(copy)  # again: copying takes a while, and another process may have made the file
    return ratings


def upgrade(url: str) -> None:
    """Bring a campaign of an earlier version of postil to this one; nothing in it changes.

    Args:
        url: Location of the campaign.

    Raises:
        InvalidInput: There is no campaign, or one of a version that cannot be upgraded.
    """
    open_campaign(url).close()


def _check_new(file: str) -> None:
    if not file.strip() or file == "-" or "://" in file:
        raise UsageError(f"a backup is a file: expected the name of a new one, got '{file}'")
    if Path(file).exists():
        raise UsageError(f"{file}: exists already; choose a new file")


def _check_beside(file: str, store: Store) -> None:
    """Refuse the names under which SQLite keeps its own files beside a campaign."""
    if store.file is not None and os.path.realpath(file) in {
        f"{os.path.realpath(store.file)}-{kind}" for kind in ("wal", "shm", "journal")
    }:
        raise UsageError(f"{file}: SQLite writes a file of this name beside {store.file}; choose another name")


def open_campaign(
    url: str, *, make: bool = False, read_only: bool = False, incomplete: bool = False, earlier: bool = False
) -> Store:
    """Open a campaign; see `postil.annotation.store.Store.open`.

    Args:
        url: Location of the campaign.
        make: True to create the tables if there are none.
        read_only: True to refuse transactions that write.
        incomplete: True to read a file without its write-ahead log.
        earlier: True to read one of an earlier version as it is.
    """
    # Imported here, since it needs optional packages, which the help of the commands does not.
    from postil.annotation.store import Store  # noqa: PLC0415

    return Store.open(url, make=make, read_only=read_only, incomplete=incomplete, earlier=earlier)
