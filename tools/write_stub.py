#!/usr/bin/env python3
"""Write the names of `postil` for type checkers: python tools/write_stub.py.

Capabilities say which names they add; what they are called at run time and what type checkers are told is one list.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import postil
from postil.capabilities import capabilities

STUB: Final = Path(__file__).resolve().parent.parent / "src" / "postil" / "__init__.pyi"


def stub() -> str:
    """The text of the stub."""
    modules = dict[str, str](vars(postil)["_HOMES"])
    for capability in capabilities():
        modules.update({f"{capability.package}.{module}": names for module, names in capability.names.items()})
    lines = [
        f"from {module} import {name} as {name}"
        for module, names in sorted(modules.items())
        for name in sorted(names.split())
    ]
    return "\n".join([*lines, "", "__version__: str", ""])


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
    print(f"{STUB}: {len(stub().splitlines()) - 2} names")
