"""Chinese translations of the page of leads with the texts of the campaign."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GROWTH"]

GROWTH: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Texts": "文本",
        "Texts of the campaign": "标注文本",
        "Revisions of the plan, its balance, and a form to add texts while annotators go on": (
            "计划的各次修订、分配是否均衡，以及在标注进行中添加文本的表单"
        ),
        "Back to the campaign": "返回",
        "Nothing was added.": "没有添加任何文本。",
        "Choose a file with texts.": "请选择一个文本文件。",
        "Choose a file with the articles of these texts, too.": "请同时选择这些文本的文章文件。",
        "These files are not here any more": "这些文件已不在服务器上",
        "Choose them again.": "请重新选择。",
        "Texts added: {n}.": "已添加 {n} 条文本。",
        "Annotators get them without a restart, after the texts that their browsers hold.": (
            "标注员无需重新打开页面，在浏览器已取得的文本之后就会看到它们。"
        ),
        "Annotators get them when the campaign is resumed.": "标注恢复后，标注员会看到它们。",
        "New texts: {n}. Texts that the campaign has already, which are skipped: {known}.": (
            "新文本 {n} 条；已有的文本 {known} 条，将跳过。"
        ),
        "With them, nothing is stored yet:": "添加后的分配（尚未保存）：",
        "Add the texts": "添加这些文本",
        "Cancel": "取消",
        "There is nothing to add.": "没有可添加的文本。",
        "Revisions": "修订",
        "Revision": "修订",
        "Known ones skipped": "跳过的已有文本",
        "Balance": "均衡",
        "Loads differ: {most} has {m} texts, {fewest} {n}.": "分配不均：{most} 有 {m} 条，{fewest} 有 {n} 条。",
        "No number of further texts evens that out, as every text has all annotators.": (
            "每条文本都由全部标注员打分，再添加文本也无法使其均衡。"
        ),
        "An annotator has a text once at most, so it takes {n} more texts to even that out.": (
            "每位标注员对一条文本最多打一次分，因此还需添加 {n} 条文本才能均衡。"
        ),
        "Two annotators share {least} to {most} texts; texts that were assigned before stay with their annotators.": (
            "两位标注员共有的文本从 {least} 条到 {most} 条不等；先前分配的文本不再变动。"
        ),
        "Texts with fewer annotators than planned, as nobody else can take more: {n}.": (
            "标注员少于计划的文本（没有其他人可以承担）：{n} 条。"
        ),
        "Annotators have equally many texts, and so have every two of them, as far as whole numbers allow.": (
            "在整数允许的范围内，各标注员的文本数相同，每两位标注员共有的文本数也相同。"
        ),
        "Add texts": "添加文本",
        "A file like that of the plan. All its texts are added, or none; you see first what would be added.": (
            "与制定计划时格式相同的文件。其中的文本要么全部添加，要么都不添加；您会先看到预览。"
        ),
        "Articles, where the texts come without them": "文章（如果文本文件不含文章）",
        "Gold labels, if there are any": "标准答案（如果有）",
        "Preview": "预览",
        "At most {n} MiB together.": "总共不超过 {n} 兆字节。",
        "Show revisions, add texts": "查看修订、添加文本",
        "texts added": "添加文本",
    }
)
