"""Laws of results: every form of a result says the same, whatever its kind."""

from __future__ import annotations

import csv
import html
import io
import re
from html.parser import HTMLParser

import pytest

from postil.records.results import Result
from postil.render.views import show, view_of
from result_examples import EXAMPLES, example

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
COMMANDS = re.compile(
    r"\\(?:textbf|textit|emph|underline|texttt|mathrm|multicolumn\{\d+\}\{\w\})\{((?:[^{}]|\{[^{}]*\})*)\}"
)
SIGNS = str.maketrans({"−": "-", "–": "-", "≤": "<", "\N{NO-BREAK SPACE}": " ", "\N{THIN SPACE}": " "})


class Cells(HTMLParser):
    """The text of the cells of tables, row by row."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.heads: set[int] = set()
        """Places of the rows of heads of columns."""
        self.inside = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - its name
        if tag == "tr":
            self.rows.append([])
        elif tag == "thead":
            self.heads.add(len(self.rows))
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


def of_markdown(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|") and not re.fullmatch(r"[|\s:-]+", line)]
    return [
        [html.unescape(re.sub(r"\\(.)", r"\1", cell)) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines
    ]


def of_latex(text: str) -> list[list[str]]:
    rows = [line.strip() for line in text.splitlines() if line.rstrip().endswith("\\\\")]
    return [[_plain(cell) for cell in re.split(r"(?<!\\)&", row.removesuffix("\\\\"))] for row in rows]


def _plain(cell: str) -> str:
    """A cell of LaTeX as it is seen."""
    while (seen := COMMANDS.sub(r"\1", cell)) != cell:
        cell = seen
    cell = cell.replace("$-$", "-").replace("~", " ").replace("--", "-")
    for written, read in (("textless", "<"), ("textgreater", ">"), ("textbackslash", "\\"), ("textasciitilde", "~")):
        cell = cell.replace(f"\\{written}{{}}", read)
    return re.sub(r"\\([%$#&_{}])", r"\1", cell)


def normal(rows: list[list[str]]) -> list[list[str]]:
    """Cells without what a form adds: bold type, its signs, a zero before the point, what stands for
    nothing or for a row below another one."""
    return [[" ".join(_number(cell.replace("**", "").translate(SIGNS)).split()) for cell in row] for row in rows]


def _number(cell: str) -> str:
    return re.sub(r"(?<![\d.])0(?=\.\d)|(?<!\S)\+(?=[\d.])|\*(?=\s*$)|^\s*-\s*$|^\s*…\s", "", cell)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_markdown_has_the_cells_of_html_but_for_heads(kind: str) -> None:
    result = example(kind)
    page = Cells(show("html", result))
    shown, written = normal(page.rows), normal(of_markdown(show("markdown", result)))
    assert list(map(len, shown)) == list(map(len, written))
    for place, (row, same) in enumerate(zip(shown, written, strict=True)):
        assert row == same or place in page.heads


@pytest.mark.parametrize("kind", EXAMPLES)
def test_latex_has_the_cells_of_html(kind: str) -> None:
    result = example(kind)
    assert normal(of_latex(show("latex", result))) == normal(Cells(show("html", result)).rows)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_terminal_shows_every_cell_of_markdown(kind: str) -> None:
    result = example(kind)
    if view_of(result).documents is not None:
        return  # other forms have whole texts, which a terminal cuts
    text = normal([[show("table", result)]])[0][0]
    for row in normal(of_markdown(show("markdown", result))):
        assert all(cell in text for cell in row), row


@pytest.mark.parametrize("kind", EXAMPLES)
def test_csv_has_the_rows_of_a_data_frame(kind: str) -> None:
    result = example(kind)
    rows = list(csv.reader(io.StringIO(show("csv", result))))
    frame = result.to_frame("polars")
    assert rows[0] == [name for name in frame.columns if name in rows[0]]
    assert len(rows) - 1 == len(frame)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_result_read_back_looks_the_same_in_every_form(kind: str) -> None:
    result = example(kind)
    again = Result.from_json(result.to_json())
    assert again == result
    for form in ("table", "json", "jsonl", "csv", "markdown", "latex", "html"):
        assert show(form, again) == show(form, result), form
    assert again._repr_html_() == result._repr_html_()


@pytest.mark.parametrize("kind", EXAMPLES)
def test_python_hears_of_no_flags(kind: str) -> None:
    result = example(kind)
    for text in (show("table", result), result.to_json(), repr(result), result._repr_html_()):
        assert not FLAG.search(re.sub(r"postil [^\n]*", "", text))  # commands to run in a shell are whole
