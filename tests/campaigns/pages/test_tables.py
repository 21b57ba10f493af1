"""Tables of the pages of leads: heads that cells carry on a phone, words in the language of the page, names as text."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jinja2", reason="needs the web extra")

from postil.campaigns.pages.tables import Decimal, Part, Written
from postil.messages import Message
from postil.results.table import Name, Table
from postil.web.pages import page_in, templates

COLUMNS = (
    Name("Annotator", "name"),
    Decimal("Drift", "real"),
    Part("Rated", lambda row: (f"{row.real}", 6) if row.real else None),
    Written("Definition", lambda _: Message("no shared items"), style="reason"),
    Written("Actions", lambda row: f"{row.imag}", aside=True),
)


class Row(complex):
    """A row with numbers and a name."""

    name = '<td>"x"'


def shown(lang: str, *rows: Row, head: str = "Annotator") -> str:
    columns = (Name(head, "name"), *COLUMNS[1:])
    words = page_in(lang)
    parts: Any = templates().get_template("table.html").make_module({"_": words.gettext, "say": words.words})
    return str(parts.table(Table(key="t", caption="Quality", rows=rows, columns=columns)))


def test_cells_carry_the_heads_of_their_columns_and_their_roles() -> None:
    page = shown("en", Row(-0.5))
    assert '<table class="fold" role="table">\n<thead role="rowgroup"><tr role="row">' in page
    assert '<th role="columnheader" scope="col">Drift</th>' in page
    assert '<th role="columnheader" scope="col"><span class="aside">Actions</span></th>' in page
    assert '<th role="rowheader" scope="row"><bdi>&lt;td&gt;&#34;x&#34;</bdi></th>' in page  # the title needs no label
    assert '<td role="cell" data-label="Drift">−0.50</td>' in page
    assert '<td role="cell" data-label="Rated">-0.5 <small>of 6</small></td>' in page
    assert '<td role="cell" class="reason" data-label="Definition">no shared items</td>' in page
    assert '<td role="cell">0.0</td>' in page  # its head is for screen readers


def test_words_are_those_of_the_page_and_nothing_is_a_dash() -> None:
    page = shown("zh", Row(0))
    assert 'aria-label="质量"' in page
    assert '<td role="cell" data-label="漂移">0.00</td>' in page
    assert '<td role="cell" data-label="已打分">–</td>' in page


def test_a_table_without_heads_has_no_labels() -> None:
    page = shown("en", Row(1), head="")
    assert "thead" not in page
    assert "data-label" not in page
