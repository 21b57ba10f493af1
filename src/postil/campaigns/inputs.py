"""Rubric, gold labels and sample of the items of a new campaign."""

from __future__ import annotations

from collections import Counter
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from postil.campaigns.item_assignment import generator
from postil.campaigns.rubric import LANGUAGES, Rubric
from postil.data.row_files import PLAIN, read
from postil.data.rows import Row
from postil.errors import InvalidInput, UsageError
from postil.messages import Message, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from postil.campaigns.item_types import ItemType
    from postil.campaigns.models import Item, Kind
    from postil.data.reading import Reading

__all__ = ["GoldLabel", "rubric_for", "sampled_items", "with_gold", "with_training"]


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
