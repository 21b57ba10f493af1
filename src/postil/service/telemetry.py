"""Metrics of the service in the text format of Prometheus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client import Gauge

from postil.web.request_metrics import MEDIA_TYPE, RequestMetrics
from postil.web.routing import Reply, Route

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from postil.service.bodies import ServedModel
    from postil.service.store import StoreCounts
    from postil.web.routing import Call

__all__ = ["ServiceState", "Telemetry", "metrics_route"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceState:
    """The parts of the service as they are at the moment of a scrape.

    Args:
        workers: Number of workers that take requests.
        waiting: Number of requests that wait for a worker.
        models: The models.
        stored: Numbers of what is stored; None without a store.
        audit_lost: Number of lines of the audit log that could not be written.
    """

    workers: int
    waiting: int
    models: Sequence[ServedModel] = ()
    stored: StoreCounts | None = None
    audit_lost: int = 0


class Telemetry(RequestMetrics):
    """Counters of requests, and gauges of the service's state.

    >>> telemetry = Telemetry()
    >>> telemetry.observe("GET /healthz", 200, 0.0004)
    >>> 'postil_requests_total{route="GET /healthz",status="200"} 1.0' in telemetry.text(
    ...     ServiceState(workers=2, waiting=0)
    ... ).decode()
    True
    """

    def __init__(self) -> None:
        super().__init__()
        registry = self.registry
        self._workers = Gauge("postil_workers", "Number of workers that take requests.", registry=registry)
        self._waiting = Gauge(
            "postil_requests_waiting", "Number of requests that wait for a worker.", registry=registry
        )
        self._models = Gauge(
            "postil_model_info", "The models that are served: 1 each.", ["name", "kind", "hash"], registry=registry
        )
        self._labels = Gauge("postil_labels", "Number of labels that are stored.", registry=registry)
        self._impressions = Gauge("postil_impressions", "Number of impressions that are stored.", registry=registry)
        self._deliveries = Gauge(
            "postil_deliveries", "Number of deliveries to the webhook by state.", ["state"], registry=registry
        )
        self._audit_lost = Gauge(
            "postil_audit_lines_lost", "Number of lines of the audit log that could not be written.", registry=registry
        )

    def text(self, state: ServiceState) -> bytes:
        """All metrics.

        Args:
            state: The service as it is now.
        """
        self._workers.set(state.workers)
        self._waiting.set(state.waiting)
        self._audit_lost.set(state.audit_lost)
        self._models.clear()  # else the hash before a reload would stay
        for model in state.models:
            self._models.labels(model.name, model.kind, model.hash).set(1)
        if state.stored is not None:
            self._labels.set(state.stored.labels)
            self._impressions.set(state.stored.impressions)
            for name, number in state.stored.deliveries.items():
                self._deliveries.labels(name).set(number)
        return self.exposition()


def metrics_route(telemetry: Telemetry, state: Callable[[], Awaitable[ServiceState]]) -> Route:
    """The route of the metrics.

    Args:
        telemetry: Counters of requests.
        state: Function that looks at the parts of the service.
    """

    async def metrics(call: Call) -> Reply:  # noqa: ARG001
        return Reply(telemetry.text(await state()), media_type=MEDIA_TYPE)

    return Route(
        method="GET",
        path="/metrics",
        scope="metrics",
        handler=metrics,
        summary="Count requests, latencies, workers, models and what is stored, for Prometheus",
        media_type=MEDIA_TYPE,
        queue="here",
    )
