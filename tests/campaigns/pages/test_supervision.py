"""Health and metrics of the server of a campaign, and the schedule of daily backups."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from postil.campaigns.backups import DAY, BackupSchedule, DailyBackups
from postil.campaigns.pages.server import WebOptions
from postil.web.tokens import AddTokenOptions, Tokens, add_token

Make = Any
HERE = ("127.0.0.1", 5000)


def ask(place: Any, path: str, *, client: tuple[str, int] = HERE, host: str = "localhost:8000", **headers: str) -> Any:
    """Ask a server without a session."""
    with TestClient(place.app, base_url=f"http://{host}", client=client, follow_redirects=False) as asking:
        return asking.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})


def samples(text: str) -> dict[tuple[str, ...], float]:
    """The value of each sample by its name and the values of its labels."""
    families = text_string_to_metric_families(text)
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def test_health_is_that_of_the_database(place: Make) -> None:
    here = place()
    answer = ask(here, "/health")
    assert (answer.status_code, answer.json(), answer.headers["cache-control"]) == (200, {"status": "ok"}, "no-store")
    with TestClient(here.app, base_url="http://localhost") as client:
        assert (client.head("/health").status_code, client.post("/health").status_code) == (200, 405)
        assert (client.head("/grade").status_code, client.head("/rate").status_code) == (401, 405)
        answers = [client.get("/nowhere"), client.get("/health", headers={"x-request-id": "mine"})]
        assert [answer.headers["x-request-id"] == "mine" for answer in answers] == [False, True]
    file = Path(here.store.where)
    file.rename(away := file.with_name("away.db"))
    answer = ask(here, "/health")
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
    assert "campaign.db was removed or moved" in answer.json()["problem"]
    others = ask(here, "/health", x_forwarded_for="203.0.113.9")
    assert (others.status_code, others.json()["problem"]) == (503, "the database of the campaign takes no answers")
    away.rename(file)
    assert ask(here, "/health").status_code == 200
    here.store.close()
    answer = ask(here, "/health")
    assert (answer.status_code, answer.json()["problem"]) == (503, "the campaign is closed")


def test_metrics_count_ratings_and_requests(place: Make) -> None:
    here = place()
    ann = here.visitor("Ann")
    assert ann.ask("/rate", **ann.form(), grade="4").status_code == 200
    form = ann.form()
    assert ann.ask("/rate", **form, grade="9").status_code == 422
    assert ann.ask("/skip", **form, reason="not a text").status_code == 200
    assert ann.get("/nowhere/at/all").status_code == 404
    answer = ask(here, "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(answer.text)
    for name, value in (("up", 1), ("ratings", 1), ("skipped", 1), ("planned", 12), ("annotators", 1)):
        assert found[f"postil_campaign_{name}",] == value
    for route, status in (("POST /rate", "200"), ("POST /rate", "422"), ("other", "404")):
        assert found["postil_requests_total", route, status] == 1
    assert found["postil_requests_in_flight",] == 1  # this one
    bucket = "postil_request_seconds_bucket", "POST /rate"
    buckets = [value for key, value in found.items() if key[:1] + key[2:] == bucket]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 2


def test_metrics_do_not_need_the_database(place: Make) -> None:
    here = place()
    assert samples(ask(here, "/metrics").text)["postil_campaign_up",] == 1
    here.store.close()
    found = samples(ask(here, "/metrics").text)
    assert found["postil_campaign_up",] == 0
    assert found["postil_requests_total", "GET /metrics", "200"] == 1


def test_routes_of_metrics_are_few_whatever_is_asked(place: Make) -> None:
    here = place()
    for path in ("/a", "/b", "/join/secret-token", "/lead/files/x.y", "/static/x"):
        ask(here, path)
    with TestClient(here.app, base_url="http://localhost") as client:
        client.request("BREW", "/grade")
    text = ask(here, "/metrics").text
    assert "secret-token" not in text
    assert "BREW" not in text
    assert samples(text)["postil_requests_total", "GET /join/{token}", "200"] == 1


@pytest.mark.parametrize(
    ("client", "host", "headers"),
    [
        (("10.1.2.3", 5000), "localhost", {}),
        (HERE, "grading.example.org", {}),
        (HERE, "10.0.0.1:8000", {}),
        (HERE, "localhost", {"x_forwarded_for": "203.0.113.9"}),
        (HERE, "localhost", {"forwarded": "for=203.0.113.9"}),
    ],
)
def test_metrics_are_for_this_machine(place: Make, client: tuple[str, int], host: str, headers: dict[str, str]) -> None:
    here = place(options=WebOptions(names=("grading.example.org",), patience=30))
    answer = ask(here, "/metrics", client=client, host=host, **headers)
    assert answer.status_code == 403
    assert "--tokens FILE" in answer.text
    assert "postil_" not in answer.text
    for address in ("localhost", "127.0.0.1:8000", "[::1]:8000"):
        assert ask(here, "/metrics", host=address).status_code == 200


def test_metrics_for_those_who_have_a_token(place: Make, tmp_path: Path) -> None:
    file = str(tmp_path / "tokens.json")
    token = add_token(file, "prometheus", AddTokenOptions(scopes=("metrics",)))
    other = add_token(file, "site", AddTokenOptions(scopes=("suggest",)))
    here = place(options=WebOptions(tokens=Tokens(file), patience=30))
    away = ("10.1.2.3", 5000)
    answer = ask(here, "/metrics", client=away)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="postil"')
    assert ask(here, "/metrics", client=away, authorization="Bearer postil_wrong").status_code == 401
    answer = ask(here, "/metrics", client=away, authorization=f"Bearer {other}")
    assert answer.status_code == 403
    assert answer.text == "The token site lacks the scope metrics (postil tokens add --scope metrics).\n"
    answer = ask(here, "/metrics", client=away, authorization=f"Bearer {token}")
    assert samples(answer.text)["postil_campaign_planned",] == 12
    assert ask(here, "/metrics").status_code == 200


def test_backups_in_metrics_and_on_the_page_of_leads(place: Make) -> None:
    backup: Any = SimpleNamespace(last=None, problem="", failures=0)
    here = place(options=WebOptions(backup=backup))
    assert samples(ask(here, "/metrics").text)["postil_backup_timestamp_seconds",] == 0
    lee = here.visitor("Lee", "lead")
    assert "Last copy of the campaign: none yet." in numbers_of(lee)
    backup.last, backup.problem, backup.failures = time.time() - 7300, "disk full", 2
    found = samples(ask(here, "/metrics").text)
    assert (found["postil_backup_timestamp_seconds",], found["postil_backup_failures",]) == (backup.last, 2)
    page = lee.get("/lead").text
    assert "Last copy of the campaign: 2 h ago." in page
    assert "The last attempt failed" in page
    assert "disk full" not in page  # paths of the server are for its log
    without = place()
    assert "<code>--backup</code>" in numbers_of(without.visitor("Lee", "lead"))
    assert "postil_backup" not in ask(without, "/metrics").text


def numbers_of(lead: Any) -> str:
    """The first page of leads once it has numbers; fresh ones after a change would take longer."""
    for _ in range(600):
        if 'action="/lead/invite"' in (text := lead.get("/lead").text):
            return text
        time.sleep(0.05)
    raise AssertionError("there are no numbers")


def test_links_of_leads_begin_with_the_base_url(place: Make) -> None:
    lee = place(options=WebOptions(base_url="https://grading.example.org")).visitor("Lee", "lead")
    numbers_of(lee)
    page = lee.post("/lead/invite", name="Ann").text
    assert "<code>https://grading.example.org/join/" in page
    assert "Only this machine can open it." not in page


def test_a_backup_when_it_is_due(place: Make, tmp_path: Path) -> None:
    here, told = place(), list[str]()
    backups = DailyBackups(here.store, str(tmp_path / "backups"), keep=2, clock=here.clock)
    schedule = BackupSchedule(backups, told.append)
    assert schedule.step() == 3600
    here.clock.now += DAY - 60
    assert schedule.step() == 60
    here.clock.now += 60
    assert (schedule.step(), schedule.last, schedule.failures) == (3600, here.clock.now, 0)
    assert [line.partition(": ")[0] for line in told] == ["written"] * 2
    assert len(list(backups.folder.iterdir())) == 2


def test_a_failure_is_told_once_and_tried_again(place: Make, tmp_path: Path) -> None:
    here, told = place(), list[str]()
    folder = tmp_path / "backups"
    schedule = BackupSchedule(DailyBackups(here.store, str(folder), keep=2, clock=here.clock), told.append)
    folder.write_text("in the way", encoding="utf-8")
    assert [schedule.step() for _ in range(3)] == [3600] * 3
    [line] = told
    assert line.startswith("no backup was made, the next attempt is in an hour: ")
    assert str(folder) in line
    assert (schedule.last, schedule.failures, schedule.problem in line) == (None, 3, True)
    folder.unlink()
    schedule.step()
    assert (len(told), schedule.problem, schedule.last) == (2, "", here.clock.now)


def test_it_runs_beside_the_server_and_ends_with_it(place: Make, tmp_path: Path) -> None:
    here, told = place(), list[str]()
    with BackupSchedule(DailyBackups(here.store, str(tmp_path / "backups"), keep=2), told.append) as schedule:
        for _ in range(600):
            if told:
                break
            time.sleep(0.05)
    assert told[0].startswith("written: ")
    assert not schedule._thread.is_alive()
