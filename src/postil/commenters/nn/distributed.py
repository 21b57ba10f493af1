"""Several processes that train one network, as torchrun starts them: which is the first, and what it tells the others.

The first alone reads, prepares, writes and speaks; the others take part in the training and end.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["from_first", "is_first"]

T = TypeVar("T")
PATIENCE: Final = timedelta(hours=24)
"""So long the others wait for the first; if it fails, torchrun ends them."""


def is_first() -> bool:
    """Whether this process is the only one, or the first of several.

    >>> is_first()
    True
    """
    return _together() == 1 or os.environ.get("RANK", "0") == "0"


def from_first(work: Callable[[], T], device: str = "auto") -> T:
    """Have the first process do something, and tell all what came of it.

    Args:
        work: What is done; what it returns can be pickled.
        device: Where the training will be: ``auto``, ``cpu`` or ``cuda``.

    >>> from_first(lambda: 7)
    7
    """
    if _together() == 1:
        return work()
    import torch  # noqa: PLC0415 - one process alone does not need them
    from accelerate import PartialState  # type: ignore[import-untyped]  # noqa: PLC0415
    from accelerate.utils import broadcast_object_list  # type: ignore[import-untyped]  # noqa: PLC0415

    state = PartialState(cpu=device == "cpu" or not torch.cuda.is_available(), timeout=PATIENCE)
    told = [work() if state.is_main_process else None]
    broadcast_object_list(told)
    return told[0]  # type: ignore[return-value]  # of the first by now


def _together() -> int:
    """How many processes there are."""
    return int(os.environ.get("WORLD_SIZE", "1"))
