"""Chinese translations of the pages of leads, and of messages that other modules compose."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LEADS", "MESSAGES"]

LEADS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Backup": "备份",
        "Last copy of the campaign: {when}.": "最近一次备份：{when}。",
        "none yet": "尚无",
        "The last attempt failed; the messages of the server say why. The next one follows within an hour.": (
            "上次备份失败，原因见服务器的消息。一小时内会再试。"
        ),
        "No copies of the campaign are made. Whoever runs the server can add an option:": (
            "没有自动备份。运行服务器的人可以加上选项"
        ),
        # All pages
        "Pages": "页面",
        "Agreement": "一致性",
        "Estimate": "估计",
        "Conflicts": "分歧",
        "Computing the numbers …": "正在计算……",
        "These numbers are out of date; new ones are being computed.": "这些数字已过时，正在重新计算。",
        "This page is for leads": "本页仅供负责人使用",
        "There are no ratings yet": "还没有打分",
        "There is no such annotator": "没有这位标注员",
        # Progress
        "Link for {name}": "{name} 的链接",
        "It works once, within two weeks, and is not shown again.": "两周内有效，只能用一次，不会再次显示。",
        "Ratings": "打分",
        "of {total}, {percent} %": "共 {total}，{percent} %",
        "of {total}": "共 {total}",
        "{done} of {total}": "{done} / {total}",
        "Rated items": "已打分条目",
        "1 annotator per item": "每条 1 位标注员",
        "{n} annotators per item": "每条 {n} 位标注员",
        ", {more} for {n}": "，其中 {n} 条 {more} 位",
        "Conflicts to adjudicate": "待裁决的分歧",
        "grades differ by {far} or more": "分差不小于 {far}",
        "Annotators": "标注员",
        "Annotators. Seconds per item: median of the last 200. Exports contain pseudonyms only.": (
            "标注员。每条秒数：最近 200 条的中位数。导出文件只含代号。"
        ),
        "Name": "姓名",
        "Pseudonym": "代号",
        "Rated": "已打分",
        "Skipped": "已跳过",
        "Seconds per item": "每条秒数",
        "Last rating": "最近打分",
        "Actions": "操作",
        "free slot": "空位",
        "removed": "已移除",
        "New link": "新链接",
        "Invite a person": "邀请成员",
        "A new annotator takes a free slot of the plan. A known name gets a new link, for another device or a lost "
        "link: older links of that name stop working, and its devices are signed out.": (
            "新标注员占用计划中的一个空位。已有的姓名会得到新链接，用于另一台设备或链接丢失时："
            "该姓名的旧链接失效，其设备退出登录。"
        ),
        "Role": "角色",
        "Annotator": "标注员",
        "Lead": "负责人",
        "Create link": "生成链接",
        "Files": "文件",
        "one row per rating": "每次打分一行",
        "one row per item: mean, adjudicated grade, number of ratings": "每条一行：平均分、裁决分、打分次数",
        "for postil correlate --judgements": "供 postil correlate --judgements 使用",
        "for postil score --references": "供 postil score --references 使用",
        "for postil passages": "供 postil passages 使用",
        "meaning of columns and grades": "各列和各分数的含义",
        "Remove an annotator": "移除标注员",
        "Their ratings stay.": "其打分会保留。",
        "Choose …": "请选择……",
        "Open items": "未完成的条目",
        "reassign to the others": "分给其他标注员",
        "reserve for a new annotator": "留给新标注员",
        "Remove": "移除",
        "{n} d ago": "{n} 天前",
        "{n} h ago": "{n} 小时前",
        "{n} min ago": "{n} 分钟前",
        "now": "刚刚",
        # Agreement
        "There are no statistics yet: {reason}.": "还没有统计：{reason}。",
        "{n} ratings of {items} items. 95 % percentile bootstrap confidence intervals, {resamples} resamples of "
        "articles.": "{items} 条的 {n} 次打分。95 % 百分位自助法置信区间，按文章重抽样 {resamples} 次。",
        "Statistics": "统计量",
        "Statistic": "统计量",
        "Value": "数值",
        "95 % confidence interval": "95 % 置信区间",
        "Definition": "定义",
        "{low} to {high}": "{low} 至 {high}",
        "Pairs of annotators": "标注员两两比较",
        "Items": "条目",
        "Percent agreement": "一致率",
        "Adjacent agreement": "相邻一致率",
        "Kappa": "Kappa",
        "linear": "线性",
        "quadratic": "二次",
        "Reason if undefined": "无法计算的原因",
        "{first} and {second}": "{first} 与 {second}",
        "Confusion matrix": "混淆矩阵",
        "Number of pairs of ratings of one item with the grades of row and column, each pair in both orders.": (
            "同一条的两次打分分别为行和列分数的对数，每对按两种次序各计一次。"
        ),
        "Bias": "偏差",
        "Bias of each annotator, with 95 % intervals": "每位标注员的偏差及 95 % 区间",
        "Mean difference between an annotator's grade and the mean of the other grades of the item: positive if "
        "lenient, negative if severe.": "标注员的分数与同一条其他分数平均值之差的平均：正为偏宽，负为偏严。",
        "Distributions of grades": "分数分布",
        ": {n} ratings, mean {mean}": "：{n} 次打分，平均 {mean}",
        "; {note}": "；{note}",
        "Number of ratings of {name} with each grade": "{name} 打各分数的次数",
        "Repeated items": "重复条目",
        "Intra-annotator agreement: each annotator's second rating compared with the first.": (
            "标注员自身一致性：每位标注员的第二次打分与第一次比较。"
        ),
        "Gold items": "标准条目",
        "Each annotator's rating compared with the gold label.": "每位标注员的打分与标准答案比较。",
        "Mean absolute difference": "平均绝对差",
        "Mean difference": "平均差",
        "Scott's pi, quadratic": "Scott pi（二次）",
        "Alpha, ordinal": "Alpha（有序）",
        "Cohen's kappa, mean of pairs": "Cohen kappa，两两平均",
        "Cohen's kappa, linear weights, mean of pairs": "Cohen kappa，线性权重，两两平均",
        "Cohen's kappa, quadratic weights, mean of pairs": "Cohen kappa，二次权重，两两平均",
        "Scott's pi, pooled": "Scott pi，合并",
        "Scott's pi, linear weights, pooled": "Scott pi，线性权重，合并",
        "Scott's pi, quadratic weights, pooled": "Scott pi，二次权重，合并",
        "Krippendorff's alpha, nominal": "Krippendorff alpha，名义",
        "Krippendorff's alpha, ordinal": "Krippendorff alpha，有序",
        "Krippendorff's alpha, interval": "Krippendorff alpha，区间",
        "percent agreement: share of equal ratings among every two ratings of a text": (
            "一致率：同一文本的每两次打分中，分数相同的比例"
        ),
        "adjacent agreement: share of ratings at most 1 apart among every two ratings of a text": (
            "相邻一致率：同一文本的每两次打分中，相差不超过 1 的比例"
        ),
        "Cohen's kappa, unweighted, mean over pairs of annotators, weighted by the texts that they share": (
            "Cohen kappa，无权重；对标注员两两取平均，按共有文本数加权"
        ),
        "Cohen's kappa, linear weights, mean over pairs of annotators, weighted by the texts that they share": (
            "Cohen kappa，线性权重；对标注员两两取平均，按共有文本数加权"
        ),
        "Cohen's kappa, quadratic weights, mean over pairs of annotators, weighted by the texts that they share": (
            "Cohen kappa，二次权重；对标注员两两取平均，按共有文本数加权"
        ),
        "Scott's pi, unweighted, over every two ratings of a text, each pair in both orders; both ratings have one "
        "distribution by chance": (
            "Scott pi，无权重；取同一文本的每两次打分，每对按两种次序各计一次；偶然一致时两者同分布"
        ),
        "weighted Scott's pi, linear weights, over every two ratings of a text, each pair in both orders; both ratings "
        "have one distribution by chance": (
            "加权 Scott pi，线性权重；取同一文本的每两次打分，每对按两种次序各计一次；偶然一致时两者同分布"
        ),
        "weighted Scott's pi, quadratic weights, over every two ratings of a text, each pair in both orders; both "
        "ratings have one distribution by chance": (
            "加权 Scott pi，二次权重；取同一文本的每两次打分，每对按两种次序各计一次；偶然一致时两者同分布"
        ),
        # Estimate
        "There is no estimate of the systems' mean grades yet: {reason}.": "还没有各系统平均分的估计：{reason}。",
        "Mean grade of each system from {n} rated articles, with 95 % confidence intervals. Two systems share a letter "
        "unless their difference is significant (Holm-adjusted p < .05).": (
            "由 {n} 篇已打分文章得出的各系统平均分及 95 % 置信区间。"
            "差异不显著的系统有共同字母（显著指经 Holm 校正 p < .05）。"
        ),
        "Looking is not deciding.": "查看不等于决定。",
        "The intervals hold for a number of articles that was fixed beforehand. To look early and stop when the result "
        "looks good is optional stopping (peeking): it makes intervals too narrow and finds differences that are not "
        "there.": (
            "区间只对事先定好的文章数成立。提前查看、结果满意就停，属于随意停止（偷看）："
            "区间会过窄，还会发现并不存在的差异。"
        ),
        "Systems": "系统",
        "System": "系统",
        "Articles": "文章",
        "Mean": "平均分",
        "Rank": "名次",
        "Group": "组",
        "Mean grade of each system, with 95 % intervals": "各系统的平均分及 95 % 区间",
        "No interval of {system}: {reason}.": "{system} 没有区间：{reason}。",
        "No interval of {system} – {other}: {reason}.": "{system} – {other} 没有区间：{reason}。",
        "What more ratings would bring": "更多打分的作用",
        "The ratings so far do not differ between systems from article to article, so it is unknown.": (
            "目前各文章上系统之间的打分没有差异，因此无法得知。"
        ),
        "With {n} more rated articles the interval of a difference would shrink from ±{now} to ±{then}.": (
            "再给 {n} 篇文章打分，差异的区间会从 ±{now} 缩到 ±{then}。"
        ),
        "With {n} more rated articles the interval of a difference would shrink from ±{now} to ±{then}; with one more "
        "rating of each output instead, to ±{twice}.": (
            "再给 {n} 篇文章打分，差异的区间会从 ±{now} 缩到 ±{then}；若改为每个输出再打一次分，则缩到 ±{twice}。"
        ),
        "These are expected widths, averaged over systems, from the variance of the ratings so far.": (
            "这些是按目前打分的方差算出的预期宽度，对各系统取平均。"
        ),
        "No output has two ratings, so it is unknown what second ratings would bring.": (
            "没有输出有两次打分，因此无法得知第二次打分的作用。"
        ),
        "Expected intervals": "预期区间",
        "Articles per system": "每个系统的文章数",
        "Interval of a mean": "平均分的区间",
        "Interval of a difference": "差异的区间",
        "so far": "目前",
        "one more of each output": "每个输出再打一次",
        "all planned articles": "计划中的全部文章",
        "{n} more articles": "再加 {n} 篇文章",
        # Conflicts
        "Adjudicated items": "已裁决的条目",
        "Open conflicts": "待裁决的分歧",
        "1 item was adjudicated.": "已裁决 1 条。",
        "{n} items were adjudicated.": "已裁决 {n} 条。",
        "1 item is queued for adjudication.": "有 1 条等待裁决。",
        "{n} items are queued for adjudication.": "有 {n} 条等待裁决。",
        "Grades differ by {far} or more, largest difference first. Annotators and systems are hidden. Adjudication "
        "does not change the ratings.": "分差不小于 {far}，分差大的在前。标注员和系统不显示。裁决不改变打分。",
        "No item was adjudicated yet.": "还没有裁决过的条目。",
        "There are no conflicts.": "没有分歧。",
        "Pages of conflicts": "分歧的分页",
        "Previous": "上一页",
        "Next": "下一页",
        "Page {page} of {pages}": "第 {page} 页，共 {pages} 页",
        "Item {n}": "第 {n} 条",
        "Read the article": "阅读文章",
        "Adjudicated: {grade}": "已裁决：{grade}",
        "by {lead}; the annotators' ratings stay as they are": "由 {lead} 裁决；标注员的打分保持不变",
        "Grade": "分数",
        "Grade, 0 to 1, or 2": "分数，0 到 1，或 2",
        "Reason": "理由",
        "Adjudicate": "裁决",
        "Adjudicate again": "重新裁决",
    }
)

MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        # Why there is no agreement
        "agreement needs grades, and there are none": "一致性需要打分，而现在还没有",
        "agreement needs two annotators, and all grades are by {name}": "一致性需要两位标注员，而所有打分都来自 {name}",
        "agreement needs texts with the grades of two annotators, and every text has those of one": (
            "一致性需要有两位标注员打分的文本，而每个文本只有一位打分"
        ),
        "every two annotators gave only one label to the texts that they share": (
            "每两位标注员对共有的文本都只给了一种分数"
        ),
        "all texts with two grades or more have only the label {label}": "有两次以上打分的文本都只有分数 {label}",
        "there are {distinct} distinct grades, so kappas and Scott's pi are of {n} bins of equal width from {low} to "
        "{high}; Krippendorff's alphas are of the grades themselves": (
            "不同的分数有 {distinct} 种，因此 kappa 与 Scott's pi 按从 {low} 到 {high} 等宽的 {n} 个区间计算；"
            "Krippendorff's alpha 按分数本身计算"
        ),
        "{first} and {second} gave only the label {label}": "{first} 与 {second} 只给了分数 {label}",
        "gave only the label {label}": "只给了分数 {label}",
        "two annotators share {shared} texts on average; kappas of fewer than {n} are pulled towards 0, and their mean "
        "over pairs is given without an interval: read the pooled ones": (
            "两位标注员平均共有 {shared} 个文本；少于 {n} 个时 kappa 会偏向 0，因此两两平均不给区间：请看合并的统计量"
        ),
        "too few texts with two grades to tell agreement from chance: {n}, and it takes {fewest}": (
            "有两次打分的文本太少，无法区分一致与偶然：现有 {n} 个，至少需要 {fewest} 个"
        ),
        "too few shared texts to tell agreement from chance: {n}, and it takes {fewest}": (
            "共有的文本太少，无法区分一致与偶然：现有 {n} 个，至少需要 {fewest} 个"
        ),
        "{few} of {pairs} pairs of annotators have no kappas of their own: they share fewer than {fewest} texts": (
            "{pairs} 对标注员中有 {few} 对共有的文本少于 {fewest} 个，不单独给出 kappa"
        ),
        "no kappa, so not in the mean over pairs: {rows}": "没有 kappa，因此不计入两两平均：{rows}",
        "graded by one annotator only, so in no pair: {rows}": "只有一位标注员打分，因此不成对：{rows}",
        "graded more than once by one annotator, the mean taken: {rows}": "同一标注员打分多次，取平均：{rows}",
        "systems without grades: {rows}": "没有打分的系统：{rows}",
        # Estimates
        "it compares systems, and the items of this campaign are {type}": "它比较系统，而本次标注的条目是{type}",
        "passages": "段落",
        "Aspect": "方面",
        "Show": "显示",
        "readers' comments": "读者评论",
        "comments": "评论",
        "it needs {n} rated articles, and there are {rated}": "需要 {n} 篇已打分的文章，现有 {rated} 篇",
        "it needs two systems, each with ratings on two articles or more": (
            "需要两个系统，每个系统在两篇以上文章上有打分"
        ),
        "one graded item": "只有一个已打分的条目",
        "all grades of all systems are {grade}": "所有系统的所有分数都是 {grade}",
        "all grades of each system are equal": "每个系统的分数都相同",
        "their grades differ by the same on every item": "它们在每一条上的分差都相同",
        "annotators use the scale differently: {first} grades {below} below the others, {last} {above} above; "
        "removed": ("标注员使用量表的尺度不同：{first} 比其他人低 {below}，{last} 高 {above}；已从打分中去除"),
        "no shared text connects some annotators, so the severities of one group cannot be compared with those of "
        "another: {rows}; and {n} who share none": (
            "有些标注员之间没有共同的文本，各组的宽严无法相互比较：{rows}；另有 {n} 人没有"
        ),
        "no shared text connects some annotators, so the severities of one group cannot be compared with those of "
        "another: {rows}": "有些标注员之间没有共同的文本，各组的宽严无法相互比较：{rows}",
        "annotators who share no text with others, whose severity is unknown: {rows}": (
            "与他人没有共同文本、宽严未知的标注员：{rows}"
        ),
        "the annotators of every output are numbered from 1, by position, so nobody can be told apart and no severity "
        "is known": "每个输出的标注员都按位置从 1 编号，无法区分个人，因此宽严未知",
        "one rating per output: second ratings of some outputs would tell severity from quality": (
            "每个输出只有一次打分：若有部分输出打分两次，就能区分宽严与质量"
        ),
        "groups are rough below {enough} graded items, and there are {n}": (
            "已打分条目少于 {enough} 时分组只是粗略的，现有 {n} 条"
        ),
        "no graded item is shared by {first} and {second}: their difference is taken as one of independent means": (
            "{first} 与 {second} 没有共同的已打分条目：按独立平均值处理它们的差异"
        ),
        "all {n} grades of {system} are {grade}": "{system} 的 {n} 个分数都是 {grade}",
        "most grades of {system} are {grade}: its CI may cover less than 95 %": (
            "{system} 的大多数分数是 {grade}：其置信区间的覆盖率可能低于 95 %"
        ),
        # Refusals
        "There is no item {n}.": "没有第 {n} 条。",
        "there is no item {n}": "没有第 {n} 条",
        "Only a lead can adjudicate.": "只有负责人可以裁决。",
        "This idempotency key was used for another item.": "此提交标识已用于另一条。",
        "Name: expected at least one character.": "姓名：至少要有一个字符。",
        "{field}: expected at most {most} characters, got {n}.": "{field}：最多 {most} 个字符，现有 {n} 个。",
        "{name} has left the campaign.": "{name} 已离开本次标注。",
        "There is no such person.": "没有这个人。",
        "{name} is in the campaign already, as {role}.": "{name} 已在本次标注中，角色是{role}。",
        "annotator": "标注员",
        "lead": "负责人",
        "The plan has no free slot; invite the annotator late.": "计划中没有空位；请勾选“中途加入”邀请。",
        "{name} has left the campaign; invite them late, under another name.": (
            "{name} 已离开本次标注；请换一个姓名，并勾选“中途加入”邀请。"
        ),
        "Idempotency_key: expected 1 to {n} printable ASCII characters.": "提交标识：应为 1 到 {n} 个 ASCII 字符。",
        "Expected a whole number from {low} to {high}, got {got}.": "分数应为 {low} 到 {high} 的整数，收到 {got}。",
        "Expected a share from 0 to 1, or 2, got {got}.": "分数应为 0 到 1 的比例，或 2，收到 {got}。",
        "{field}: expected an integer.": "{field}：应为整数。",
        "{field}: expected a number.": "{field}：应为数字。",
        "{field}: this aspect has no grade yet.": "{field}：这个方面还没有打分。",
        "The request is not a form": "请求不是表单",
        "Submit it from the page.": "请从页面提交。",
        "The form cannot be parsed": "无法解析表单",
        "Reload the page.": "请刷新页面。",
        "This request is not supported": "不支持此请求",
    }
)
