"""`postil annotate plan`: items assigned to annotators, in a new campaign."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

from postil.campaigns.calls import open_campaign
from postil.campaigns.item_files import (
    GoldLabel,
    ItemFiles,
    has_candidates,
    has_comments,
    is_reference_plan,
    rubric_for,
    sampled_items,
    with_gold,
    with_training,
)
from postil.campaigns.models import FORMER, ITEM_TYPES, Campaign, ItemType, parse_context
from postil.campaigns.pairs import GoldPreference, asks_for_pairs, pairs_per_item, planned_pairs, read_gold
from postil.campaigns.plan import ItemOrder
from postil.campaigns.plan import plan as assign_items
from postil.data.options import InputOptions, SeedOptions
from postil.data.rows import Article, Row
from postil.errors import UnknownName, UsageError
from postil.messages import Blank, Listed, Message, Setting
from postil.options import Flag, options
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.campaigns.models import Item
    from postil.campaigns.result import PlanResult
    from postil.campaigns.rubric import Rubric
    from postil.data.progress import OnMessage
    from postil.data.reading import Reading

__all__ = ["PlanOptions", "plan", "roles_of"]


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

    annotators: Annotated[int, Flag("annotators", short="n", min=1)]
    annotators_per_item: Annotated[int, Flag("annotators-per-item", short="k", min=1)] = 2
    articles: Annotated[str | None, Flag(metavar="FILE")] = None
    item_type: Annotated[ItemType | None, Flag(metavar="NAME")] = None
    context: Annotated[str | None, Flag(metavar="NAME,NAME")] = None
    rubric: Annotated[str | None, Flag(metavar="NAME|FILE")] = None
    gold: Annotated[str | None, Flag(metavar="FILE")] = None
    feedback: bool = False
    training: Annotated[int, Flag(metavar="N", min=0)] = 0
    sample: Annotated[int | None, Flag("items", metavar="N", min=1)] = None
    overlap: Annotated[float, Flag(metavar="SHARE", min=0, max=1)] = 0.0
    by_item: bool = False
    pairs: Annotated[str | None, Flag(metavar="all|N")] = None
    repeat_rate: Annotated[float, Flag(metavar="SHARE", min=0, max=0.5)] = 0.0
    item_order: Annotated[ItemOrder, Flag(metavar="NAME")] = "spread"
    name: Annotated[str, Flag(metavar="TEXT")] = ""

    def __post_init__(self) -> None:
        if self.item_type is not None and self.item_type not in {*FORMER, *ITEM_TYPES}:
            raise UnknownName("item type", self.item_type, ITEM_TYPES)
        if self.context is not None:
            parse_context(self.context)
        UnknownName.check("item order", self.item_order, get_args(ItemOrder))


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
        url: Location of the new campaign; see `postil.campaigns.store.Store.open`.
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
            given["items"],
            advice=Message("where each row is a text of a system: {context}", context=Setting("context", "none")),
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
            raise UsageError(
                "{settings} show the labels of single texts; pairs have no feedback",
                settings=Listed([Setting("feedback"), Setting("training")]),
            )
        gold = {} if options.gold is None else read_gold(options.gold, rubric, reading)
        made = planned_pairs(texts, pairs, gold, options.gold or "", seed=options.seed, sampled=sampled)
        return made, sampled_from
    if options.gold:
        texts = with_gold(texts, options.gold, rubric, reading)
    texts = list(sampled(texts))
    if options.feedback and not any(item.gold is not None and not item.purpose for item in texts):
        raise UsageError(
            "{feedback} shows the labels of gold items, and there are none: {gold}",
            feedback=Setting("feedback"),
            gold=Setting("gold", Blank("FILE")),
        )
    return with_training(texts, options.training, options.seed), sampled_from


def _files_of(path: str, options: PlanOptions, column: Sequence[str] = ()) -> tuple[ItemType, ItemFiles]:
    """Type of the items of a file, and the way of reading them: candidates where a field of theirs alone is mapped."""
    context = None if options.context is None else parse_context(options.context)
    former = None if options.item_type is None else FORMER.get(options.item_type)
    item_type, rows = former or (options.item_type, None)
    planned = item_type in {None, "comment"} and rows != "candidates" and is_reference_plan(path)
    if rows == "articles" and options.articles is not None and not planned:
        raise UsageError(
            "{articles} goes with candidate rows; article rows have the text of the article themselves",
            articles=Setting("articles"),
        )
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
