"""Readers' comments as weighted references, and one per article that is set aside as a candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from postil.comments.result import HUMAN
from postil.data.explain import have
from postil.data.fields import draw_key
from postil.data.scale import SCALE_SETTING
from postil.data.weights import DEFAULT, METHODS, weigh
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Message
from postil.metrics.evaluation import ReferenceTexts, weighting_signature
from postil.metrics.ungraded import NAME, similarity_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from postil.corpus.store import Corpus
    from postil.data.rows import Article, Comment, Reference
    from postil.data.scale import Scale

__all__ = ["Readers", "needs_scale", "parted_readers", "read_readers"]


@dataclass(frozen=True, eq=False, slots=True)
class Readers:
    """Readers' comments on the articles of a split.

    Args:
        where: The corpus and split, for messages.
        articles: The articles; their comments are the references.
        humans: For each article a comment that is no reference.
        left_out: Number of further articles, which have no two comments that differ.
    """

    where: str
    articles: Sequence[Article]
    humans: list[str]
    left_out: int

    @property
    def references(self) -> list[str]:
        """Texts of the references, article after article."""
        return [comment.text for article in self.articles for comment in article.comments]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offsets of the references of each article, int64[articles + 1]."""
        return np.cumsum([0, *(len(article.comments) for article in self.articles)])

    def usual_method(self) -> str:
        """Source of the weights by default.

        Grades where all references have one; else votes where all have a number of them that distinguishes some
        reference from another of its article; else consensus.
        """
        rows = self._rows()
        if all(row.mean_grade is not None for row in rows):
            return DEFAULT
        voted = all(row.upvotes is not None for row in rows) and self.tied() < len(self.articles)
        return "votes" if voted else NAME

    def tied(self) -> int:
        """Number of articles in which no reference has more votes than another, as where nobody voted.

        The method ``votes`` gives all references of such an article the weight 1.
        """
        return sum(len({comment.upvotes for comment in article.comments}) <= 1 for article in self.articles)

    def weighted(self, method: str | None, scale: Scale | None, *, lowest: float = 0.0) -> ReferenceTexts:
        """The comments as references, weighted by a method.

        Args:
            method: One of `METHODS` that reads grades or votes, or ``consensus``; None for weights of 1.
            scale: Scale of the grades.
            lowest: The lowest weight that all metrics take.

        Raises:
            UnknownName, UsageError: There is no such method, or it does not go with the metrics or without a scale.
            InvalidInput: References lack what the method reads, or have grades that are not on the scale.
        """
        texts: list[object] = [*self.references]
        if method is None:
            return ReferenceTexts(texts, self.offsets)
        similarity = similarity_of(method)
        return ReferenceTexts(
            texts,
            self.offsets,
            self._weights(method, scale, lowest) if similarity is None else None,
            weighting=weighting_signature(method, scale),
            similarity=similarity,
        )

    def _weights(self, name: str, scale: Scale | None, lowest: float) -> NDArray[np.float64]:
        known = [method for method in METHODS if METHODS[method].field != "weight"]
        if name not in known:
            raise UnknownName("weights method", name, [*known, NAME])
        method = METHODS[name]
        if method.low < lowest:
            raise UsageError(f"the weights method '{name}' gives weights below 0, which only delta-bleu takes")
        rows = self._rows()
        lacking = sum((row.mean_grade if method.field == "grade" else row.upvotes) is None for row in rows)
        if lacking:
            what = "grade" if method.field == "grade" else "number of upvotes"
            lack = f"{lacking:,} of {len(rows):,} comments {have(lacking)} no {what}"
            problem = f"{lack}, which the weights method '{name}' reads"
            raise InvalidInput(f"{problem}; {NAME} needs none", where=self.where)
        if method.needs_scale and scale is None:
            raise UsageError(
                "{where}: the grades need a scale (weights '{name}'): {scale}",
                where=self.where,
                name=name,
                scale=SCALE_SETTING,
            )
        items = np.repeat(np.arange(len(self.articles)), np.diff(self.offsets))
        try:
            return weigh(rows, items, method=name, scale=scale)
        except InvalidInput as error:
            article = rows[(error.line or 1) - 1].item
            problem = Message("article {article}: {problem}", article=article, problem=error.message)
            raise InvalidInput(problem, where=self.where, field=error.field) from None

    def _rows(self) -> list[Reference]:
        return [reference for article in self.articles for reference in article.references()]


def needs_scale(method: str | None) -> bool:
    """Return True if a weights method, if there is one, reads grades."""
    return method in METHODS and METHODS[str(method)].needs_scale


def read_readers(corpus: Corpus, split: str, seed: int) -> Readers:
    """Read the articles of a split, and set one comment of each aside; see `parted_readers`.

    Args:
        corpus: The corpus.
        split: Its split.
        seed: Seed of the draw.

    Raises:
        UsageError: No article has two comments that differ.
    """
    return parted_readers(f"{corpus.path}, {split}", corpus.articles(split), seed)


def parted_readers(where: str, every: Iterable[Article], seed: int) -> Readers:
    """Set one comment of each article aside.

    Where some comments of an article are no references already, as in a test set whose references were drawn, it is
    one of those. A comment with the text of a reference is never set aside.

    Args:
        where: The corpus and split, for messages.
        every: The articles.
        seed: Seed of the draw, which depends on it and the article's id alone.

    Raises:
        UsageError: No article has two comments that differ.
    """
    articles: list[Article] = []
    humans: list[str] = []
    left_out = 0
    for article in every:
        drawn, rest = _parted(article, seed)
        if drawn is None or not rest:
            left_out += 1
            continue
        humans.append(drawn.text)
        articles.append(msgspec.structs.replace(article, comments=tuple(rest), held_out=()))
    if not articles:
        raise UsageError(f"{where}: no article has two comments that differ")
    return Readers(where, articles, humans, left_out)


def _parted(article: Article, seed: int) -> tuple[Comment | None, Sequence[Comment]]:
    """Choose a comment that is no reference; return it and those that are."""
    said = {comment.text for comment in article.comments}
    others = [comment for comment in article.held_out or () if comment.text not in said]
    pool = others or article.comments
    if not pool:
        return None, ()
    drawn = pool[draw_key(seed, HUMAN, article.id) % len(pool)]
    return drawn, [comment for comment in article.comments if comment.text != drawn.text]
