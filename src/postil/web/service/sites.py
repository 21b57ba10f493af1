"""Other servers that the service works with: Coral, which asks it, and the operator's webhook, which it tells."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from postil.endpoint.webhook import Receiver, parse_webhook_secret
from postil.web.service.coral import coral_route, parse_coral_secret
from postil.web.service.watched_file import secrets_of
from postil.web.service.webhook import Webhook

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.app.serve import ServiceOptions
    from postil.web.service.pool import WorkerPool
    from postil.web.service.routing import Route
    from postil.web.service.store import ServiceStore

__all__ = ["Sites"]


class Sites:
    """The other servers of a service, as its options name them.

    Args:
        options: Options of the command.
        pool: The workers.
        store: Store of deliveries; None where the service stores nothing.
        on_message: Callback for status messages.

    Raises:
        InvalidInput: A file of secrets cannot be read.
        UsageError: The address of the webhook is none.
        MissingExtra: There is a webhook, and httpx2 is not installed.
    """

    def __init__(
        self,
        options: ServiceOptions,
        pool: WorkerPool,
        store: ServiceStore | None,
        on_message: Callable[[str], None],
    ) -> None:
        self._routes: list[Route] = []
        self._receiver: Receiver | None = None
        self._webhook: Webhook | None = None
        self._delivering: asyncio.Task[None] | None = None
        if options.coral_secret is not None:
            secrets = secrets_of(options.coral_secret, parse_coral_secret, on_message)
            self._routes.append(coral_route(pool, secrets, options.coral_status, on_message=on_message))
        if options.webhook is not None and options.webhook_secret is not None and store is not None:
            secrets = secrets_of(options.webhook_secret, parse_webhook_secret, on_message)
            self._receiver = Receiver(options.webhook)
            self._webhook = Webhook(store, pool, self._receiver, secrets, on_message=on_message)
            self._routes.append(self._webhook.route())

    def routes(self) -> list[Route]:
        """Routes for these servers."""
        return self._routes

    def start(self) -> None:
        """Begin to deliver."""
        if self._webhook is not None:
            self._delivering = asyncio.create_task(self._webhook.run())

    async def stop(self) -> None:
        """End deliveries; what is on its way is sent again after the next start."""
        if self._delivering is not None:
            self._delivering.cancel()
            await asyncio.gather(self._delivering, return_exceptions=True)
        if self._receiver is not None:
            await self._receiver.close()
