from __future__ import annotations

import signal
from functools import cache

import typer.testing
from hypothesis import settings

# Typer builds every command anew whenever its runner is called, which takes longer than most of the calls.
typer.testing._get_command = cache(typer.testing._get_command)

settings.register_profile("thorough")  # of `make test-all`; see `law` in law/strategies.py

# Who starts tests in the background of a shell hands down that Ctrl+C is ignored, and some tests interrupt a child.
signal.signal(signal.SIGINT, signal.default_int_handler)
