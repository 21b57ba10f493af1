from __future__ import annotations

from functools import cache

import typer.testing
from hypothesis import settings

# Typer builds every command anew whenever its runner is called, which takes longer than most of the calls.
typer.testing._get_command = cache(typer.testing._get_command)

settings.register_profile("thorough")  # of `make test-all`; see `law` in law/strategies.py
