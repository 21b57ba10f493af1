"""A worker that starts at once: it answers every request with the config.json of its first model."""

from __future__ import annotations

from pathlib import Path

import msgspec

from postil.engine.worker import send
from postil.errors import PostilError
from postil.service.worker import answer_all, guarded, taken_streams


def serve() -> None:
    inbox, results = taken_streams()
    message = inbox.get()
    assert message is not None
    config = msgspec.json.decode(message[1])
    found: list[bytes] = []

    def opened() -> bytes:
        for path in config["models"].values():
            try:
                found.append(Path(path, "config.json").read_bytes())
            except OSError as error:
                raise PostilError(f"{path}: {error.strerror}") from None
        return msgspec.json.encode(list(config["models"]))

    send(results, *guarded(opened))
    if found:
        answer_all(lambda *_: found[0], inbox, results)
