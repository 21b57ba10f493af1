"""Decisions of moderators in the exports of sites, written beside the articles; what is no decision is counted.

A comment that readers see is kept, whether a moderator approved it or nobody objected; one that was taken from them is
held. What waits for a moderator is neither, and so is what its own author took away.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from postil.corpus.forgotten import comment_key
from postil.corpus.privacy import hash_user
from postil.data.explain import counted
from postil.data.rows import Decision
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from postil.corpus.importers.verdicts import Verdict
    from postil.corpus.privacy import HashKey

__all__ = ["Decisions"]

KEYED: Final = 16
"""Number of hexadecimal digits of the key by which a comment is known again."""


class Decisions:
    """Decisions of moderators on their way to a file, and counts of them.

    Args:
        take: Callback that takes each decision.
        key: Secret key of the authors' hashes. Without one, authors are numbered in the order of their first decisions:
            ``author-1`` is the same person within an import only.

    >>> from postil.corpus.importers.verdicts import KEPT, PENDING, held
    >>> rows = []
    >>> decisions = Decisions(rows.append)
    >>> for verdict, text in ((KEPT, "Bring a coat."), (held("spam"), "Buy watches!"), (PENDING, "Oh"), (KEPT, " ")):
    ...     made = decisions.made(verdict, lambda: {"id": "7", "text": text}, article="a1", author="name:Ann")
    ...     if made is not None:
    ...         decisions.write(made)
    >>> [(row.decision, row.author) for row in rows]
    [('keep', 'author-1')]
    >>> decisions.kept, decisions.held.total(), decisions.pending, decisions.textless, decisions.repeated
    (1, 0, 1, 1, 1)
    """

    def __init__(self, take: Callable[[Decision], None], key: HashKey | None = None) -> None:
        self._take, self._key = take, key
        self.kept = 0
        """Number of comments that were kept."""
        self.held: Counter[str | None] = Counter()
        """Number of comments that were held, by reason."""
        self.pending = 0
        """Comments that wait for a moderator."""
        self.withdrawn = 0
        """Comments that their own authors took away."""
        self.textless = 0
        """Decisions on comments of which the export has no text."""
        self.repeated = 0
        """Decisions on comments that had one before."""
        self._seen: set[int] = set()
        self._authors: dict[str, str] = {}

    def made(
        self,
        verdict: Verdict,
        comment: Callable[[], Mapping[str, object]],
        *,
        article: str | None,
        author: str | None = None,
        lang: str | None = None,
    ) -> Decision | None:
        """The row of a decision; what has none is counted.

        Args:
            verdict: The verdict on the comment.
            comment: Function that makes its fields, such as `id`, `text` and `date`; called only where they are needed.
            article: The id of its article; None where it is not known yet.
            author: Any text that only its author has; it is not kept.
            lang: Language of the comment.

        Raises:
            InvalidInput: A field of a comment that is held is broken; says which. One that is kept is an article's too,
                whose reader refuses it.
        """
        if verdict.decision not in {"keep", "hold"}:
            self.pending += verdict.decision == "pending"
            self.withdrawn += verdict.decision == "withdrawn"
            return None
        if verdict.hidden:
            self.textless += 1
            return None
        try:
            fields = comment()
            text, name, date = fields["text"], fields.get("id"), fields.get("date")
            if not isinstance(text, str) or not text.strip():
                self.textless += 1
                return None
            said = None if author is None else self._pseudonym(author)
            decision, reason = verdict.decision, verdict.reason
            return Decision(text, decision, reason, date, article, said, name, lang)  # type: ignore[arg-type]  # the row checks
        except InvalidInput:
            if verdict.decision == "hold":
                raise
            return None

    def add(
        self,
        verdict: Verdict,
        comment: Callable[[], Mapping[str, object]],
        *,
        article: str | None,
        author: str | None = None,
        lang: str | None = None,
    ) -> None:
        """Hand on the row of a decision, if there is one; arguments and errors as of `made`."""
        row = self.made(verdict, comment, article=article, author=author, lang=lang)
        if row is not None:
            self.write(row)

    def write(self, decision: Decision) -> None:
        """Hand a decision on, unless its comment had one before.

        Args:
            decision: The row, with its article where that is known.
        """
        if decision.id is not None:
            key = int(comment_key(decision.article or "", decision.id)[:KEYED], 16)
            if key in self._seen:
                self.repeated += 1
                return
            self._seen.add(key)
        if decision.decision == "keep":
            self.kept += 1
        else:
            self.held[decision.reason] += 1
        self._take(decision)

    def say(self, out: str, on_message: Callable[[str], None]) -> None:
        """Say the counts.

        Args:
            out: The file of the decisions.
            on_message: Callback for status messages.
        """
        for number, what in (
            (self.pending, "waiting for a moderator: no decision"),
            (self.withdrawn, "taken away by the author: no decision"),
            (self.textless, "with a decision and without text, left out"),
            (self.repeated, "with a decision that had one before, left out"),
        ):
            if number:
                on_message(f"{counted(number, 'comment')} {what}")
        ranked = sorted(self.held.items(), key=lambda each: (-each[1], each[0] or ""))
        reasons = ", ".join(f"{reason or 'without a reason'} {number:,}" for reason, number in ranked)
        total = self.held.total()
        on_message(
            f"{counted(self.kept + total, 'decision')} in {out}: {self.kept:,} to keep, {total:,} to hold"
            + (f" ({reasons})" if reasons else "")
        )
        if not (self.kept and total):
            on_message(f"no comment was {'held' if self.kept else 'kept'}: a screen learns from both kinds")

    def _pseudonym(self, author: str) -> str:
        if self._key is not None:
            return hash_user(author, self._key)
        return self._authors.setdefault(author, f"author-{len(self._authors) + 1}")
