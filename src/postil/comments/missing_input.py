"""Articles without a word in the fields that a model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.comments.neural_commenter import NeuralCommenter
    from postil.comments.prompted_commenter import PromptedCommenter
    from postil.comments.retrieval import Retriever
    from postil.data.rows import Article

__all__ = ["MissingInput"]

EXAMPLES: Final = 5
"""Maximum number of articles that a note names."""


class MissingInput:
    """Counter of articles without input.

    Args:
        commenter: The model.
    """

    def __init__(self, commenter: Retriever | NeuralCommenter | PromptedCommenter) -> None:
        self.commenter, self.articles, self.ids = commenter, 0, list[str]()

    def has_input(self, article: Article, *, known: bool = False) -> bool:
        """Count an article; True if it has input.

        Args:
            article: The article.
            known: True if it is known to have input, which saves tokenizing it again.
        """
        self.articles += 1
        found = known or self.commenter.has_input(article)
        if not found:
            self.ids.append(article.id)
        return found

    def tell(self, file: str, without: str, on_message: Callable[[str], None]) -> None:
        """Report the articles without input, if there are any.

        Args:
            file: The file of the articles.
            without: The consequence, such as ``no suggestions for``.
            on_message: Callback for status messages.

        Raises:
            InvalidInput: No article of the file has input.
        """
        if not self.ids:
            return
        kind, parts = self.commenter.kind, " or ".join(self.commenter.parts)
        other = "" if "content" in self.commenter.parts else "; a model that reads contents, such as ir-tc, may help"
        problem = f"has a word in its {parts}, and {kind} reads nothing else{other}"
        if len(self.ids) == self.articles:
            raise InvalidInput(f"no article {problem}", where=file)
        more = f" and {len(self.ids) - EXAMPLES:,} more" if len(self.ids) > EXAMPLES else ""
        names = ", ".join(self.ids[:EXAMPLES]) + more
        on_message(
            f"{file}: {without} {len(self.ids):,} of {self.articles:,} articles ({names}): none of them {problem}"
        )
