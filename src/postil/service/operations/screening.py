"""Reasons to hold a reader's own comment back until a person has looked at it.

A comment that is posted stands under its article and among others, so that a reply, a quotation, a question to somebody
or a few words are fine, which a suggestion must not be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from postil.comments.needs import BLOCKED, PROFANITY, because
from postil.comments.needs import screen as reasons_of
from postil.comments.profanity_model import ProfanityModel, check_profanity_model
from postil.corpus.near_duplicates import BigramSets, units_of
from postil.documents.markup import plain_text
from postil.errors import InvalidInput
from postil.messages import Note
from postil.service.operations.requests import SentComment
from postil.service.operations.responses import ScreenResponse
from postil.text.addresses import MASKS, kinds_of_address
from postil.threads.thread import Thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postil.comments.filtering import CandidateFilter
    from postil.service.models import OpenModels
    from postil.service.operations.requests import ScreenRequest

__all__ = ["screen"]

FINE: Final = ("replies", "quotations", "edits", "addresses")
"""Screens of suggestions that say nothing against a comment that is posted; of addresses there is a rule of its own."""
ADDRESSES: Final = frozenset({"a web address", "an e-mail address"})
"""Kinds of address that are a reason; a handle names the reader whom a comment answers."""
SHORT: Final = 4
"""Number of words below which the same words of two readers are no copy."""
SIMILAR: Final = 0.6
"""Smallest Jaccard similarity of near copies."""


def screen(models: OpenModels, request: ScreenRequest) -> ScreenResponse:
    """Decide whether a comment may be published at once.

    Args:
        models: The models, and the settings of the filter.
        request: The request.

    Raises:
        UnknownName: There is no such model of quality.
        UsageError: There is none at all.
        InvalidInput: A quality is asked for, and there is no comment to compare with.
        MissingExtra: The model of profanity is asked for and not installed.
    """
    plain, settings = plain_text(request.text).text, models.candidate_filter
    empty = not any(one.isprintable() and not one.isspace() for one in plain)
    found = [*["no text"] * empty, *_reasons_in(plain, request.text, settings)]
    if (request.profanity or settings.profanity) == "model" and not {"all", "profanity"} & set(settings.allow):
        check_profanity_model()
        found += filter(None, [ProfanityModel([plain], [0]).reason(0)])
    if (copied := _copied(plain, request)) is not None:
        found.append(f"a near copy of comment {copied} under the article")
    reasons = tuple(dict.fromkeys(found))
    quality = None if request.quality is None else _quality(models, request)
    profane = any(isinstance(one, Note) and one.code == PROFANITY for one in reasons)
    return ScreenResponse(
        decision="hold" if reasons else "accept", reasons=reasons, quality=quality, empty=empty, profanity=profane
    )


def _reasons_in(plain: str, text: str, settings: CandidateFilter) -> Iterator[str]:
    """The reasons that stand in a text, with its mark-up and without."""
    allow = (*FINE, *settings.allow)
    yield from reasons_of(plain, allow=allow)
    # Mark-up splits words that a reader sees as one, and holds what `plain` leaves out: quotations, targets of links.
    yield from reasons_of(text, allow=(*allow, "trackbacks", "code"))
    for view in (plain, text):
        if settings.blocklist and (entry := settings.blocklist.find(view)):
            yield because(BLOCKED, entry)
        if not {"all", "addresses"} & set(settings.allow):
            yield from (f"holds {kind}" for kind in kinds_of_address(view) if kind in ADDRESSES)
    if not {"all", "addresses"} & set(settings.allow) and MASKS["phones"][1].search(plain):
        yield "holds what may be a telephone number"


def _copied(plain: str, request: ScreenRequest) -> str | None:
    """The id of the comment under the article that a text is most like, if it is a near copy of one."""
    if request.article is None or not request.article.comments or len(units_of(plain)) < SHORT:
        return None
    comments = request.article.article(comments=True).comments
    others = [plain_text(comment.text).text for comment in comments]
    similarity = BigramSets([plain, *others]).jaccard(0)[1:]
    best = int(similarity.argmax())
    return comments[best].id if similarity[best] >= SIMILAR else None


def _quality(models: OpenModels, request: ScreenRequest) -> float:
    """The quality of the comment among those under the article."""
    model = models.quality(request.quality).quality
    sent = request.article
    if sent is None or not sent.comments:
        problem = "expected an article with comments, which the comment is compared with, got none"
        raise InvalidInput(problem, field="quality")
    whole = msgspec.structs.replace(sent, comments=(*sent.comments, SentComment(text=request.text)))
    return float(model.scores(Thread.of(whole.article(comments=True), model.tokenizer))[-1])
