"""The grading campaign of `postil demo --serve`: the sample's texts, with the grades that its two people gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from postil.campaigns.calls import InviteOptions, invite, open_campaign
from postil.campaigns.models import Given
from postil.campaigns.planning import PlanOptions, plan
from postil.data.row_files import read
from postil.data.rows import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from postil.campaigns.models import Item

__all__ = ["demo_campaign", "demo_links"]

GRADING = "grading.db"
PEOPLE = {"A": "A1", "B": "A2"}
"""Pseudonym in the campaign of each person whose grades the sample has; a third place is free."""


def demo_campaign(out: Path) -> str:
    """Make the campaign, or find the one of an earlier run.

    Args:
        out: The folder of the demo.

    Returns:
        Its location. Two annotators have graded all texts, and a third has none of them yet.
    """
    campaign, new = out / GRADING, out / f"{GRADING}.new"
    if not campaign.exists():
        new.unlink(missing_ok=True)  # an earlier run was interrupted
        options = PlanOptions(
            annotators=len(PEOPLE) + 1,
            annotators_per_item=len(PEOPLE) + 1,
            articles=str(out / "articles.en.jsonl"),
            name="Comments of the sample",
        )
        plan(str(out / "candidates.en.jsonl"), str(new), options)
        with open_campaign(str(new)) as store:
            store.load({place: name for name, place in PEOPLE.items()}, list(_given(out, store.items())))
        new.replace(campaign)
    return str(campaign)


def _given(out: Path, items: Sequence[Item]) -> Iterator[Given]:
    numbers = {(item.item, item.system): number for number, item in enumerate(items)}
    for row in read(out / "judgements.jsonl", Judgement):
        if (row.item, row.system) in numbers:
            number = numbers[row.item, row.system]
            yield Given(item=number, annotator=PEOPLE[row.annotator], value=row.grade, time=None, seconds=None)


def demo_links(campaign: str, address: str) -> tuple[str, str]:
    """Invite the annotator and the lead; both links work once.

    Args:
        campaign: Location of the campaign.
        address: URL where it is served.

    Returns:
        The link of the annotator, who goes on where an earlier run ended, and that of the lead.
    """
    annotator = invite(campaign, "You", InviteOptions(base_url=address))
    return annotator, invite(campaign, "Lead", InviteOptions(role="lead", base_url=address))
