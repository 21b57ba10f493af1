"""The SBOM of a distribution in CycloneDX JSON: what is inside it, and what is installed beside it.

THIRD_PARTY_NOTICES.md names what is inside; what is installed beside it is read from an environment. The SBOM has
neither a time nor a random number, so equal sources and versions give equal bytes. `tools/check_distribution.py` calls
it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.utils import NormalizedName

__all__ = ["LIST_PACKAGES", "Package", "bundled", "sbom"]

LIST_PACKAGES: Final = """
import json
from importlib.metadata import distributions
found = []
for each in distributions():
    about = each.metadata
    named = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier", []) if line.startswith("License :: ")]
    short = [line for line in (about.get("License") or "").splitlines()[:1] if len(line) < 60]
    found.append({"name": each.name, "version": each.version, "summary": about.get("Summary") or "",
                  "expression": about.get("License-Expression") or "", "license": " / ".join(named or short),
                  "requires": list(each.requires or [])})
print(json.dumps(found))
"""
"""Program for the Python of an environment that prints its packages as JSON."""
_BUNDLED: Final = re.compile(
    r"^### (?P<name>\S+) (?P<version>\d\S*)\n\n- Package: `(?P<purl>[^`]+)`, <(?P<home>[^>]+)>\n"
    r"- License: `(?P<terms>[^`]+)`\n- Use: (?P<use>.+)$",
    re.MULTILINE,
)
_PIP: Final = frozenset({"pip", "setuptools", "wheel"})
"""Packages that an environment has from its beginning."""


class Package(msgspec.Struct, frozen=True):
    """An installed package, as its metadata describe it."""

    name: str
    version: str
    summary: str = ""
    expression: str = ""
    license: str = ""
    requires: tuple[str, ...] = ()

    @property
    def purl(self) -> str:
        """The package URL."""
        return f"pkg:pypi/{canonicalize_name(self.name)}@{self.version}"

    def component(self) -> dict[str, Any]:
        """The package as a component of CycloneDX."""
        terms = [{"expression": self.expression}] if self.expression else [{"license": {"name": self.license}}]
        found = {"type": "library", "bom-ref": self.purl, "name": self.name, "version": self.version, "purl": self.purl}
        about = {"description": self.summary} if self.summary else {}
        return {**found, **about, **({"licenses": terms} if self.expression or self.license else {})}


def bundled(notices: str) -> list[dict[str, Any]]:
    """Software inside the distribution, as components.

    Args:
        notices: Text of THIRD_PARTY_NOTICES.md.

    Returns:
        One component per section that names a package.
    """
    return [
        {
            "type": "library",
            "bom-ref": found["purl"],
            "name": found["name"],
            "version": found["version"],
            "description": found["use"],
            "licenses": [{"license": {"id": found["terms"]}}],
            "purl": found["purl"],
            "externalReferences": [{"type": "website", "url": found["home"]}],
        }
        for found in _BUNDLED.finditer(notices)
    ]


def _needed(package: Package, installed: Mapping[NormalizedName, Package]) -> list[str]:
    """Package URLs of what a package requires without extras, as far as it is installed."""
    requirements = [Requirement(each) for each in package.requires]
    names = {
        canonicalize_name(each.name)
        for each in requirements
        if each.marker is None or each.marker.evaluate({"extra": ""})
    }
    return sorted(installed[name].purl for name in names & installed.keys())


def sbom(name: str, installed: list[Package], notices: str) -> str:
    """SBOM of a package and of what is installed beside it.

    Args:
        name: Name of the package.
        installed: All packages of an environment, the package among them.
        notices: Text of THIRD_PARTY_NOTICES.md.

    Returns:
        JSON of CycloneDX 1.6, sorted by name, with a line end.
    """
    kept = {canonicalize_name(each.name): each for each in installed if canonicalize_name(each.name) not in _PIP}
    subject = kept[canonicalize_name(name)]
    others = [kept[key] for key in sorted(kept) if kept[key] is not subject]
    inside = bundled(notices)
    edges = {each.purl: _needed(each, kept) for each in (subject, *others)}
    edges[subject.purl] = sorted([*edges[subject.purl], *(each["purl"] for each in inside)])
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**subject.component(), "components": inside}},
        "components": [each.component() for each in others],
        "dependencies": [{"ref": ref, "dependsOn": needed} for ref, needed in edges.items()],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
