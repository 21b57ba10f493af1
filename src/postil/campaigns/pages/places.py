"""Places of the campaign server's requests in its queues: what each takes turns for, and who sends it."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from fastapi.concurrency import run_in_threadpool

from postil.campaigns.pages.growth import UPLOADS
from postil.errors import PostilError
from postil.web.security import Reachable, client_key
from postil.web.turns import FairQueue, Place

if TYPE_CHECKING:
    from starlette.types import Scope

    from postil.campaigns.pages.site import Site

__all__ = ["REACHABLE", "CampaignPlaces"]

HEALTH: Final = "/health"
FILES: Final = "/lead/files/"
STATIC: Final = "/static/"
DATA: Final = (FILES, STATIC, "/metrics", "/task")
"""Beginnings of the paths that are no pages."""

REACHABLE: Final = Reachable(frozenset({HEALTH}), lambda path: not path.startswith(DATA))
"""Paths that browsers may get from elsewhere: health, and links to pages, as those of invitations."""

KNOWN: Final = 60.0
"""Seconds for which a session that was looked up counts as valid here."""

MOST_KNOWN: Final = 10_000
"""Largest number of sessions to remember."""


class CampaignPlaces:
    """Places of requests: clients are sessions, and addresses where nobody is signed in.

    Args:
        site: Site of the campaign.
        patience: Seconds that a request waits for its turn.
    """

    def __init__(self, site: Site, patience: float = 30.0) -> None:
        self._site = site
        self._known: OrderedDict[str, float] = OrderedDict()  # until when each session counts as valid
        # Pages are made in forty threads. Uploads and files take long, and uploads a process each.
        self._pages = FairQueue(36, each=8, line=64, patience=patience)
        self._files = FairQueue(2, each=1, line=8, patience=2 * patience)
        self._uploads = FairQueue(2, each=1, line=4, patience=2 * patience)

    async def __call__(self, scope: Scope) -> Place | None:
        """The place of a request; None for one that is answered at once.

        Args:
            scope: The request.
        """
        path: str = scope["path"]
        if path == HEALTH or path.startswith(STATIC):
            return None
        client = await self._client(scope)
        if path.startswith(FILES):
            return Place(client, self._files)
        if path.startswith(UPLOADS) and scope["method"] == "POST":
            return Place(client, self._uploads)
        return Place(client, self._pages)

    async def _client(self, scope: Scope) -> str:
        sent = b"; ".join(value for name, value in scope["headers"] if name == b"cookie").decode("latin-1")
        session = self._site.session_of(sent)
        key = hashlib.sha256(session.encode()).hexdigest()
        if session and await self._is_valid(session, key):
            return f"session {key}"
        client = scope.get("client")
        return f"address {client_key(client[0]) if client else ''}"

    async def _is_valid(self, session: str, key: str) -> bool:
        now = time.monotonic()
        if self._known.get(key, now) > now:
            return True
        try:
            found = await run_in_threadpool(self._site.store.people.session, session)
        except PostilError:
            return False
        if found is not None:
            self._known[key] = now + KNOWN
            self._known.move_to_end(key)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return found is not None
