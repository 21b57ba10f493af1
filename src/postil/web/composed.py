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
        "there is no such invitation; check that the link is complete": "没有这个邀请，请检查链接是否完整",
        "this invitation has expired; ask for a new one": "邀请已过期，请要一个新的",
        "this invitation was already used; ask for a new one": "邀请已被使用，请要一个新的",
        "a newer invitation replaced this one; use that one or ask for another": "这个邀请已被新的邀请取代，请用新的，或再要一个",
        "name": "姓名",
        "reason": "理由",
        "person": "操作者",
        "grade": "分数",
    }
)
_PATTERNS: Final = tuple((_pattern(english), chinese) for english, chinese in _MESSAGES.items() if "{" in english)
