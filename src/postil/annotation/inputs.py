"""Items, rubric and gold labels of a new campaign, read from files."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from postil.annotation.models import Item
from postil.annotation.rubric import LANGUAGES, Rubric
from postil.errors import InvalidInput, PostilError, UsageError
from postil.records.row_files import PLAIN, read
from postil.records.rows import Article, Candidate, Passage, PlannedReference, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from postil.annotation.models import ItemType
    from postil.records.reading import Reading
    from postil.records.row_files import Rows

__all__ = ["GoldLabel", "is_reference_plan", "read_items", "rubric_for", "sampled_items", "with_gold"]


T = TypeVar("T", Candidate, PlannedReference)


class GoldLabel(Row, frozen=True, gc=False):
    """Row of a file of gold labels."""

    item: str
    system: str
    grade: float


def read_items(
    path: str, item_type: ItemType, articles: str | None, readings: Mapping[str, Reading] | None = None
) -> Iterator[Item]:
    """Read the items of a campaign.

    Args:
        path: File of article rows or of a plan of references (comments), candidate rows (outputs) or passage rows.
        item_type: Type of the items.
        articles: File of the articles that outputs were written for, or the references of a plan; None for other types.
        readings: Options of reading ``items`` and ``articles``.

    Raises:
        InvalidInput: A row of a file is invalid; names the row.
    """
    seen: set[tuple[str, str]] = set()
    given = readings or {}
    reading = given.get("items", PLAIN)
    if item_type == "comments" and is_reference_plan(path):
        references = read(path, PlannedReference, reading)
        texts = _beside_articles(references, lambda row: str(row.reference), articles, given.get("articles", PLAIN))
    elif articles is not None:
        outputs = read(path, Candidate, reading)
        texts = _beside_articles(outputs, lambda row: row.system, articles, given.get("articles", PLAIN))
    else:
        texts = (_passages if item_type == "passages" else _comments)(path, reading)
    for item in texts:
        if (item.item, item.system) in seen:
            raise InvalidInput(f"{item.item} has two items with the name {item.system}", where=path)
        seen.add((item.item, item.system))
        if any("\0" in text for text in (item.item, item.system, item.text, item.title, item.content, item.lang)):
            raise InvalidInput(f"{item.item}, {item.system}: contains a NUL character", where=path)
        yield item


def _comments(path: str, reading: Reading) -> Iterator[Item]:
    for article in read(path, Article, reading):
        for comment in article.comments:
            yield _item(article, comment.id, comment.text)


def is_reference_plan(path: str) -> bool:
    """True if a file has the references of a plan, as `postil weights plan` writes them.

    Args:
        path: A file of items.
    """
    names: tuple[str, ...] = ()
    if Path(path).is_file():
        with suppress(PostilError):  # which reading the items reports
            names = read(path, PlannedReference).places.fields(0) or ()
    return set(PlannedReference.__struct_fields__) <= set(names)


def _beside_articles(rows: Rows[T], name: Callable[[T], str], articles: str | None, reading: Reading) -> Iterator[Item]:
    """Texts with their articles; references of a plan without articles are shown with the name of their item."""
    known = {article.id: article for article in read(articles, Article, reading)} if articles is not None else {}
    for index, row in enumerate(rows):
        article = known.get(row.item) if articles is not None else Article(row.item, row.item, ())
        if article is None:
            raise rows.places.error(index, "item", f"there is no article '{row.item}' in {articles}")
        yield _item(article, name(row), row.text)


def _passages(path: str, reading: Reading) -> Iterator[Item]:
    for row in read(path, Passage, reading):
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

    >>> found = [Item(item=article, system=system, text="") for article in "abcd" for system in "xy"]
    >>> sampled, articles = sampled_items(found, 2, seed=1)
    >>> [item.item + item.system for item in sampled], articles
    (['ax', 'ay', 'dx', 'dy'], 4)
    """
    articles = list(dict.fromkeys(item.item for item in items if item.gold is None))
    if not 1 <= count <= len(articles):
        raise UsageError(
            f"--items: expected a number from 1 to {len(articles)}, the number of articles (or topics); got {count}"
        )

    def drawn(article: str) -> bytes:
        return blake2b(f"{seed} {article}".encode("utf-8", "surrogatepass"), digest_size=16).digest()

    chosen = set(sorted(articles, key=drawn)[:count])
    return [item for item in items if item.item in chosen or item.gold is not None], len(articles)


def rubric_for(named: str | None, items: Sequence[Item], item_type: ItemType) -> Rubric:
    """Read the rubric of a campaign, or choose the bundled one.

    Args:
        named: A file, or the language of the bundled rubric; None for the most frequent language of the items.
        items: The items.
        item_type: Type of the items.

    Raises:
        InvalidInput: A field of the file is invalid; names the field.
    """
    if named is not None and named not in LANGUAGES:
        return Rubric.read(named)
    languages = Counter(item.lang.partition("-")[0].lower() for item in items)
    usual = next((lang for lang, _ in languages.most_common() if lang in LANGUAGES), LANGUAGES[0])
    return Rubric.default(named or usual, "spans" if item_type == "passages" else "grade")


def with_gold(items: Sequence[Item], path: str, rubric: Rubric, reading: Reading = PLAIN) -> list[Item]:
    """Add gold labels to items.

    Args:
        items: The items.
        path: File of gold labels (item, system, grade).
        rubric: The rubric.
        reading: Options of reading the file.

    Raises:
        InvalidInput: There is no such item, or the rubric has no such grade; names the row.
    """
    numbers = {(item.item, item.system): number for number, item in enumerate(items)}
    found = list(items)
    rows = read(path, GoldLabel, reading)
    for index, row in enumerate(rows):
        number = numbers.get((row.item, row.system))
        if number is None:
            raise rows.places.error(index, "item", f"there is no item {row.system} of {row.item}")
        if row.grade not in rubric.grades and not (rubric.kind == "spans" and 0 <= row.grade <= 1):
            grades = f"a whole number from {rubric.low} to {rubric.high}" if rubric.grades else "a share from 0 to 1"
            raise rows.places.error(index, "grade", f"expected {grades}, got {row.grade:g}")
        found[number] = msgspec.structs.replace(found[number], gold=row.grade)
    return found
