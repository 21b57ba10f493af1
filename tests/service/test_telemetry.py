"""Metrics: the numbers that were counted, in text that a client of Prometheus reads."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("prometheus_client", reason="needs the web extra")

from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from postil.service.bodies import ServedModel
from postil.service.routes import Telemetry
from postil.service.store import StoreCounts


def samples(telemetry: Telemetry, workers: int = 0, waiting: int = 0, **state: Any) -> dict[tuple[str, ...], float]:
    """The value of each sample by its name and the values of its labels, which are in alphabetical order."""
    families = text_string_to_metric_families(telemetry.text(workers=workers, waiting=waiting, **state).decode())
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def model(hash_: str) -> ServedModel:
    return ServedModel(name='a "b"\n\\', kind="ir-tc", hash=hash_, operations=("suggest",), default=True)


def test_requests_are_counted_by_route_and_status() -> None:
    telemetry = Telemetry()
    for status, seconds in ((200, 0.004), (200, 0.3), (429, 0.0001)):
        telemetry.begin()
        telemetry.observe("POST /v1/suggest", status, seconds)
    telemetry.begin()
    found = samples(telemetry)
    assert found["postil_requests_total", "POST /v1/suggest", "200"] == 2
    assert found["postil_requests_total", "POST /v1/suggest", "429"] == 1
    assert found["postil_request_seconds_bucket", "0.001", "POST /v1/suggest"] == 1
    assert found["postil_request_seconds_bucket", "0.005", "POST /v1/suggest"] == 2
    assert found["postil_request_seconds_bucket", "+Inf", "POST /v1/suggest"] == 3
    assert found["postil_request_seconds_sum", "POST /v1/suggest"] == pytest.approx(0.3041)
    assert found["postil_requests_in_flight",] == 1
    assert found["process_resident_memory_bytes",] > 1e6


def test_the_state_is_that_of_the_scrape() -> None:
    telemetry = Telemetry()
    found = samples(
        telemetry,
        workers=2,
        waiting=3,
        models=[model("8d0c")],
        stored=StoreCounts(7, 5, {"waiting": 1, "delivered": 2, "failed": 0}, 3),
        audit_lost=4,
    )
    assert found["postil_workers",] == 2
    assert found["postil_requests_waiting",] == 3
    assert found["postil_labels",] == 7
    assert found["postil_impressions",] == 5
    assert found["postil_decisions",] == 3
    assert found["postil_deliveries", "delivered"] == 2
    assert found["postil_audit_lines_lost",] == 4
    assert found["postil_model_info", "8d0c", "ir-tc", 'a "b"\n\\'] == 1
    after = samples(telemetry, workers=2, models=[model("1f3a")])
    assert [key[1] for key in after if key[0] == "postil_model_info"] == ["1f3a"]
    assert after["postil_requests_waiting",] == 0


def test_two_services_share_no_counter() -> None:
    before = {metric.name for metric in REGISTRY.collect()}
    one, other = Telemetry(), Telemetry()
    one.begin()
    one.observe("GET /", 200, 0.1)
    assert ("postil_requests_total", "GET /", "200") not in samples(other)
    assert {metric.name for metric in REGISTRY.collect()} == before
