"""Models of workers that start at once: they answer with the first config.json, or with the number of requests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postil.errors import PostilError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.service.config import ServiceConfig


class SmallModels:
    """The content of files.

    Args:
        config: Folders of the files.
    """

    def __init__(self, config: ServiceConfig) -> None:
        self.names = list(config.models)
        self.found: list[bytes] = []
        for path in config.models.values():
            try:
                self.found.append(Path(path, "config.json").read_bytes())
            except OSError as error:
                raise PostilError(f"{path}: {error.strerror}") from None

    def call(self, name: str, _: bytes) -> bytes:
        return msgspec.json.encode(self.names) if name == "models" else self.found[0]

    def call_all(self, _: str, requests: Sequence[bytes]) -> list[bytes | PostilError]:
        told = b"%d at once" % len(requests)
        return [PostilError("a bad one") if b"bad" in one else told for one in requests]
