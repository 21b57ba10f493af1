"""Tables that fold: on a phone each row is a card, whose cells carry the headings of their columns."""

from __future__ import annotations

import re
from typing import Final

from markupsafe import Markup

__all__ = ["folding"]

_TABLE: Final = re.compile(r"<table>((?:[^<]++|<(?!/?table>))*+)</table>")
_HEAD: Final = re.compile(r"<thead>((?:[^<]++|<(?!/?thead>))*+)</thead>")
_ROW: Final = re.compile(r"<tr\b([^<>]*+)>((?:[^<]++|<(?!/?tr\b))*+)</tr>")
_CELL: Final = re.compile(r"<(th|td)\b([^<>]*+)>")
_HEADING: Final = re.compile(r"<th\b[^<>]*+>((?:[^<]++|<(?!/?th\b))*+)</th>")
_TAG: Final = re.compile(r"<[^<>]*+>")
_HIDDEN: Final = re.compile(r'<span class="aside">(?:[^<]++|<(?!/span>|span class="aside">))*+</span>')
_ROLES: Final = {"th": "rowheader", "td": "cell"}


def folding(page: str) -> Markup:
    """Name the columns in every cell of the tables of a page, and say the roles that style sheets may take away.

    Browsers stop to present a table as one to screen readers where a style sheet shows its rows as blocks. Tables with
    a class keep their form.

    Args:
        page: The page, as rendered by our own templates.

    >>> table = "<table><thead><tr><th>A</th><th>B</th></tr></thead><tr><th>x</th><td>1</td></tr></table>"
    >>> str(folding(table)).partition("</thead>")[2]
    '<tr role="row"><th role="rowheader">x</th><td role="cell" data-label="B">1</td></tr></table>'
    """
    return Markup(_TABLE.sub(_folded, page))  # noqa: S704 - our own page, whose values are escaped


def _folded(found: re.Match[str]) -> str:
    inside = found[1]
    head = _HEAD.search(inside)
    labels = [_label(one) for one in _HEADING.findall(head[1])] if head else []
    top, body = (inside[: head.end()], inside[head.end() :]) if head else ("", inside)
    for tag, role in (("thead", "rowgroup"), ("tr", "row"), ("th", "columnheader")):
        top = re.sub(rf"<{tag}\b", f'<{tag} role="{role}"', top)
    body = _ROW.sub(lambda row: f'<tr role="row"{row[1]}>{_cells(row[2], labels)}</tr>', body)
    body = body.replace("<tbody>", '<tbody role="rowgroup">')
    return f'<table class="fold" role="table">{top}{body}</table>'


def _label(heading: str) -> str:
    """The text of a heading; empty if it is for screen readers alone."""
    return _TAG.sub("", _HIDDEN.sub("", heading)).replace('"', "&quot;").strip()


def _cells(row: str, labels: list[str]) -> str:
    """The cells of a row with their roles; all but the first, which is the title of the card, with their labels."""
    parts = _CELL.split(row)
    cells = []
    for place in range(0, len(parts) - 3, 3):
        kind, attributes, content = parts[place + 1 : place + 4]
        title = labels[place // 3] if 0 < place // 3 < len(labels) else ""
        named = f' data-label="{title}"' if title else ""
        cells.append(f'<{kind} role="{_ROLES[kind]}"{attributes}{named}>{content}')
    return parts[0] + "".join(cells)
