"""Files of `deploy/` that no test can run here, against what they speak of."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

from postil.campaigns.calls import ServeOptions
from postil.options import flag_name, split_hint
from postil.service.options import ServiceOptions

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_image_has_extras_that_exist() -> None:
    extras = PROJECT["optional-dependencies"]
    for page in ("deploy/Dockerfile", "docs/deploy.md"):
        named = re.findall(r"EXTRAS=([a-z][a-z,]+)", (ROOT / page).read_text("utf-8"))
        assert named, page
        assert {extra for words in named for extra in words.split(",")} <= extras.keys(), page


def test_the_builder_gets_what_the_package_is_built_from() -> None:
    kept = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    needed = (
        "CMakeLists.txt",
        "README.md",
        "constraints.txt",
        "native",
        "pyproject.toml",
        "src",
        *PROJECT["license-files"],
    )
    assert {f"!{name}" for name in needed} <= set(kept)
    assert all((ROOT / name).exists() for name in needed)


def flags(options: type) -> set[str]:
    hints = get_type_hints(options, include_extras=True)
    return {f"--{flag_name(each.name, split_hint(hints[each.name])[1])}" for each in fields(options)}


def test_the_commands_of_the_set_ups_have_options_that_exist() -> None:
    for name in ("compose.yaml", "env.example", "campaign.env", "postil-campaign@.service"):
        lines = (ROOT / "deploy" / name).read_text("utf-8").splitlines()
        text = " ".join(line for line in lines if not line.lstrip().startswith("#"))
        of_campaign = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"serve /models.*?volumes:", "", text)))
        assert of_campaign, name
        assert of_campaign <= flags(ServeOptions), name
        service = re.search(r"serve /models.*?volumes:", text)
        assert not service or set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", service[0])) <= flags(ServiceOptions)
