"""Tables as text: no cell breaks a table, gives a command, or reaches a terminal or a spreadsheet as one."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.escaping import apostrophed, without_apostrophe
from postil.results.base import Result
from postil.results.formats import grid_as, rows_as_csv
from postil.studies.result import StudyResult
from postil.studies.view import study_text

if TYPE_CHECKING:
    from collections.abc import Sequence


def latex(*names: str) -> list[str]:
    """The lines of a table with these names, less the rules around them."""
    lines = grid_as("latex", [["system", "n"], *([name, "1"] for name in names)]).splitlines()
    return lines[4:-2]


# LaTeX


@pytest.mark.parametrize("name", ["[1cm] x", "*", "*[2pt]", " [x]", "\n*"])
def test_no_row_of_latex_begins_with_an_argument(name: str) -> None:
    head, row = grid_as("latex", [[name, "n"], [name, "1"]]).splitlines()[2:5:2]
    assert head.startswith("{}")
    assert row.startswith("{}")


def test_ordinary_rows_of_latex_have_no_guard() -> None:
    assert latex("tfidf", "a [b]*") == [r"tfidf & 1 \\", r"a [b]* & 1 \\"]


def test_special_characters_of_latex() -> None:
    (line,) = latex('\\input{a}&%$#_^~<>|`"')
    assert line == (
        r"\textbackslash{}input\{a\}\&\%\$\#\_\textasciicircum{}\textasciitilde{}\textless{}\textgreater{}"
        r"\textbar{}\textasciigrave{}\char34{} & 1 \\"
    )


def test_control_characters_in_latex() -> None:
    assert latex("a\nb\x1b\x00\u202e") == [r"a b\textbackslash{}x1b\textbackslash{}x00\textbackslash{}u202e & 1 \\"]


# Markdown


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("a|b", r"a\|b"),
        (r"a\|b", r"a\\\|b"),
        ("a\\", "a\\\\"),
        ("a\n\n| b |\r\nc", r"a  \| b \|  c"),
        ("`x`", r"\`x\`"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)>"),
        ("<!-- </td>", "&lt;!-- &lt;/td>"),
        ("&lt;b>", "&amp;lt;b>"),
        ("![x](http://a.example)", r"![x\](http://a.example)"),
        ("p < .05 & a_b [x] *", "p < .05 & a_b [x] *"),
    ],
)
def test_cells_of_markdown(name: str, cell: str) -> None:
    assert grid_as("markdown", [["system", "n"], [name, "1"]]).splitlines()[2:] == [f"| {cell} | 1 |"]


# Spreadsheets


def sheet(values: Sequence[object]) -> list[str]:
    """Cells of a column as another program reads them."""
    text = rows_as_csv([{"text": value, "n": 1} for value in values])
    return [row["text"] for row in csv.DictReader(io.StringIO(text, newline=""), strict=True)]


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-x",
        "@SUM(A1)",
        "\tx",
        "\rx",
        "  =1",
        "\u3000=1",
        "\ufeff=1",
        "＝1",
        "＠a",
        "-1-2",
    ],
)
def test_a_cell_that_a_spreadsheet_would_run_begins_with_an_apostrophe(text: str) -> None:
    assert sheet([text, f"'{text}", f"''{text}"]) == [f"'{text}", f"''{text}", f"'''{text}"]


@given(st.text("'=-@+ \t\r\ufeff＝.01eax", max_size=8))
def test_every_exported_text_comes_back_and_none_is_a_formula(text: str) -> None:
    cell = apostrophed(text)
    assert without_apostrophe(cell) == text
    blanks = cell.lstrip(" \t\r\ufeff")
    assert not blanks.startswith(("=", "@", "＝"))
    assert not blanks.startswith(("+", "-")) or float(cell) == float(text)


def test_other_cells_are_as_they_were() -> None:
    texts = ["a=1", "'tis", "", "-0.5", "+1", "-.5e-7", "雨", "1 - 1"]
    assert sheet([*texts, -0.5, -1e-20, -3, None, True]) == [*texts, "-0.5", "-1e-20", "-3", "", "True"]


def test_names_of_columns_are_cells() -> None:
    assert rows_as_csv([{"=a": 1}]) == "'=a\n1\n"


def test_line_breaks_stay_in_their_cell() -> None:
    texts = ["a\rb", "a\r\nb", "a\nb", 'a"b,\r']
    assert rows_as_csv([{"text": "a\rb"}]) == 'text\n"a\rb"\n'
    assert sheet(texts) == texts


# Terminals


def test_control_characters_are_visible_in_tables() -> None:
    name = "a\x1b]0;x\x07\x9b2J\x7f\u202eb\u2066\r\n\udcff"
    (line,) = grid_as("table", [["system", "n"], [name, "1"]]).splitlines()[2:]
    assert line == r"a\x1b]0;x\x07\x9b2J\x7f\u202eb\u2066  \udcff  1"


def test_letters_of_all_scripts_stay() -> None:
    name = "نمی\u200cخواهم 👩\u200d🔬 Donau\xaddampf 雨 e\u0301"
    assert name in grid_as("table", [["system", "n"], [name, "1"]])


def test_a_table_is_as_wide_as_what_is_seen() -> None:
    lines = grid_as("table", [["system", "n"], ["a\x1bb", "1"], ["نمی\u200cخواهم", "1"]]).splitlines()
    assert len({len(re.sub("\u200c", "", line)) for line in lines}) == 1


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_control_characters_are_visible_in_studies(form: Literal["table", "markdown"]) -> None:
    table = {"key": "t", "caption": "c\x1b[2J", "head": ["a", "n"], "rows": [{"name": "a\x1b", "cells": [1]}]}
    part = {"key": "p", "title": "P\x1b", "words": ["w\x9b"], "tables": [table]}
    settings = [["file", "x\u202e.jsonl"]]
    study = Result.from_dict({"schema": 1, "kind": "study", "title": "T\x1b", "parts": [part], "settings": settings})
    assert isinstance(study, StudyResult)
    text = study_text(form, study)
    assert not {"\x1b", "\x9b", "\u202e"} & set(text)
    assert text.startswith("# T\\x1b\n\n## P\\x1b\n\nw\\x9b\n\nc\\x1b[2J\n\n")
    assert text.endswith("- file: x\\u202e.jsonl\n")
