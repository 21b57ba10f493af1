"""Verdicts on comments, as the export of each system tells them; see `postil.corpus.importers.moderation`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from postil.data.fields import is_integer

if TYPE_CHECKING:
    from postil.data.parquet import Record
    from postil.documents.xml import Element

__all__ = [
    "GONE",
    "KEPT",
    "PENDING",
    "READERS",
    "REGULAR",
    "WITHDRAWN",
    "Verdict",
    "author",
    "held",
    "of_coral",
    "of_discourse",
    "of_disqus",
    "of_hackernews",
    "of_reddit",
    "of_wordpress",
    "plain",
    "rejection",
]


class Verdict(NamedTuple):
    """The verdict of a site on a comment.

    Args:
        decision: The decision; else ``pending``, ``withdrawn`` by its author, or ``none`` where it is nobody's.
        reason: Reason of a comment that is held, in the words of the site.
        hidden: True if the export has no text of it, but words in its place.
    """

    decision: Literal["keep", "hold", "pending", "withdrawn", "none"]
    reason: str | None = None
    hidden: bool = False


KEPT: Final = Verdict("keep")
PENDING: Final = Verdict("pending")
WITHDRAWN: Final = Verdict("withdrawn")
NONE: Final = Verdict("none")


def held(reason: str | None, *, hidden: bool = False) -> Verdict:
    """The verdict on a comment that is held.

    Args:
        reason: The reason; None where the export has none.
        hidden: True if the export has no text of it.
    """
    return Verdict("hold", reason, hidden)


def author(**known: object) -> str | None:
    """The first of what is known of an author, with its kind, so that no name is taken for an id.

    Args:
        known: Texts and numbers that only the author has, by their kind; all else is not known.

    >>> author(id=None, mail="", name="7"), author(id=7, name="Ann"), author(name="")
    ('name:7', 'id:7', None)
    """
    found = (f"{kind}:{value}" for kind, value in known.items() if value and isinstance(value, str | int))
    return next(found, None)


def _text(row: Record, *names: str) -> str | None:
    """The first text that is there and not empty."""
    return next((value for name in names if isinstance(value := row.get(name), str) and value.strip()), None)


READERS: Final = frozenset(("", "comment"))
"""Types of WordPress's comments that readers wrote; others are pingbacks and notes."""
BEFORE_TRASH: Final = "_wp_trash_meta_status"
"""Field with the status that a comment in the trash had before."""


def of_wordpress(comment: Element) -> Verdict:
    """The verdict on a comment of WordPress; spam that was put into the trash is spam.

    Args:
        comment: The element.
    """
    status = comment.said("wp:comment_approved")
    if comment.said("wp:comment_type") not in READERS:
        return NONE
    if status == "trash":
        before = (meta for meta in comment.all("wp:commentmeta") if meta.said("wp:meta_key") == BEFORE_TRASH)
        return held("spam" if any(meta.said("wp:meta_value") == "spam" for meta in before) else status)
    return {"1": KEPT, "0": PENDING, "spam": held(status)}.get(status, NONE)


def of_disqus(post: Element) -> Verdict:
    """The verdict on a post of Disqus, whose exports do not tell whether its author or a moderator deleted it.

    Args:
        post: The element.
    """
    if post.said("isSpam") == "true":
        return held("spam")
    if post.said("isDeleted") == "true":
        return held("deleted")
    return PENDING if post.said("isApproved") == "false" else KEPT


REGULAR: Final = 1
"""Type of Discourse's posts that people wrote; others are notes of moderators and of the system, and whispers."""
FLAGS: Final = {8: "spam", 10: "illegal", 4: "inappropriate", 3: "off topic"}
"""Words for the actions in a post's summary that are flags with a reason; of those as frequent, the first counts."""
HIDDEN: Final = {1: "flagged", 2: "flagged", 3: "spam", 4: "spam", 5: "spam", 6: "flagged"}
"""Words for the reasons why a post is hidden; others are of how it came to the forum."""


def of_discourse(post: Record) -> Verdict:
    """The verdict on a post of Discourse.

    A notice stands in place of a hidden one, unless a member of the staff exported it.

    Args:
        post: The post.
    """
    if post.get("post_type", REGULAR) != REGULAR:
        return NONE
    if post.get("user_deleted"):
        return WITHDRAWN
    if post.get("deleted_at"):
        by = post.get("deleted_by")
        name = _text(by, "username") if isinstance(by, dict) else None
        return WITHDRAWN if name is not None and name == post.get("username") else held(_flag(post) or "deleted")
    if post.get("hidden"):
        number = post.get("hidden_reason_id")
        why = HIDDEN.get(number) if is_integer(number) else "flagged"
        return NONE if why is None else held(_flag(post) or why, hidden=bool(post.get("cooked_hidden")))
    return KEPT


def _flag(post: Record) -> str | None:
    """The most frequent reason of a post's flags, which the staff alone sees."""
    actions = post.get("actions_summary")
    found: Counter[int] = Counter()
    for each in actions if isinstance(actions, list) else ():
        if isinstance(each, dict) and is_integer(flag := each.get("id")) and is_integer(count := each.get("count")):
            found[flag] += count
    most = max(FLAGS, key=lambda flag: found[flag])
    return FLAGS[most] if found[most] > 0 else None


SEEN: Final = ("NONE", "APPROVED")
"""Statuses of Coral's comments that readers see."""
WAITING: Final = ("PREMOD", "SYSTEM_WITHHELD")
"""Statuses of those that wait for a moderator."""
REPORT: Final = "FLAG__COMMENT_"
"""Beginning of the counts of reports by reason."""
OF_AUTHORS: Final = frozenset(("BIO", "NEW_COMMENTER", "OTHER", "RECENT_HISTORY"))
"""Reasons of reports that tell nothing of the text."""


def of_coral(comment: Record) -> Verdict:
    """The verdict on a comment of Coral, where comments are deleted with the accounts of their authors.

    Args:
        comment: The comment. One that readers see and nobody decided about is kept: the site let it stand.
    """
    status = comment.get("status", SEEN[0])
    if comment.get("deletedAt"):
        return WITHDRAWN
    if status == "REJECTED":
        return held(_report(comment.get("actionCounts")))
    return KEPT if status in SEEN else PENDING if status in WAITING else NONE


def _report(counts: object) -> str | None:
    """The most frequent reason for which readers or filters reported a comment."""
    found: Counter[str] = Counter()
    for name, count in (counts if isinstance(counts, dict) else {}).items():
        if not name.startswith(REPORT):
            continue
        reason = name.removeprefix(REPORT).removeprefix("DETECTED_").removeprefix("REPORTED_")
        if reason not in OF_AUTHORS and is_integer(number := plain(count)) and number > 0:
            found[_words(reason)] += number
    return min(found, key=lambda reason: (-found[reason], reason), default=None)


def rejection(action: Record) -> str | None:
    """The reason of a moderator of Coral: the site's own, else the code in words; None where there is none.

    Args:
        action: A row of the collection `commentModerationActions`.
    """
    found = action.get("rejectionReason")
    said: Record = found if isinstance(found, dict) else {}
    code = _text(said, "code", "reason") or "OTHER"
    return _text(said, "customReason") or (None if code == "OTHER" else _words(code))


def _words(code: str) -> str:
    return code.replace("_", " ").lower()


def plain(value: object) -> object:
    """A date or number that MongoDB wraps in an object.

    Args:
        value: The date or number, wrapped or not.

    >>> plain({"$date": {"$numberLong": "1584772021000"}}), plain(7)
    (1584772021000, 7)
    """
    while isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$"):
        [value] = value.values()
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 20 else value


DELETED: Final = "[deleted]"
GONE: Final = (DELETED, "[removed]")
"""Texts of what its author or a moderator took away from Reddit."""
REMOVED: Final = ("[removed]", "[ Removed by Reddit ]")
"""Those of what a moderator or the site took away."""


def of_reddit(comment: Record, body: str) -> Verdict:
    """The verdict on a comment of Reddit; listings that a moderator fetched have the texts of those that were removed.

    Args:
        comment: The comment.
        body: Its text, without white space around it.
    """
    if body == DELETED:
        return WITHDRAWN
    if body in REMOVED:
        return held("removed", hidden=True)
    if comment.get("spam"):
        return held("spam")
    if comment.get("removed") or comment.get("banned_by"):
        return held(_text(comment, "mod_reason_title") or "removed")
    return KEPT


KILLED: Final = ("[dead]", "[flagged]")
"""Texts in place of those of dead items."""


def of_hackernews(item: Record, text: str) -> Verdict:
    """The verdict on a comment of Hacker News: dead ones were killed by moderators, by flags or by the software.

    Args:
        item: The item.
        text: Its text.
    """
    if item.get("deleted"):
        return WITHDRAWN
    return held("dead", hidden=text.strip() in KILLED) if item.get("dead") else KEPT
