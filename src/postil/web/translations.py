"""Translations of the pages of a campaign: annotators see the language of the rubric, leads that of their browser."""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from postil.web.growth_translations import GROWTH
from postil.web.lead_translations import LEADS, MESSAGES
from postil.web.life_translations import LIFE, LIFE_MESSAGES
from postil.web.pair_translations import PAIRS
from postil.web.quality_translations import QUALITY, QUALITY_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["CHINESE", "LANGUAGES", "REASONS", "preferred_language", "translator"]

LANGUAGES: Final[Mapping[str, str]] = MappingProxyType({"en": "English", "zh": "中文"})
"""Languages of the pages of leads, each with its own name."""

REASONS: Final = (
    "I do not understand the text",
    "The text is garbled or truncated",
    "The article does not give enough information",
    "I know who wrote it",
)
"""Reasons for skipping; each has a digit key."""

CHINESE: Final[Mapping[str, str]] = MappingProxyType(
    {
        **GROWTH,
        **LEADS,
        **MESSAGES,
        **LIFE,
        **LIFE_MESSAGES,
        **PAIRS,
        **QUALITY,
        **QUALITY_MESSAGES,
        "% of %": "% / %",
        "A link works once. Ask your lead for a new one.": "每个链接只能用一次，请向负责人要一个新的。",
        "All": "全部",
        "All done. Thank you!": "全部完成，谢谢！",
        "Article": "文章",
        "Back": "返回",
        "Returned to the previous item": "已回到上一条",
        "Start": "开始",
        "Close": "关闭",
        "Comment": "评论",
        "Context": "上下文",
        "Meaning of the grades": "各分数的含义",
        "grade this aspect and go to the next; the last one saves": "给这个方面打分并转到下一个；最后一个打完即保存",
        "save the grades and continue": "保存打分并继续",
        "to another aspect": "转到另一个方面",
        "Answer": "回答",
        "Passage": "段落",
        "Question": "问题",
        "Read the context": "查看上下文",
        "Source": "原文",
        "Summary": "摘要",
        "Text": "文本",
        "Thread": "对话",
        "Topic": "主题",
        "Translation": "译文",
        "Every answer is saved at once. You can close the page at any time and continue later where you stopped.": (
            "每次打分立即保存。您可以随时关闭页面，以后从停下的地方继续。"
        ),
        "Everything is saved; you can close this page. To change an answer, go back.": (
            "所有内容都已保存，可以关闭页面。如果想起什么，可以返回修改。"
        ),
        "Examples": "示例",
        "Continue": "继续",
        "Going back needs a connection. Your answers are saved in this browser.": (
            "返回需要网络连接。您的打分已保存在本机。"
        ),
        "Rated %": "已打 % 分",
        "I do not understand the text": "看不懂这段文字",
        "I know who wrote it": "我认识作者",
        "Keys": "按键",
        "Mark the selection": "标记选中部分",
        "Marked": "已标记",
        "Marks": "标记",
        "No connection": "网络已断开",
        "No connection. % answers are saved in this browser and will be sent automatically.": (
            "断网。% 条打分已存在本机，稍后自动发送。"
        ),
        "No connection. One answer is saved in this browser and will be sent automatically.": (
            "断网。一条打分已存在本机，稍后自动发送。"
        ),
        "None": "清除",
        "One moment …": "请稍候……",
        "Passage. Arrow keys move, Shift and arrow keys select, Space marks.": (
            "方向键移动，Shift 加方向键选择，空格标记"
        ),
        "Progress": "进度",
        "Save": "保存",
        "Saved": "已保存",
        "Saving …": "正在保存……",
        "Sign out": "退出",
        "Signed out. Your answers are saved in this browser.": "您已退出登录，打分保存在本机。",
        "Signed out": "您已退出登录",
        "Skip": "跳过",
        "Other reason": "其他原因",
        "The article does not give enough information": "文章信息不够",
        "The next item appears as soon as the server responds. Your answers are saved in this browser.": (
            "服务器一有回应就显示下一条。您的打分已保存。"
        ),
        "The text is garbled or truncated": "文字残缺",
        "This item was rated in the meantime, perhaps in another window. The earlier rating was kept. "
        "To change it, go back to it.": "这条已在别处打过分，先前的打分有效，未作改动。如需修改，请返回。",
        "Why do you skip this item?": "为什么跳过这条？",
        "Without scripts the keys do not work; the buttons do.": "脚本未启用：按键无效，按钮可用。",
        "You are not signed in": "您尚未登录",
        "You have rated % items.": "您已给 % 条打分。",
        "You have skipped %.": "跳过了 % 条。",
        "select several words": "选择多个字词",
        "close": "关闭",
        "give this grade and continue": "打分并继续",
        "mark everything": "标记全部",
        "mark the selection, or remove its mark": "标记选中部分，或取消标记",
        "scroll the article": "滚动文章",
        "save the marks and continue": "保存标记并继续",
        "skip the item, with a reason": "跳过，并说明原因",
        "remove all marks": "清除所有标记",
        "undo the last answer": "撤回上一次打分",
        "this list": "本列表",
        "to the sentence before or after": "移到上一句或下一句",
        "to the word before or after": "移到前一个或后一个词",
        "meaning of the grades, with examples": "各分数的含义和示例",
        "The campaign cannot be reached": "暂时连接不上服务器",
        "Try again in a moment; your answers are saved in this browser.": "请稍后再试，您的打分不会丢失。",
        "There is no such page": "没有这个页面",
        "There is no such invitation; check that the link is complete.": "没有这个邀请，请检查链接是否完整。",
        "There were too many attempts": "尝试次数过多",
        "This invitation has expired; ask for a new one.": "邀请已过期，请要一个新的。",
        "This invitation was already used; ask for a new one.": "邀请已被使用，请要一个新的。",
        "A newer invitation replaced this one; use that one or ask for another.": (
            "这个邀请已被新的邀请取代，请用新的，或再要一个。"
        ),
        "This page is out of date": "页面已过期",
        "Wait five minutes and try again.": "请五分钟后再试。",
        "You have signed in again since it was opened. Reload it; no answer is lost.": (
            "打开此页后您重新登录过。请刷新页面，打分不会丢失。"
        ),
    }
)


def preferred_language(*wanted: str) -> str:
    """Return the first wanted language that the pages have; English if there is none.

    Args:
        wanted: BCP 47 tags, the most wanted first; each may have a weight, as in the header Accept-Language.

    >>> preferred_language("", "fr", "zh-CN;q=0.8", "en")
    'zh'
    """
    for each in wanted:
        lang = _primary(each.split(";")[0].strip())
        if lang in LANGUAGES:
            return lang
    return "en"


def translator(lang: str) -> Callable[[str], str]:
    """Make a function that translates sentences; it leaves them in English if the language is unknown.

    Sentences that other modules compose are recognized by their form.

    Args:
        lang: A BCP 47 tag.

    >>> translator("zh-CN")("Back")
    '返回'
    >>> translator("zh")("there is no item 7")
    '没有第 7 条'
    """
    return _to_chinese if _primary(lang) == "zh" else _unchanged


def _primary(lang: str) -> str:
    return lang.lower().split("-")[0].split("_")[0]


def _unchanged(text: str) -> str:
    return text


def _to_chinese(text: str) -> str:
    return CHINESE.get(text) or _composed(text)


@lru_cache(maxsize=1024)
def _composed(text: str) -> str:
    """Translate a sentence with names or numbers in it; the clauses among them are translated too."""
    for pattern, chinese in _PATTERNS:
        found = pattern.fullmatch(text)
        if found:
            parts = found.groupdict()
            return chinese.format(**{name: (_rows if name == "rows" else _to_chinese)(parts[name]) for name in parts})
    return text


def _rows(text: str) -> str:
    """Number and names of some rows, as `Excluded` writes them, or names of annotators."""
    text = re.sub(r" and ([0-9]+) more\)$", r"，另有 \1 个)", text)
    text = re.sub(r" and ([0-9,]+) more(?=;|$)", r"，另有 \1 人", text)
    return text.replace(" by ", " – ").replace(" and ", "、")


def _pattern(english: str) -> re.Pattern[str]:
    """The form of a sentence: what stands in braces may be anything."""
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(english)), re.DOTALL)


_PATTERNS: Final = tuple(
    (_pattern(english), chinese)
    for english, chinese in (*MESSAGES.items(), *LIFE_MESSAGES.items(), *QUALITY_MESSAGES.items())
    if "{" in english
)
