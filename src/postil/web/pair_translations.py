"""Chinese translations of the pages of a campaign of pairs."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PAIRS"]

PAIRS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # Annotators
        "Text A": "文本 A",
        "Text B": "文本 B",
        "A is better": "A 更好",
        "Neither is better": "不分上下",
        "B is better": "B 更好",
        "text A, neither, text B": "选 A、不分上下、选 B",
        "text A, text B": "选 A、选 B",
        # Leads
        "Strength of each system from {n} preferences for {items} articles, with 95 % confidence intervals: the "
        "higher, the more often its texts are preferred; the mean is 0. Two systems share a letter unless their "
        "difference is significant (Holm-adjusted p < .05).": (
            "各系统的强度，依据 {items} 篇文章的 {n} 次比较，附 95 % 置信区间：强度越高，其文本越常被选中；平均为 0。"
            "差异不显著的两个系统有相同的字母（经 Holm 校正 p < .05）。"
        ),
        "Strength of each system, with 95 % intervals": "各系统的强度及 95 % 区间",
        "Each of the two texts was preferred by somebody. Annotators and systems are hidden. Adjudication does not "
        "change the preferences.": "两段文本各有人选。标注员和系统不显示。裁决不改变原来的选择。",
        "each text was preferred": "两段文本各有人选",
        "tie": "平",
        "Number of pairs of annotators of one item with the preferences of row and column, each in both orders. A and "
        "B are the texts as the page of conflicts shows them, whatever their sides were.": (
            "同一条的两位标注员分别作出行和列的选择的对数，每对按两种次序各计一次。"
            "A 和 B 与分歧页上的文本一致，与左右无关。"
        ),
        "Distributions of preferences": "选择的分布",
        ": {n} ratings": "：{n} 次选择",
        "Each preference is compared with the mean of the other ones of the pair, where a tie lies in the middle, 1 "
        "away from both. Competence: the share of the variance of the preferences that follows the texts, as a "
        "one-factor model infers it from all of them; missed attention checks bound it.": (
            "每次选择都与该对文本的其他选择的平均比较，平局居中，与两边各差 1。能力：选择的方差中随文本变化的份额，"
            "由单因子模型从全部选择推断；未通过的注意力检查限制其上限。"
        ),
        "Strength": "强度",
        "Preferred": "胜",
        "Not preferred": "负",
        "Ties": "平",
        "Win rate": "胜率",
        "Pairs": "成对比较",
        "against": "对比",
        "By strengths": "按强度推算",
        "Of the preferences with a winner {percent} % are for the text on the left ({low} to {high} %).": (
            "分出胜负的比较中，{percent} % 选了左边的文本（{low} 到 {high} %）。"
        ),
        "Some system is preferred every time, or never, so its strength has no limit; half a preference each way was "
        "added to each pair. Go by win rates.": (
            "有的系统每次都胜或每次都负，强度没有上限，因此给每一对各加了半次胜负。请以胜率为准。"
        ),
        "it needs preferences that connect all systems": "需要把所有系统联系起来的比较",
        "for postil compare --preferences": "用于 postil compare --preferences",
    }
)
