"""Files of a plan: items of articles, candidates and passages with what is shown beside, gold labels, rubrics."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

import msgspec

from postil.campaigns.item_assignment import generator
from postil.campaigns.models import Context, Item
from postil.campaigns.rubric import LANGUAGES, Rubric
from postil.data.row_files import PLAIN, read
from postil.data.rows import Article, Candidate, Passage, PlannedReference, Row
from postil.errors import InvalidInput, PostilError, UsageError
from postil.messages import Blank, Message, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Self

    from postil.campaigns.models import Campaign, ItemRows, ItemType, Kind
    from postil.data.reading import Reading
    from postil.data.row_locations import RowLocations
    from postil.data.rows import Comment

__all__ = [
    "GoldLabel",
    "ItemFiles",
    "ItemPlace",
    "has_candidates",
    "has_comments",
    "is_reference_plan",
    "rubric_for",
    "sampled_items",
    "with_gold",
    "with_training",
]

T = TypeVar("T", Candidate, Passage)

_CELL: TypeAlias = str | int | float | tuple[str, ...] | None
_PREFIX: Final = "context_"


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

    @classmethod
    def of(cls, campaign: Campaign, articles: str | None) -> Self:
        """Reading of further items of a campaign.

        Args:
            campaign: Settings of the campaign.
            articles: File of articles.

        Raises:
            UsageError: Its items need articles, or have none.
        """
        return cls(campaign.rows or "articles", campaign.context or (), articles)

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
        """Names of the contexts that are columns."""
        of_article = {"article"} | ({"source"} if self.articles is not None else set())
        return tuple(name for name in self.context if name not in of_article)

    def read(self, path: str, readings: Mapping[str, Reading] | None = None) -> Iterator[Item]:
        """Read the items of a file; see `located`.

        Args:
            path: The file.
            readings: Options of reading ``items`` and ``articles``.
        """
        for item, _ in self.located(path, readings):
            yield item

    def located(self, path: str, readings: Mapping[str, Reading] | None = None) -> Iterator[tuple[Item, ItemPlace]]:
        """Read the items of a file, each with its location.

        Args:
            path: The file.
            readings: Options of reading ``items`` and ``articles``.

        Raises:
            InvalidInput: A row is invalid, or two have the same name; names the row.
        """
        given = readings or {}
        reading = given.get("items", PLAIN)
        seen: dict[tuple[str, str], dict[int, str]] = {}  # texts by sample number
        for item, place in self._items(path, reading, given.get("articles", PLAIN)):
            names = (item.item, item.system, item.text, item.title, item.content, item.lang)
            if any("\0" in text for text in (*names, *(one.text for one in item.context))):
                problem = Message(
                    "{system} of {item} contains a NUL character; take it out", system=item.system, item=item.item
                )
                raise place.error(problem)
            yield self._numbered(item, seen.setdefault((item.item, item.system), {}), place), place

    def _items(self, path: str, reading: Reading, of_articles: Reading) -> Iterator[tuple[Item, ItemPlace]]:
        if self.rows == "passages":
            yield from self._passages(path, reading)
        elif self.rows == "articles" and not is_reference_plan(path):
            yield from self._comments(path, reading)
        elif self.rows == "articles":
            yield from self._references(path, reading, of_articles)
        else:
            yield from self._candidates(path, reading, of_articles)

    def _comments(self, path: str, reading: Reading) -> Iterator[tuple[Item, ItemPlace]]:
        articles = read(path, Article, reading)
        for index, article in enumerate(articles):
            place = ItemPlace(articles.places, index, "comments")
            by_id = {comment.id: comment for comment in article.comments} if "thread" in self.context else {}
            shown = article if "article" in self.context else Article(article.id, "", ())
            for comment in article.comments:
                thread = tuple(Context(name="thread", text=text) for text in _thread(comment, by_id))
                yield _item(shown, comment.id, comment.text, context=thread), place

    def _references(self, path: str, reading: Reading, of_articles: Reading) -> Iterator[tuple[Item, ItemPlace]]:
        """References of a plan with their articles; without articles they are shown with the name of their item."""
        known = self._known(of_articles)
        rows = read(path, PlannedReference, reading)
        for index, row in enumerate(rows):
            place = ItemPlace(rows.places, index, "reference")
            unknown = Article(row.item, row.item if "article" in self.context else "", ())
            yield _item(self._article(row.item, known, unknown, place), str(row.reference), row.text), place

    def _candidates(self, path: str, reading: Reading, of_articles: Reading) -> Iterator[tuple[Item, ItemPlace]]:
        known = self._known(of_articles)
        rows = read(path, self._extended(Candidate), self._mapped(reading))
        for index, row in enumerate(rows):
            place = ItemPlace(rows.places, index, "system")
            article = self._article(row.item, known, Article(row.item, "", ()), place)
            yield self._candidate(row, article, place), place

    def _candidate(self, row: Candidate, article: Article, place: ItemPlace) -> Item:
        sample, lang = getattr(row, "sample", None), getattr(row, "lang", None)
        if sample is not None and sample < 1:
            raise place.error(Message("expected a whole number from 1 up, got {got}", got=sample), "sample")
        item = _item(article, row.system, row.text, context=self._contexts(row), sample=sample or 0)
        return item if self.articles is not None or lang is None else msgspec.structs.replace(item, lang=lang)

    def _passages(self, path: str, reading: Reading) -> Iterator[tuple[Item, ItemPlace]]:
        rows = read(path, self._extended(Passage), self._mapped(reading))
        for index, row in enumerate(rows):
            title = row.topic if "article" in self.context else ""
            item = Item(item=row.topic, system=row.id, text=row.text, title=title, context=self._contexts(row))
            yield item, ItemPlace(rows.places, index, "id")

    def _mapped(self, reading: Reading) -> Reading:
        """Options of reading rows with the columns of the context, which must be there."""
        columns = {f"{_PREFIX}{number}": name for number, name in enumerate(self._columns)}
        return replace(reading, columns={**columns, **reading.columns}) if columns else reading

    def _contexts(self, row: Row) -> tuple[Context, ...]:
        """Texts of the columns; a list becomes one text per entry, and an empty cell none."""
        found = []
        for number, name in enumerate(self._columns):
            cell = getattr(row, f"{_PREFIX}{number}")
            texts = cell if isinstance(cell, tuple) else (cell,)
            found += [Context(name=name, text=str(text)) for text in texts if text is not None and str(text).strip()]
        return tuple(found)

    def _known(self, reading: Reading) -> dict[str, Article]:
        return {} if self.articles is None else {one.id: one for one in read(self.articles, Article, reading)}

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
        if not item.sample and item.text in before.values():
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


def is_reference_plan(path: str) -> bool:
    """True if a file has the references of a plan, as `postil weights plan` writes them.

    Args:
        path: A file of items.
    """
    return set(PlannedReference.__struct_fields__) <= _fields(path, PlannedReference)


def has_candidates(path: str) -> bool:
    """True if a file has candidate rows, by the names of its columns.

    Args:
        path: A file of items.
    """
    names = _fields(path, Candidate)
    return {"item", "text"} <= names and not names & {"comments", "reference"}


def has_comments(path: str) -> bool:
    """True if a file may have article rows with comments, by the names of its columns.

    Args:
        path: A file of items.
    """
    names = _fields(path, Article)
    return not names or "comments" in names


def _fields(path: str, row_type: type[Row]) -> set[str]:
    if Path(path).is_file():
        with suppress(PostilError):  # which reading the items reports
            return set(read(path, row_type).places.fields(0) or ())
    return set()


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
        item_type: Type of the items.
        pairs: True for the bundled rubric of pairs.

    Raises:
        InvalidInput: A field of the file is invalid; names the field.
    """
    if named is not None and named not in LANGUAGES:
        return Rubric.read(named)
    languages = Counter(item.lang.partition("-")[0].lower() for item in items)
    usual = next((lang for lang, _ in languages.most_common() if lang in LANGUAGES), LANGUAGES[0])
    kind: Kind = "pair" if pairs else "spans" if item_type == "passage" else "grade"
    return Rubric.default(named or usual, kind, item_type)


def with_gold(
    items: Sequence[Item],
    path: str,
    rubric: Rubric,
    reading: Reading = PLAIN,
    *,
    known: Collection[tuple[str, str, int]] = (),
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
        number = numbers.get((row.item, row.system, row.sample))
        if number is None and row.text is not None:
            number = numbers[row.item, row.system, row.sample] = len(found)
            found.append(_text_of_label(found, row, rows.places.error, index))
        if number is None:
            problem = Message(
                "there is no item {system} of {item}; correct the names, or leave the row out",
                system=row.system,
                item=row.item,
            )
            raise rows.places.error(index, "item", problem)
        place = _aspect_of(row, found[number], rubric, partial(rows.places.error, index))
        golds = labels.setdefault(number, [None] * len(names))
        if golds[place] not in {None, row.grade}:
            problem = Message(
                "another row has the label {label} for {system} of {item}; leave one out",
                label=f"{golds[place]:g}",
                system=row.system,
                item=row.item,
            )
            raise rows.places.error(index, "grade", problem)
        golds[place] = row.grade
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


def _aspect_of(row: GoldLabel, item: Item, rubric: Rubric, error: Callable[[str, str], InvalidInput]) -> int:
    """Number of the aspect of a label, which is checked."""
    if row.text not in {None, item.text}:
        problem = Message("{system} of {item} has another text in the file of items", system=row.system, item=row.item)
        raise error("text", problem)
    names = [scale.name for scale in rubric.scales]
    if row.aspect is not None and row.aspect not in names:
        raise error("aspect", Message("expected one of {names}, got '{got}'", names=", ".join(names), got=row.aspect))
    place = 0 if row.aspect is None else names.index(row.aspect)
    scale, got = rubric.scales[place], f"{row.grade:g}"
    if row.grade in scale.grades or (rubric.kind == "spans" and 0 <= row.grade <= 1):
        return place
    if not scale.grades:
        raise error("grade", Message("expected a share from 0 to 1, got {got}", got=got))
    whole = Message("expected a whole number from {low} to {high}, got {got}", low=scale.low, high=scale.high, got=got)
    raise error("grade", whole)


def _text_of_label(
    items: Sequence[Item], row: GoldLabel, error: Callable[[int, str, str], InvalidInput], index: int
) -> Item:
    """Item with the text of a label, shown like the other items of its article."""
    beside = next((item for item in items if item.item == row.item), None)
    if beside is None:
        problem = Message("there is no item of {item}, so nothing to show beside this text", item=row.item)
        raise error(index, "item", problem)
    if row.text is None or not row.text.strip() or "\0" in row.text:
        problem = Message("expected a text without NUL characters, or none for a text of the file of items")
        raise error(index, "text", problem)
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
