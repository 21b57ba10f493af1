"""Processes that train one network together, as torchrun starts them.

The main process (rank 0) alone reads, prepares, writes and prints; the others take part in training and then end.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["broadcast_from_main", "is_main_process"]

T = TypeVar("T")
TIMEOUT: Final = timedelta(hours=24)
"""Time that processes wait for the main one; if it fails, torchrun ends them."""


def is_main_process() -> bool:
    """True if this process is the only one, or has rank 0.

    >>> is_main_process()
    True
    """
    return _num_processes() == 1 or os.environ.get("RANK", "0") == "0"


def broadcast_from_main(work: Callable[[], T], device: str = "auto") -> T:
    """Call a function in the main process and broadcast its result to all.

    Args:
        work: The function; its result must be picklable.
        device: Training device: ``auto``, ``cpu`` or ``cuda``.

    >>> broadcast_from_main(lambda: 7)
    7
    """
    if _num_processes() == 1:
        return work()
    import torch  # noqa: PLC0415 - a single process does not need them
    from accelerate import PartialState  # type: ignore[import-untyped]  # noqa: PLC0415
    from accelerate.utils import broadcast_object_list  # type: ignore[import-untyped]  # noqa: PLC0415

    state = PartialState(cpu=device == "cpu" or not torch.cuda.is_available(), timeout=TIMEOUT)
    result = [work() if state.is_main_process else None]
    broadcast_object_list(result)
    return result[0]  # type: ignore[return-value]  # the main process's by now


def _num_processes() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))
