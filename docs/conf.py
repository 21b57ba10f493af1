"""How the site is built: `make docs`. What it adds to the Markdown files is in tools/site_pages.py."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

project = "postil"
author = copyright = "The postil authors"  # noqa: A001 - the name that Sphinx gives it
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_pages"]

# The files are those that people read on GitHub, where they stand.
root_doc = "README"
root_pages = [f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "THIRD_PARTY_NOTICES")]
include_patterns = [*root_pages, "examples/README.md", "docs/**"]
# Measurements and reasons are read in the repository: the site has copies of their files where a page links to one.
beside = ["docs/decisions.md", "research"]
exclude_patterns = [".*", "bench", "build", "demo", "dist", "native", "src", "tests", "tools", *beside]
myst_enable_extensions = ["html_image"]  # the README's picture has a width
myst_heading_anchors = 4
highlight_language = "none"

autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
default_role = "literal"

# Nothing on a page is fetched from elsewhere: furo brings its own styles and uses the fonts that are there.
html_theme = "furo"
html_title = "postil"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
