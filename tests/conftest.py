from __future__ import annotations

import signal
import sys
from functools import cache
from pathlib import Path

import typer.testing
from hypothesis import settings

collect_ignore = ["integration"]  # `make test-integration` names the folder, and has the frameworks
sys.path.insert(0, str(Path(__file__).parent))  # for result_examples

# Typer builds every command anew whenever its runner is called, which takes longer than most of the calls.
typer.testing._get_command = cache(typer.testing._get_command)

# No test fails because a machine is slow.
settings.register_profile("usual", deadline=None)
settings.register_profile("thorough", deadline=None)  # of `make test-all`; see `law` in law/strategies.py
settings.load_profile("usual")

# Who starts tests in the background of a shell hands down that Ctrl+C is ignored, and some tests interrupt a child.
signal.signal(signal.SIGINT, signal.default_int_handler)
