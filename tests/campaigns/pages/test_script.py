"""The script of the annotators' page, run by Node.js on a page where every element does nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

NODE = shutil.which("node")
STAGE = """
const some = new Proxy(() => some, {
  get: (_, key) => key === Symbol.toPrimitive ? () => "" : key === "then" ? undefined : some,
  set: () => true,
});
const page = { person: "p", csrf: "c" }, answers = JSON.parse(process.argv[2]), sent = [];
const stored = new Map([["postil.p", JSON.stringify([{ path: "/rate", idempotency_key: "key", grade: "4" }])]]);
globalThis.document = {
  body: { dataset: page }, hidden: false, addEventListener() {}, createElement: () => some,
  querySelector: (name) => (/^#passage|aspects/.test(name) ? null : some), querySelectorAll: () => [],
};
globalThis.localStorage = {
  getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value),
  removeItem: (key) => stored.delete(key),
};
globalThis.addEventListener = () => {};
globalThis.setTimeout = (act, wait) => (wait < 20000 ? setImmediate(act) : 0);
globalThis.clearTimeout = () => {};
globalThis.fetch = async (path, { body }) => {
  sent.push([path, body?.get("idempotency_key") ?? "", stored.has("postil.p")]);
  const status = path === "/rate" ? answers.shift() ?? 200 : 200;
  return { status, json: async () => ({ problem: "", progress: some, ahead: [], task: "" }) };
};
await import("./grade.js");
process.on("exit", () => console.log(JSON.stringify({ sent, left: stored.has("postil.p") })));
"""


def played(tmp_path: Path, *answers: int) -> Any:
    """Requests that the script makes where the server answers with these statuses, and whether an answer is left."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "stage.js").write_text(STAGE)
    for name in ("aspects.js", "grade.js", "spans.js"):
        (tmp_path / name).write_bytes((files("postil.web") / "static" / name).read_bytes())
    command = [str(NODE), "stage.js", json.dumps(answers)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
@pytest.mark.parametrize("status", [408, 431, 503])
def test_an_answer_that_the_server_did_not_read_is_sent_again(tmp_path: Path, status: int) -> None:
    found = played(tmp_path, status, status, 200)
    assert found["sent"][:3] == [["/rate", "key", True]] * 3  # under one key, and kept until it is stored
    assert not found["left"]


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
@pytest.mark.parametrize("status", [401, 403, 423])
def test_an_answer_that_is_refused_for_now_stays_in_the_browser(tmp_path: Path, status: int) -> None:
    found = played(tmp_path, status)
    assert [path for path, _, _ in found["sent"]].count("/rate") == 1
    assert found["left"]
