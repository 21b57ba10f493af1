"""`postil report` and `postil correlate --report`: files in, a page out; bad files in, one line out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from command_line import refusal
from postil.capabilities import capabilities
from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Passage, Score

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Outcome, Postil

FEW = ("--resamples", "50", "--permutations", "50")
GAINS = ("passages", "p.jsonl", "--resamples", "50", "--pool", "topic")
COMMAND = ("correlate", "s.jsonl", "--judgements", "j.jsonl", *FEW)
LIMIT = 5_000_000


@pytest.fixture(autouse=True)
def files(postil: Postil) -> None:
    """Scores of two metrics and a control on eight items by two systems."""
    assert postil  # it changed the folder
    metrics = ("meteor", "w-meteor", "control:top(w-meteor)")
    texts = [(item, system) for item in range(8) for system in range(2)]
    write(
        "s.jsonl",
        (
            Score(f"i{i}", f"system-{s}", name, (i * 7 + s * 3 + m * (i % 3)) % 11 / 10, f"{name}|by hand")
            for i, s in texts
            for m, name in enumerate(metrics)
        ),
    )
    grades = [
        (i, s, who, 1 + (i * 3 + s * 2 + a * (i % 2)) % 5) for i, s in texts for a, who in enumerate(("ann", "bo"))
    ]
    write("j.jsonl", (Judgement(f"i{i}", f"system-{s}", who, grade) for i, s, who, grade in grades))
    write("t.jsonl", (Candidate(f"i{i}", f"system-{s}", f"text {i} of {s}") for i, s in texts))
    write("p.jsonl", passages())


def passages() -> Iterator[Passage]:
    """Eight passages of each of six topics."""
    words = ("duck", "pond", "bread", "war", "peace", "tax", "vote")
    for topic in range(6):
        for number in range(8):
            text = " ".join(words[(topic + number * place) % 7] for place in range(6))
            yield Passage(f"t{topic}", f"p{number}", text, grade=float((topic + number) % 3))


def printed(postil: Postil, name: str, *command: str) -> str:
    """A file with what a command prints."""
    outcome = postil(*command, "--format", "json")
    assert outcome.code == 0, outcome.err
    Path(name).write_text(outcome.out, encoding="utf-8")
    return name


def written(outcome: Outcome, page: str, warned: str = "") -> str:
    """The page that a command wrote, which may warn of what a line begins with."""
    folder = f"{page.removesuffix('.html')}_files"
    said = [line for line in outcome.err.splitlines() if not (warned and line.startswith(warned))]
    assert (outcome.code, said) == (0, [f"written: {page}", f"written: {folder}"])
    return Path(page).read_text(encoding="utf-8")


def test_one_page_of_three_results(postil: Postil) -> None:
    paths = (
        printed(postil, "people.json", *COMMAND, "--candidates", "t.jsonl"),
        printed(postil, "systems.json", "compare", "s.jsonl", *FEW),
        printed(postil, "corpus.json", "score", "c.jsonl", "-r", "r.jsonl", "--scale", "5", "-m", "bleu-1"),
    )
    outcome = postil("report", *paths, "--out", "all.html")
    assert outcome.out == ""
    page = written(outcome, "all.html")
    assert [page.count(f'<bdi class="short">{name}</bdi></h2>') for name in ("people", "systems", "corpus")] == [
        1,
        1,
        1,
    ]
    assert "text 0 of 0" in page or "text 1 of 0" in page
    assert Path("all_files/1-correlations.csv").is_file()
    assert Path("all_files/2-comparison.tex").is_file()
    assert Path("all_files/3-scores.csv").is_file()


def test_straight_from_correlate(postil: Postil) -> None:
    """Files that were there are replaced, and the number of jobs makes no difference."""
    Path("r.html").write_text("old", encoding="utf-8")
    Path("r_files").mkdir()
    Path("r_files/mine.txt").write_text("mine", encoding="utf-8")
    outcome = postil(*COMMAND, "--report", "r.html")
    assert outcome.out == postil(*COMMAND).out
    page = written(outcome, "r.html", "8 items are few: ")
    assert page.startswith("<!DOCTYPE html>")
    assert Path("r_files/mine.txt").read_text(encoding="utf-8") == "mine"
    assert not list(Path().glob("**/.*.part"))
    files = [path.read_bytes() for path in sorted(Path("r_files").iterdir())]
    assert written(postil(*COMMAND, "--report", "r.html", "--jobs", "2"), "r.html", "8 items are few: ") == page
    assert [path.read_bytes() for path in sorted(Path("r_files").iterdir())] == files
    assert "Scores against ratings" in page
    again = postil("report", "r_files/results.json", "--out", "again.html")
    assert written(again, "again.html").replace("again_files", "r_files") == page


def test_straight_from_passages(postil: Postil) -> None:
    asked = (*GAINS, "--leave-one-out")
    outcome = postil(*asked, "--report", "r.html")
    assert outcome.out == postil(*asked).out
    page = written(outcome, "r.html")
    assert "Informativeness of passages" in page
    assert "With each passage left out of its own reference" in page
    assert "postil passages p.jsonl --resamples 50 --pool topic --leave-one-out --report r.html" in page
    again = postil("report", "r_files/results.json", "--out", "again.html")
    assert written(again, "again.html").replace("again_files", "r_files") == page
    for jobs in ("1", "3"):
        assert written(postil(*asked, "--report", "r.html", "--jobs", jobs), "r.html") == page


def test_both_questions_about_passages_on_one_page(postil: Postil) -> None:
    paths = [printed(postil, f"{each}.json", *GAINS, "--reference", each) for each in ("topic", "others")]
    page = written(postil("report", *paths, "--out", "r.html"), "r.html")
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert [re.sub("<[^>]*>", "", title) for title in titles] == [
        "Informativeness of passages: topic",
        "Interestingness of passages: others",
    ]
    assert Path("r_files/1-gains.tex").is_file()
    assert Path("r_files/2-curves.csv").is_file()


def test_what_other_formats_have_no_place_for(postil: Postil) -> None:
    for form in ("csv", "jsonl", "markdown", "latex"):
        said = postil(*GAINS, "--format", form).err.splitlines()
        assert "ties: expected value; seed 20181, 50 resamples" in said
        assert set(said) < set(postil(*GAINS).out.splitlines())


def test_the_default_page_and_standard_input(postil: Postil) -> None:
    printed(postil, "c.json", "compare", "s.jsonl", *FEW)
    page = written(postil("report", "c.json"), "report.html")
    assert written(postil("report", "-", stdin=Path("c.json").read_bytes()), "report.html") == page


# Bad input: one line, exit code, and nothing written


GIVE = "give what a command of postil printed with --format json"
KINDS = ", ".join(name for capability in capabilities() for name in capability.kinds)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", f"x.json: not JSON: the file is empty; {GIVE}"),
        (b" \n", f"x.json: not JSON: the file is empty; {GIVE}"),
        (b"metric  pearson\n", f"x.json:1: not JSON: Expecting value; {GIVE}"),
        (b'{"schema": 1,\n "kind": }', f"x.json:2: not JSON: Expecting value; {GIVE}"),
        (b'{"schema": 1}\n{"schema": 1}\n', f"x.json:2: not JSON: Extra data; {GIVE}"),
        (b'{"schema": NaN}', f"x.json: not JSON: NaN is not a number in JSON; {GIVE}"),
        (b'\n{"schema": "\xff"}', f"x.json:2: not JSON: not UTF-8; {GIVE}"),
        (b"PAR1\x00\x01", f"x.json:1: not JSON: Expecting value; {GIVE}"),
        (b"[]", f"x.json: expected an object in braces, got an array; {GIVE}"),
        (b"7", f"x.json: expected an object in braces, got 7; {GIVE}"),
        (b"{}", f"x.json: schema: expected 1, got none; {GIVE} by this version of postil"),
        (b'{"schema": "1"}', f'x.json: schema: expected 1, got "1"; {GIVE} by this version of postil'),
        (
            b'{"schema": 1, "kind": "demo"}',
            f'x.json: kind: expected one of {KINDS}, got "demo"; {GIVE}',
        ),
        (b'{"schema": 1, "kind": "report"}', "x.json: results: expected an array of results, got null"),
        (
            b'{"schema": 1, "kind": "report", "results": []}',
            "x.json: results: expected an array of results, got an array",
        ),
        (b'{"schema": 1, "scores": 5}', "x.json: scores: expected an array, got an integer"),
        (b'{"schema": 1, "scores": [{"system": "a"}]}', "x.json: scores[0]: object missing required field metric"),
        (b"[" * 100_000, "x.json"),
    ],
)
def test_files_that_are_no_results(postil: Postil, content: bytes, said: str) -> None:
    Path("x.json").write_bytes(content)
    got = refusal(postil, "report", "x.json")
    assert got.startswith(said) if said == "x.json" else got == said


def test_files_that_cannot_be_read(postil: Postil) -> None:
    assert refusal(postil, "report", "none.json") == "none.json: no such file"
    Path("folder").mkdir()
    assert refusal(postil, "report", "folder") == "folder: cannot be read: Is a directory"
    assert refusal(postil, "report", "s.jsonl").startswith("s.jsonl:2: not JSON: Extra data")


def test_one_bad_file_among_good_ones(postil: Postil) -> None:
    printed(postil, "c.json", "compare", "s.jsonl", *FEW)
    value: dict[str, Any] = json.loads(Path("c.json").read_text(encoding="utf-8"))
    value["systems"][3]["mean"] = "high"
    Path("x.json").write_text(json.dumps(value), encoding="utf-8")
    assert refusal(postil, "report", "c.json", "x.json") == "x.json: systems[3].mean: expected a number, got text"


def test_pages_that_cannot_be_written(postil: Postil) -> None:
    printed(postil, "c.json", "compare", "s.jsonl", *FEW)
    said = refusal(postil, "report", "c.json", "--out", "none/r.html", code=2)
    assert said == "none/r.html: parent folder none does not exist"
    Path("r.html").mkdir()
    for name in ("r.html", "c.json", "-", ".html", "r"):
        said = refusal(postil, "report", "c.json", "--out", name, code=2)
        assert said == f"{name}: expected the name of a file that ends in .html"
    for command in (COMMAND, ("passages", "missing.jsonl")):  # said before anything is read
        said = refusal(postil, *command, "--report", "r.pdf", code=2)
        assert said == "r.pdf: expected the name of a file that ends in .html"


@pytest.mark.slow
def test_ten_thousand_texts_and_twenty_metrics_fit_in_five_megabytes(postil: Postil) -> None:
    def grade(row: int) -> int:
        return 1 + (row * 7919 + row // 3) % 5

    metrics = [f"metric-{m}" for m in range(10)] + [f"w-metric-{m}" for m in range(10)]
    kinds = ("shuffled({},draw=1)", "shuffled({},draw=2)", "best-5({})", "top({})", "nearest({})")
    names = metrics + [f"control:{kind.format(name)}" for name in metrics[10:] for kind in kinds] + ["control:length"]
    write(
        "large.jsonl",
        (
            Score(f"i{row // 4}", f"s{row % 4}", name, (grade(row) * m + (row * (m + 3)) % 97) / 300, f"{name}|x")
            for row in range(10_000)
            for m, name in enumerate(names)
        ),
    )
    raters = [(row, who, max(1, grade(row) - (row + who) % 2)) for row in range(10_000) for who in range(2)]
    write("grades.jsonl", (Judgement(f"i{row // 4}", f"s{row % 4}", str(who), given) for row, who, given in raters))
    write("texts.jsonl", (Candidate(f"i{row // 4}", f"s{row % 4}", "word " * 2000) for row in range(10_000)))
    command = ("correlate", "large.jsonl", "--judgements", "grades.jsonl", "--candidates", "texts.jsonl", *FEW)
    page = written(postil(*command, "--report", "r.html"), "r.html")
    assert len(page.encode()) < LIMIT
