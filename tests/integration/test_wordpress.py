"""The plugin for WordPress, with as much of WordPress as it uses, against a real service."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from postil.service.store import ServiceStore
from retrieval_models import train_retrievers

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


@contextmanager
def _service(folder: Path) -> Iterator[str]:
    """Address of a service with a model and a file of tokens."""
    command = [sys.executable, "-m", "postil", "serve", f"{folder}/t", "--port", "0", "--workers", "1"]
    command += ["--tokens", f"{folder}/tokens.json", "--data", f"{folder}/service"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr
        try:
            line = next(line for line in process.stderr if line.startswith("serving "))
            yield line.partition(" at ")[2].partition(";")[0]
        finally:
            process.terminate()


def _plugin(action: str, given: dict[str, object], url: str, token: str) -> str:
    """Output of the plugin for an action of WordPress."""
    php = shutil.which("php")
    assert php, "PHP is not installed: tools/install_programs.sh php-cli"
    files = [str(Path(__file__).with_name("wordpress_stub.php")), str(ROOT / "examples/wordpress/postil.php")]
    environment = {**os.environ, "POSTIL_URL": url, "POSTIL_TOKEN": token}
    done = subprocess.run(  # noqa: S603
        [php, "-d", "display_errors=stderr", *files, action],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert not done.stderr
    return done.stdout


def test_the_plugin(tmp_path: Path) -> None:
    """Rude comments wait, others pass; suggestions are shown with label and source; without the service all goes on."""
    train_retrievers(tmp_path, kinds=("ir-t",))
    scopes = ["--scope", "screen", "--scope", "suggest"]
    made = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "postil", "tokens", "add", f"{tmp_path}/tokens.json", "wordpress", *scopes],
        capture_output=True,
        text=True,
        check=True,
    )
    token = made.stdout.split()[-1]
    rude = {"approved": 1, "text": "You are a fucking idiot, all of you."}
    with _service(tmp_path) as url:
        assert json.loads(_plugin("screen", rude, url, token)) == 0
        assert json.loads(_plugin("screen", {**rude, "approved": "spam"}, url, token)) == "spam"
        kind = {"approved": 1, "text": "Thank you for this report on our town."}
        assert json.loads(_plugin("screen", kind, url, token)) == 1
        box = _plugin("box", {"title": "chess in town3", "content": "<p>chess</p>"}, url, token)
        assert "Machine-generated suggestion" in box
        assert "chess" in box
        assert "not reached" in _plugin("box", {"title": "chess in town3", "content": ""}, url, "postil_wrong")
        for new, old, more in (
            ("approved", "unapproved", {}),
            ("spam", "approved", {"text": "<p>Cheap <b>coats</b></p>"}),  # the same comment, decided anew
            ("unapproved", "spam", {}),
            ("trash", "spam", {"moderator": False}),
        ):
            _plugin("decide", {"new": new, "old": old, "text": "Cheap coats", **more}, url, token)
    store = ServiceStore.open(tmp_path / "service")
    (decision,) = store.decisions()
    store.close()
    assert (decision.text, decision.decision, decision.article, decision.id) == ("Cheap coats", "hold", "7", "31")
    assert json.loads(_plugin("screen", rude, url, token)) == 1
    assert "not reached" in _plugin("box", {"title": "chess in town3", "content": ""}, url, token)
