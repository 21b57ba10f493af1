"""Tables that fold on a phone."""

from __future__ import annotations

from markupsafe import escape

from postil.web.folding import folding

HEAD = (
    '<thead><tr><th scope="col">Name</th><th scope="col">Rated</th><th><span class="aside">Act</span></th></tr></thead>'
)


def test_cells_carry_the_headings_of_their_columns() -> None:
    row = '<tr class="x"><th scope="row">Ann</th><td class="left">7</td><td><form><button>New</button></form></td></tr>'
    page = str(folding(f"<p>before</p><table>{HEAD}<tbody>{row}</tbody></table><p>after</p>"))
    assert page.startswith('<p>before</p><table class="fold" role="table"><thead role="rowgroup"><tr role="row">')
    assert '<th role="columnheader" scope="col">Name</th>' in page
    assert '<tr role="row" class="x"><th role="rowheader" scope="row">Ann</th>' in page  # the title needs no label
    assert '<td role="cell" class="left" data-label="Rated">7</td>' in page
    assert '<td role="cell"><form><button>New</button></form></td>' in page  # its heading is for screen readers
    assert page.endswith("</table><p>after</p>")


def test_texts_that_look_like_tables_are_left_alone() -> None:
    name = escape('<td>"x"')
    quoted = HEAD.replace("Rated", 'The "best" &lt;one&gt;')
    page = folding(f"<table>{quoted}<tr><th>{name}</th><td>1</td></tr></table>")
    assert "&lt;td&gt;&#34;x&#34;" in page
    assert 'data-label="The &quot;best&quot; &lt;one&gt;">1</td>' in page
    assert page.count('role="cell"') == 1


def test_tables_without_headings_fold_and_those_with_a_class_do_not() -> None:
    page = folding('<table class="matrix"><tr><td>1</td></tr></table><table><tr><td>1</td></tr></table>')
    assert page.startswith('<table class="matrix"><tr><td>1</td></tr></table>')
    assert page.endswith('<table class="fold" role="table"><tr role="row"><td role="cell">1</td></tr></table>')
