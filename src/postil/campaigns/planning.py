"""`postil annotate plan`: items from files of articles, candidates and passages, assigned to annotators."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

import msgspec

from postil.campaigns.calls import open_campaign
from postil.campaigns.item_assignment import generator
from postil.campaigns.models import FORMER, Campaign, Context, Item, ItemRows, ItemType, Kind, parse_context
from postil.campaigns.pairs import GoldPreference, PairKey, asks_for_pairs, pairs_per_item, planned_pairs, read_gold
from postil.campaigns.plan import plan as assign_items
from postil.campaigns.rubric import LANGUAGES, Rubric
from postil.data.groups import grouped
from postil.data.options import InputOptions
from postil.data.parts import NAMED
from postil.data.row_files import PLAIN, fields_of, read
from postil.data.rows import Article, Candidate, Comment, Passage, PlannedReference, Row
from postil.data.streams import KeptInput
from postil.errors import InvalidInput, UsageError
from postil.messages import Blank, Listed, Message, Setting
from postil.results.base import replace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from postil.campaigns.options import PlanOptions
    from postil.campaigns.result import PlanResult
    from postil.data.progress import OnMessage
    from postil.data.reading import Reading
    from postil.data.row_locations import RowLocations

__all__ = [
    "EmptyTexts",
    "GoldLabel",
    "ItemFiles",
    "ItemPlace",
    "has_candidates",
    "has_comments",
    "is_reference_plan",
    "plan",
    "roles_of",
    "rubric_for",
    "sampled_items",
    "with_gold",
    "with_training",
]


def plan(
    items: str,
    url: str,
    options: PlanOptions,
    inputs: InputOptions | None = None,
    on_message: OnMessage = lambda _: None,
) -> PlanResult:
    """Assign items to annotators and create the campaign.

    Texts that are empty or white space alone are left out, as nobody can rate them; a message names the first of them.

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
    items, inputs = KeptInput() if items == "-" else items, inputs or InputOptions()
    item_type, files = _files_of(items, options, inputs)
    paired = asks_for_pairs(options.pairs, options.rubric)
    given = inputs.readings(roles_of(files, items, pairs=paired), on_message)
    if files.rows == "articles":
        given["items"] = dataclasses.replace(
            given["items"],
            advice=Message("where each row is a text of a system: {context}", context=Setting("context", "none")),
        )
    empty = EmptyTexts()
    found = list(files.read(items, given, empty))
    empty.tell(on_message)
    rubric = rubric_for(options.rubric, found, item_type, pairs=options.pairs is not None)
    pairs = pairs_per_item(options.pairs, rubric, files.rows)
    if pairs is not None:
        found = empty.without_single_texts(found, on_message)
    found, sampled_from = _planned(found, rubric, pairs, options, given["gold"], empty)
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
        groups = store.campaign().grouped_by
    return replace(made.statistics(groups), sampled=options.sample, sampled_from=sampled_from)


def _planned(  # noqa: PLR0917
    texts: list[Item], rubric: Rubric, pairs: int | None, options: PlanOptions, reading: Reading, empty: EmptyTexts
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
        gold = {} if options.gold is None else empty.with_texts(read_gold(options.gold, rubric, reading))
        made = planned_pairs(texts, pairs, gold, options.gold or "", seed=options.seed, sampled=sampled)
        return made, sampled_from
    if options.gold:
        texts = with_gold(texts, options.gold, rubric, reading, known=empty.keys)
    texts = list(sampled(texts))
    if options.feedback and not any(item.gold is not None and not item.purpose for item in texts):
        raise UsageError(
            "{feedback} shows the labels of gold items, and there are none: {gold}",
            feedback=Setting("feedback"),
            gold=Setting("gold", Blank("FILE")),
        )
    return with_training(texts, options.training, options.seed), sampled_from


def _files_of(path: str, options: PlanOptions, inputs: InputOptions) -> tuple[ItemType, ItemFiles]:
    """Type of the items of a file, and the way of reading them: candidates where a field of theirs alone is mapped."""
    roles: dict[str, type[Row]] = {"items": Candidate, "articles": Article, "gold": GoldLabel}
    reading = dataclasses.replace(inputs, column=()).readings(roles, lambda _: None)["items"]
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
        mapped = any(pair.partition("=")[0] in {"item", "system", "text"} for pair in inputs.column)
        alone = context is not None and not {"article", "thread"} & {*context} and not has_comments(path, reading)
        others = options.articles is not None or item_type not in {None, "comment"}
        others = others or mapped or alone or has_candidates(path, reading)
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


T = TypeVar("T", Candidate, Passage)

TextKey: TypeAlias = tuple[str, str, int]
"""Item, system and sample of a text."""
_CELL: TypeAlias = str | int | float | tuple[str, ...] | None
_PREFIX: Final = "context_"
_NAMED_BY: Final[Mapping[ItemRows, str]] = {"articles": "comments", "candidates": "system", "passages": "id"}
"""Field of a row that names its items, by rows of the file."""


@dataclass(frozen=True, slots=True)
class ItemFiles:
    """Reading of items from files.

    Args:
        rows: Rows of the files; those of ``articles`` may be references of a plan as well.
        context: Names of what is shown with each text; see `postil.campaigns.models.parse_context`.
        articles: File of the articles that candidates or references were written for; None if there is none.

    Raises:
        UsageError: The rows have no such context, or it needs articles.
    """

    rows: ItemRows
    context: tuple[str, ...]
    articles: str | None = None

    def __post_init__(self) -> None:
        columns = [name for name in self.context if name not in {"article", "thread"}]
        if self.rows == "articles" and columns:
            raise UsageError(
                "{context}: columns are those of candidate rows, and article rows have none: '{column}'; article rows "
                "have article and thread",
                context=Setting("context"),
                column=columns[0],
            )
        if self.rows == "candidates" and self.articles is None and "article" in self.context:
            raise UsageError(
                "candidates are shown beside their articles: {articles}; or name columns to show: {columns}; or {none}",
                articles=Setting("articles", Blank("FILE")),
                columns=Setting("context", Blank("NAME,NAME")),
                none=Setting("context", "none"),
            )
        if self.rows == "candidates" and self.articles is not None and not {"article", "source"} & {*self.context}:
            raise UsageError(
                "{articles}: the articles would not be shown; add article to {context}",
                articles=Setting("articles"),
                context=Setting("context"),
            )
        if self.rows == "passages" and self.articles is not None:
            raise UsageError(
                "{articles} goes with candidate rows, and these are passages", articles=Setting("articles")
            )

    def row_type(self, path: str) -> type[Row]:
        """Type of the rows of a file, for options of reading it.

        Args:
            path: The file.
        """
        if self.rows == "articles":
            return PlannedReference if is_reference_plan(path) else Article
        return self._extended(Passage) if self.rows == "passages" else self._extended(Candidate)

    def _extended(self, base: type[T]) -> type[T]:
        """A type of rows with fields for the sample number, the language and the context."""
        fields: list[tuple[str, object, None]] = []
        if base is Candidate:
            fields = [("sample", int | None, None), ("lang", str | None, None)]
        fields += [(f"{_PREFIX}{number}", _CELL, None) for number in range(len(self._columns))]
        made = msgspec.defstruct(base.__name__, fields, bases=(base,), frozen=True, gc=False)
        return cast("type[T]", made)

    @property
    def _columns(self) -> tuple[str, ...]:
        """Names of the contexts that are columns; article rows have none."""
        if self.rows == "articles":
            return ()
        of_article = {"article"} | ({"source"} if self.articles is not None else set())
        return tuple(name for name in self.context if name not in of_article)

    def read(
        self, path: str, readings: Mapping[str, Reading] | None = None, empty: EmptyTexts | None = None
    ) -> Iterator[Item]:
        """Read the items of a file that have a text; see `located`.

        Args:
            path: The file.
            readings: Options of reading ``items`` and ``articles``.
            empty: Those without one.
        """
        for item, _ in (empty or EmptyTexts()).left_out_of(self.located(path, readings)):
            yield item

    def located(self, path: str, readings: Mapping[str, Reading] | None = None) -> Iterator[tuple[Item, ItemPlace]]:
        """Read the items of a file, each with its location.

        Args:
            path: The file.
            readings: Options of reading ``items`` and ``articles``.

        Raises:
            InvalidInput: A row is invalid, or two have the same name; names the row.
        """
        given, row_type = readings or {}, self.row_type(path)
        known: dict[str, Article] = {}
        if self.articles is not None and row_type is not Article:
            known = {one.id: one for one in read(self.articles, Article, given.get("articles", PLAIN))}
        rows = read(path, row_type, self._mapped(given.get("items", PLAIN)))
        named_by = "reference" if row_type is PlannedReference else _NAMED_BY[self.rows]
        seen: dict[tuple[str, str], dict[int, str]] = {}  # texts by sample number
        for index, row in enumerate(rows):
            place = ItemPlace(rows.places, index, named_by)
            for item in self._items(row, known, place):
                names = (item.item, item.system, item.text, item.title, item.content, item.lang)
                if any("\0" in text for text in (*names, *(one.text for one in item.context))):
                    raise place.error(
                        Message(
                            "{system} of {item} contains a NUL character; take it out",
                            system=item.system,
                            item=item.item,
                        )
                    )
                yield self._numbered(item, seen.setdefault((item.item, item.system), {}), place), place

    def _items(self, row: Row, known: Mapping[str, Article], place: ItemPlace) -> Iterator[Item]:
        """Items of a row: the comments of an article; of another one its text."""
        named = "article" in self.context
        if isinstance(row, Article):
            by_id = {comment.id: comment for comment in row.comments} if "thread" in self.context else {}
            shown = row if named else Article(row.id, "", ())
            for comment in row.comments:
                thread = tuple(Context(name="thread", text=text) for text in _thread(comment, by_id))
                yield _item(shown, comment.id, comment.text, context=thread)
        elif isinstance(row, PlannedReference):  # without articles it is shown with the name of its item
            unknown = Article(row.item, row.item if named else "", ())
            yield _item(self._article(row.item, known, unknown, place), str(row.reference), row.text)
        elif isinstance(row, Passage):
            title = row.topic if named else ""
            yield Item(item=row.topic, system=row.id, text=row.text, title=title, context=self._contexts(row))
        elif isinstance(row, Candidate):
            article = self._article(row.item, known, Article(row.item, "", ()), place)
            sample, lang = getattr(row, "sample", None), getattr(row, "lang", None)
            if sample is not None and sample < 1:
                raise place.error(Message("expected a whole number from 1 up, got {got}", got=sample), "sample")
            item = _item(article, row.system, row.text, context=self._contexts(row), sample=sample or 0)
            own = self.articles is None and lang is not None
            yield msgspec.structs.replace(item, lang=lang) if own else item

    def _mapped(self, reading: Reading) -> Reading:
        """Options of reading rows with the columns of the context, which must be there."""
        columns = {f"{_PREFIX}{number}": name for number, name in enumerate(self._columns)}
        return dataclasses.replace(reading, columns={**columns, **reading.columns}) if columns else reading

    def _contexts(self, row: Row) -> tuple[Context, ...]:
        """Texts of the columns; a list becomes one text per entry, and an empty cell none."""
        found = []
        for number, name in enumerate(self._columns):
            cell = getattr(row, f"{_PREFIX}{number}")
            texts = cell if isinstance(cell, tuple) else (cell,)
            found += [Context(name=name, text=str(text)) for text in texts if text is not None and str(text).strip()]
        return tuple(found)

    def _article(self, item: str, known: Mapping[str, Article], unknown: Article, place: ItemPlace) -> Article:
        """The article of an item; where no articles were given, another one in its place."""
        article = unknown if self.articles is None else known.get(item)
        if article is None:
            raise place.error(
                Message("there is no article '{item}' in {file}", item=item, file=f"{self.articles}"), "item"
            )
        return article

    def _numbered(self, item: Item, before: dict[int, str], place: ItemPlace) -> Item:
        """An item with its sample number: its own, or the next one among the texts of its name."""
        name = Message("{item} has two items with the name {system}", item=item.item, system=item.system)
        if before and self.rows != "candidates":
            raise place.error(Message("{problem}; give one of them another id", problem=name))
        if item.sample in before:
            raise place.error(Message("{problem} and the sample {n}", problem=name, n=item.sample), "sample")
        if not item.sample and item.text.strip() and item.text in before.values():
            raise place.error(
                Message("{problem} and one text; leave one out, or number them in a column named sample", problem=name)
            )
        number = item.sample or max(before, default=0) + 1
        before[number] = item.text
        return msgspec.structs.replace(item, sample=number)


@dataclass(frozen=True, slots=True)
class ItemPlace:
    """Location of an item, for messages.

    Args:
        rows: Locations of the rows of its file.
        index: Number of its row.
        field: Field that names the item.
    """

    rows: RowLocations
    index: int
    field: str

    def __str__(self) -> str:
        """File and line."""
        return f"{self.rows.where}:{self.rows.line(self.index)}"

    def error(self, problem: str, field: str = "") -> InvalidInput:
        """Make the error for the item.

        Args:
            problem: One sentence.
            field: Field with the problem; by default that which names the item.
        """
        return self.rows.error(self.index, field or self.field, problem)


class EmptyTexts:
    """Texts that are empty or white space alone, which nobody can rate.

    Attributes:
        keys: Item, system and sample of each.
        first: Names of the first few.
    """

    def __init__(self) -> None:
        self.keys: set[TextKey] = set()
        self.first: list[Message] = []
        self._places: list[str] = []
        self._single: set[str] = set()

    def left_out_of(self, found: Iterable[tuple[Item, ItemPlace]]) -> Iterator[tuple[Item, ItemPlace]]:
        """Items with a text.

        Args:
            found: Items, each with its location; those without a text are taken note of.
        """
        for item, place in found:
            if item.text.strip():
                yield item, place
                continue
            self.keys.add((item.item, item.system, item.sample))
            if len(self.first) < NAMED:
                self.first.append(Message("{system} of {item}", system=item.system, item=item.item))
                self._places.append(str(place))

    def tell(self, on_message: OnMessage) -> None:
        """Tell how many they are, and where the first of them stand.

        Args:
            on_message: Callback for status messages; it gets none where there is no such text.
        """
        if self.keys:
            names = [f"{name} ({place})" for name, place in zip(self.first, self._places, strict=True)]
            on_message(
                Message(
                    "{count} text is empty or white space, left out: {names}",
                    "{count:,} texts are empty or white space, left out: {names}",
                    count=len(self.keys),
                    names=_named(names, len(self.keys)),
                )
            )

    def without_single_texts(self, texts: Sequence[Item], on_message: OnMessage) -> list[Item]:
        """Texts of which pairs can be made: without those that are alone, as the others of their item are empty.

        Args:
            texts: The items with a text.
            on_message: Callback for status messages.
        """
        short = {item for item, _, _ in self.keys}
        systems = grouped((text.item, text.system) for text in texts if text.item in short)
        self._single = {item for item, names in systems.items() if len(names) < 2}
        if self._single:
            on_message(
                Message(
                    "{count} item has one text left, so there is no pair of it: {names}",
                    "{count:,} items have one text left, so there is no pair of them: {names}",
                    count=len(self._single),
                    names=_named([item for item in systems if item in self._single][:NAMED], len(self._single)),
                )
            )
        return [text for text in texts if text.item not in self._single]

    def with_texts(self, gold: Mapping[PairKey, GoldPreference]) -> dict[PairKey, GoldPreference]:
        """Gold preferences without those of pairs that have an empty text.

        Args:
            gold: Gold preferences, by article and systems.
        """
        names = {(item, system) for item, system, _ in self.keys}
        return {
            (item, systems): row
            for (item, systems), row in gold.items()
            if item not in self._single and not any((item, system) in names for system in systems)
        }


def _named(first: Sequence[str], count: int) -> str:
    """The first of several names."""
    more = f" and {count - len(first):,} more" if count > len(first) else ""
    return f"{', '.join(first)}{more}"


def is_reference_plan(path: str) -> bool:
    """True if a file has the references of a plan, as `postil weights plan` writes them.

    Args:
        path: A file of items.
    """
    return {*PlannedReference.__struct_fields__} <= {*fields_of(path, PlannedReference)}


def has_candidates(path: str, reading: Reading = PLAIN) -> bool:
    """True if a file has candidate rows, by the names of its columns.

    Args:
        path: A file of items.
        reading: Options of reading it.
    """
    names = set(fields_of(path, Candidate, reading))
    return {"item", "text"} <= names and not names & {"comments", "reference"}


def has_comments(path: str, reading: Reading = PLAIN) -> bool:
    """True if a file may have article rows with comments, by the names of its columns.

    Args:
        path: A file of items.
        reading: Options of reading it.
    """
    names = fields_of(path, Article, reading)
    return not names or "comments" in names


def _item(article: Article, system: str, text: str, *, context: tuple[Context, ...] = (), sample: int = 0) -> Item:
    return Item(
        item=article.id,
        system=system,
        text=text,
        title=article.title,
        content=article.content or "",
        lang=article.lang or "",
        context=context,
        sample=sample,
    )


def _thread(comment: Comment, by_id: Mapping[str, Comment]) -> list[str]:
    """Texts of the comments that a comment replies to, the first one first."""
    found: list[Comment] = []
    while (comment.parent is not None and (parent := by_id.get(comment.parent)) is not None) and parent not in found:
        found.append(parent)
        comment = parent
    return [one.text for one in reversed(found)]


class GoldLabel(Row, frozen=True, gc=False):
    """Row of a file of gold labels."""

    item: str
    system: str
    grade: float
    sample: int = 1
    aspect: str | None = None
    attention: bool = False
    text: str | None = None


def sampled_items(items: Sequence[Item], count: int, seed: int) -> tuple[list[Item], int]:
    """Sample articles at random, each with all its items: a simple random sample without replacement.

    The order of the draw depends on the seed and the ids alone. So the smaller of two samples of one seed is a part of
    the larger one, and the articles that are left after a sample is taken out of the file continue it.

    Args:
        items: The items. Gold items stay, whatever is sampled; articles with nothing else are not sampled.
        count: Number of articles.
        seed: Random seed.

    Returns:
        The items of the sample, in their order, and the number of articles that it was drawn from.

    Raises:
        UsageError: There are fewer articles.

    >>> from postil.campaigns.models import Item
    >>> found = [Item(item=article, system=system, text="") for article in "abcd" for system in "xy"]
    >>> sampled, articles = sampled_items(found, 2, seed=1)
    >>> [item.item + item.system for item in sampled], articles
    (['ax', 'ay', 'dx', 'dy'], 4)
    """
    articles = list(dict.fromkeys(item.item for item in items if item.gold is None))
    if not 1 <= count <= len(articles):
        raise UsageError(
            "{sample}: expected a number from 1 to {most}, the number of articles (or topics); got {got}",
            sample=Setting("sample"),
            most=len(articles),
            got=count,
        )

    def drawn(article: str) -> bytes:
        return blake2b(f"{seed} {article}".encode("utf-8", "surrogatepass"), digest_size=16).digest()

    chosen = set(sorted(articles, key=drawn)[:count])
    return [item for item in items if item.item in chosen or item.gold is not None], len(articles)


def rubric_for(named: str | None, items: Sequence[Item], item_type: ItemType, *, pairs: bool = False) -> Rubric:
    """Read the rubric of a campaign, or choose the bundled one.

    Args:
        named: A file, or the language of the bundled rubric; None for the most frequent language of the items.
        items: The items.
        item_type: Type of the items; comments without an article have the bundled rubric of texts.
        pairs: True for the bundled rubric of pairs.

    Raises:
        InvalidInput: A field of the file is invalid; names the field.
    """
    if named is not None and named not in LANGUAGES:
        return Rubric.read(named)
    languages = Counter(item.lang.partition("-")[0].lower() for item in items)
    usual = next((lang for lang, _ in languages.most_common() if lang in LANGUAGES), LANGUAGES[0])
    kind: Kind = "pair" if pairs else "spans" if item_type == "passage" else "grade"
    if item_type == "comment" and not any(item.has_article for item in items):
        item_type = "text"
    return Rubric.default(named or usual, kind, item_type)


def with_gold(
    items: Sequence[Item],
    path: str,
    rubric: Rubric,
    reading: Reading = PLAIN,
    *,
    known: Collection[TextKey] = (),
) -> list[Item]:
    """Add gold labels to items.

    Args:
        items: The items.
        path: File of gold labels (item, system, grade; sample where a system has several texts of an item; aspect;
            attention: true for a text that asks for the grade; text of an item that is not among the items).
        rubric: The rubric.
        reading: Options of reading the file.
        known: Item, system and sample of labels to leave out.

    Raises:
        InvalidInput: There is no such item, the rubric has no such grade, or two rows differ; names the row.
    """
    numbers = {(item.item, item.system, item.sample): number for number, item in enumerate(items)}
    found, names = list(items), [scale.name for scale in rubric.scales]
    rows = read(path, GoldLabel, reading)
    labels: dict[int, list[float | None]] = {}
    for index, row in enumerate(rows):
        if (row.item, row.system, row.sample) in known:
            continue
        place = ItemPlace(rows.places, index, "item")
        number = numbers.get((row.item, row.system, row.sample))
        if number is None and row.text is not None:
            number = numbers[row.item, row.system, row.sample] = len(found)
            found.append(_text_of_label(found, row, place))
        if number is None:
            raise place.error(
                Message(
                    "there is no item {system} of {item}; correct the names, or leave the row out",
                    system=row.system,
                    item=row.item,
                )
            )
        aspect = _aspect_of(row, found[number], rubric, place)
        golds = labels.setdefault(number, [None] * len(names))
        if golds[aspect] not in {None, row.grade}:
            problem = Message(
                "another row has the label {label} for {system} of {item}; leave one out",
                label=f"{golds[aspect]:g}",
                system=row.system,
                item=row.item,
            )
            raise place.error(problem, "grade")
        golds[aspect] = row.grade
        found[number] = msgspec.structs.replace(
            found[number],
            gold=golds[0],
            golds=tuple(golds) if rubric.aspects else (),
            purpose="attention" if row.attention else found[number].purpose,
        )
    for number, golds in labels.items():
        if golds[0] is None:
            problem = Message(
                "expected a label of the first aspect, {aspect}, for {item} as well",
                aspect=names[0],
                item=found[number].item,
            )
            raise InvalidInput(problem, where=path, field="aspect")
    return found


def _aspect_of(row: GoldLabel, item: Item, rubric: Rubric, place: ItemPlace) -> int:
    """Number of the aspect of a label, which is checked."""
    if row.text not in {None, item.text}:
        problem = Message("{system} of {item} has another text in the file of items", system=row.system, item=row.item)
        raise place.error(problem, "text")
    names = [scale.name for scale in rubric.scales]
    aspect = names[0] if row.aspect is None else row.aspect
    if aspect not in names:
        raise place.error(Message("expected one of {names}, got '{got}'", names=", ".join(names), got=aspect), "aspect")
    number, got = names.index(aspect), f"{row.grade:g}"
    scale = rubric.scales[number]
    if row.grade in scale.grades or (rubric.kind == "spans" and 0 <= row.grade <= 1):
        return number
    if not scale.grades:
        raise place.error(Message("expected a share from 0 to 1, got {got}", got=got), "grade")
    whole = Message("expected a whole number from {low} to {high}, got {got}", low=scale.low, high=scale.high, got=got)
    raise place.error(whole, "grade")


def _text_of_label(items: Sequence[Item], row: GoldLabel, place: ItemPlace) -> Item:
    """Item with the text of a label, shown like the other items of its article."""
    beside = next((item for item in items if item.item == row.item), None)
    if beside is None:
        raise place.error(Message("there is no item of {item}, so nothing to show beside this text", item=row.item))
    if row.text is None or not row.text.strip() or "\0" in row.text:
        problem = Message("expected a text without NUL characters, or none for a text of the file of items")
        raise place.error(problem, "text")
    return msgspec.structs.replace(
        beside, system=row.system, text=row.text, sample=row.sample, gold=None, golds=(), purpose=""
    )


def with_training(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """Choose gold items at random that every annotator gets first, to learn from.

    Args:
        items: The items.
        count: Number of gold items, attention checks apart.
        seed: Random seed.

    Raises:
        UsageError: There are fewer of them.
    """
    gold = [number for number, item in enumerate(items) if item.gold is not None and not item.purpose]
    if count > len(gold):
        raise UsageError(
            "{training}: expected at most {most}, the number of gold items that are no attention checks; got {got}",
            training=Setting("training"),
            most=len(gold),
            got=count,
        )
    chosen = set(generator(seed, "training", 0).permutation(gold)[:count].tolist())
    return [
        msgspec.structs.replace(item, purpose="training") if number in chosen else item
        for number, item in enumerate(items)
    ]
