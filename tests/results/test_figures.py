"""Figures of results as files: one per picture, named by the result and the picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.capabilities import capabilities
from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, Reference, Score
from postil.results.base import replace
from postil.results.figures import write_figures
from postil.results.views import pictures_of
from postil.wmt.result import MetricsTaskResult
from result_examples import example

if TYPE_CHECKING:
    from conftest import Postil

KINDS = sorted(name for each in capabilities() for name, kind in each.kinds.items() if kind.pictures)


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_is_a_file_with_a_name_of_its_own(kind: str, tmp_path: Path) -> None:
    result = replace(example(kind), name="")
    written = list(write_figures([result], tmp_path / "new" / "figures"))
    assert len(written) == len({path.name.casefold() for path in written}) == 2 * len(list(pictures_of(result)))
    assert all(path.name.startswith(f"{kind}-") for path in written)
    for first, second in zip(written[::2], written[1::2], strict=True):
        assert (first.suffix, second) == (".svg", first.with_suffix(".pdf"))
        assert first.read_text("utf-8").startswith("<svg ")
        assert second.read_bytes().startswith(b"%PDF-")


def test_names_that_would_be_the_same_are_numbered(tmp_path: Path) -> None:
    result = example("score")
    written = write_figures([replace(result, name=name) for name in ("a/b", "a b")], tmp_path)
    names = [path.name for path in written if path.suffix == ".svg"]
    assert len(set(names)) == len(names)
    assert {name.replace("-2.svg", ".svg") for name in names} == {name for name in names if not name.endswith("-2.svg")}
    assert all(name.startswith("score-a-b-") for name in names)


@pytest.fixture
def _files(postil: Postil) -> None:  # noqa: ARG001 - it changes to the folder of the test
    texts = [(f"i{i}", s) for i in range(6) for s in "ab"]
    write("c.jsonl", [Candidate(item, s, f"the cat {s} {item}") for item, s in texts])
    write("r.jsonl", [Reference(item, f"the cat b {item}") for item in dict.fromkeys(item for item, _ in texts)])
    values = [(item, s, float((n * 7) % 5)) for n, (item, s) in enumerate(texts)]
    write("s.jsonl", [Score(item, s, m, v + k, m) for k, m in enumerate(("x", "y")) for item, s, v in values])
    judged = [(item, s, who, v + (n % 3) * (who == "q")) for n, (item, s, v) in enumerate(values) for who in "pq"]
    write("j.jsonl", [Judgement(item, s, who, grade) for item, s, who, grade in judged])


COMMANDS = {
    "score": ("c.jsonl", "-r", "r.jsonl", "-m", "rouge-l"),
    "compare": ("s.jsonl",),
    "correlate": ("s.jsonl", "--judgements", "j.jsonl", "--resamples", "50", "--permutations", "50"),
    "estimate": ("s.jsonl", "--judgements", "j.jsonl"),
    "agreement": ("j.jsonl",),
    "weights plan": ("c.jsonl", "-r", "r.jsonl", "--budget", "3"),
}


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_writes_its_figures_and_prints_what_it_prints_without(
    postil: Postil, command: str, tmp_path: Path
) -> None:
    plain = postil(*command.split(), *COMMANDS[command], "--format", "csv")
    drawn = postil(*command.split(), *COMMANDS[command], "--format", "csv", "--figures", "figures")
    assert (drawn.code, drawn.out) == (0, plain.out), drawn.err
    written = [line.removeprefix("written: ") for line in drawn.err.splitlines() if line.startswith("written: ")]
    assert sorted(written) == sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("figures/*"))
    assert {Path(path).suffix for path in written} == {".svg", ".pdf"}


@pytest.mark.usefixtures("_files")
def test_letters_that_no_font_has_are_told_once(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.results.plots.figure.FALLBACK", ())
    write(
        "s.jsonl",
        [Score(f"i{i}", s, m, float(i * k % 5), m) for i in range(6) for k, s in enumerate("ab") for m in ("猫", "y")],
    )
    outcome = postil("compare", "s.jsonl", "--figures", "figures")
    (note,) = [line for line in outcome.err.splitlines() if "no installed font" in line]
    assert note.startswith("note: no installed font has 猫: install one that does, ")


@pytest.mark.usefixtures("_files")
def test_metrics_have_the_names_that_were_given_in_figures_and_tables(postil: Postil) -> None:
    command = ("correlate", *COMMANDS["correlate"], "--name", "x=COMET", "--figures", "figures")
    outcome = postil(*command)
    assert outcome.code == 0, outcome.err
    assert re.findall(r"^(COMET|x|y|COMET - y|x - y|y - COMET|y - x) ", outcome.out, re.MULTILINE)[:2] == ["COMET", "y"]
    drawn = Path("figures/correlate-pearson.svg").read_text("utf-8")
    assert (">COMET</text>" in drawn, ">x</text>" in drawn, ">y</text>" in drawn) == (True, False, True)
    wrong = postil("correlate", *COMMANDS["correlate"], "--name", "z=COMET")
    assert (wrong.code, wrong.out) == (2, "")
    assert "unknown metric 'z'. Known: x, y" in wrong.err


@pytest.mark.usefixtures("_files")
def test_a_metric_with_parameters_is_named(postil: Postil) -> None:
    spec = "rougeL(stem=true)"
    texts = [(f"i{i}", s, i * (s == "a") / 8) for i in range(6) for s in "ab"]
    write("s.jsonl", [Score(item, s, spec, value, spec) for item, s, value in texts])
    for words in (
        ("compare", "s.jsonl"),
        ("compare", "s.jsonl", "--layout", "systems"),
        ("correlate", *COMMANDS["correlate"]),
        ("score", "c.jsonl", "-r", "r.jsonl", "-m", spec),
    ):
        outcome = postil(*words, "--name", f"{spec}=ROUGE-L (stems)")
        assert outcome.code == 0, outcome.err
        assert "ROUGE-L (stems)" in outcome.out


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(
    ("command", "wrong", "more", "known"),
    [
        ("correlate", "--name", ("--report", "r.html"), "x, y"),
        ("correlate", "--name", ("--by", "pool", "--by", "item", "--layout", "metrics", "--format", "t.xlsx"), "x, y"),
        ("compare", "--name", ("--format", "t.tex"), "x, y"),
        ("compare", "--name", ("--layout", "systems", "--format", "t.xlsx"), "x, y"),
        ("compare", "--fail-below", ("--format", "t.tex"), "x, y"),
        ("score", "--name", ("--items", "i.jsonl"), "rouge-l"),
        ("score", "--fail-below", ("--items", "i.jsonl"), "rouge-l"),
    ],
)
def test_metrics_that_are_not_scored_are_refused_before_anything_is_written(
    postil: Postil, command: str, wrong: str, more: tuple[str, ...], known: str
) -> None:
    before = sorted(Path().iterdir())
    words = (command, *COMMANDS[command], *more, "--figures", "figures")
    outcome = postil(*words, wrong, "z=1")
    kind = "metric" if wrong == "--name" else "metric with a limit"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"postil: unknown {kind} 'z'. Known: {known}\n")
    assert sorted(Path().iterdir()) == before


@pytest.mark.usefixtures("_files")
def test_default_metrics_are_known_before_item_scores_are_written(postil: Postil) -> None:
    outcome = postil("score", "c.jsonl", "-r", "r.jsonl", "--items", "i.jsonl", "--name", "z=1")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.endswith("unknown metric 'z'. Known: bleu-4, meteor, rouge-l, cider-d\n")
    assert not Path("i.jsonl").exists()


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(
    ("command", "layout"), [("correlate", "systems"), ("compare", "metrics"), ("score", "metrics")]
)
def test_a_layout_that_a_result_lacks_is_refused_before_figures_are_written(
    postil: Postil, command: str, layout: str
) -> None:
    outcome = postil(command, *COMMANDS[command], "--figures", "figures", "--layout", layout)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.endswith(f"not for {command}\n")
    assert not Path("figures").exists()


@pytest.mark.usefixtures("_files")
def test_a_metric_without_a_number_has_its_name_in_the_tables_that_show_it(postil: Postil) -> None:
    texts = [(f"i{i}", s) for i in range(6) for s in "ab"]
    rows = [Score(item, s, m, (n * 3) % 5 if m == "x" else 1.0) for n, (item, s) in enumerate(texts) for m in "xy"]
    write("s.jsonl", rows)
    for more in ((), ("--layout", "metrics"), ("--by", "pool", "--by", "item")):
        outcome = postil("correlate", *COMMANDS["correlate"], "--name", "y=CONSTANT", *more)
        assert outcome.code == 0, outcome.err
        assert ("CONSTANT  " in outcome.out) == ("--layout" not in more)


@pytest.mark.usefixtures("_files")
def test_a_file_is_no_folder_for_figures(postil: Postil) -> None:
    outcome = postil("compare", "s.jsonl", "--figures", "s.jsonl")
    assert (outcome.code, outcome.out) == (2, "")
    assert "s.jsonl: is a file; expected a folder for figures" in outcome.err


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["new/fig.pdf", "new/fig.SVG", "new/fig.html"])
def test_the_name_of_a_file_is_no_new_folder(postil: Postil, command: str, name: str) -> None:
    outcome = postil(*command.split(), *COMMANDS[command], "--figures", name)
    assert (outcome.code, outcome.out) == (2, "")
    said = "the name of a file; expected a folder, into which every figure is written as SVG and as PDF"
    assert outcome.err == f"postil: --figures {name}: {said}: --figures new/fig\n"
    assert not Path("new").exists()


@pytest.mark.usefixtures("_files")
def test_a_folder_may_have_a_point_in_its_name(postil: Postil) -> None:
    Path("old.pdf").mkdir()
    for name in ("old.pdf", "seed.5"):
        assert postil("compare", "s.jsonl", "--figures", name).code == 0
        assert list(Path(name).glob("*.svg"))


def test_accuracies_of_wmt_have_a_line_at_chance() -> None:
    result = example("wmt")
    assert isinstance(result, MetricsTaskResult)
    (first, *_), rows = result.correlations, result.correlations
    accuracies = [replace(row, coefficient="acc-eq", by="item", chance=0.4 + n / 100) for n, row in enumerate(rows)]
    ranks = {**result.ranks, "item acc-eq": dict.fromkeys((row.metric for row in rows), 1)}
    texts = {
        picture.key: [text.get_text() for text in picture.draw().texts]
        for picture in pictures_of(replace(result, correlations=(*rows, *accuracies), ranks=ranks))
    }
    assert list(texts) == [*dict.fromkeys(f"{row.by}-{row.coefficient}" for row in rows), "item-acc-eq"]
    assert f"highest chance .{39 + len(rows)}0" in texts["item-acc-eq"]
    assert not any("chance" in text for text in texts[f"{first.by}-{first.coefficient}"])
