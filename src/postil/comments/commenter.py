"""Commenters of any kind: their protocol, opening one, and interleaving the suggestions of two."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

import numpy as np

from postil.comments import neural_commenter, retrieval
from postil.comments.neural_commenter import NeuralCommenter
from postil.comments.options import DecodingOptions
from postil.comments.retrieval import Retriever
from postil.corpus.duplicates import BigramSets
from postil.data.arguments import check_arguments
from postil.data.model_folders import Model
from postil.encoders.endpoint_encoder import EncoderEndpoint
from postil.errors import UsageError
from postil.messages import Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.comments.show_filter import Selection
    from postil.data.rows import Article
    from postil.data.streams import FilePath
    from postil.data.suggestions import Suggestions
    from postil.screening.filtering import CandidateFilter

__all__ = ["Commenter", "load_commenter", "team_draft"]


class Commenter(Protocol):
    """A model that suggests comments.

    Ties are broken by `postil.data.ranking.best_first`: descending score, then ascending key.
    """

    def comment(self, articles: Sequence[Article], k: int) -> list[Suggestions]:
        """Suggest comments.

        Args:
            articles: The articles; their own comments are ignored.
            k: Maximum number of suggestions per article.

        Returns:
            The suggestions for each article, in the articles' order.

        Raises:
            UsageError: k is less than 1.
        """


def load_commenter(
    folder: FilePath,
    *,
    candidate_filter: CandidateFilter | None = None,
    decoding: DecodingOptions | None = None,
    jobs: int = 1,
    selection: Selection | None = None,
    reranker: FilePath | None = None,
    encoder: str | EncoderEndpoint | None = None,
) -> Retriever | NeuralCommenter:
    """Open a commenter that `postil train` made.

    Args:
        folder: Its folder.
        candidate_filter: Filter of suggestions.
        decoding: Decoding options of a generator.
        jobs: Number of search threads.
        selection: Request to suggest only what is probably worth showing, of a model calibrated by labels.
        reranker: The sentence encoder that a retriever was trained with, to reorder its best candidates.
        encoder: Address of the embeddings endpoint that the sentence encoder of the filter is behind, such as
            ``http://127.0.0.1:8080/v1``, of a model that was made with one: no model keeps an address.

    Raises:
        InvalidInput: There is no such model, or it is damaged.
        UsageError: It is no generator, and `decoding` is given; it was not calibrated, and `selection` is given; it
            was trained without `reranker`; or it was made without an endpoint, and `encoder` is given.
        MissingExtra: It needs torch, or the reranker its library, which is not installed.
    """
    check_arguments(load_commenter, locals())
    kind = Model.open(folder, (*retrieval.KINDS, *neural_commenter.KINDS)).kind
    if kind in neural_commenter.KINDS:
        if selection is not None:
            problem = f"{kind} generates comments, and only models that retrieve them can be calibrated"
            raise UsageError(f"{folder}: {problem}; leave precision and coverage out")
        if reranker is not None:
            raise UsageError(f"{folder}: {kind} generates comments, and only models that retrieve them have a reranker")
        if encoder is not None:
            raise UsageError(
                "{folder}: {kind} generates comments, and only models that retrieve them have a sentence encoder; "
                "leave {encoder} out",
                folder=f"{folder}",
                kind=kind,
                encoder=Setting("encoder"),
            )
        return NeuralCommenter.open(folder, candidate_filter=candidate_filter, decoding=decoding)
    if decoding is not None:
        defaults = asdict(DecodingOptions())
        given = [name for name, value in asdict(decoding).items() if value != defaults[name]]
        names = ", ".join(given) or "decoding"
        raise UsageError(f"{folder}: {kind} retrieves comments; {names}: only for models that generate")
    return Retriever.open(
        folder,
        candidate_filter=candidate_filter,
        jobs=jobs,
        selection=selection,
        reranker=reranker,
        endpoint=EncoderEndpoint(url=encoder) if isinstance(encoder, str) else encoder,
    )


def team_draft(
    first: Sequence[str], second: Sequence[str], k: int, seed: bytes | int, threshold: float = 0.6
) -> list[tuple[int, int]]:
    """Interleave two lists of texts.

    A text that both have belongs to the model that picks it first, and near duplicates count as one text.

    Args:
        first: The texts of team 0, best first.
        second: Those of team 1.
        k: Largest number of texts.
        seed: Seed of the coin; the same seed gives the same list.
        threshold: Smallest `jaccard_similarity` of near duplicates.

    Returns:
        The team and the index in that team's list, by rank. It is shorter than ``k`` where a round is impossible
        since either model has no text left, whichever picks first: another text would favor the model with more.

    >>> team_draft(["Bring a coat.", "Stay at home."], ["bring a coat", "What a storm!"], 2, seed=4)
    [(0, 0), (1, 1)]
    """
    texts = [*first, *second]
    owners = np.repeat([0, 1], [len(first), len(second)])
    near = BigramSets(texts)
    starts = (0, len(first))
    left = np.ones(len(texts), bool)
    picked: list[tuple[int, int]] = []

    def turn(order: tuple[int, ...], left: NDArray[np.bool_]) -> tuple[list[int], NDArray[np.bool_]] | None:
        """The picks of teams, one after the other, and what is left then; None if one has no text to pick."""
        picks = []
        for team in order:
            found = np.flatnonzero(left & (owners == team))
            if not len(found):
                return None
            picks.append(int(found[0]))
            left = left & (near.jaccard(picks[-1]) < threshold)
        return picks, left

    while len(picked) < k and left.any():
        size = min(2, k - len(picked))
        either = [turn(order[:size], left) for order in ((0, 1), (1, 0))]
        chosen = either[_coin(seed, len(picked))]
        if chosen is None or None in either:
            break
        picks, left = chosen
        picked += [(int(owners[pick]), pick - starts[owners[pick]]) for pick in picks]
    return picked


def _coin(seed: bytes | int, rank: int) -> int:
    """A fair coin that gives the same sides in every version of Python."""
    key = seed if isinstance(seed, bytes) else str(seed).encode()
    return sha256(b"%d:%b" % (rank, key)).digest()[0] & 1
