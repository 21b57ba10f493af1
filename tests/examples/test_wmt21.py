"""Expert ratings as the published scores have them, and grades of references that say nothing about segments."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Judgement, Reference, Score
from postil.wmt.calls import metrics_task
from postil.wmt.options import WmtOptions
from wmt_folders import write_set

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

# Pearson over 6,877 texts, and the mean over segments; ours, frozen. The grades are compared with the published
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
        expected = [
            Reference("7", text, grade=grade, id=person)
            for text, grade, person in zip(texts, grades, ("ref", "refB"), strict=True)
        ]
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


# Minus the mean score of each system and person, as the README of the collection has it.
MQM = {
    "refB": 0.42,
    "DIDI-NLP": 1.65,
    "metricsystem2": 1.76,
    "metricsystem1": 1.90,
    "MiSS": 1.97,
    "IIE-MT": 1.98,
    "metricsystem4": 2.05,
    "metricsystem5": 2.15,
    "SMU": 2.20,
    "Borderline": 2.40,
    "NiuTrans": 2.49,
    "Facebook-AI": 2.64,
    "Online-W": 2.93,
    "metricsystem3": 2.99,
    "refA": 5.52,
}


def test_the_talks_as_a_test_set_of_the_metrics_task(example: Load, judged: Path, tmp_path: Path) -> None:
    module = example("wmt21_to_rows")
    found = module.read(judged / "wmt21_ted_zhen" / module.NAME)
    segments, people = sorted({segment for segment, _ in found}, key=int), {"ref": "refA"}
    systems = {people.get(name, name): name for _, name in found}
    rows = {new: [found.get((segment, old)) for segment in segments] for new, old in systems.items()}
    texts = {name: ["" if row is None else row.text for row in each] for name, each in rows.items()}
    grades = {name: [None if row is None else row.grade for row in each] for name, each in rows.items()}
    means = {name: [sum(filter(None, each)) / (len(each) - each.count(None))] for name, each in grades.items()}
    assert {name: -mean[0] for name, mean in means.items()} == pytest.approx(MQM, abs=0.006)
    lengths = {name: [float(len(text)) for text in each] for name, each in texts.items()}
    folder = write_set(
        tmp_path / "wmt21.tedtalks",
        "zh-en",
        human={"mqm.seg": grades, "mqm.sys": means},
        metrics={"length-src.seg": lengths},
        references={name: texts[name] for name in ("refA", "refB")},
        outputs=texts,
    )
    options = WmtOptions(language_pair="zh-en", coefficients=("pearson",), resamples=20, permutations=20)
    result = metrics_task(str(folder), options, rows=str(tmp_path / "folder"))
    assert (len(result.systems), result.segments, result.references) == (13, 529, ("refB",))
    module.main([str(judged / "wmt21_ted_zhen"), str(tmp_path)])
    numbers = {segment: str(place) for place, segment in enumerate(segments, start=1)}
    expected = {(numbers[row.item], row.system): row.grade for row in read(tmp_path / "judgements.jsonl", Judgement)}
    again = {(row.item, row.system): row.grade for row in read(tmp_path / "folder/judgements.jsonl", Judgement)}
    assert again == expected
    assert len(again) == 6877


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
