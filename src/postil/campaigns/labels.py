"""Campaigns of labels: the rubric *show / do not show*, its items, and their answers as label rows.

A grade of the rubric is a key of the page: 1 shows a suggestion, the other digits do not and give the reason.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from postil.campaigns.models import Item
from postil.campaigns.rubric import Rubric
from postil.data.labels import REASONS, Label
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from postil.campaigns.models import Adjudication, Campaign, Rating
    from postil.data.rows import Article
    from postil.data.suggestions import Suggestion

__all__ = ["RUBRICS", "label_item", "label_rows"]

SHOW: Final = 1
"""Grade of a suggestion to show."""

_REASON_OF: Final = {2: "other", **{(number + 3) % 10: reason for number, reason in enumerate(REASONS[1:])}}
"""Reason by grade; the keys are 2 to 9, then 0."""

RUBRICS: Final = {
    "en": Rubric(
        name="show",
        question="Would you show this comment to your readers, under this article?",
        low=0,
        high=9,
        words=(
            "Do not show: it repeats what readers have already been shown.",
            "Show: on the matter, stands by itself, not unkind, not false to the article.",
            "Do not show, for another reason or none.",
            "Do not show: off the matter.",
            "Do not show: a fragment or joke that does not stand by itself.",
            "Do not show: a reply to somebody, or a question to the author.",
            "Do not show: advice for another case.",
            "Do not show: unkind.",
            "Do not show: false to the article, or of the opposite mood.",
            "Do not show: spam, code or mark-up.",
        ),
    ),
    "zh": Rubric(
        name="show",
        question="您会把这条评论展示在这篇文章下面吗？",
        low=0,
        high=9,
        words=(
            "不展示：与已经展示的内容重复。",
            "展示：切题，能独立成文，不伤人，与文章不矛盾。",
            "不展示：其他原因，或不说明原因。",
            "不展示：与文章无关。",
            "不展示：片段或玩笑，不能独立成文。",
            "不展示：是对别人的回复，或向作者提问。",
            "不展示：针对其他情况的建议。",
            "不展示：不友善。",
            "不展示：与文章内容或情绪不符。",
            "不展示：广告、代码或标记。",
        ),
        lang="zh",
    ),
}
"""The rubric in each language."""


def label_item(article: Article, suggestion: Suggestion) -> Item:
    """Make the item of a suggestion; annotators see neither its rank nor its source.

    Args:
        article: The article.
        suggestion: The suggestion.
    """
    source = next(iter(suggestion.provenance.sources), None)
    origin = [suggestion.rank, source and source.article, source and source.comment, suggestion.provenance.model_hash]
    return Item(
        item=article.id,
        system=json.dumps(origin),
        text=suggestion.text,
        title=article.title,
        content=article.content or "",
        lang=article.lang or "",
    )


def label_rows(
    items: Sequence[Item],
    ratings: Sequence[Rating],
    adjudications: Sequence[Adjudication],
    campaign: Campaign,
    where: str,
) -> Iterator[Label]:
    """Convert the ratings of a campaign to label rows; the decision of a lead takes the place of an item's ratings.

    Args:
        items: The items.
        ratings: The ratings.
        adjudications: Decisions of leads.
        campaign: Its settings.
        where: Name of the campaign, for messages.

    Raises:
        InvalidInput: The campaign is one of another kind.
    """
    if campaign.drawn is None:
        raise InvalidInput("not a campaign of labels; postil label makes one", where=where)
    decided = {one.number: one for one in adjudications}
    for number, one in decided.items():
        yield _row(items[number], one.grade, one.lead)
    for rating in ratings:
        if rating.round == 1 and rating.number not in decided:
            yield _row(items[rating.number], rating.grade, rating.annotator)


def _row(item: Item, grade: float, annotator: str) -> Label:
    rank, article, comment, model_hash = json.loads(item.system)
    return Label(
        article=item.item,
        text=item.text,
        show=grade == SHOW,
        reason=_REASON_OF.get(int(grade)),
        annotator=annotator,
        rank=rank,
        source_article=article,
        source_comment=comment,
        model_hash=model_hash,
        title=item.title,
        content=item.content or None,
        lang=item.lang or None,
    )
