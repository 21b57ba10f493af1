"""Files of `deploy/` that no test can run here, against what they speak of."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_image_has_extras_that_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for page in ("deploy/Dockerfile", "docs/deploy.md"):
        named = re.findall(r"EXTRAS=([a-z][a-z,]+)", (ROOT / page).read_text("utf-8"))
        assert named, page
        assert {extra for words in named for extra in words.split(",")} <= extras.keys(), page


def test_the_builder_gets_what_the_package_is_built_from() -> None:
    kept = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    needed = ("CMakeLists.txt", "LICENSE", "README.md", "constraints.txt", "native", "pyproject.toml", "src")
    assert {f"!{name}" for name in needed} <= set(kept)
    assert all((ROOT / name).exists() for name in needed)
