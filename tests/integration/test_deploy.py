"""The set-up of `deploy/`: the commands of the containers behind Caddy, and those of systemd behind nginx."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import yaml

from retrieval_models import train_retrievers

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SECONDS = 60


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def _running(*command: str, **environment: str) -> Iterator[None]:
    with subprocess.Popen(command, env={**os.environ, **environment}, stderr=subprocess.DEVNULL) as process:  # noqa: S603
        try:
            yield
        finally:
            process.terminate()
            process.wait(SECONDS)


def _settings(name: str) -> dict[str, str]:
    """The variables of a file of settings."""
    lines = (DEPLOY / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _words(service: str, replaced: dict[str, str]) -> list[str]:
    """The command of a container, with other folders, addresses and names."""
    command = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"][service]["command"]
    for before, after in replaced.items():
        assert before in command
        command = command.replace(before, after)
    return [sys.executable, "-m", "postil", *command.split()]


def _ask(url: str, context: ssl.SSLContext, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    """Ask until there is an answer."""
    end = time.monotonic() + SECONDS
    while True:
        request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers})  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=SECONDS, context=context) as answer:  # noqa: S310
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in (502, 503) or time.monotonic() > end:
                    return error.code, error.read()
        except OSError:
            if time.monotonic() > end:
                raise
        time.sleep(0.2)


def _context(authority: Path) -> ssl.SSLContext:
    """Trust in the authority that Caddy makes for localhost, and in no other."""
    end = time.monotonic() + SECONDS
    while not authority.exists() and time.monotonic() < end:
        time.sleep(0.1)
    return ssl.create_default_context(cafile=str(authority))


def test_service_and_campaign_behind_https(tmp_path: Path) -> None:
    """Both are reached by HTTPS under their names; a token is needed; a campaign's links are those of its name."""
    caddy = shutil.which("caddy")
    assert caddy, "caddy is not installed: tools/install_programs.sh caddy"
    train_retrievers(tmp_path, kinds=("ir-t",))
    outside, service, campaign = _free_port(), _free_port(), _free_port()
    data = str(tmp_path)
    made = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "postil", "tokens", "add", f"{data}/tokens.json", "site", "--scope", "suggest"],
        capture_output=True,
        text=True,
        check=True,
    )
    token = made.stdout.split()[-1]
    plan = ["annotate", "plan", "raw.jsonl", "grading.db", "--annotators", "2"]
    subprocess.run([sys.executable, "-m", "postil", *plan], cwd=tmp_path, check=True)  # noqa: S603
    local = {"--host 0.0.0.0": "--host 127.0.0.1"}
    commands = [
        _words(
            "service",
            {
                **local,
                "/data": data,
                "/models/${MODEL:-model}": f"{data}/t",
                "--port 8000": f"--port {service}",
                "${SERVICE_HOST:?set it in deploy/.env}": "localhost",
            },
        ),
        _words(
            "campaign",
            {
                **local,
                "${CAMPAIGN:-grading.db}": f"{data}/grading.db",
                "--port 8000": f"--port {campaign}",
                "${CAMPAIGN_HOST:-grading.localhost}": "grading.localhost",
                "${CAMPAIGN_OPTIONS---backup /backups}": f"--backup {data}/backups",
            },
        ),
    ]
    config = tmp_path / "Caddyfile"
    config.write_text(f"{{\n\tskip_install_trust\n\tadmin off\n}}\nimport {DEPLOY / 'Caddyfile'}\n", encoding="utf-8")
    hosts = {
        "SERVICE_HOST": f"https://localhost:{outside}",
        "SERVICE_UPSTREAM": f"127.0.0.1:{service}",
        "CAMPAIGN_HOST": f"https://grading.localhost:{outside}",
        "CAMPAIGN_UPSTREAM": f"127.0.0.1:{campaign}",
        "XDG_DATA_HOME": str(tmp_path / "caddy"),
        "XDG_CONFIG_HOME": str(tmp_path / "caddy"),
    }
    with ExitStack() as stack:
        for command in commands:
            stack.enter_context(_running(*command))
        stack.enter_context(_running(caddy, "run", "--config", str(config), "--adapter", "caddyfile", **hosts))
        context = _context(tmp_path / "caddy/caddy/pki/authorities/local/root.crt")
        url = f"https://localhost:{outside}"
        assert _ask(f"{url}/readyz", context)[0] == 200
        article = json.dumps({"article": {"title": "chess in town3", "content": ""}}).encode()
        assert _ask(f"{url}/v1/suggest", context, article)[0] == 401
        status, answer = _ask(f"{url}/v1/suggest", context, article, Authorization=f"Bearer {token}")
        assert (status, json.loads(answer)["model"]) == (200, "t")
        status, page = _ask(f"{url}/", context, None, Host=f"grading.localhost:{outside}")
        assert (status, "You are not signed in" in page.decode()) == (401, True), page
        named = {"Host": f"grading.localhost:{outside}"}
        assert _ask(f"{url}/health", context, None, **named) == (200, b'{"status":"ok"}')
        assert _ask(f"{url}/metrics", context, None, **named)[0] == 403
        local_only = f"http://127.0.0.1:{campaign}/metrics"
        assert b"postil_backup_timestamp_seconds" in _ask(local_only, context, None)[1]
    assert [path.name[:8] for path in (tmp_path / "backups").iterdir()] == ["grading-"]


def _unit(settings: dict[str, str]) -> list[str]:
    """The command of the unit of systemd: ``${NAME}`` is one word, ``$NAME`` several."""
    unit = (DEPLOY / "postil-campaign@.service").read_text(encoding="utf-8")
    [line] = [line for line in unit.splitlines() if line.startswith("ExecStart=/opt/postil/bin/postil ")]
    words = []
    for word in line.split()[1:]:
        if word.startswith("${"):
            words.append(settings[word[2:-1]])
        else:
            words += settings[word[1:]].split() if word.startswith("$") else [word]
    return [sys.executable, "-m", "postil", *words]


def _nginx(folder: Path, ports: dict[str, str]) -> Path:
    """The sample of nginx with a certificate, other ports, and files of its own."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    openssl = shutil.which("openssl")
    assert openssl, "openssl is not installed"
    files = ["-keyout", str(key), "-out", str(certificate)]
    command = [openssl, *made, *files, "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, capture_output=True, check=True)  # noqa: S603
    sites = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    sites = re.sub(r"ssl_certificate /[^;]+;", f"ssl_certificate {certificate};", sites)
    sites = re.sub(r"ssl_certificate_key /[^;]+;", f"ssl_certificate_key {key};", sites)
    sites = re.sub(r"listen \[::\][^;]+;\n", "", sites)
    for before, after in ports.items():
        assert before in sites
        sites = sites.replace(before, after)
    (folder / "sites.conf").write_text(sites, encoding="utf-8")
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "main.conf"
    config.write_text(
        f"pid {folder}/pid; error_log {folder}/error.log; daemon off; events {{}}\n"
        f"http {{ access_log off; {temporary} include {folder}/sites.conf; }}\n",
        encoding="utf-8",
    )
    return config


def test_a_campaign_of_systemd_behind_nginx(tmp_path: Path) -> None:
    """Invited, signed in and rating over HTTPS; metrics are for this machine; what stops it keeps every answer."""
    nginx = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    assert nginx, "nginx is not installed: tools/install_programs.sh nginx-light"
    article = {"id": "a", "title": "Swim", "comments": [{"id": f"{n}", "text": f"text {n}"} for n in range(4)]}
    (tmp_path / "raw.jsonl").write_text(json.dumps(article), encoding="utf-8")
    postil = [sys.executable, "-m", "postil", "annotate"]
    plan = [*postil, "plan", "raw.jsonl", "grading.db", "--annotators", "2"]
    subprocess.run(plan, cwd=tmp_path, check=True, capture_output=True)  # noqa: S603
    outside, inside = _free_port(), _free_port()
    settings = _settings("campaign.env")
    assert settings["BASE_URL"] == "https://grading.example.org"
    given = {
        "CAMPAIGN": f"{tmp_path}/grading.db",
        "PORT": str(inside),
        "BASE_URL": f"https://grading.example.org:{outside}",
        "OPTIONS": settings["OPTIONS"].replace("/var/backups/postil", f"{tmp_path}/backups"),
    }
    assert given.keys() == settings.keys()
    ports = {"listen 80;": f"listen {_free_port()};", "listen 443 ssl;": f"listen {outside} ssl;"}
    config = _nginx(tmp_path, {**ports, "127.0.0.1:8001;": f"127.0.0.1:{inside};"})
    checked = subprocess.run([nginx, "-t", "-c", config], capture_output=True, text=True, check=False)  # noqa: S603
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr
    invite = [*postil, "invite", given["CAMPAIGN"], "Ann", "--base-url", given["BASE_URL"]]
    link = subprocess.run(invite, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    start, _, token = link.rpartition("/join/")
    assert start == given["BASE_URL"]
    with ExitStack() as stack:
        stack.enter_context(_running(*_unit(given)))
        stack.enter_context(_running(nginx, "-c", str(config)))
        context = ssl.create_default_context(cafile=str(tmp_path / "certificate.pem"))
        named = {"Host": f"grading.example.org:{outside}"}
        url = f"https://localhost:{outside}"
        assert _ask(f"{url}/health", context, None, **named) == (200, b'{"status":"ok"}')
        assert _ask(f"{url}/metrics", context, None, **named)[0] == 403
        ann = httpx2.Client(base_url=url, headers={**named, "Origin": start}, verify=context, follow_redirects=False)
        with ann:
            page = ann.get(f"/join/{token}").text
            assert ann.post("/join", data={"csrf": _field(page, "csrf"), "token": token}).status_code == 303
            page = ann.get("/grade").text
            form = {name: _field(page, name) for name in ("csrf", "assignment", "revision", "idempotency_key")}
            assert ann.post("/rate", data={**form, "grade": "4"}).status_code == 303
            elsewhere = {"Origin": "https://evil.example"}
            assert ann.post("/rate", data={**form, "grade": "5"}, headers=elsewhere).status_code == 403
        answer = _ask(f"http://127.0.0.1:{inside}/metrics", context, None)[1]
        assert b"\npostil_campaign_ratings 1.0\n" in answer
    rows = subprocess.run(  # noqa: S603
        [*postil, "export", given["CAMPAIGN"], "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert "ratings.csv (1 row)" in rows
    assert [path.name for path in tmp_path.glob("grading.db*")] == ["grading.db"]


def _field(page: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, name
    return found[1]


def test_the_unit_is_one_of_systemd(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:  # then there is no systemd that could run it
        return
    unit = (DEPLOY / "postil-campaign@.service").read_text(encoding="utf-8")
    (tmp_path / "postil-campaign@.service").write_text(
        unit.replace("/opt/postil/bin/postil annotate", f"{sys.executable} -m postil annotate"), encoding="utf-8"
    )
    checked = subprocess.run(  # noqa: S603
        [analyze, "verify", "--man=no", str(tmp_path / "postil-campaign@.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in checked.stderr.splitlines() if "postil-campaign" in line]
    assert (checked.returncode, told) == (0, []), checked.stderr
