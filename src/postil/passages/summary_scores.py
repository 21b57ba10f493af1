"""Summaries of whole topics, scored by the measures of passages against a pooled reference per topic.

Source: González-Gallardo, SanJuan and Torres-Moreno, "Extending Text Informativeness Measures to Passage
Interestingness Evaluation", section 3.2, where a run has one summary per topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from postil.errors import UsageError
from postil.metrics.passages.collection import PassageCollection
from postil.metrics.passages.measures import measure_passages
from postil.metrics.passages.pool import Pools
from postil.text.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.metrics.passages.measures import Measure

__all__ = ["summary_scores"]

FOREIGN: Final = "no such word"
"""A word that is in no text: no tokenizer returns one with spaces."""


def summary_scores(
    measures: Sequence[Measure],
    collection: PassageCollection,
    references: Sequence[NDArray[np.int64]],
    weights: NDArray[np.float64],
    *,
    summaries: NDArray[np.int64],
    longest: int,
    jobs: int = 1,
) -> dict[Measure, NDArray[np.float64]]:
    """Score the summary of each topic by each system.

    A missing summary, or one without units, has the score of ``longest`` words that are in no reference: 0 of the
    measures for which higher is better, ln 2 of ``js``, and of ``kl`` the most that a text of that length can have. A
    summary that says nothing is thus never better than one that says something, which it can be by the formula of
    ``kl``; only a negative ``cosine`` is below it.

    Args:
        measures: The measures.
        collection: References and summaries; its background is what ``kl`` and ``tf-idf`` take for all passages.
        references: For each topic the rows of its reference, int64[r].
        weights: float64[n], the weight of each row of the collection in a reference.
        summaries: int64[topics, systems], the row of each summary, -1 where there is none.
        longest: Largest number of words of a summary.
        jobs: Number of threads; the numbers do not depend on it.

    Returns:
        For each measure float64[topics, systems]; NaN where the reference has no units.

    Raises:
        UsageError: A measure looks at no reference.

    The reference is ``a b``; the second system has no summary:

    >>> from postil.metrics.spec import parse_measure
    >>> from postil.text.tokens import Vocabulary
    >>> texts = PassageCollection(Vocabulary().encode_tokens([["a", "b"], ["a", "c"]]), background=1)
    >>> measures = [parse_measure("f1-1"), parse_measure("kl-1")]
    >>> rows = np.array([[1, -1]])
    >>> found = summary_scores(measures, texts, [np.array([0])], np.ones(2), summaries=rows, longest=2)
    >>> [values.round(3).tolist() for values in found.values()]
    [[[0.5, 0.0]], [[0.549, 1.099]]]
    """
    for measure in measures:
        if not measure.uses_reference:
            raise UsageError(f"{measure.name}: expected a measure that compares with a reference; leave it out")
    extended = _with_foreign(collection, longest)
    worst = len(collection)
    texts = np.column_stack([np.where(summaries < 0, worst, summaries), np.full(len(summaries), worst)])
    held = np.concatenate(references)
    nowhere = np.zeros(texts.size, np.int64)
    pools = Pools(
        reference_offsets=np.cumsum([0, *map(len, references)]),
        references=held.astype(np.int32),
        weights=weights[held],
        text_offsets=np.arange(0, texts.size + 1, texts.shape[1]),
        texts=texts.ravel().astype(np.int32),
        own=nowhere[:0],
        own_begins=nowhere,
        own_ends=nowhere,
    )
    found = {}
    for measure, values in measure_passages(measures, extended, pools, jobs).items():
        of_topics = values.reshape(texts.shape)
        found[measure] = np.where(np.isfinite(of_topics[:, :-1]), of_topics[:, :-1], of_topics[:, -1:])
    return found


def _with_foreign(collection: PassageCollection, longest: int) -> PassageCollection:
    """The same with one more row, which shares nothing with any other: its words have no vectors either."""
    tokens = collection.tokens
    foreign = tokens.vocabulary.encode_tokens([[FOREIGN] * longest])
    return PassageCollection(
        Tokens(
            np.concatenate([tokens.ids, foreign.ids]),
            np.append(tokens.offsets, tokens.offsets[-1] + longest),
            tokens.vocabulary,
        ),
        _with_empty(collection.words),
        background=len(collection) if collection.background is None else collection.background,
        written=lambda: _with_empty(collection.written()),
    )


def _with_empty(words: Tokens) -> Tokens:
    """Texts and one more without words."""
    return Tokens(words.ids, np.append(words.offsets, words.offsets[-1]), words.vocabulary)
