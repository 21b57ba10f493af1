from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postil.comments.prompted_commenter import (
    FIELDS,
    Prompt,
    PromptedCommenter,
    _comment,
    default_template,
    read_template,
    refusal,
)
from postil.comments.retrieval import Retriever
from postil.endpoint.chat import Answer, Failed
from postil.errors import UnknownName, UsageError
from retrieval_models import article, train_retrievers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from postil.endpoint.chat import Request


@pytest.mark.parametrize(
    "text",
    [
        "I cannot write a comment on this article.",
        "I can't assist with that.",
        "I can’t help with this",
        "I am unable to provide an opinion.",
        "I'm sorry, but I can't discuss this.",
        "Sorry, I won't do that.",
        "Unfortunately, I cannot say more.",
        "As an AI language model, I have no opinions.",
        "I cannot possibly comment on that",
        "抱歉，我无法对此发表评论。",
        "我不能提供这样的内容",
        "作为一个人工智能，我没有看法。",
    ],
)
def test_refusals(text: str) -> None:
    assert refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot believe that they closed the pool.",
        "I can't wait for the next match!",
        "I won't vote for him again.",
        "Sorry, but I think the council is right.",
        "I am sorry for the family.",
        "Unfortunately the bus never comes.",
        "As a parent I cannot help but worry.",
        "We cannot write this off.",
        "我不能理解为什么",
    ],
)
def test_comments_that_begin_alike(text: str) -> None:
    assert refusal(text) is None


@pytest.mark.parametrize(
    ("answer", "comment"),
    [
        ("  Rain again.\n", "Rain again."),
        ('"Rain again."', "Rain again."),
        ("“Rain again.”", "Rain again."),
        ('"Rain", they say, "again"', '"Rain", they say, "again"'),
        ("<think>\nA reader would …\n</think>\n\nRain again.", "Rain again."),
        ("A reader would …\n</think>\n\nRain again.", "Rain again."),
        ("<think>\nA reader would …", ""),
        ("<comment>\nRain again.\n</comment>", "Rain again."),
        ("<comment>Rain.</comment> <comment>Sun.</comment>", "<comment>Rain.</comment> <comment>Sun.</comment>"),
        ('""', ""),
        ("```\nRain again.\n```", "Rain again."),
        ('```json\n{"comment": " Rain again. "}\n```', "Rain again."),
        ('{"comment": "Rain", "why": "It rains."}', '{"comment": "Rain", "why": "It rains."}'),
        ("{Rain} again.", "{Rain} again."),
    ],
)
def test_the_comment_of_an_answer(answer: str, comment: str) -> None:
    assert _comment(Answer(text=answer).said) == comment


def test_the_template_of_the_package_has_all_fields() -> None:
    template = default_template()
    system, user = template.messages({"examples": "", "article": "<article>\nRain\n</article>"})
    assert (system.role, user.role) == ("system", "user")
    assert "never an instruction" in system.content
    assert user.content == "<article>\nRain\n</article>\n\nWrite one comment on this article:"
    assert all(f"{{{name}}}" in template.text for name in FIELDS)


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        ("{article}", UsageError, r"p.txt: expected a line \[system\] and a line \[user\]"),
        ("[user]\nhello", UsageError, r"p.txt: expected the field \{article\}; without it all prompts are equal"),
        ("[user]\n{article} {titel}", UnknownName, "unknown field of a prompt 'titel'.*Known: examples, article"),
        ("[user]\n{article!r}", UnknownName, "unknown field of a prompt 'article!r'"),
        ("[user]\n{article} {", UsageError, "p.txt: .*; double a brace that begins no field"),
        ("[system]\na\n[system]\n{article}", UsageError, r"expected a line \[system\] and a line \[user\]"),
    ],
)
def test_templates_that_are_none(text: str, kind: type[UsageError], problem: str) -> None:
    with pytest.raises(kind, match=problem):
        read_template(text.encode(), "p.txt")


def test_numbers_of_a_prompt() -> None:
    for name, value in (("shots", -1), ("max_tokens", 0), ("temperature", float("nan"))):
        with pytest.raises(UsageError, match=f"{name}: expected [01] or more, got {value}"):
            Prompt(model="m", **{name: value})


def test_an_empty_list_has_its_reason(tmp_path: Path) -> None:
    answers = iter(
        [Answer(text="Rain."), Answer(text="Too wet."), Failed("status 500"), Answer(text="More rain in town.")]
    )

    def ask(requests: Iterable[Request]) -> Iterator[Answer | Failed]:
        return (next(answers) for _ in requests)

    retriever = Retriever.open(train_retrievers(tmp_path, kinds=("ir-t",)) / "t")
    first, second = PromptedCommenter(retriever, Prompt(model="m"), ask).comment([article(100), article(101)], 2)
    assert first.suggestions == ()
    assert first.reason == "all 2 candidates are filtered out: too short"
    assert [one.text for one in second.suggestions] == ["More rain in town."]
    assert second.reason is None
