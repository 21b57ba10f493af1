"""Screens that comments are erased from: they keep hashes of ids and no text, and are learned again without them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from postil.corpus.forgotten import Erasure, comment_key, erasures, keys_of
from postil.corpus.store import METADATA
from postil.data.model_folders import Model
from postil.errors import Undefined, UsageError
from postil.screening.model import KIND, read_decisions
from postil.screening.training import FORGOTTEN, relearn

if TYPE_CHECKING:
    from postil.corpus.forgotten import Chosen
    from postil.data.streams import FilePath
    from postil.screening.decisions import Decisions
    from postil.screening.training import RelearnedScreen

__all__ = ["ErasableScreen", "ErasedDecisions", "keys_to_erase"]

_READERS: Final = ("encoder/", "classifier/")
"""Folders of a screen with copies of what reads texts, which have nothing of a comment."""


@dataclass(frozen=True, eq=False, slots=True)
class ErasedDecisions:
    """A screen without the decisions on some comments.

    Args:
        comments: Number of decisions that are erased.
        articles: Number of articles that are erased.
        screen: The screen; None where it had none of the comments, and stays.
        files: Names of the files that are written anew.
    """

    comments: int
    articles: int
    screen: RelearnedScreen | None
    files: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class ErasableScreen:
    """A screen whose comments can be found by their ids and erased; `open` it.

    Args:
        model: Its folder.
        decisions: The decisions that it learned from.
        done: Records of what was erased before.
        keys: Keys of the comments and articles that it has.
    """

    model: Model
    decisions: Decisions
    done: tuple[Erasure, ...]
    keys: frozenset[str]
    _erased: dict[tuple[str, ...], ErasedDecisions] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: FilePath) -> ErasableScreen:
        """Open a screen.

        Args:
            folder: Its folder.

        Raises:
            InvalidInput: There is no such screen, or it is damaged.
        """
        model = Model.open(folder, {KIND})
        decisions = read_decisions(model)
        keys = frozenset(key.tobytes().hex() for key in decisions.keys.reshape(-1, 16))
        return cls(model, decisions, erasures(model.metadata.get(FORGOTTEN), model.path / METADATA), keys)

    @property
    def known(self) -> frozenset[str]:
        """Keys of what it has, and of what was erased before."""
        return self.keys | keys_of(self.done)

    def erased(self, chosen: Chosen) -> ErasedDecisions:
        """The screen without some comments and articles; it is learned once however often it is asked for.

        Args:
            chosen: The comments and articles.

        Raises:
            UsageError: The decisions that would be left make no screen.
            MissingExtra: scikit-learn is not installed.
        """
        keys = keys_to_erase(chosen)
        if keys not in self._erased:
            self._erased[keys] = self._without(chosen, keys)
        return self._erased[keys]

    def _without(self, chosen: Chosen, keys: tuple[str, ...]) -> ErasedDecisions:
        left = self.decisions.without(frozenset(keys))
        number = len(self.decisions) - len(left)
        if not number:
            return ErasedDecisions(0, 0, None, ())
        try:
            screen = relearn(self.model, left)
        except Undefined as error:
            what = f"without {number:,} of its {len(self.decisions):,} decisions no screen can be learned"
            raise UsageError(f"{self.model.path}: {what}; remove the folder instead ({error})") from error
        articles = sum(comment_key(article) in self.keys for article in chosen.articles)
        files = tuple(sorted(name for name in self.model.files if not name.startswith(_READERS)))
        return ErasedDecisions(number, articles, screen, files)


def keys_to_erase(chosen: Chosen) -> tuple[str, ...]:
    """Keys by which a screen may know some comments and articles, ascending.

    A site may send its decisions without the article: then the id of the comment alone tells, as in what a service
    stores; see `postil.erasure.store.decided`.

    Args:
        chosen: The comments and articles.

    >>> from postil.corpus.forgotten import Chosen
    >>> found = keys_to_erase(Chosen(frozenset({("a1", "c1")})))
    >>> found == tuple(sorted([comment_key("a1", "c1"), comment_key("", "c1")]))
    True
    """
    return tuple(sorted({*chosen.keys, *(comment_key("", comment) for _, comment in chosen.comments)}))
