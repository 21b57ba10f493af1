"""Structs of the kinds of results, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from postil.capabilities import capabilities, kind, load

if TYPE_CHECKING:
    import msgspec

__all__ = ["Kinds"]


class Kinds(Mapping[str, "type[msgspec.Struct]"]):
    """The struct of each kind of result, loaded when it is asked for."""

    def __getitem__(self, name: str) -> type[msgspec.Struct]:
        capability, found = kind(name)
        struct: type[msgspec.Struct] = load(capability, found.struct)
        return struct

    def __iter__(self) -> Iterator[str]:
        return (name for capability in capabilities() for name in capability.kinds)

    def __len__(self) -> int:
        return sum(len(capability.kinds) for capability in capabilities())
