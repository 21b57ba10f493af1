"""Chinese translations of the state of a campaign: on the pages of annotators and leads, and of its refusals."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LIFE", "LIFE_MESSAGES"]

LIFE: Final[Mapping[str, str]] = MappingProxyType(
    {
        # Annotators
        "The campaign is paused": "标注已暂停",
        "The campaign is closed": "标注已结束",
        "Closed. Your answers are saved in this browser.": "标注已结束，打分保存在本机。",
        "Everything is saved. This page continues by itself when the campaign does; you can also close it.": (
            "所有内容都已保存。标注恢复后本页会自动继续，您也可以关闭它。"
        ),
        "You can close this page. Thank you!": "可以关闭页面。谢谢！",
        "You are no longer in this campaign": "您已不在本次标注中",
        "Your ratings so far are kept; your open items went to others.": "您已有的打分会保留；未完成的条目已转给他人。",
        # Leads
        "State": "状态",
        "Running": "进行中",
        "Paused": "已暂停",
        "Ending": "即将结束",
        "Closed": "已结束",
        "since {time}": "自 {time} 起",
        "Annotators get no new item; the one on their screen can be rated.": (
            "标注员不会得到新条目；屏幕上的那一条仍可打分。"
        ),
        "The deadline has passed: annotators get no new item, and the one on their screen can be rated for 15 minutes "
        "after the deadline.": "截止时间已过：标注员不会得到新条目，屏幕上的那一条在截止后 15 分钟内仍可打分。",
        "No answer is stored. Answers that come late stay in the annotators' browsers until the campaign is "
        "reopened.": "不再保存打分。迟到的打分留在标注员的浏览器中，直到重新开放。",
        "Deadline: {time}": "截止时间：{time}",
        "No deadline": "没有截止时间",
        "At the rate of the latest ratings, {rate} per hour, all that are open ({open}) are done by {time}.": (
            "按最近打分的速度（每小时 {rate} 次），剩余的 {open} 次将在 {time} 完成。"
        ),
        "That is after the deadline.": "这晚于截止时间。",
        "Pause …": "暂停……",
        "Change the message …": "更改留言……",
        "Message to the annotators": "给标注员的留言",
        "Pause now": "立即暂停",
        "Change the message": "更改留言",
        "Resume …": "恢复……",
        "Reopen …": "重新开放……",
        "Annotators' pages continue by themselves within half a minute.": "标注员的页面会在半分钟内自动继续。",
        "The deadline, which has passed, is removed.": "已过的截止时间将被取消。",
        "Resume now": "立即恢复",
        "Reopen now": "立即重新开放",
        "Close …": "结束……",
        "Answers to items on screens are refused too; they stay in the browsers. You can reopen the campaign.": (
            "屏幕上条目的打分也会被拒绝，并留在浏览器中。您可以重新开放。"
        ),
        "Close now": "立即结束",
        "Deadline …": "截止时间……",
        "Date and time": "日期和时间",
        "Time zone": "时区",
        "Set the deadline": "设定截止时间",
        "Remove the deadline": "取消截止时间",
        "Changes": "变更",
        "Changes ({n})": "变更（{n}）",
        "Time": "时间",
        "Person": "操作者",
        "Change": "变更",
        "by itself": "自动",
        "command line": "命令行",
        "paused": "暂停",
        "resumed": "恢复",
        "closed": "结束",
        "deadline": "截止时间",
        "deadline passed": "截止时间已过",
        "none": "无",
        "joined late": "中途加入",
        "{n} open items": "{n} 条待打分",
        "{n} open items are for {name}; each of the others has {left} left.": (
            "{name} 得到 {n} 条待打分条目；其他人各剩 {left} 条。"
        ),
        "{n} open items are for {name}; there is no other annotator.": "{name} 得到 {n} 条待打分条目；没有其他标注员。",
        "Late: besides those of the plan": "中途加入：计划之外",
        "A late annotator takes a fair share of the open items of the others, never one on a screen. It is for "
        "campaigns without a free slot.": (
            "中途加入的标注员从其他人的待打分条目中得到公平的一份，不会拿走屏幕上的条目。适用于没有空位的标注。"
        ),
    }
)

LIFE_MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "{name} is in the campaign already; invite them again without late.": (
            "{name} 已在本次标注中；请不勾选“中途加入”再邀请。"
        ),
        "The plan has a free slot, {slot}; invite {name} to it without late.": (
            "计划有空位 {slot}；请不勾选“中途加入”邀请 {name}。"
        ),
        "There is no open item to give: those that are left are on screens, or nearly.": (
            "没有可以分出的条目：剩下的都在屏幕上或即将显示。"
        ),
        "A lead needs no items, so there is no late one.": "负责人不需要条目，不能中途加入。",
        "The campaign is closed, so there is nothing to pause.": "标注已结束，无需暂停。",
        "The campaign has reached its deadline, so there is nothing to pause.": "标注已到截止时间，无需暂停。",
        "The campaign is closed; resume it before it gets another deadline.": (
            "标注已结束；请先重新开放，再设定截止时间。"
        ),
        "Deadline: {time} has passed; close the campaign to end it now.": (
            "截止时间：{time} 已过；要立即结束请关闭标注。"
        ),
        "Deadline: expected a date and time with a time zone, such as {example}, got '{got}'.": (
            "截止时间：应为带时区的日期和时间，例如 {example}，收到“{got}”。"
        ),
        "Action: expected pause, resume, close, deadline or no-deadline, got '{got}'.": (
            "action：应为 pause、resume、close、deadline 或 no-deadline，收到“{got}”。"
        ),
    }
)
