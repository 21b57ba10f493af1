"""Expert ratings as the published scores have them, and grades of references that say nothing about segments."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from postil.cli.main import app
from postil.records import Candidate, Judgement, Reference, Score, read, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    Load = Callable[[str], ModuleType]

HEAD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
MARKS = [
    ("A", 'He said "<v>no</v>', "Accuracy/Mistranslation", "Major"),  # a quotation mark that nothing closes
    ("A", 'He said "no<v></v>', "Fluency/Punctuation", "Minor"),
    ("A", 'He <v>said</v> "no', "Fluency/Grammar", "Minor"),
    ("B", "<v>What</v>", "Non-translation!", "Major"),
    ("B", "<v>What</v>", "Style/Awkward", "Major"),
    ("ref", "He said no.", "No-error", "No-error"),
    ("refB", "He denied it<v>.</v>", "Fluency/Punctuation", "Major"),
]

# Pearson over 6,877 texts, and the mean over segments; ours, frozen. The grades are held against the published
# ones above.
FIGURES = {
    "rouge-l": (0.1838, 0.085),
    "w-rouge-l": (0.1922, 0.088),
    "control:swapped(w-rouge-l)": (0.2131, 0.087),
    "control:top(w-rouge-l)": (0.176, 0.100),
    "control:length": (-0.327, 0.019),
}


def test_rows(example: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{system}\ttalk.1\t1\t7\tann\t。\t{text}\t{kind}\t{severity}" for system, text, kind, severity in MARKS]
    with gzip.open(tmp_path / "mqm_ted_zhen.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join([HEAD, *rows]) + "\n")
    example("wmt21_to_rows").main([str(tmp_path), str(tmp_path)])
    assert capsys.readouterr().out == f"2 candidates, 2 references in {tmp_path}\n"
    assert list(read(tmp_path / "candidates.jsonl", Candidate)) == [
        Candidate("7", "A", 'He said "no'),
        Candidate("7", "B", "What"),
    ]
    assert list(read(tmp_path / "judgements.jsonl", Judgement)) == [
        Judgement("7", "A", "ann", -6.1),  # 5 + .1 + 1
        Judgement("7", "B", "ann", -25),  # 25 + 5, and no lower
    ]
    texts = "He said no.", "He denied it."
    for name, grades in (("references", (0, -5)), ("swapped", (-5, 0))):
        expected = [Reference("7", text, grade=grade) for text, grade in zip(texts, grades, strict=True)]
        assert list(read(tmp_path / f"{name}.jsonl", Reference)) == expected


def test_the_published_scores(example: Load, judged: Path) -> None:
    module = example("wmt21_to_rows")
    folder = judged / "wmt21_ted_zhen"
    found = module.read(folder / module.NAME)
    with (folder / "mqm_ted_zhen.avg_seg_scores.tsv").open(encoding="utf-8") as file:
        next(file)
        rows = [line.split() for line in file]
    people = {"ref-A": "ref", "ref-B": "refB"}
    published = {
        (segment, people.get(system, system)): float(score) for system, score, segment in rows if score != "None"
    }
    assert len(published) == 7935
    assert {key: row.grade for key, row in found.items()} == pytest.approx(published, abs=1e-6)


def test_swapped_grades_do_as_well(example: Load, judged: Path, tmp_path: Path) -> None:
    example("wmt21_to_rows").main([str(judged / "wmt21_ted_zhen"), str(tmp_path)])

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, [word.replace("rows/", f"{tmp_path}/") for word in words])
        assert result.exit_code == 0, result.output
        return result.stdout

    scale = ("--scale=-25:0", "--weights", "minmax")
    right = ("-m", "rouge-l", "-m", "w-rouge-l", "--controls", "--draws", "2", "--items", "rows/scores.jsonl.gz")
    run("score", "rows/candidates.jsonl", "-r", "rows/references.jsonl", *scale, *right)
    run(
        "score",
        "rows/candidates.jsonl",
        "-r",
        "rows/swapped.jsonl",
        *scale,
        "-m",
        "w-rouge-l",
        "--items",
        "rows/o.jsonl",
    )
    renamed = [
        Score(row.item, row.system, f"control:swapped({row.metric})", row.score, row.signature)
        for row in read(tmp_path / "o.jsonl", Score)
    ]
    write(tmp_path / "swapped_scores.jsonl", renamed)
    files = ("rows/scores.jsonl.gz", "rows/swapped_scores.jsonl", "--judgements", "rows/judgements.jsonl")
    for level, by in enumerate(("pool", "item")):
        found = json.loads(run("correlate", *files, "--by", by, "-c", "pearson", "--format", "json"))
        assert (found["data"]["texts"], found["data"]["items"]) == (6877, 529)
        values = {row["metric"]: row["value"] for row in found["correlations"]}
        expected = {name: figures[level] for name, figures in FIGURES.items()}
        assert {name: values[name] for name in FIGURES} == pytest.approx(expected, abs=6e-4)
        pairs = {(row["first"], row["second"]): row for row in found["differences"]}
        plain = pairs["rouge-l", "w-rouge-l"]
        assert plain["low"] < 0 < plain["high"]
        assert found["human"] == {"reason": "no text has ratings by two annotators"}
