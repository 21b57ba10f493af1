"""Texts in a study of comments: where metrics differ most (Tables 5 and 6), and whole articles (Tables 8 and 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.results.formats import excerpt
from postil.results.numbers import grade, number
from postil.studies.comments_people import base, first_reading
from postil.studies.result import StudyPart, StudyRow, StudyTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from postil.correlation.result import CorrelationResult
    from postil.data.rows import Article
    from postil.meta.parts import DisagreementPair

__all__ = ["disagreements_part", "examples_part", "pairs"]

TITLE: Final = 100
COMMENT: Final = 300
CONTENT: Final = 1000
"""Largest numbers of characters of a title, a comment and a content."""

REFERENCES: Final = 100
"""Largest number of references of an example; the paper has 27."""

SHOWN: Final = 3
"""Largest number of texts of a pair of metrics in each direction; the paper has one."""

TABLES: Final = {("meteor", "bleu-1"): 5, ("w-meteor", "meteor"): 6}
"""Numbers of the paper's tables of disagreements, by the pair of metrics."""


def pairs(metrics: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The pairs of metrics of Tables 5 and 6, each in its first reading.

    Args:
        metrics: The metrics of the study; those that are not among them have their bare names.

    >>> pairs(["meteor(alignment=2005)", "bleu-1"])
    (('meteor(alignment=2005)', 'bleu-1'), ('w-meteor', 'meteor(alignment=2005)'))
    """
    names = list(metrics)
    return tuple((first_reading(one, names), first_reading(other, names)) for one, other in TABLES)


def disagreements_part(judged: CorrelationResult, articles: Sequence[Article]) -> StudyPart | None:
    """Tables 5 and 6: the texts on which two metrics differ most, with the scores on the scale of the ratings.

    Args:
        judged: The correlations.
        articles: The articles, for their titles.

    Returns:
        The section; None where none of these metrics was scored.
    """
    found: dict[int, DisagreementPair] = {}
    for pair in judged.disagreements:
        place = TABLES.get((base(pair.first), base(pair.second)))
        if place is not None and pair.texts:
            found.setdefault(place, pair)
    if not found:
        return None
    titles = {article.id: article.title for article in articles}
    limits = judged.data.scale or "their range"
    words = (
        "Scores are normalized to the mean and the variance of the human ratings and clipped to "
        f"{limits}; the original score is in parentheses. Titles are cut at {TITLE} characters, comments at {COMMENT}."
    )
    return StudyPart(
        key="disagreements",
        title="Examples of scores (Tables 5 and 6)",
        words=(words,),
        tables=tuple(_of_pair(place, found[place], titles) for place in sorted(found)),
    )


def _of_pair(place: int, pair: DisagreementPair, titles: Mapping[str, str]) -> StudyTable:
    """A table in the paper’s form: below one another a text’s title, comment and scores."""
    rows: list[StudyRow] = []
    for name, sign in ((pair.first, 1), (pair.second, -1)):
        for text in [text for text in pair.texts if text.difference * sign > 0][:SHOWN]:
            rows.append(StudyRow(name=f"{name} is higher", kind="group"))
            values = {
                "title": excerpt(titles.get(text.item, text.item), TITLE),
                "comment": None if text.text is None else excerpt(text.text, COMMENT),
                "system": text.system,
                "human": grade(text.grade),
            }
            for metric, normalized, score in zip((pair.first, pair.second), text.normalised, text.scores, strict=True):
                values[metric] = f"{grade(normalized)} ({number(score)})"
            rows += [StudyRow(name=label, cells=(value,)) for label, value in values.items()]
    return StudyTable(
        key=f"table-{place}",
        caption=f"Table {place}: texts on which {pair.first} and {pair.second} differ most, {SHOWN} at most in each "
        "direction",
        head=("", "text"),
        rows=tuple(rows),
    )


def examples_part(articles: Sequence[Article]) -> StudyPart:
    """Tables 8 and 9: two articles with their references.

    Args:
        articles: The test articles; the first two are taken.
    """
    words = (
        f"The first two test articles with their references as they are stored, {REFERENCES} at most; contents are cut "
        f"at {CONTENT:,} characters, comments at {COMMENT}."
    )
    return StudyPart(
        key="examples",
        title="Examples of articles (Tables 8 and 9)",
        words=(words,),
        tables=tuple(_example(place, article) for place, article in enumerate(articles[:2], 8)),
    )


def _example(place: int, article: Article) -> StudyTable:
    rows = [
        StudyRow(name="article", cells=(article.id,)),
        StudyRow(name="title", cells=(excerpt(article.title, CONTENT),)),
    ]
    if article.content:
        rows.append(StudyRow(name="content", cells=(excerpt(article.content, CONTENT),)))
    measure, values = _quality(article)
    references = list(zip(values, article.comments, strict=True))[:REFERENCES]
    rows.append(StudyRow(name=f"{measure} and text of each reference", kind="group"))
    rows += [StudyRow(name=value, cells=(excerpt(comment.text, COMMENT),)) for value, comment in references]
    total = len(article.comments)
    some = f"{REFERENCES} of {total:,}" if total > REFERENCES else f"its {total}"
    return StudyTable(
        key=f"table-{place}",
        caption=f"Table {place}: a test article with {some} references",
        head=("", "text"),
        rows=tuple(rows),
    )


def _quality(article: Article) -> tuple[str, Sequence[str]]:
    """The quality of an article’s references as it is stored, by name: grades, else votes, else their numbers."""
    grades = [comment.mean_grade for comment in article.comments]
    votes = [comment.upvotes for comment in article.comments]
    if all(value is not None for value in grades):
        return "grade", [grade(value) for value in grades if value is not None]
    if all(value is not None for value in votes):
        return "upvotes", [f"{value:,}" for value in votes if value is not None]
    return "number", [str(place) for place in range(1, len(article.comments) + 1)]
