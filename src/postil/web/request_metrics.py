"""Metrics of requests in the text format of Prometheus, for every server of this package."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

__all__ = ["MEDIA_TYPE", "RequestMetrics"]

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
"""Media type of the text, which servers of all versions read."""

BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Upper bounds of the latencies that are counted together, in seconds."""


class RequestMetrics:
    """Counters of requests, and numbers of the process, in a registry of their own.

    Attributes:
        registry: The registry; other metrics of the same server are added to it.

    >>> metrics = RequestMetrics()
    >>> metrics.begin()
    >>> metrics.observe("GET /health", 200, 0.0004)
    >>> 'postil_requests_total{route="GET /health",status="200"} 1.0' in metrics.exposition().decode()
    True
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "postil_requests", "Number of requests that were answered.", ["route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "postil_request_seconds", "Time until the response was sent.", ["route"], buckets=BUCKETS, registry=registry
        )
        self._in_flight = Gauge("postil_requests_in_flight", "Number of requests being answered.", registry=registry)

    def begin(self) -> None:
        """Count a request that came; `observe` follows."""
        self._in_flight.inc()

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered.

        Args:
            route: Method and path of the route, as the server declares it: one of few, whatever clients send.
            status: Status of the response; 0 where the client had gone before.
            seconds: Time since the request came.
        """
        self._in_flight.dec()
        self._requests.labels(route, f"{status}").inc()
        self._seconds.labels(route).observe(seconds)

    def exposition(self) -> bytes:
        """All metrics of the registry as text."""
        return generate_latest(self.registry)
