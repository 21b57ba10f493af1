"""Rows of labels: suggestions that an editor would show, and others, with a reason."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from postil.data.checks import check_texts, coerce_ids, coerce_integers
from postil.data.explain import shown
from postil.data.rows import Row
from postil.data.truth import truth
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["REASONS", "REPLACED", "TIED", "Label", "Majority", "majority", "parse_show"]

REASONS: Final = (
    "other",
    "off the matter",
    "fragment or joke",
    "reply to somebody",
    "advice for another case",
    "unkind",
    "false to the article",
    "spam or mark-up",
    "repeats",
)
"""Reasons not to show a suggestion, as the labeling page offers them; a file may have others."""

TIED: Final = "text that as many would show as would not"
REPLACED: Final = "answer of an annotator who gave a later one about the same text"
"""Reasons why labels are not in the numbers."""

_MEANING: Final = {"show": True, "hide": False, "do not show": False}


def parse_show(value: object) -> bool:
    """Read the answer of a label.

    Args:
        value: True, 1, or the text show, true or yes; else False, 0, or the text hide, do not show, false or no; see
            `postil.data.truth` for more words.

    Raises:
        InvalidInput: It is something else.

    >>> [parse_show(value) for value in (True, "Show", "hide", 0, 1.0)]
    [True, True, False, False, True]
    """
    found = _MEANING.get(value.strip().lower(), truth(value)) if isinstance(value, str) else truth(value)
    if found is None:
        raise InvalidInput(f"expected true or false, show or hide, 1 or 0; got {shown(value)}", field="show")
    return found


if TYPE_CHECKING:
    Id: TypeAlias = str
    Show: TypeAlias = bool
else:
    Id = str | int
    Show = Annotated[bool | int | float | str, msgspec.Meta(extra={"check": parse_show})]


class Label(Row, frozen=True, omit_defaults=True, gc=False):
    """The answer of one annotator to: would you show this suggestion under this article?

    Args:
        article: The id of the article.
        text: The suggestion.
        show: True to show it; see `parse_show` for what a file may say.
        reason: Reason not to show it, such as those of `REASONS`.
        annotator: The annotator.
        rank: Rank of the suggestion among those for its article, from 1.
        source_article: The id of the training article that the suggestion was found under.
        source_comment: The id of the comment there.
        model_hash: The hash of the folder of the model that suggested it.
        title: The article's headline; a label with it needs no file of articles.
        content: The article's text.
        lang: The article's language.

    >>> Label("a1", "Bring a coat.", "show", rank=1).show
    True
    """

    article: Id
    text: str
    show: Show
    reason: str | None = None
    annotator: Id | None = None
    rank: int | None = None
    source_article: Id | None = None
    source_comment: Id | None = None
    model_hash: str | None = None
    title: str | None = None
    content: str | None = None
    lang: str | None = None

    def __post_init__(self) -> None:
        coerce_ids(self, "article")
        check_texts(self, "text")
        if not self.text.strip():
            raise InvalidInput("expected the text of a suggestion, got an empty one", field="text")
        force_setattr(self, "show", parse_show(self.show))
        check_texts(self, "reason", "model_hash", "title", "content", "lang", optional=True)
        coerce_integers(self, "rank")
        if self.rank is not None and self.rank < 1:
            raise InvalidInput(f"expected a rank from 1, got {self.rank}", field="rank")
        for name in ("annotator", "source_article", "source_comment"):
            if getattr(self, name) is not None:
                coerce_ids(self, name)


class Majority(NamedTuple):
    """The answers of most annotators, and the labels that are not in them.

    Args:
        answers: True to show it, by article and text in ascending order.
        ties: Texts that as many would show as would not, each after its article.
        replaced: Texts of the labels that a later one of the same annotator replaces, each after its article.
    """

    answers: dict[tuple[str, str], bool]
    ties: list[str]
    replaced: list[str]


def majority(labels: Iterable[Label]) -> Majority:
    """Find the answer of most annotators to each text under an article.

    An annotator counts with the last answer; a label without an annotator is of another one each.

    Args:
        labels: The labels.

    >>> rows = [Label("a1", "Bring a coat.", show) for show in (True, True, False)]
    >>> rows += [Label("a2", "No.", True), Label("a2", "No.", False)]
    >>> majority([*rows, *(Label("a3", "Oh.", show, annotator="ann") for show in (True, False))])
    Majority(answers={('a1', 'Bring a coat.'): True, ('a3', 'Oh.'): False}, ties=['a2: No.'], replaced=['a3: Oh.'])
    """
    votes: dict[tuple[str, str], dict[str, bool]] = {}
    replaced: list[str] = []
    for number, label in enumerate(labels):
        given, annotator = votes.setdefault((label.article, label.text), {}), label.annotator or f" {number}"
        if annotator in given:
            replaced.append(f"{label.article}: {label.text}")
        given[annotator] = label.show
    counts = {key: Counter(given.values()) for key, given in sorted(votes.items())}
    ties = [f"{article}: {text}" for (article, text), each in counts.items() if each[True] == each[False]]
    answers = {key: each[True] > each[False] for key, each in counts.items() if each[True] != each[False]}
    return Majority(answers, ties, replaced)
