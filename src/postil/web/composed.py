# ruff: noqa: E501
"""Chinese sentences about results and refusals whose English comes as a string, without its facts."""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["to_chinese"]


@lru_cache(maxsize=1024)
def to_chinese(text: str, translate: Callable[[str], str]) -> str:
    """Translate a sentence with names or numbers in it; the clauses among them are translated too.

    Args:
        text: The sentence.
        translate: Function that translates texts of the catalogue.
    """
    if text in _MESSAGES:
        return _MESSAGES[text]
    if (known := translate(text)) != text:
        return known
    for pattern, chinese in _PATTERNS:
        found = pattern.fullmatch(text)
        if found:
            parts = found.groupdict()
            said = {
                name: _rows(each) if name == "rows" else to_chinese(each, translate) for name, each in parts.items()
            }
            return chinese.format(**said)
    return text


def _rows(text: str) -> str:
    """Number and names of some rows, as `Excluded` writes them, or names of annotators."""
    text = re.sub(r" and ([0-9]+) more\)$", r"，另有 \1 个)", text)
    text = re.sub(r" and ([0-9,]+) more(?=;|$)", r"，另有 \1 人", text)
    return text.replace(" by ", " – ").replace(" and ", "、")


def _pattern(english: str) -> re.Pattern[str]:
    """The form of a sentence: what stands in braces may be anything."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(english)), re.DOTALL)


_MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agreement needs grades, and there are none": "一致性需要打分，而现在还没有",
        "agreement needs two annotators, and all grades are by {name}": "一致性需要两位标注员，而所有打分都来自 {name}",
        "agreement needs texts with the grades of two annotators, and every text has those of one": "一致性需要有两位标注员打分的文本，而每个文本只有一位打分",
        "every two annotators gave only one label to the texts that they share": "每两位标注员对共有的文本都只给了一种分数",
        "all texts with two grades or more have only the label {label}": "有两次以上打分的文本都只有分数 {label}",
        "there are {distinct} distinct grades, so kappas and Scott's pi are of {n} bins of equal width from {low} to {high}; Krippendorff's alphas are of the grades themselves": "不同的分数有 {distinct} 种，因此 kappa 与 Scott's pi 按从 {low} 到 {high} 等宽的 {n} 个区间计算；Krippendorff's alpha 按分数本身计算",
        "{first} and {second} gave only the label {label}": "{first} 与 {second} 只给了分数 {label}",
        "gave only the label {label}": "只给了分数 {label}",
        "two annotators share {shared} texts on average; kappas of fewer than {n} are pulled towards 0, and their mean over pairs is given without an interval: read the pooled ones": "两位标注员平均共有 {shared} 个文本；少于 {n} 个时 kappa 会偏向 0，因此两两平均不给区间：请看合并的统计量",
        "too few texts with two grades to tell agreement from chance: {n}, and it takes {fewest}": "有两次打分的文本太少，无法区分一致与偶然：现有 {n} 个，至少需要 {fewest} 个",
        "too few shared texts to tell agreement from chance: {n}, and it takes {fewest}": "共有的文本太少，无法区分一致与偶然：现有 {n} 个，至少需要 {fewest} 个",
        "{few} of {pairs} pairs of annotators have no kappas of their own: they share fewer than {fewest} texts": "{pairs} 对标注员中有 {few} 对共有的文本少于 {fewest} 个，不单独给出 kappa",
        "no kappa, so not in the mean over pairs: {rows}": "没有 kappa，因此不计入两两平均：{rows}",
        "graded by one annotator only, so in no pair: {rows}": "只有一位标注员打分，因此不成对：{rows}",
        "graded more than once by one annotator, the mean taken: {rows}": "同一标注员打分多次，取平均：{rows}",
        "systems without grades: {rows}": "没有打分的系统：{rows}",
        "it compares systems, and the items of this campaign are {type}": "它比较系统，而本次标注的条目是{type}",
        "passages": "段落",
        "Aspect": "方面",
        "Show": "显示",
        "readers' comments": "读者评论",
        "comments": "评论",
        "it needs {n} rated articles, and there are {rated}": "需要 {n} 篇已打分的文章，现有 {rated} 篇",
        "it needs two systems, each with ratings on two articles or more": "需要两个系统，每个系统在两篇以上文章上有打分",
        "one graded item": "只有一个已打分的条目",
        "all grades of all systems are {grade}": "所有系统的所有分数都是 {grade}",
        "all grades of each system are equal": "每个系统的分数都相同",
        "their grades differ by the same on every item": "它们在每一条上的分差都相同",
        "annotators use the scale differently: {first} grades {below} below the others, {last} {above} above; removed": "标注员使用量表的尺度不同：{first} 比其他人低 {below}，{last} 高 {above}；已从打分中去除",
        "no shared text connects some annotators, so the severities of one group cannot be compared with those of another: {rows}; and {n} who share none": "有些标注员之间没有共同的文本，各组的宽严无法相互比较：{rows}；另有 {n} 人没有",
        "no shared text connects some annotators, so the severities of one group cannot be compared with those of another: {rows}": "有些标注员之间没有共同的文本，各组的宽严无法相互比较：{rows}",
        "annotators who share no text with others, whose severity is unknown: {rows}": "与他人没有共同文本、宽严未知的标注员：{rows}",
        "the annotators of every output are numbered from 1, by position, so nobody can be told apart and no severity is known": "每个输出的标注员都按位置从 1 编号，无法区分个人，因此宽严未知",
        "one rating per output: second ratings of some outputs would tell severity from quality": "每个输出只有一次打分：若有部分输出打分两次，就能区分宽严与质量",
        "groups are rough below {enough} graded items, and there are {n}": "已打分条目少于 {enough} 时分组只是粗略的，现有 {n} 条",
        "no graded item is shared by {first} and {second}: their difference is taken as one of independent means": "{first} 与 {second} 没有共同的已打分条目：按独立平均值处理它们的差异",
        "all {n} grades of {system} are {grade}": "{system} 的 {n} 个分数都是 {grade}",
        "most grades of {system} are {grade}: its CI may cover less than 95 %": "{system} 的大多数分数是 {grade}：其置信区间的覆盖率可能低于 95 %",
        "there is no item {n}": "没有第 {n} 条",
        "only a lead can adjudicate": "只有负责人可以裁决",
        "this idempotency key was used for another item": "此提交标识已用于另一条",
        "name: expected at least one character": "姓名：至少要有一个字符",
        "{field}: expected at most {most} characters, got {n}": "{field}：最多 {most} 个字符，现有 {n} 个",
        "{name} has left the campaign": "{name} 已离开本次标注",
        "there is no such person": "没有这个人",
        "{name} is in the campaign already, as {role}": "{name} 已在本次标注中，角色是{role}",
        "annotator": "标注员",
        "lead": "负责人",
        "the plan has no free slot; invite the annotator late": "计划中没有空位；请勾选“中途加入”邀请",
        "{name} has left the campaign; invite them late, under another name": "{name} 已离开本次标注；请换一个姓名，并勾选“中途加入”邀请",
        "idempotency_key: expected 1 to {n} printable ASCII characters": "提交标识：应为 1 到 {n} 个 ASCII 字符",
        "expected a whole number from {low} to {high}, got {got}": "分数应为 {low} 到 {high} 的整数，收到 {got}",
        "expected a share from 0 to 1, or 2, got {got}": "分数应为 0 到 1 的比例，或 2，收到 {got}",
        "{field}: expected an integer": "{field}：应为整数",
        "{field}: expected a number": "{field}：应为数字",
        "{field}: this aspect has no grade yet": "{field}：这个方面还没有打分",
        "{name} is in the campaign already; invite them again without late": "{name} 已在本次标注中；请不勾选“中途加入”再邀请",
        "the plan has a free slot, {slot}; invite {name} to it without late": "计划有空位 {slot}；请不勾选“中途加入”邀请 {name}",
        "there is no open item to give: those that are left are on screens, or nearly": "没有可以分出的条目：剩下的都在屏幕上或即将显示",
        "a lead needs no items, so there is no late one": "负责人不需要条目，不能中途加入",
        "the campaign is closed, so there is nothing to pause": "标注已结束，无需暂停",
        "the campaign has reached its deadline, so there is nothing to pause": "标注已到截止时间，无需暂停",
        "the campaign is closed; resume it before it gets another deadline": "标注已结束；请先重新开放，再设定截止时间",
        "deadline: {time} has passed; close the campaign to end it now": "截止时间：{time} 已过；要立即结束请关闭标注",
        "deadline: expected a date and time with a time zone, such as {example}, got '{got}'": "截止时间：应为带时区的日期和时间，例如 {example}，收到“{got}”",
        "action: expected pause, resume, close, deadline or no-deadline, got '{got}'": "action：应为 pause、resume、close、deadline 或 no-deadline，收到“{got}”",
        "competence is estimated from grades, and this campaign has marks": "能力由打分估计，而本次标注是标记",
        "competence needs grades, and there are none": "能力的估计需要打分，而现在还没有",
        "competence needs three annotators, as nothing tells which of two is right": "能力的估计需要三位标注员：只有两位时，无法判断谁对",
        "competence needs texts that two annotators rated, and there are none": "能力的估计需要有两位标注员打分的文本，而现在没有",
        "competence needs three annotators of whom each shares texts with both others, or a longer odd cycle of them": "能力的估计需要三位标注员两两都有共同打分的文本，或由更多人组成的奇数环",
        "competence needs two distinct grades, and there is one": "能力的估计需要两种分数，而现在只有一种",
        "annotators agree no better than by chance, so nothing tells who follows the texts": "标注员之间的一致不超过偶然，因此无法判断谁依据文本打分",
        "there is no such invitation; check that the link is complete": "没有这个邀请，请检查链接是否完整",
        "this invitation has expired; ask for a new one": "邀请已过期，请要一个新的",
        "this invitation was already used; ask for a new one": "邀请已被使用，请要一个新的",
        "a newer invitation replaced this one; use that one or ask for another": "这个邀请已被新的邀请取代，请用新的，或再要一个",
        "it needs preferences that connect all systems": "需要把所有系统联系起来的比较",
        "name": "姓名",
        "reason": "理由",
        "person": "操作者",
        "grade": "分数",
    }
)
_PATTERNS: Final = tuple((_pattern(english), chinese) for english, chinese in _MESSAGES.items() if "{" in english)
