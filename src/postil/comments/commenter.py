"""The protocol of commenters, and opening one of any kind."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from postil.comments import neural_commenter, retrieval
from postil.comments.neural_commenter import NeuralCommenter
from postil.comments.options import DecodingOptions
from postil.comments.retrieval import Retriever
from postil.comments.store import Model
from postil.data.arguments import check_arguments
from postil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from postil.comments.show_filter import Selection
    from postil.data.rows import Article
    from postil.data.streams import FilePath
    from postil.data.suggestions import Suggestions
    from postil.screening.filtering import CandidateFilter

__all__ = ["Commenter", "load_commenter"]


class Commenter(Protocol):
    """A model that suggests comments.

    Ties are broken by `postil.data.ranking.best_first`: descending score, then ascending key. A saved commenter that
    is loaded elsewhere gives the same suggestions.
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

    def save(self, folder: FilePath) -> None:
        """Write the model folder; see `postil.comments.store`.

        Args:
            folder: A folder that does not exist yet.

        Raises:
            UsageError: It exists, or its parent does not.
            PostilError: The operating system reports an error.
        """

    @classmethod
    def load(cls, folder: FilePath) -> Self:
        """Open a model folder.

        Args:
            folder: The folder.

        Raises:
            InvalidInput: It holds no such model, or is damaged.
        """


def load_commenter(
    folder: FilePath,
    *,
    candidate_filter: CandidateFilter | None = None,
    decoding: DecodingOptions | None = None,
    jobs: int = 1,
    selection: Selection | None = None,
    reranker: FilePath | None = None,
) -> Retriever | NeuralCommenter:
    """Open a commenter that `postil train` made.

    Args:
        folder: Its folder.
        candidate_filter: Filter of suggestions.
        decoding: Decoding options of a generator.
        jobs: Number of search threads.
        selection: Request to suggest only what is probably worth showing, of a model calibrated by labels.
        reranker: The sentence encoder that a retriever was trained with, to reorder its best candidates.

    Raises:
        InvalidInput: There is no such model, or it is damaged.
        UsageError: It is no generator, and `decoding` is given; it was not calibrated, and `selection` is given; or it
            was trained without `reranker`.
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
        return NeuralCommenter.open(folder, candidate_filter=candidate_filter, decoding=decoding)
    if decoding is not None:
        defaults = asdict(DecodingOptions())
        given = [name for name, value in asdict(decoding).items() if value != defaults[name]]
        names = ", ".join(given) or "decoding"
        raise UsageError(f"{folder}: {kind} retrieves comments; {names}: only for models that generate")
    return Retriever.open(folder, candidate_filter=candidate_filter, jobs=jobs, selection=selection, reranker=reranker)
