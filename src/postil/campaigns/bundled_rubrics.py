"""Texts of the bundled rubrics for texts, answers, summaries and translations, in English and Chinese."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from postil.campaigns.item_types import ItemType

__all__ = ["QUALITY", "QualityTexts"]


class QualityTexts(NamedTuple):
    """Texts of a rubric with grades from 1 to 5.

    Args:
        name: Short name.
        question: Question for annotators.
        words: Meaning of each grade, from low to high.
    """

    name: str
    question: str
    words: tuple[str, str, str, str, str]


QUALITY: Final[Mapping[ItemType, Mapping[str, QualityTexts]]] = MappingProxyType(
    {
        "text": {
            "en": QualityTexts(
                "text quality",
                "How good is this text?",
                (
                    "Unusable: it cannot be understood, or does not do what it is for.",
                    "Poor: large parts are wrong, unclear or beside the point.",
                    "Acceptable: it does what it is for, with clear flaws.",
                    "Good: only small flaws.",
                    "Very good: nothing that I would change.",
                ),
            ),
            "zh": QualityTexts(
                "text quality",
                "这段文字写得怎么样？",
                (
                    "不能用：看不懂，或者达不到目的。",
                    "差：很多地方有错、不清楚或者跑题。",
                    "尚可：达到了目的，但有明显的缺点。",
                    "好：只有小毛病。",
                    "很好：没有需要改的地方。",
                ),
            ),
        },
        "answer": {
            "en": QualityTexts(
                "answer quality",
                "How good is this answer to the question?",
                (
                    "No answer: beside the question, wrong, or not to be understood.",
                    "Poor: it touches on the question, but what matters is wrong or missing.",
                    "Partly: the main point is right, but something important is missing, vague or doubtful.",
                    "Good: right and complete, with small flaws in detail or wording.",
                    "Very good: right, complete, clear, and no longer than it needs to be.",
                ),
            ),
            "zh": QualityTexts(
                "answer quality",
                "这个回答怎么样？",
                (
                    "没有回答问题：跑题、错误，或者看不懂。",
                    "差：与问题有关，但关键内容有错或缺失。",
                    "部分回答：要点正确，但有重要内容缺失、含糊或存疑。",
                    "好：正确、完整，细节或措辞有小毛病。",
                    "很好：正确、完整、清楚，而且不啰嗦。",
                ),
            ),
        },
        "summary": {
            "en": QualityTexts(
                "summary quality",
                "How good is this summary of the source?",
                (
                    "Not a summary of this source, or not to be understood.",
                    "Poor: it contradicts the source, or misses the main point.",
                    "Acceptable: the main point is there, with details that are wrong, missing or needless.",
                    "Good: true to the source and complete, with small flaws.",
                    "Very good: true to the source, everything important and nothing else, and it reads well.",
                ),
            ),
            "zh": QualityTexts(
                "summary quality",
                "这篇摘要怎么样？",
                (
                    "不是这篇原文的摘要，或者看不懂。",
                    "差：与原文矛盾，或者漏掉了要点。",
                    "尚可：有要点，但有细节错误、缺失或多余。",
                    "好：忠于原文，内容完整，只有小毛病。",
                    "很好：忠于原文，重要的都有，多余的没有，而且通顺。",
                ),
            ),
        },
        "translation": {
            "en": QualityTexts(
                "translation quality",
                "How good is this translation of the source?",
                (
                    "Unusable: little or nothing of the meaning is kept.",
                    "Poor: some of the meaning is kept, with serious errors or gaps.",
                    "Acceptable: most of the meaning is kept, with errors in meaning or grammar.",
                    "Good: the meaning is kept; small errors in style or grammar.",
                    "Very good: the meaning is kept in full, and it reads as if it was written in this language.",
                ),
            ),
            "zh": QualityTexts(
                "translation quality",
                "这段译文怎么样？",
                (
                    "不能用：几乎没有保留原意。",
                    "差：保留了部分原意，但有严重错误或遗漏。",
                    "尚可：保留了大部分原意，有意思或语法上的错误。",
                    "好：保留了原意，只有文体或语法上的小毛病。",
                    "很好：完整保留原意，读起来像原创。",
                ),
            ),
        },
    }
)
"""Texts by item type and language; comments and passages have rubrics of their own."""
