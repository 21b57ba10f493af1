"""The readers' side of `postil evaluate`: comments as weighted references, and one an article set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.corpus.split import draw_key
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.metrics.consensus import NAME, consensus, similarity_of
from postil.records.weights import DEFAULT, METHODS, weigh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.corpus.store import Corpus
    from postil.metrics.references import References
    from postil.records.rows import Article, Comment, Reference
    from postil.records.scale import Scale

__all__ = ["HUMAN", "Readers", "needs_scale", "read_readers", "signature_of"]

HUMAN: Final = "human"
"""The system that says what was set aside."""


@dataclass(frozen=True, eq=False, slots=True)
class Readers:
    """What readers say of the articles of a split.

    Args:
        where: The corpus and split, for messages.
        articles: The articles; their comments are the references.
        humans: Of each a comment that is no reference.
        left_out: How many more articles have no two comments that differ.
    """

    where: str
    articles: Sequence[Article]
    humans: list[str]
    left_out: int

    @property
    def references(self) -> list[str]:
        """The references' texts, article after article."""
        return [comment.text for article in self.articles for comment in article.comments]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the references of each article begin, int64[articles + 1]."""
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

    def weights(
        self, references: References, name: str, scale: Scale | None, *, lowest: float = 0.0, jobs: int = 1
    ) -> NDArray[np.float64]:
        """The weight of each reference, float64[m].

        Args:
            references: The references, bound.
            name: The method: one of `METHODS` that reads grades or votes, or ``consensus``.
            scale: The scale of the grades.
            lowest: The least weight that all metrics take.
            jobs: Threads.

        Raises:
            UnknownName, UsageError: There is no such method, or it does not go with the metrics or without a scale.
            InvalidInput: References lack what the method reads, or have grades that are not on the scale.
        """
        similarity = similarity_of(name)
        if similarity is not None:
            return consensus(references, similarity, jobs=jobs)
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
            problem = f"{lacking:,} of {len(rows):,} comments have no {what}, which the weights method '{name}' reads"
            raise InvalidInput(f"{problem}; {NAME} needs none", where=self.where)
        if method.needs_scale and scale is None:
            raise UsageError(f"{self.where}: the grades need a scale (weights '{name}'): --scale HIGH or LOW:HIGH")
        items = np.repeat(np.arange(len(references)), np.diff(references.offsets))
        try:
            return weigh(rows, items, method=name, scale=scale)
        except InvalidInput as error:
            problem = f"article {rows[(error.line or 1) - 1].item}: {error.problem}"
            raise InvalidInput(problem, where=self.where, field=error.field) from None

    def _rows(self) -> list[Reference]:
        return [reference for article in self.articles for reference in article.references()]


def needs_scale(method: str | None) -> bool:
    """Whether a weights method, if there is one, reads grades."""
    return method in METHODS and METHODS[str(method)].needs_scale


def signature_of(method: str, scale: Scale | None) -> str:
    """A weights method as signatures have it.

    Args:
        method: Its name.
        scale: The scale, if it reads grades.
    """
    similarity = similarity_of(method)
    if similarity is not None:
        return f"{NAME}({similarity.signature})"
    return f"{method}|scale:{scale}" if needs_scale(method) else method


def read_readers(corpus: Corpus, split: str, seed: int) -> Readers:
    """The articles of a split, with one comment of each set aside.

    Where some comments of an article are no references already, as in a test set whose references were drawn, it is
    one of those. A comment that says the same as a reference is never set aside beside it.

    Args:
        corpus: The corpus.
        split: Its split.
        seed: Seed of the draw; what is drawn depends on it and the article's id.

    Raises:
        UsageError: No article has two comments that differ.
    """
    where = f"{corpus.path}, {split}"
    articles: list[Article] = []
    humans: list[str] = []
    left_out = 0
    for article in corpus.articles(split):
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
    """A comment that is no reference, and those that are."""
    said = {comment.text for comment in article.comments}
    others = [comment for comment in article.held_out or () if comment.text not in said]
    pool = others or article.comments
    if not pool:
        return None, ()
    drawn = pool[draw_key(seed, HUMAN, article.id) % len(pool)]
    return drawn, [comment for comment in article.comments if comment.text != drawn.text]
