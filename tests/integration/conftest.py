"""Tests inside other frameworks: `make test-integration`. Nothing here is skipped: a missing framework is an error."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

# Read by the frameworks when they are imported: no network, and no cache but this one.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = tempfile.mkdtemp()

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))  # for pages
