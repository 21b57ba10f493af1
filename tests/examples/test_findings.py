"""The tables of `research/findings/weights.md` are what its command lines print."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.data.row_files import read, write
from postil.data.rows import Judgement, Score
from postil.meta.correlation import correlations
from postil.meta.reliability import human_agreement
from postil.meta.table import join
from postil.results.formats import value_with_interval

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from postil.meta.coefficients import By

    Load = Callable[[str], ModuleType]
    Cells = dict[tuple[str, str], str]
    Documented = Callable[[str, str], Cells]

METRICS = ("meteor", "rouge-l", "cider", "bleu-1", "bleu-4")
NAMES = {
    "plain": "{}",
    "weighted": "w-{}",
    "best five": "control:best-5(w-{})",
    "top-graded": "control:top(w-{})",
    "nearest grade": "control:nearest(w-{})",
    "swapped": "control:swapped(w-{})",
}

pytestmark = pytest.mark.slow


@pytest.fixture
def documented(pytestconfig: pytest.Config) -> Callable[[str, str], Cells]:
    """The cells, by row and column, of the table whose first line starts so, in the section whose title does."""
    text = (pytestconfig.rootpath / "research/findings/weights.md").read_text(encoding="utf-8")

    def table(section: str, head: str) -> Cells:
        part = text[text.index(f"\n## {section}") + 1 :].split("\n## ")[0]
        lines = part[part.index(f"| {head}") :].split("\n\n")[0].splitlines()
        (_, *columns), _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        return {(row, column): cell for row, *cells in rows for column, cell in zip(columns, cells, strict=True)}

    return table


def run(*words: object) -> None:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output


def correlate(rows: Path, *files: str, by: By, aspect: str | None = None, people: bool = False) -> dict[str, str]:
    """Every value with its interval."""
    scores = (row for name in files for row in read(rows / name, Score))
    table = join(scores, read(rows / "judgements.jsonl", Judgement), aspect=aspect)
    found = correlations(table, ["pearson"], by).rows
    every = (*found, *human_agreement(table, ["pearson"], by)[0].rows) if people else found
    return {row.metric: value_with_interval(row.value, row.low, row.high).replace("-.000", ".000") for row in every}


def check_controls(cells: Cells, found: dict[str, str]) -> None:
    for (metric, column), cell in cells.items():
        if column != "shuffled":  # 100 draws there, and one here
            assert found[NAMES[column].format(metric)] == cell, (metric, column)


def test_student_answers(example: Load, judged: Path, tmp_path: Path, documented: Documented) -> None:
    specs = [word for name in METRICS for word in ("-m", name)]
    example("mohler_study").main([str(judged / "mohler"), str(tmp_path), *specs, "--draws", "1"])
    for head, by in (("pooled |", "pool"), ("within a question |", "item")):
        check_controls(documented("Student", head), correlate(tmp_path, "scores.jsonl.gz", by=by))


def test_responses(example: Load, judged: Path, tmp_path: Path, documented: Documented) -> None:
    specs = [word for name in (*METRICS, "cider-d") for word in ("-m", name)]
    folders = tmp_path / "rows", tmp_path / "copies"
    for folder, words in zip(folders, ([], ["--keep-copies"]), strict=True):
        example("dstc7_to_rows").main([str(judged / "dstc7"), str(folder), *words])
        files = folder / "candidates.jsonl", "-r", folder / "references.jsonl"
        run("score", *files, *specs, "--items", folder / "scores.jsonl.gz")
    rows, copies = folders
    nine = [row for row in read(rows / "scores.jsonl.gz", Score) if row.system != "human"]
    write(rows / "nine.jsonl", nine)
    renamed = {"length": "control:length", "human: split-half correlation": "human:halves"}

    def check(cells: Cells, folder: Path, scores: str, aspect: str, columns: dict[By, str]) -> None:
        for by, column in columns.items():
            shown = {row for row, _ in cells}
            people = "human: split-half correlation" in shown
            found = correlate(folder, scores, "length.jsonl", by=by, aspect=aspect, people=people)
            for row in shown:
                assert found[renamed.get(row, row)] == cells[row, column], (row, column)

    for aspect in ("relevance", "informativeness"):
        columns = {"pool": "pooled", "item": "within a thread", "system": "over ten systems"}
        named = {by: f"{aspect}, {column}" for by, column in columns.items()}
        check(documented("Responses", "| relevance"), rows, "scores.jsonl.gz", aspect, named)
    cells = documented("Responses", "relevance | copies")
    for folder, scores, which in (
        (rows, "scores.jsonl.gz", "copies removed"),
        (copies, "scores.jsonl.gz", "copies kept"),
        (rows, "nine.jsonl", "nine systems"),
    ):
        columns = {"item": f"{which}, within a thread", "system": f"{which}, over systems"}
        check(cells, folder, scores, "relevance", columns)


def test_translations(example: Load, judged: Path, tmp_path: Path, documented: Documented) -> None:
    example("wmt21_to_rows").main([str(judged / "wmt21_ted_zhen"), str(tmp_path)])
    weighted = [word for name in METRICS for word in ("-m", f"w-{name}")]
    plain = [word for name in METRICS for word in ("-m", name)]
    candidates, scale = tmp_path / "candidates.jsonl", ("--scale=-25:0", "--weights", "minmax")
    references, swapped = ((candidates, "-r", tmp_path / f"{name}.jsonl", *scale) for name in ("references", "swapped"))
    controls = ("--controls", "--draws", "1", "--items", tmp_path / "scores.jsonl.gz")
    run("score", *references, *plain, *weighted, *controls)
    run("score", *swapped, *weighted, "--items", tmp_path / "other.jsonl")
    text = (tmp_path / "other.jsonl").read_text(encoding="utf-8")
    # what `sed -E` does
    renamed = re.sub('"metric":"(w-[^"]*)"', r'"metric":"control:swapped(\1)"', text)
    (tmp_path / "swapped_scores.jsonl").write_text(renamed, encoding="utf-8")
    levels = {"pool": "pooled |", "item": "within a segment |", "system": "over 13 systems |"}
    for by, head in levels.items():
        found = correlate(tmp_path, "scores.jsonl.gz", "swapped_scores.jsonl", by=by)
        check_controls(documented("Translations", head), found)
