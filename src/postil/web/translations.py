"""What annotators read on their pages, in the language of the rubric."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["CHINESE", "REASONS", "translator"]

REASONS: Final = (
    "I do not understand the text",
    "The text is broken or cut off",
    "The article does not say enough",
    "I know who wrote it",
)
"""Why a text is skipped; each has a digit."""

CHINESE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "% of %": "% / %",
        "A link works once. Ask your lead for a new one.": "每个链接只能用一次，请向负责人要一个新的。",
        "All": "全部",
        "All done. Thank you!": "全部完成，谢谢！",
        "Article": "文章",
        "Back": "返回",
        "Back at the last text": "已回到上一条",
        "Begin": "开始",
        "Close": "关闭",
        "Comment": "评论",
        "Every answer is saved at once. You can close the page at any time and go on later where you stopped.": (
            "每次打分立即保存。您可以随时关闭页面，以后从停下的地方继续。"
        ),
        "Everything is saved; you can close this page. If something comes to your mind, go back.": (
            "所有内容都已保存，可以关闭页面。如果想起什么，可以返回修改。"
        ),
        "Examples": "示例",
        "Go on": "继续",
        "Going back needs the connection. What you gave is kept here.": "返回需要网络连接。您的打分已保存在本机。",
        "Grade % given": "已打 % 分",
        "I do not understand the text": "看不懂这段文字",
        "I know who wrote it": "我认识作者",
        "Keys": "按键",
        "Mark what is chosen": "标记选中部分",
        "Marked": "已标记",
        "Marks": "标记",
        "No connection": "网络已断开",
        "No connection. % answers are kept here and sent by themselves.": "断网。% 条打分已存在本机，稍后自动发送。",
        "No connection. One answer is kept here and sent by itself.": "断网。一条打分已存在本机，稍后自动发送。",
        "None": "清除",
        "One moment …": "请稍候……",
        "Passage. Arrows move, Shift and arrows choose, Space marks.": "方向键移动，Shift 加方向键选择，空格标记",
        "Progress": "进度",
        "Save": "保存",
        "Saved": "已保存",
        "Saving …": "正在保存……",
        "Sign out": "退出",
        "Signed out. What you gave is kept here.": "您已退出登录，打分保存在本机。",
        "Signed out": "您已退出登录",
        "Skip": "跳过",
        "Something else": "其他原因",
        "The article does not say enough": "文章信息不够",
        "The next text comes as soon as the server answers. What you gave is kept.": (
            "服务器一有回应就显示下一条。您的打分已保存。"
        ),
        "The text is broken or cut off": "文字残缺",
        "This text was answered meanwhile, perhaps in another window. The earlier answer stands; nothing was changed. "
        "To change it, go back to it.": "这条已在别处打过分，先前的打分有效，未作改动。如需修改，请返回。",
        "Why do you skip this text?": "为什么跳过这条？",
        "Without scripts the keys do nothing; the buttons work.": "脚本未启用：按键无效，按钮可用。",
        "You are not signed in": "您尚未登录",
        "You have graded % texts.": "您已给 % 条打分。",
        "You have skipped %.": "跳过了 % 条。",
        "choose several words": "选择多个字词",
        "close": "关闭",
        "give this grade and go on": "打分并继续",
        "mark all": "标记全部",
        "mark what is chosen, or take the mark away": "标记选中部分，或取消标记",
        "move the article": "滚动文章",
        "save the marks and go on": "保存标记并继续",
        "skip the text, with a reason": "跳过，并说明原因",
        "take all marks away": "清除所有标记",
        "take the last answer back": "撤回上一次打分",
        "this list": "本列表",
        "to the sentence before or after": "移到上一句或下一句",
        "to the word before or after": "移到前一个或后一个词",
        "what the grades mean, with examples": "各分数的含义和示例",
        "The campaign cannot be reached": "暂时连接不上服务器",
        "Try again in a moment; what you gave is kept.": "请稍后再试，您的打分不会丢失。",
        "There is no such page": "没有这个页面",
        "There is no such invitation; check that the link is whole.": "没有这个邀请，请检查链接是否完整。",
        "There were too many attempts": "尝试次数过多",
        "This invitation has expired; ask for a new one.": "邀请已过期，请要一个新的。",
        "This invitation was used already; ask for a new one.": "邀请已被使用，请要一个新的。",
        "A newer invitation has replaced this one; use that, or ask for another.": (
            "这个邀请已被新的邀请取代，请用新的，或再要一个。"
        ),
        "This page is out of date": "页面已过期",
        "Wait five minutes and try again.": "请五分钟后再试。",
        "You have signed in again since it was opened. Load it again; no answer is lost.": (
            "打开此页后您重新登录过。请刷新页面，打分不会丢失。"
        ),
    }
)


def translator(lang: str) -> Callable[[str], str]:
    """What says a sentence in a language; English where the language is not known.

    Args:
        lang: A BCP 47 tag.

    >>> translator("zh-CN")("Back")
    '返回'
    """
    known = CHINESE if lang.lower().split("-")[0].split("_")[0] == "zh" else {}
    return lambda text: known.get(text, text)
