"""Models of workers that start at once: they answer every request with the config.json of the first one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postil.errors import PostilError

if TYPE_CHECKING:
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
