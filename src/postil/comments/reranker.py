"""Reranking of an article's best candidates by a sentence encoder: the cosine of article and comment, less hub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.comments.feature_ranker import TextVectors
from postil.data.arrays import AnyArray, Expected
from postil.encoders.sentences import sentence_encoder
from postil.errors import InvalidInput, UsageError
from postil.messages import Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.data.model_folders import Model
    from postil.data.streams import FilePath
    from postil.encoders.base import Encoder

__all__ = ["SIGNATURE", "Reranker", "open_reranker", "reranked", "standardized", "text_of", "unit_vectors"]

DEPTH: Final = 50
"""Number of an article's best candidates that are reranked; a text takes tens of milliseconds."""
SIGNATURE: Final = "reranker"
"""Setting of a model: the signature of its sentence encoder."""
WEIGHT: Final = "reranker_weight"
"""Setting of a model: the weight of the cosine less hub."""
HUB: Final = "reranker/hub"
"""Array of a model: the mean unit vector of training articles, float32[d]."""


@dataclass(frozen=True, eq=False)
class Reranker:
    """A sentence encoder that reorders the best candidates of an article.

    A comment's cosine less hub is that with the article minus its mean cosine with training articles.

    Args:
        encoder: The sentence encoder.
        hub: float32[d], the mean unit vector of training articles.
        weight: Weight of the cosine less hub, beside the ranker's score; both are standardized within an article.
    """

    encoder: Encoder
    hub: NDArray[np.float32]
    weight: float

    def less_hub(self, article: str, comments: Sequence[str]) -> NDArray[np.float64]:
        """Cosines of an article and comments, less hub.

        Args:
            article: The article; see `text_of`.
            comments: n comments.

        Returns:
            float64[n], from -2 to 2; 0 for a comment without a word.

        Raises:
            InvalidInput: The encoder has other dimensions than the hub.
        """
        vectors = unit_vectors(self.encoder, [article, *comments]).astype(np.float64)
        if vectors.shape[1] != len(self.hub):
            problem = f"expected vectors of {len(self.hub)} dimensions, got {vectors.shape[1]}; train the model again"
            raise InvalidInput(problem, where=HUB)
        return np.asarray(vectors[1:] @ (vectors[0] - self.hub))

    def scores(self, article: str, comments: Sequence[str], scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of an article's candidates after reranking of the best `DEPTH`; see `reranked`.

        Args:
            article: The article; see `text_of`.
            comments: Its n candidates.
            scores: float64[n], those of the ranker.
        """
        if not self.weight or len(scores) < 2:
            return scores
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        return reranked(scores, best, self.less_hub(article, [comments[at] for at in best.tolist()]), self.weight)

    def settings(self) -> dict[str, object]:
        """Settings that a model keeps."""
        return {SIGNATURE: self.encoder.signature, WEIGHT: self.weight}

    def arrays(self) -> dict[str, AnyArray]:
        """Arrays that a model folder keeps, by name."""
        return {HUB: self.hub}


def open_reranker(model: Model, folder: FilePath) -> Reranker:
    """Open the reranker of a model.

    Args:
        model: The model folder.
        folder: The sentence encoder that it was trained with; the model has no copy of it.

    Raises:
        UsageError: The model was trained without a reranker or with another one, or there is no such folder.
        InvalidInput: The model or the encoder is damaged.
        MissingExtra: The library that runs the encoder is not installed.
    """
    if not model.config.get(SIGNATURE):
        raise UsageError(
            "{where}: this model was trained without a reranker; leave it out, or train the model again with "
            "{reranker}",
            where=f"{model.path}",
            reranker=Setting("reranker", f"{folder}"),
        )
    signature, weight = model.setting(SIGNATURE, str), model.setting(WEIGHT, float)
    hub = np.asarray(model.array(HUB, Expected("float32", (None,), low=-1)))
    if weight < 0:
        raise InvalidInput(f"expected 0 or more, got {weight:g}", where=str(model.path / "config.json"), field=WEIGHT)
    encoder = sentence_encoder(str(folder))
    if encoder.signature != signature:
        raise UsageError(
            "{model}: {problem}; name the former, or train the model again with {reranker}",
            model=f"{model.path}",
            problem=f"the model was trained with the reranker {signature}, and {folder} is {encoder.signature}",
            reranker=Setting("reranker", f"{folder}"),
        )
    return Reranker(encoder, hub, weight)


def unit_vectors(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of length 1, float32[n, d]; zeros for a text without a word.

    Args:
        encoder: The sentence encoder.
        texts: n texts.
    """
    return TextVectors(encoder, "words").unit(texts)


def text_of(title: str, content: str) -> str:
    r"""The text of an article that a sentence encoder reads, up to its own limit.

    Args:
        title: The title.
        content: The content; empty where the model reads titles alone.

    >>> text_of("Rain", ""), text_of("Rain", "All day.")
    ('Rain', 'Rain\nAll day.')
    """
    return f"{title}\n{content}".strip()


def standardized(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Values with mean 0 and standard deviation 1, and their standard deviation; zeros and 1 where all are equal.

    Args:
        values: float64[n], n at least 1.

    >>> standardized(np.array([1.0, 3.0]))[0].tolist(), standardized(np.array([2.0, 2.0]))[0].tolist()
    ([-1.0, 1.0], [0.0, 0.0])
    """
    centered = values - values.mean()
    deviation = float(np.sqrt((centered**2).mean()))
    if deviation <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return np.zeros_like(centered), 1.0
    return centered / deviation, deviation


def reranked(
    scores: NDArray[np.float64], best: NDArray[np.int64], cosines: NDArray[np.float64], weight: float
) -> NDArray[np.float64]:
    """Add standardized cosines to the scores of an article's best candidates, which stay ahead of the others.

    A score becomes ``score + weight * deviation * z``, with the standardized cosine ``z`` and the standard deviation of
    the scores of the best, so that the order is that of ``weight * z`` plus the standardized score. If the lowest of
    them would fall behind the others, all of the best are raised by the same number.

    Args:
        scores: float64[n], those of the ranker.
        best: int64[m], the best candidates.
        cosines: float64[m], their cosines less hub.
        weight: Weight of the cosines.

    Returns:
        float64[n]; those of the others are unchanged.

    >>> reranked(np.array([4.0, 2.0, 1.0]), np.array([0, 1]), np.array([0.1, 0.3]), 2.0).round(9).tolist()
    [2.0, 4.0, 1.0]
    >>> reranked(np.array([4.0, 2.0, 1.0]), np.array([0, 1]), np.array([0.1, 0.3]), 4.0).round(9).tolist()
    [1.0, 7.0, 1.0]
    """
    new = scores[best] + weight * standardized(scores[best])[1] * standardized(cosines)[0]
    others = np.delete(scores, best)
    if len(others):
        least = np.nextafter(others.max(), np.inf)
        new = np.maximum(new + max(0.0, least - new.min()), least)
    found = scores.copy()
    found[best] = new
    return found
