"""Laws of formats: every kind of result says the same in each of them."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import msgspec
import pytest

from postil.data.rows import Judgement
from postil.errors import Undefined
from postil.estimation.estimator import estimate
from postil.estimation.result import EstimateSettings
from postil.messages import COMMAND_LINE, INTERFACE, JSON, Message
from postil.meta.agreement import agreement
from postil.meta.estimation import outputs_of
from postil.meta.table import Judged
from postil.results.base import Result
from postil.results.formats import Format, plain_rows
from postil.results.views import SHOWN, show, view_of
from postil.web.pages import PAGES
from result_examples import EXAMPLES, example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Grid = list[list[str]]


def of_markdown(text: str) -> list[Grid]:
    tables: list[Grid] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            continue
        cells = [re.sub(r"\\(.)", r"\1", html.unescape(cell.strip(" "))) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if set("".join(cells)) <= {"-", ":"} and cells[0] == "---":
            tables.append([tables[-1].pop()])
        elif tables:
            tables[-1].append(cells)
        else:
            tables.append([cells])
    return [table for table in tables if table]


def of_html(text: str) -> list[Grid]:
    return [
        [
            [html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
        ]
        for table in re.findall(r"<table.*?</table>", text, re.DOTALL)
    ]


BACK = {
    **{rf"\{sign}": sign for sign in "&%$#_{}"},
    "$-$": "−",
    "--": "–",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"$\tau$": "τ",
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciigrave{}": "`",
    r"\char34{}": '"',
    r"\textasciicircum{}": "^",
}


def of_latex(text: str) -> list[Grid]:
    """The cells of tables with three rules, as the package booktabs has them."""
    tables = []
    for body in re.findall(
        r"\\begin\{tabular\}\{l(?:[lr]*)\}\n\\toprule\n(.*?)\\bottomrule\n\\end\{tabular\}", text, re.DOTALL
    ):
        head, rows = body.split("\\midrule\n")
        lines = [line.removeprefix("{}").removesuffix(r" \\") for line in (head + rows).splitlines()]
        pattern = re.compile("|".join(map(re.escape, sorted(BACK, key=len, reverse=True))))
        tables.append(
            [
                [pattern.sub(lambda found: BACK[found[0]], cell) for cell in re.split(r"(?<!\\) & ", line)]
                for line in lines
            ]
        )
    return tables


def as_plain(cell: str) -> str:
    """A cell without what a writer decides: signs, dashes, stars, and a 0 before the point."""
    cell = cell.replace("−", "-").replace("–", "-").replace("’", "'").rstrip("* ").removeprefix("… ")
    cell = re.sub(r"(?<![\w.])([+-]?)0(?=\.\d)", r"\1", cell)
    return "" if cell == "-" else re.sub(r"(?<![\w.])\+(?=\d|\.\d)", "", cell)


def rows_of(tables: list[Grid]) -> list[list[str]]:
    return [list(map(as_plain, row)) for table in tables for row in table[1:]]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_formats_have_the_same_cells(kind: str) -> None:
    result = example(kind)
    tables = {form: read(show(form, result)) for form, read in READERS.items()}  # type: ignore[arg-type]
    view = view_of(result)
    shown = view.grids if view.documents is None else view.documents
    assert [len(found) for found in tables.values()] == [len(shown)] * len(tables)
    assert tables["latex"] == [[[_straight(cell) for cell in row] for row in table] for table in tables["html"]]
    assert rows_of(tables["html"]) == rows_of(tables["markdown"])
    for table in (table for found in tables.values() for table in found):
        assert {len(row) for row in table} == {len(table[0])}


def _straight(cell: str) -> str:
    return cell.replace("’", "'")


READERS: dict[str, Callable[[str], list[Grid]]] = {"markdown": of_markdown, "html": of_html, "latex": of_latex}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_typeset_numbers_have_no_hyphen_and_no_zero_before_the_point(kind: str) -> None:
    text = show("latex", example(kind))
    assert not re.search("[−–†×]", text)
    cells = [cell for table in of_html(show("html", example(kind))) for row in table[1:] for cell in row[1:]]
    assert not [cell for cell in cells if re.fullmatch(r"-?[\d.,]*( \[.*-.*\])?\*?", cell) and "-" in cell]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_rows_are_the_same_in_json_lines_csv_and_python(kind: str) -> None:
    result = example(kind)
    view = view_of(result)
    rows = plain_rows(view.rows)
    names = list(view.fields or (rows[0] if rows else ()))
    head, *lines = csv.reader(io.StringIO(str(show("csv", result)), newline="")) if names else [[]]
    assert head == names
    for line, row in zip(lines, rows, strict=True):
        assert all(says(cell, row.get(name)) for cell, name in zip(line, names, strict=True)), (line, row)
    nested = rows if view.nested is None else plain_rows(view.nested)
    plain = json.loads(json.dumps(msgspec.to_builtins(nested, enc_hook=str)))
    assert [json.loads(line) for line in show("jsonl", result).splitlines()] == plain
    assert Result.from_json(result.to_json()) == result


def says(cell: str, value: object) -> bool:
    """Compare a cell of CSV with a value."""
    if isinstance(value, list | tuple):
        texts = [":".join(map(str, each)) if isinstance(each, list | tuple) else str(each) for each in value]
        return cell.removeprefix("'") == "; ".join(texts)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return cell == ("" if value is None else str(value))
    return float(cell) == value


@pytest.mark.parametrize("form", get_args(Format))
@pytest.mark.parametrize("kind", EXAMPLES)
def test_output_ends_in_one_line_break(kind: str, form: Format) -> None:
    out = str(show(form, example(kind)))
    assert out.endswith("\n")
    assert not out.endswith("\n\n")
    assert "\r" not in out


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_terminal_shows_every_cell_of_markdown(kind: str) -> None:
    result = example(kind)
    if view_of(result).documents is not None:
        return  # other formats have whole texts, which a terminal cuts
    text = " ".join(show("table", result).split())
    for table in of_markdown(show("markdown", result)):
        assert all(" ".join(cell.split()) in text for row in table for cell in row)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_data_frame_has_the_rows_of_csv(kind: str) -> None:
    result = example(kind)
    head, *lines = csv.reader(io.StringIO(str(show("csv", result)), newline=""))
    frame = result.to_frame("polars")
    assert head == [name for name in frame.columns if name in head]
    assert len(lines) == len(frame)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_result_read_back_looks_the_same_in_every_format(kind: str) -> None:
    result = example(kind)
    again = Result.from_json(result.to_json())
    for form in get_args(Format):
        assert show(form, again) == show(form, result), form
    assert again._repr_html_() == result._repr_html_()


@pytest.mark.parametrize("kind", EXAMPLES)
def test_faces_and_languages_have_the_same_cells(kind: str) -> None:
    result = example(kind)
    tables = {form: read(show(form, result)) for form, read in READERS.items()}  # type: ignore[arg-type]
    for interface in (COMMAND_LINE, JSON, *PAGES.values()):
        before = INTERFACE.set(interface)
        try:
            assert {form: read(show(form, result)) for form, read in READERS.items()} == tables  # type: ignore[arg-type]
        finally:
            INTERFACE.reset(before)


def test_what_campaign_pages_show_of_results_is_translated() -> None:
    rows = [Judgement(f"{n // 2}", "ab"[n % 2], who, 1 + n % 5) for n in range(24) for who in ("ann", "bob")]
    equal = [msgspec.structs.replace(row, grade=3) for row in rows]
    settings = EstimateSettings(postil="")
    cases = {
        "repeated and alone": [*rows, Judgement("30", "a", "ann", 3), Judgement("0", "a", "ann", 2)],
        "equal": equal,
        "one each": rows[::2],
        "apart": [row for row in rows if (row.annotator == "ann") == (int(row.item) < 6)],
        "one": rows[:2],
    }
    for name, some in cases.items():
        found: list[object] = []
        with suppress(Undefined):
            found.append(agreement(some, labels=(1, 2, 3, 4, 5)))
        with suppress(Undefined):
            found.append(estimate(outputs_of(None, Judged(some), severity="auto"), method="human", settings=settings))
        said = list(messages_in(found))
        assert said, name
        for page in (page for lang, page in PAGES.items() if lang != "en"):
            for each in said:
                words = page.form(each.template, each.many, each.facts.get("count"))
                assert words not in {each.template, each.many} or not re.search(r"[a-z]", re.sub(r"{.*?}", "", words))


def messages_in(value: object) -> Iterator[Message]:
    """The messages of a result, also within messages."""
    if isinstance(value, Message):
        yield value
        yield from messages_in([*value.facts.values()])
    elif isinstance(value, msgspec.Struct):
        yield from messages_in([*msgspec.structs.asdict(value).values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from messages_in(each)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_python_hears_of_no_flags(kind: str) -> None:
    result = example(kind)
    for text in (show("table", result), result.to_json(), repr(result), result._repr_html_()):
        without_commands = re.sub(r"postil [^\n]*", "", text)  # what is to be run in a shell is whole
        assert not re.search(r"(?<![\w-])--[a-z][a-z-]+", without_commands)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_notebook_begins_with_the_first_table(kind: str) -> None:
    result = example(kind)
    shown = show("html", result, replace(view_of(result), documents=None))
    first = [table[: SHOWN + 1] for table in of_html(shown)[:1] if len(table) > 1]
    assert of_html(result._repr_html_()) == first
