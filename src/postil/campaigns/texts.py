"""Items and plan of a campaign, read from the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import sqlalchemy as sql

from postil.campaigns import tables
from postil.campaigns.models import Context, Item
from postil.campaigns.plan import Plan
from postil.campaigns.tables import MOVED
from postil.data.ids import plain_id
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from postil.campaigns.models import Campaign

__all__ = ["context_of", "golds_of", "grades_of", "item_values", "items", "plan_of"]

_ASSIGNMENTS, _EVENTS, _PEOPLE = tables.assignment.c, tables.event.c, tables.person.c


def items(connection: Connection, numbers: Sequence[int] | None = None) -> dict[int, Item]:
    """Read items by number.

    Args:
        connection: The database connection.
        numbers: Numbers of the items; None for all.
    """
    texts, articles = sql.select(tables.item).order_by(tables.item.c.number), sql.select(tables.article)
    if numbers is not None:
        texts = texts.where(tables.item.c.number.in_(numbers))
        of = sql.select(tables.item.c.article).where(tables.item.c.number.in_(numbers))
        articles = articles.where(tables.article.c.id.in_(of))
    belongs = {
        number: (item, title, content, lang) for number, item, title, content, lang in connection.execute(articles)
    }
    found = {}
    for row in connection.execute(texts):
        item, title, content, lang = belongs[row.article]
        found[row.number] = Item(
            item=item,
            system=row.system,
            text=row.text,
            title=title,
            content=content,
            lang=lang,
            gold=row.gold,
            sample=row.sample,
            context=context_of(row.context),
            purpose=row.purpose,
            golds=golds_of(row.golds),
            other_system=row.other_system or "",
            other_text=row.other_text or "",
        )
    return found


def item_values(item: Item) -> dict[str, object]:
    """Values of an item's row, apart from its number and that of its article.

    Args:
        item: The item.
    """
    context = msgspec.json.encode(item.context, enc_hook=plain_id).decode() if item.context else ""
    golds = msgspec.json.encode(item.golds, enc_hook=plain_id).decode() if item.golds else None
    named = {"system": item.system, "text": item.text, "sample": item.sample, "context": context}
    known = {"gold": item.gold, "golds": golds, "purpose": item.purpose}
    other = {"other_system": item.other_system or None, "other_text": item.other_text if item.other_system else None}
    return {**named, **known, **other}


def context_of(stored: str) -> tuple[Context, ...]:
    """Decode the context of an item's row.

    Args:
        stored: The stored text.

    Raises:
        InvalidInput: The text is no list of named texts.
    """
    try:
        return msgspec.json.decode(stored, type=tuple[Context, ...]) if stored else ()
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"expected a list of names and texts as JSON: {error}", field="item.context") from None


def grades_of(stored: str | None) -> tuple[float, ...]:
    """Decode the grades of several aspects; none for NULL.

    Args:
        stored: The stored text.

    Raises:
        InvalidInput: The text is no list of numbers.
    """
    try:
        return () if stored is None else msgspec.json.decode(stored, type=tuple[float, ...])
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"expected a list of numbers as JSON: {error}", field="event.grades") from None


def golds_of(stored: str | None) -> tuple[float | None, ...]:
    """Decode the gold labels of several aspects; none for NULL.

    Args:
        stored: The stored text.

    Raises:
        InvalidInput: The text is no list of numbers.
    """
    try:
        return () if stored is None else msgspec.json.decode(stored, type=tuple[float | None, ...])
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"expected a list of numbers as JSON: {error}", field="item.golds") from None


def plan_of(connection: Connection, campaign: Campaign) -> Plan:
    """Read the current plan.

    Args:
        connection: The database connection.
        campaign: Settings of the campaign.
    """
    texts = connection.execute(
        sql.select(tables.article.c.item, tables.item.c.gold).join_from(tables.item, tables.article).order_by("number")
    ).all()
    people = sql.select(_PEOPLE.id, _PEOPLE.pseudonym).where(_PEOPLE.role == "annotator").order_by(_PEOPLE.id)
    orders: dict[int, list[tuple[int, int]]] = {}
    names = []
    for number, name in connection.execute(people):
        orders[number] = []
        names.append(name)
    turns = (
        sql.select(_ASSIGNMENTS.person, _ASSIGNMENTS.item, _ASSIGNMENTS.round)
        .where(_ASSIGNMENTS.state != MOVED)
        .order_by(_ASSIGNMENTS.person, _ASSIGNMENTS.position)
    )
    for number, item, again in connection.execute(turns):
        orders[number].append((item, again))
    return Plan(
        annotators=tuple(names),
        articles=tuple(article for article, _ in texts),
        annotators_per_item=campaign.annotators_per_item,
        seed=campaign.seed,
        orders=tuple(map(tuple, orders.values())),
        gold=frozenset(number for number, (_, gold) in enumerate(texts) if gold is not None),
        overlapping=frozenset(campaign.overlapping),
        by_item=campaign.by_item,
    )
