"""Chinese translations of the page of quality, and of the sentences about annotators."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["QUALITY", "QUALITY_MESSAGES"]

QUALITY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Quality": "质量",
        "Measures of each annotator's ratings, those who need attention first. A concern is a measure that chance "
        "does not explain: gold items, repeated items and times are compared with the other annotators.": (
            "每位标注员打分的各项指标，需要关注的排在前面。偶然性无法解释的指标才会列为问题：金标条目、重复条目和用时都与其他标注员比较。"
        ),
        "No annotator needs attention: no measure is worse than chance explains.": (
            "没有需要关注的标注员：各项指标都在偶然波动之内。"
        ),
        "Checks and time": "检查与用时",
        "Too fast: faster than the text can be read, or than a quarter of the usual time for texts of this length.": (
            "过快：快得来不及读完文本，或不到同样长度文本通常用时的四分之一。"
        ),
        "Training": "练习",
        "Attention checks": "注意力检查",
        "Too fast": "过快",
        "Agreement with the others": "与其他人的一致性",
        "Each rating is compared with the mean of the other ratings of the item. Drift: the mean difference in the "
        "second half of the ratings minus that in the first half. Competence: the share of the variance of the ratings "
        "that follows the texts, as a one-factor model infers it from all of them; missed attention checks bound it.": (
            "每次打分都与该条目其他打分的平均值比较。漂移：后一半打分的平均差减去前一半的平均差。"
            "能力：打分的方差中随文本变化的份额，由单因子模型从全部打分推断；未通过的注意力检查限制其上限。"
        ),
        "Correlation": "相关系数",
        "Drift": "漂移",
        "Competence": "能力",
        "Agreement over time": "一致性随时间的变化",
        "Solid: mean absolute difference from the others.": "实线：与其他人的平均绝对差。",
        "Dashed: mean difference, positive if lenient.": "虚线：平均差，偏宽为正。",
        "Each dot is a window of at least ten ratings, in order of time.": "每个点是按时间排列的一段，至少十次打分。",
        "Drift of each annotator, with 95 % intervals": "每位标注员的漂移，带 95 % 区间",
        "Gold items with the grade of the label": "与金标一致的条目",
        "Repeated items with the same grade": "重复条目中前后一致的",
        "Ratings that are too fast": "过快的打分",
        "Difference of {name} from the others over time": "{name} 与其他人的差异随时间的变化",
        "one row per annotator: number of ratings, competence": "每位标注员一行：打分次数、能力",
        # Feedback on gold items
        "This text has a known grade": "这条文本的分数是已知的",
        "Your rating agrees with the label.": "您的打分与已知分数一致。",
        "Your rating differs from the label.": "您的打分与已知分数不同。",
        "Your rating": "您的打分",
        "Label": "已知分数",
        # Concerns
        "passed {value} of {n} attention checks": "通过了 {n} 次注意力检查中的 {value} 次",
        "equals the gold label in {value} of {n} gold items; the others together in {usual}": (
            "{n} 个金标条目中 {value} 与金标一致；其他人合计 {usual}"
        ),
        "gives {value} of {n} repeated items the same grade again; the others {usual}": (
            "{n} 个重复条目中 {value} 前后一致；其他人 {usual}"
        ),
        "takes enough time to read for {value} of {n} items; the others for {usual}": (
            "{n} 个条目中 {value} 的用时足够读完；其他人 {usual}"
        ),
        "is {value} away from the mean of the others, over {n} items; the others are {usual} away": (
            "{n} 个条目上与其他人的平均值相差 {value}；其他人相差 {usual}"
        ),
        "is lenient: {value} above the mean of the others, over {n} items": (
            "偏宽：{n} 个条目上比其他人的平均值高 {value}"
        ),
        "is severe: {value} below the mean of the others, over {n} items": (
            "偏严：{n} 个条目上比其他人的平均值低 {value}"
        ),
        "has become more lenient: by {value} in the second half of {n} items": "变宽了：{n} 个条目的后一半高了 {value}",
        "has become more severe: by {value} in the second half of {n} items": "变严了：{n} 个条目的后一半低了 {value}",
        "has an estimated competence of {value} over {n} items; the usual one is {usual}": (
            "{n} 个条目上的能力估计为 {value}；通常为 {usual}"
        ),
    }
)
"""Sentences of the page of quality."""

QUALITY_MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "competence is estimated from grades, and this campaign has marks": "能力由打分估计，而本次标注是标记",
        "competence needs grades, and there are none": "能力的估计需要打分，而现在还没有",
        "competence needs three annotators, as nothing tells which of two is right": (
            "能力的估计需要三位标注员：只有两位时，无法判断谁对"
        ),
        "competence needs texts that two annotators rated, and there are none": (
            "能力的估计需要有两位标注员打分的文本，而现在没有"
        ),
        "competence needs three annotators of whom each shares texts with both others, or a longer odd cycle of them": (
            "能力的估计需要三位标注员两两都有共同打分的文本，或由更多人组成的奇数环"
        ),
        "competence needs two distinct grades, and there is one": "能力的估计需要两种分数，而现在只有一种",
        "annotators agree no better than by chance, so nothing tells who follows the texts": (
            "标注员之间的一致不超过偶然，因此无法判断谁依据文本打分"
        ),
    }
)
"""Reasons for a missing competence."""
