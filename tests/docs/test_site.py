"""The site: built without a warning, whole, and silent."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import postil
from postil.cli.main import app

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
PLACE = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FETCHED = re.compile(
    r"<(?:script|img|iframe|source|link|use)\b[^>]*?\b(?:src|href)=[\"'](?:https?:)?//[^\"']*", re.DOTALL
)
PICTURE = re.compile(r"<img\b[^>]*?\bsrc=\"(?!data:)([^\"]+)\"")
ASKED_FOR = re.compile(r"url\(\s*[\"']?(?:https?:)?//|@import")


@pytest.fixture
def site_pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return import_module("site_pages")


def texts() -> list[Path]:
    """The pages of the site, and the texts beside it."""
    folders = (path for name in ("docs", "research") for path in sorted(ROOT.glob(f"{name}/**/*.md")))
    return [*sorted(ROOT.glob("*.md")), ROOT / "examples/README.md", *folders]


def pages() -> list[Path]:
    """The pages of the site."""
    beside = ROOT / "research"
    return [path for path in texts() if beside not in path.parents and path != ROOT / "docs/decisions.md"]


def test_links_lead_to_files() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in texts()
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert dead == []


def test_the_site_links_each_part_of_the_research_once() -> None:
    linked = Counter(
        os.path.relpath(page.parent / link, ROOT)
        for page in pages()
        if ROOT / "docs" in page.parents
        for link in re.findall(r"\]\(([^)\s]*/research/[^)\s]+)\)", page.read_text(encoding="utf-8"))
    )
    assert [link for link, times in linked.items() if times > 1] == []
    assert len(linked) > 20


def places(page: Path) -> set[str]:
    """Names of the headings of a page, as links have them; equal ones are numbered."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    names = [re.sub(r"[ -]+", "-", re.sub(r"[^\w -]", "", heading.lower())) for heading in HEADING.findall(text)]
    return {f"{name}-{names[:i].count(name)}" if name in names[:i] else name for i, name in enumerate(names)}


def test_links_lead_to_headings() -> None:
    dead = [
        f"{page.relative_to(ROOT)}: {link}#{place}"
        for page in texts()
        for link, place in PLACE.findall(page.read_text(encoding="utf-8"))
        if re.sub("-+", "-", place) not in places(page.parent / link if link else page)
    ]
    assert dead == []


def test_the_list_of_pages_names_every_page(site_pages: ModuleType) -> None:
    listed = {
        page for _, each in site_pages.navigation((ROOT / "docs/index.md").read_text(encoding="utf-8")) for page in each
    }
    found = {str(page.relative_to(ROOT).with_suffix("")) for page in pages()}
    assert found - {"docs/index"} == listed


def test_the_reference_has_every_public_name(site_pages: ModuleType) -> None:
    named = {name for names in site_pages.python_sections().values() for name in names}
    assert {f"postil.{name}" for name in postil.__all__ if name != "__version__"} <= named
    text = site_pages.python_reference()
    assert all(f":: {name}\n" in text for name in named)


def test_the_reference_has_every_command_and_option(site_pages: ModuleType) -> None:
    def names(command: Any, name: str) -> list[tuple[str, Any]]:
        below = getattr(command, "commands", None)
        own = [(name, command)] if below is None or command.callback is not None else []
        return own + [n for w, c in (below or {}).items() for n in names(c, f"{name} {w}")]

    text = site_pages.commands()
    parts = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    found = dict(names(app, "postil"))
    assert set(parts) == set(found)
    assert len(found) > 25
    for name, command in found.items():
        for parameter in command.params:
            if not getattr(parameter, "hidden", False):
                assert all(f"`{option}`" in parts[name] for option in parameter.opts if option.startswith("-")), name
    assert "Metric, such as meteor" in parts["postil score"].partition("\n| Metrics | |\n")[0]
    assert "`--encoding`" in parts["postil score"].partition("\n| Reading tables | |\n")[2]
    assert "Default: `words`." in parts["postil score"]


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_asks_nobody(tmp_path: Path) -> None:
    for extra in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(extra, reason="the site needs the extra docs")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs", "-b", "html"]
    done = subprocess.run(  # noqa: S603 - our own site
        [*command, "-d", str(tmp_path / "cache"), ".", str(tmp_path / "site")],
        cwd=ROOT,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},  # of what Sphinx thinks of its own parts
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    site = tmp_path / "site"
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()
    html = {path.relative_to(site): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    assert len(html) > len(pages())
    assert [(str(path), match.group()) for path, text in html.items() for match in FETCHED.finditer(text)] == []
    shown = [(path, picture) for path, text in html.items() for picture in PICTURE.findall(text)]
    assert len(shown) >= 4
    assert [(str(path), picture) for path, picture in shown if not (site / path.parent / picture).is_file()] == []
    styles = [path for path in site.rglob("*.css") if ASKED_FOR.search(path.read_text(encoding="utf-8"))]
    assert styles == []
    reference = html[Path("docs/reference/python.html")]
    assert all(f'id="postil.{name}"' in reference for name in postil.__all__ if name != "__version__")
    assert 'href="docs/tutorials/score.html"' in html[Path("index.html")]
