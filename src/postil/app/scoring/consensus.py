"""The journey of `postil.consensus_weights`: ungraded references in, a weight for each out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from postil.app.columns import as_list
from postil.app.scoring.api import encode, han_remark, refuser
from postil.app.scoring.sets import Sets
from postil.metrics.consensus import NAME, SIMILARITY, consensus, similarity_of
from postil.metrics.references import References
from postil.records.arguments import check_arguments
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from postil.app.columns import Column

__all__ = ["consensus_weights"]


def consensus_weights(
    references: Column, *, tokenizer: str = "words", metric: str = SIMILARITY, jobs: int = 1
) -> list[list[float]]:
    """Weights for references that nobody has graded: how much each is like the others of its row.

    A reference's mean similarity to the others, divided by the highest of its row; where no reference is like another,
    or there is only one, all have 1.

    Args:
        references: n lists of texts, or of lists of tokens, as ``postil.score`` takes them. A list that stands at
            several places (the same object) is digested once.
        tokenizer: A name in `postil.text.TOKENIZERS`. Lists of tokens are taken as they are.
        metric: The similarity, a spec without ``w-``.
        jobs: Threads. The numbers do not depend on it.

    Returns:
        The shape of ``references``, numbers in [0, 1].

    Raises:
        UnknownName, UsageError: A metric or tokenizer does not exist, or the metric reads weights.
        InvalidInput: A row is empty or no list of texts, or more than a tenth of the references are Han text and meet
            the ``words`` tokenizer (of fewer a warning tells). ``line`` counts rows from 1.
        Undefined: CIDEr of a single row.

    >>> consensus_weights([["a b", "a c", "d b"], ["e"]])
    [[1.0, 0.5, 0.5], [1.0]]
    """
    check_arguments(consensus_weights, locals())
    similarity = similarity_of(f"{NAME}({metric})")
    cut = named_tokenizer(tokenizer)
    rows = as_list(references, "references")
    if similarity is None or not rows:
        return []
    sets = Sets.gather(len(rows), rows, None, None, 0.0)
    refuse = refuser("references", sets.rows)
    tokens = encode(sets.texts, cut, Vocabulary(), jobs, refuse)
    if remark := han_remark(sets.texts, cut, "references", refuse):
        warnings.warn(remark, stacklevel=2)
    weights = consensus(References(tokens, sets.offsets), similarity, jobs=jobs)
    of_set = np.split(weights, sets.offsets[1:-1])
    return [of_set[number].tolist() for number in sets.of_row]
