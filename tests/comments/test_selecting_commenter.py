from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from postil.calibration.labels import RUBRICS
from postil.comments.retrieval import Retriever
from postil.comments.selecting_commenter import SelectingCommenter, Selector, default_template, read_choice
from postil.comments.show_filter import Selection
from postil.endpoint.chat import Answer, Failed
from postil.errors import InvalidInput, UsageError
from retrieval_models import article, train_retrievers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from postil.endpoint.chat import Request


def test_the_prompt_has_the_rubric_of_labels() -> None:
    asked, rubric = default_template().text, RUBRICS["en"]
    assert rubric.question in asked
    assert [line for line in rubric.words if line in asked] == [
        line for line in rubric.words if "already been shown" not in line and "another reason" not in line
    ]


@pytest.mark.parametrize(
    "said", ['{"show": [true]}', '{"show": [1.5]}', '{"show": null}', '{"show": 1}', "[1]", "\ud800"]
)
def test_answers_of_another_form(said: str) -> None:
    assert read_choice(said, 3) is None


def test_numbers_of_a_request() -> None:
    for name, value in (("article_words", -1), ("max_tokens", 0), ("temperature", float("nan")), ("seed", -1)):
        with pytest.raises(UsageError, match=f"{name}: expected [01] or more, got {value}"):
            Selector(model="m", **{name: value})


def test_in_python(tmp_path: Path) -> None:
    answers: Iterator[Answer | Failed] = iter([Answer(text='{"show": [2]}'), Failed("status 500")])

    def ask(requests: Iterable[Request]) -> Iterator[Answer | Failed]:
        return (next(answers) for _ in requests)

    retriever = Retriever.open(train_retrievers(tmp_path, kinds=("ir-t",)) / "t")
    commenter = SelectingCommenter(retriever, Selector(model="m"), ask)
    first, second = commenter.comment([article(100), article(101)], 2)
    assert (len(first.suggestions), len(second.suggestions)) == (1, 2)
    assert commenter.problems == {"no answer": 1}
    with pytest.raises(InvalidInput, match="expected an id that no other article has"):
        commenter.comment([article(100), article(100)], 2)
    with pytest.raises(UsageError, match="expected at least one comment per article, got 0"):
        commenter.comment([article(100)], 0)


def test_choices_of_a_calibrated_selection_are_refused(tmp_path: Path) -> None:
    retriever = Retriever.open(train_retrievers(tmp_path, kinds=("ir-t",)) / "t")
    chosen = Retriever(retriever.model, selection=Selection(coverage=0.3))
    with pytest.raises(UsageError, match="coverage: not together with a language model that chooses"):
        SelectingCommenter(chosen, Selector(model="m"), lambda _: iter(()))
