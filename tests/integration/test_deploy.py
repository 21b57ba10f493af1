"""The set-up of `deploy/`: the commands of the containers behind Caddy, without the containers."""

from __future__ import annotations

import json
import os
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
    local = {"--host 0.0.0.0": "--host 127.0.0.1", "/data": data}
    commands = [
        _words(
            "service",
            {
                **local,
                "/models/${MODEL:-model}": f"{data}/t",
                "--port 8000": f"--port {service}",
                "${SERVICE_HOST:?set it in deploy/.env}": "localhost",
            },
        ),
        _words(
            "campaign",
            {
                **local,
                "${CAMPAIGN:-grading.db}": "grading.db",
                "--port 8000": f"--port {campaign}",
                "${CAMPAIGN_HOST:-grading.localhost}": "grading.localhost",
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
