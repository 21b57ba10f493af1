"""What a corpus is built by: every threshold of the paper, as an option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from postil.corpus.privacy import MASKS
from postil.corpus.split import Share
from postil.errors import UnknownName, UsageError
from postil.records.arguments import check_fields

__all__ = ["DRAW_FROM", "LONG_COMMENTS", "SEED", "USERS", "BuildOptions"]

SEED: Final = 20181
LONG_COMMENTS: Final = ("drop", "cut", "keep")
DRAW_FROM: Final = ("all", "long")
USERS: Final = ("drop", "hash", "keep")
TWENTIETH: Final = Share(fraction=0.05)


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """How to build a corpus. The defaults are those of the paper (ACL 2018, sections 3 and 5), but for split sizes.

    Args:
        source: Where the articles and comments come from.
        license: What may be done with them.
        tokenizer: How texts are cut into words, for thresholds, vocabulary and token arrays.
        content_words: The least number of words in an article's content; 0 takes articles without content.
        comments: The least number of comments with text.
        comment_words: The most words of a comment.
        long_comments: What becomes of a comment with more: ``drop`` it, ``cut`` its tokens (its text stays whole) or
            ``keep`` it. The least number of comments is asked for before.
        dev: Size of the dev set.
        test: Size of the test set. A fraction that is more than the articles that may be drawn takes all of those; a
            number is an error then.
        test_comments: An article of the test set has at least so many comments of `test_words` words or more …
        test_words: … each …
        test_upvotes: … and so many upvotes in all; 0 asks for none.
        draw: How many comments of a test article are its references; the others are held out. 0 takes all.
        draw_from: Draw from ``all`` comments, or from the ``long`` ones, of `test_words` words or more.
        near_duplicates: Likeness of two articles, in [0, 1], from which on they count as one; 0 looks for none.
        vocabulary: How many words models know by default.
        users: ``drop`` the names of commenters and annotators, ``hash`` them with the key `salt`, or ``keep`` them.
        salt: The secret key of the hash, for ``users="hash"``.
        mask: What is masked in texts; names of `MASKS`.
        seed: Decides what is drawn.
        skip_bad: Leave out rows that cannot be read, and list them, instead of stopping.

    Raises:
        UsageError: The options make no sense, or do not fit together.

    >>> BuildOptions(source="my site", license="CC-BY-4.0").comments
    20
    """

    source: str
    license: str
    tokenizer: str = "words"
    content_words: int = 30
    comments: int = 20
    comment_words: int = 50
    long_comments: str = "drop"
    dev: Share = TWENTIETH
    test: Share = TWENTIETH
    test_comments: int = 30
    test_words: int = 6
    test_upvotes: int = 201
    draw: int = 27
    draw_from: str = "all"
    near_duplicates: float = 0.8
    vocabulary: int = 30_000
    users: str = "drop"
    salt: bytes = b""
    mask: tuple[str, ...] = ()
    seed: int = SEED
    skip_bad: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("source", "license"):
            if not getattr(self, name).strip():
                raise UsageError(f"a corpus says where it comes from and what may be done with it; {name} is empty")
        for kind, name, known in (
            ("fate of long comments", self.long_comments, LONG_COMMENTS),
            ("comments to draw from", self.draw_from, DRAW_FROM),
            ("fate of users", self.users, USERS),
            *(("mask", name, tuple(MASKS)) for name in self.mask),
        ):
            if name not in known:
                raise UnknownName(kind, name, known)
        if not 0 <= self.near_duplicates <= 1:
            raise UsageError(f"near duplicates: expected a likeness from 0 to 1, got {self.near_duplicates:g}")
        least = {"comments": 1, "comment_words": 1, "vocabulary": 1}
        for name in (*least, "content_words", "test_comments", "test_words", "test_upvotes", "draw", "seed"):
            if getattr(self, name) < least.get(name, 0):
                given = getattr(self, name)
                raise UsageError(f"{name.replace('_', ' ')}: expected {least.get(name, 0)} or more, got {given}")
        if (self.users == "hash") != bool(self.salt):
            raise UsageError(
                "users are hashed with a secret key (salt), and the key is for hashing: give both or neither"
            )

    def settings(self) -> dict[str, str | int | float | tuple[str, ...]]:
        """The options as they are written to ``metadata.json``, without the secret `salt`."""
        names = [name for name in self.__dataclass_fields__ if name not in {"salt", "skip_bad"}]
        values = {name: getattr(self, name) for name in names}
        return values | {"dev": str(self.dev), "test": str(self.test)}
