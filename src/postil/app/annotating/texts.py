"""The texts of a campaign, read from files, with what is asked and known about them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal, get_args

import msgspec

from postil.annotation.models import Item
from postil.annotation.rubric import LANGUAGES, Rubric
from postil.errors import InvalidInput
from postil.records.row_files import read
from postil.records.rows import Article, Candidate, Passage, Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["WHAT", "What", "items_of", "rubric_for", "with_gold"]

What = Literal["comments", "outputs", "passages"]
WHAT: Final[tuple[What, ...]] = get_args(What)
"""What can be graded."""


class _Gold(Row, frozen=True, gc=False):
    """A grade that is known."""

    item: str
    system: str
    grade: float


def items_of(path: str, what: What, articles: str | None) -> Iterator[Item]:
    """The texts of a campaign.

    Args:
        path: A file of article rows (comments), of candidate rows (outputs) or of passage rows.
        what: What is graded.
        articles: A file of the articles that outputs were written for; None for anything else.

    Raises:
        InvalidInput: Something in a file is wrong; says where.
    """
    seen: set[tuple[str, str]] = set()
    if articles is not None:
        texts = _outputs(path, articles)
    else:
        texts = _passages(path) if what == "passages" else _comments(path)
    for item in texts:
        if (item.item, item.system) in seen:
            raise InvalidInput(f"{item.item} has two texts with the name {item.system}", where=path)
        seen.add((item.item, item.system))
        if any("\0" in text for text in (item.item, item.system, item.text, item.title, item.content, item.lang)):
            raise InvalidInput(f"{item.item}, {item.system}: there is a NUL character in it", where=path)
        yield item


def _comments(path: str) -> Iterator[Item]:
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


def _passages(path: str) -> Iterator[Item]:
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


def rubric_for(named: str | None, items: Sequence[Item], what: What) -> Rubric:
    """The rubric of a campaign.

    Args:
        named: A file, or the language of the bundled rubric; None for the language that most texts are in.
        items: The texts.
        what: What is graded.

    Raises:
        InvalidInput: Something in the file is wrong; says which field.
    """
    if named is not None and named not in LANGUAGES:
        return Rubric.read(named)
    languages = Counter(item.lang.partition("-")[0].lower() for item in items)
    usual = next((lang for lang, _ in languages.most_common() if lang in LANGUAGES), LANGUAGES[0])
    return Rubric.default(named or usual, "spans" if what == "passages" else "grade")


def with_gold(items: Sequence[Item], path: str, rubric: Rubric) -> list[Item]:
    """Texts with the grades that are known.

    Args:
        items: The texts.
        path: A file of grades.
        rubric: What is asked.

    Raises:
        InvalidInput: There is no such text, or the rubric has no such grade; says where.
    """
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
