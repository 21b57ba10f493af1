"""The protocol of commenters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from postil.data.row_files import FilePath
    from postil.data.rows import Article
    from postil.data.suggestions import Suggestions

__all__ = ["Commenter"]


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
