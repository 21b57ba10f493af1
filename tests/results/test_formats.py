"""Tables as text: layouts, marks, numbers, escaping; no cell breaks a table, gives a command, or steers a terminal."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.escaping import apostrophed, without_apostrophe
from postil.errors import UnknownName, UsageError
from postil.results.base import Result
from postil.results.formats import Format, card, grid_as, rows_as_cells
from postil.results.systems_table import SystemsTable, show_systems
from postil.results.table import Count, Interval, Name, crossed
from postil.results.table_options import TableOptions
from postil.studies.result import StudyResult
from postil.studies.view import study_text

if TYPE_CHECKING:
    from collections.abc import Sequence


def test_what_is_said_of_a_card_breaks_between_words() -> None:
    assert card("A well-known text", "in a-long-name.csv:7", 20) == ("A well-known text\n   in\n   a-long-name.csv:7\n")


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
    text = str(rows_as_cells([{"text": value, "n": 1} for value in values]))
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
    assert str(rows_as_cells([{"=a": 1}])) == "'=a\n1\n"


def test_line_breaks_stay_in_their_cell() -> None:
    texts = ["a\rb", "a\r\nb", "a\nb", 'a"b,\r']
    assert str(rows_as_cells([{"text": "a\rb"}])) == 'text\n"a\rb"\n'
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


SCORES = {
    "base": {"meteor": 0.2, "ter": 0.5},
    "a": {"meteor": 0.30001, "ter": 0.5},
    "b": {"meteor": 0.30002, "ter": 0.75},
    "c": {"meteor": 0.25},
}


@dataclass
class Score:
    system: str
    metric: str
    value: float
    n: int

    @property
    def low(self) -> float:
        return self.value - 0.05

    @property
    def high(self) -> float:
        return self.value + 0.05


def made(
    scores: dict[str, dict[str, float]] = SCORES,
    *,
    different: tuple[str, ...] = ("a", "b"),
    counts: dict[str, int] | None = None,
    **changes: object,
) -> SystemsTable:
    rows = [
        Score(system, metric, value, counts[system] if counts else 1234)
        for system, row in scores.items()
        for metric, value in row.items()
    ]
    cell, n = Interval("", "value"), Count("texts", "n")
    fields = {
        "table": crossed(rows, Name("system", "system"), "metric", cell, key="scores", beside=[n]),
        "unit": "item",
        "lower_is_better": frozenset({"ter"}),
        "signatures": {"meteor": "meteor|postil:0"},
        "different": lambda row: row.system in different,
        "tested": "significantly different from base",
        "intervals": "95 % confidence intervals",
    }
    return SystemsTable(**{**fields, **changes})  # type: ignore[arg-type]


def options(**given: object) -> TableOptions:
    return TableOptions(layout="systems", **given)  # type: ignore[arg-type]


GOLDEN = {
    "table": """\
system       meteor        ter ↓
------  -----------  -----------
base      0.2000     **0.5000**
a       **0.3000**†  **0.5000**†
b       **0.3000**†    0.7500†
c         0.2500               -

1,234 items.
Best **so**.
† significantly different from base.
↓ lower is better.
""",
    "markdown": """\
| system | METEOR | TER ↓ |
| --- | ---: | ---: |
| base | 0.2000 | **0.5000** |
| a | **0.3000**† | **0.5000**† |
| b | **0.3000**† | 0.7500† |
| c | 0.2500 | - |

1,234 items. Best in bold. † significantly different from base. ↓ lower is better.

- METEOR: meteor\\|postil:0
""",
    "latex": r"""% needs \usepackage{booktabs}
\begin{tabular}{lrr}
\toprule
system & METEOR & TER $\downarrow$ \\
\midrule
base & 0.2000 & \textbf{0.5000} \\
a & \textbf{0.3000}\rlap{$^{\dagger}$} & \textbf{0.5000}\rlap{$^{\dagger}$} \\
b & \textbf{0.3000}\rlap{$^{\dagger}$} & 0.7500\rlap{$^{\dagger}$} \\
c & 0.2500 & -- \\
\bottomrule
\end{tabular}
\par\smallskip
{\noindent\footnotesize 1,234 items. Best in bold. $\dagger$~significantly different from base. $\downarrow$ lower is better.\par}
\par\smallskip
{\scriptsize\raggedright\setlength{\parindent}{0pt}%
METEOR: meteor\textbar{}\allowbreak postil:0\par
}
""",  # noqa: E501
    "csv": "system,n,meteor,ter\nbase,1234,0.2,0.5\na,1234,0.30001,0.5\nb,1234,0.30002,0.75\nc,1234,0.25,\n",
}


def systems_text(form: Format, table: SystemsTable, options: TableOptions) -> str:
    return str(show_systems(form, table, options))


@pytest.mark.parametrize("form", GOLDEN)
def test_formats(form: str) -> None:
    assert systems_text(form, made(), options()) == GOLDEN[form]  # type: ignore[arg-type]


def rows(text: str) -> dict[str, list[str]]:
    """Cells of a Markdown table by system."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {line[0]: line[1:] for line in found}


def test_numbers_that_are_printed_alike_are_equally_good() -> None:
    assert rows(systems_text("markdown", made(), options()))["a"][0] == "**0.3000**†"
    assert rows(systems_text("markdown", made(), options(digits=5)))["a"] == ["0.30001†", "**0.50000**†"]


def test_the_second_best_is_the_next_number_in_the_direction_of_the_metric() -> None:
    said = systems_text("markdown", made(), options(second_best=True))
    assert rows(said)["c"] == ["_0.2500_", "-"]
    assert rows(said)["b"] == ["**0.3000**†", "_0.7500_†"]
    assert "Best in bold, second best in italics." in said
    assert r"\underline{0.7500}" in systems_text("latex", made(), options(second_best=True))
    assert "<u>0.7500</u>" in systems_text("html", made(), options(second_best=True))


def test_percent_and_digits() -> None:
    assert rows(systems_text("markdown", made(), options(percent=True)))["c"][0] == "25.00"
    said = systems_text("markdown", made(), options(percent=True, digits=0))
    assert rows(said)["base"] == ["20", "**50**"]
    assert " Scores × 100. " in said
    numbers = list(
        csv.reader(io.StringIO(systems_text("csv", made(), options(percent=True, digits=1, intervals=True))))
    )
    assert numbers[0] == ["system", "n", "meteor", "meteor low", "meteor high", "ter", "ter low", "ter high"]
    assert numbers[1] == ["base", "1234", "20.0", "15.0", "25.0", "50.0", "45.0", "55.0"]
    assert numbers[4][5:] == ["", "", ""]


def test_intervals() -> None:
    said = systems_text("markdown", made(), options(intervals=True, digits=2))
    assert rows(said)["a"][0] == "**0.30**† [0.25, 0.35]"
    assert "In brackets: 95 % confidence intervals." in said
    said = systems_text("latex", made({"a": {"m": 0.01}, "b": {"m": -0.2}}), options(intervals=True, digits=2))
    assert r"In brackets: 95~\% confidence intervals." in said
    assert r"a & \textbf{0.01}$^{\dagger}$ {\scriptsize [$-$0.04, 0.06]} \\" in said
    assert r"b & $-$0.20$^{\dagger}$ {\scriptsize [$-$0.25, $-$0.15]} \\" in said
    with pytest.raises(UsageError, match=r"intervals: there are none here; postil\.compare computes them"):
        systems_text("table", made(intervals=""), options(intervals=True))


def test_digits_stand_below_each_other_on_a_terminal() -> None:
    lines = systems_text("table", made(), options()).splitlines()[2:5]
    assert len({line.index(".") for line in lines}) == 1
    assert len({line.rindex(".") for line in lines}) == 1
    assert [line.rstrip() for line in lines] == lines


def test_one_system_is_not_the_best_of_any() -> None:
    said = systems_text("markdown", made({"only": {"meteor": 0.5}}, different=()), options())
    assert rows(said)["only"] == ["0.5000"]
    assert "Best" not in said


def test_numbers_of_texts_have_a_column_where_they_differ() -> None:
    counts = {"base": 1234, "a": 1234, "b": 1234, "c": 7}
    for form, cell in (("markdown", "| c | 7 |"), ("latex", "c & 7 &"), ("html", "<td>7</td>")):
        said = systems_text(form, made(counts=counts), options())  # type: ignore[arg-type]
        assert cell in said
        assert "1,234 items" not in said


def test_rounding_leaves_no_sign_before_zero_and_large_numbers_stay_narrow() -> None:
    said = systems_text("markdown", made({"a": {"m": -0.00001}, "b": {"m": 1e50}}, different=()), options())
    assert rows(said) == {"system": ["m"], "---": ["---:"], "a": ["0.0000"], "b": ["**1.0000e+50**"]}


NASTY = "=1+1 [x] *y* \\textbf{&%$#_~^} <b>|`\x1b[31m\u202e\nend"


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html", "csv"])
def test_names_are_escaped(form: str) -> None:
    table = made({NASTY: {NASTY: 0.5}, "b": {NASTY: 0.25}}, signatures={NASTY: NASTY}, tested=NASTY)
    said = systems_text(form, table, options(caption=None if form == "csv" else NASTY))  # type: ignore[arg-type]
    if form == "csv":
        assert next(iter(csv.reader(io.StringIO(said, newline=""))))[2] == "'" + NASTY
        return
    assert not {"\x1b", "\u202e"} & set(said)
    if form == "html":
        assert "<b>" not in said.replace("<b>0.5000</b>", "")
        assert said.count("<tr>") == 3
    if form == "markdown":
        assert len({line.count(" | ") for line in said.splitlines() if line.startswith("| ")}) == 1
        assert "&lt;b>" in said
        assert r"\*y\*" in said
        assert "*y*" not in said
    if form == "latex":
        lines = [line.removesuffix("%") for line in said.splitlines() if not line.startswith("%")]
        assert len(lines) == 21
        assert not re.search(r"(?<!\\)[&%#_](?!\\)", "".join(lines).replace(" & ", ""))
        assert r"\textbf{&" not in "".join(lines)
        (first,) = (line for line in lines if line.endswith(r"0.2500\rlap{$^{\dagger}$} \\") or line.startswith("b &"))
        assert first == r"b & 0.2500\rlap{$^{\dagger}$} \\"


def test_a_caption_and_a_label_make_a_table_environment() -> None:
    said = systems_text("latex", made(), options(caption="Scores & more", label="tab:a_b-1"))
    begin = said.index("\\begin{table}\n\\centering\n\\caption{Scores \\& more}\n\\label{tab:a_b-1}\n")
    end = said.index("\\end{table}\n")
    assert begin < said.index("\\begin{tabular}") < said.index("footnotesize") < end
    assert "<caption>Scores &amp; more</caption>" in systems_text("html", made(), options(caption="Scores & more"))
    assert systems_text("markdown", made(), options(caption="Scores")).startswith("Scores\n\n| system")
    with pytest.raises(UsageError, match=r"label goes with result\.to_latex"):
        systems_text("html", made(), options(label="x"))


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_rows_of_numbers_have_no_layout(form: str) -> None:
    with pytest.raises(UsageError, match=f'layout="systems" goes with .*; {form} has one row per number'):
        systems_text(form, made(), options())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"percent": True},
            'percent goes with the layout of systems or of metrics: layout="systems" or layout="metrics"',
        ),
        ({"digits": 0}, "digits goes with the layout of systems"),
        ({"second_best": True}, "second_best goes with"),
        ({"caption": ""}, "caption goes with"),
        ({"layout": "systems", "digits": -1}, "digits: expected a number from 0 to 15, got -1"),
        ({"layout": "systems", "label": "a}b"}, "label: expected letters, digits and any of"),
    ],
)
def test_options_that_make_no_sense(given: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)):
        TableOptions(**given)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="unknown layout 'system'; did you mean 'systems'"):
        TableOptions(layout="system")


def test_no_system_takes_the_name_of_a_metric() -> None:
    cells = [["system", "metric", "mean"], ["m1", "m1", "0.5"], ["a", "m1", "0.4"]]
    assert grid_as("markdown", cells, {"m1": "Ours"}).splitlines()[2:] == ["| m1 | Ours | 0.5 |", "| a | Ours | 0.4 |"]
