"""Both kernels, where both are there."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

import pytest

from postil.kernel import python

if TYPE_CHECKING:
    from types import ModuleType


def _compiled() -> Any:
    if os.environ.get("POSTIL_KERNEL") == "python":
        return None
    try:
        return importlib.import_module("postil.kernel._compiled")
    except ImportError:
        return None


compiled = _compiled()
KERNELS: list[ModuleType] = [python] if compiled is None else [compiled, python]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
needs_both = pytest.mark.skipif(compiled is None, reason="there is one kernel")
