"""Hostile documents are read in a time that grows with their length alone."""

from __future__ import annotations

import pytest

from hostile_documents import GROUPS
from limited_child import unfinished

READ_HTML = r"""
from postil.documents.reading import read_document

PAGES = (
    "<article><p>Rain at Ely.</p><p>Rain%sat sea.</p></article>",
    "<p>Rain at Ely.</p>%s<p>Rain at sea.</p>",
    "<p>Rain at Ely.</p><pre>%s x</pre>",
    "<title>Rain%sat sea</title><p>Rain at Ely.</p>",
    "<p>Rain at Ely.</p><div class='%s' style='%s'>Rain at sea.</div>",
)
for page in PAGES:
    for white in (" ", "\n", "\t", "\f", " \n", "\xa0", "\u3000", "&nbsp;", "<br> "):
        print(page, ascii(white), flush=True)
        run = white * (300_000 // len(white))
        read_document(("<!DOCTYPE html>" + page.replace("%s", run)).encode(), "page.html")
"""


def test_runs_of_white_space_in_a_page() -> None:
    assert unfinished(READ_HTML) == ""


READ = """
import sys
from hostile_documents import documents
from postil.documents.reading import read_document
from postil.errors import PostilError

for what, name, data in documents(sys.argv[1], int(sys.argv[2])):
    print(what, flush=True)
    try:
        read_document(data, name)
    except PostilError:
        pass
"""


BY_LINES = frozenset({"markdown", "wikitext", "templates"})
"""Groups whose shortest lines take milliseconds for each kilobyte."""


@pytest.mark.parametrize("group", GROUPS)
def test_hostile_documents(group: str) -> None:
    assert unfinished(READ, group, "50000" if group in BY_LINES else "100000") == ""


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_long_hostile_documents(group: str) -> None:
    assert unfinished(READ, group, "200000" if group in BY_LINES else "1000000") == ""
