"""The table of a paper with one row per metric, several aspects and levels at once, and differences from a baseline."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import asdict, replace

import postil as package
from postil.data.row_files import read, write
from postil.data.rows import Judgement, Score
from postil.meta.significance import holm
from postil.results.base import read_results
from postil.results.formats import rows_as_cells

if TYPE_CHECKING:
    from conftest import Postil
    from postil.correlation.result import CorrelationResult

FEW = ("--resamples", "100", "--permutations", "200")
COMMAND = ("correlate", "s.jsonl", "--judgements", "j.jsonl", *FEW)
METRICS = ("bleu-4", "rouge-l", "meteor", "control:length")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three metrics and a control on 20 items by two systems; ROUGE-L follows fluency, METEOR relevance."""
    monkeypatch.chdir(tmp_path)
    texts = [(i, s, (i * 7 + s * 3) % 10, (i * 3 + s * 5) % 10) for i in range(20) for s in range(2)]
    of = {
        "bleu-4": lambda i, s, f, r: (i * 11 + s) % 13 + f + r,
        "rouge-l": lambda i, s, f, _: 9 * f + (i + s) % 5,
        "meteor": lambda i, s, _, r: 5 * r + (i + s) % 7,
        "control:length": lambda i, s, _, __: (i * 5 + s * 2) % 9,
    }
    write(
        "s.jsonl",
        [Score(f"i{i}", f"s{s}", m, float(of[m](i, s, f, r)), f"{m}|by hand") for m in METRICS for i, s, f, r in texts],
    )
    grades = [(i, s, aspect, grade) for i, s, f, r in texts for aspect, grade in (("fluency", f), ("relevance", r))]
    write(
        "j.jsonl",
        [
            Judgement(f"i{i}", f"s{s}", who, float(grade + off), aspect)
            for i, s, aspect, grade in grades
            for who, off in (("ann", 0), ("bob", (i + s) % 2))
        ],
    )


def told(postil: Postil, *more: str) -> dict[str, Any]:
    outcome = postil(*COMMAND, *more, "--format", "json")
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)
    return found


ASPECTS = ("fluency", "relevance")
BOTH = ("--aspect", "fluency", "--aspect", "relevance")


def test_a_column_per_aspect_and_the_best_of_each_in_bold(postil: Postil) -> None:
    each = {aspect: told(postil, "--aspect", aspect, "-c", "pearson") for aspect in ("fluency", "relevance")}
    values = {aspect: {row["metric"]: row["value"] for row in found["correlations"]} for aspect, found in each.items()}
    outcome = postil(*COMMAND, *BOTH, "-c", "pearson", "--layout", "metrics", "--format", "csv")
    head, *rows = csv.reader(io.StringIO(outcome.out))
    assert head == ["metric", "fluency", "relevance"]
    assert [row[0] for row in rows] == ["bleu-4", "rouge-l", "meteor"]  # no control
    assert [[float(cell) for cell in row[1:]] for row in rows] == [
        [values[aspect][row[0]] for aspect in ("fluency", "relevance")] for row in rows
    ]
    latex = postil(
        *COMMAND, *BOTH, "-c", "pearson", "--layout", "metrics", "--format", "latex", "--name", "meteor=M"
    ).out
    best = values["fluency"]["rouge-l"], values["relevance"]["meteor"]
    assert rf"ROUGE-L & \textbf{{{best[0]:.3f}}} & " in latex
    assert re.search(rf"^M & .*& \\textbf{{{best[1]:.3f}}} \\\\$", latex, re.MULTILINE)
    assert "BLEU-4: bleu-4|by hand".replace("|", r"\textbar{}\allowbreak ") in latex


def test_chance_is_a_note(postil: Postil) -> None:
    found = told(postil, "--aspect", "fluency", "-c", "acc-eq", "-c", "pearson")
    rows = [row for row in found["correlations"] if not row["metric"].startswith("control:")]
    chances = sorted(f"{row['chance']:.3f}"[1:] for row in rows if row["coefficient"] == "acc-eq")
    clear = sum(row["p"] < 0.05 and row["value"] > 0 for row in rows if row["coefficient"] == "pearson")
    text = postil(*COMMAND, "--aspect", "fluency", "-c", "acc-eq", "-c", "pearson", "--layout", "metrics").out
    assert f"(the same scores in random order) accuracy with ties {chances[0]} to {chances[-1]};" in text
    assert f"By chance 0; significantly above it (p < .05): Pearson {clear} of 3 metrics." in text


def systems(n: int, items: int = 20) -> None:
    """Some systems whose means two metrics and people order alike."""
    texts = [(i, s, s + (i * 3 + s * 5) % 4) for i in range(items) for s in range(n)]
    write(
        "s.jsonl",
        [Score(f"i{i}", f"s{s}", m, float(g + (i + s) % k)) for m, k in (("a", 2), ("b", 3)) for i, s, g in texts],
    )
    write("j.jsonl", [Judgement(f"i{i}", f"s{s}", "ann", float(g)) for i, s, g in texts])


def test_no_correlation_of_few_systems_is_called_significant(postil: Postil) -> None:
    """Three systems are ranked alike by chance in one of six orders, however narrow the interval over items is."""
    systems(3)
    layout = (*COMMAND, "-c", "pearson", "-c", "pa", "--by", "system", "--layout", "metrics")
    remark = (
        "3 systems are few: by system, intervals and p-values over items hold for these systems on other items, not "
        "for other systems; an exact permutation of 3 systems has a one-sided p of .167 at least"
    )
    outcome = postil(*layout)
    assert (outcome.code, outcome.err) == (0, f"{remark}\n")
    assert "By chance 0; with 3 systems no metric can be said to be above it: Pearson.\n" in outcome.out
    assert ".500; significantly above it (p < .05): pairwise accuracy 0 of 2 metrics.\n" in outcome.out
    assert f"{remark}.\n" in outcome.out
    for form in ("latex", "markdown", "html"):
        assert f"{remark}." in postil(*layout, "--format", form).out
    rows = json.loads(postil(*layout[:-2], "--format", "json").out)["correlations"]
    assert all(row["p"] < 0.05 for row in rows if row["coefficient"] == "pearson")  # of other items


def test_what_is_said_of_several_systems_is_of_other_items(postil: Postil) -> None:
    systems(6)
    outcome = postil(*COMMAND, "-c", "pearson", "--by", "system", "--by", "pool", "--layout", "metrics")
    assert (outcome.code, outcome.err) == (0, "")
    assert (
        "By chance 0; above it for these systems on other items (p < .05), which says nothing of other systems: "
        "systems 2 of 2 metrics; significantly above it (p < .05): all texts 2 of 2 metrics.\n"
    ) in outcome.out


def test_no_correlation_over_few_items_is_called_significant(postil: Postil) -> None:
    systems(6, items=4)
    text = postil(*COMMAND, "-c", "spearman", "--baseline", "a", "--layout", "metrics", "--intervals").out
    assert "By chance 0; with 4 items no metric can be said to be above it: Spearman.\n4 items are few: " in text
    assert "significantly above" not in text


def test_several_levels_are_columns_and_rows(postil: Postil) -> None:
    levels = ("--aspect", "fluency", "--by", "pool", "--by", "within-system", "-c", "pearson")
    text = postil(*COMMAND, *levels, "--layout", "metrics", "--format", "markdown").out
    assert text.startswith("| metric | all texts | within systems |\n")
    rows = list(csv.DictReader(io.StringIO(postil(*COMMAND, *levels, "--format", "csv").out)))
    assert {(row["aspect"], row["by"]) for row in rows} == {("fluency", "pool"), ("fluency", "within-system")}


def test_json_of_several_is_a_file_of_results_each_as_by_itself(postil: Postil) -> None:
    Path("both.json").write_text(postil(*COMMAND, *BOTH, "--format", "json").out, encoding="utf-8")
    results = read_results(["both.json"])
    assert [each.name for each in results] == ["fluency", "relevance"]
    for each in results:
        alone, several = told(postil, "--aspect", each.name), json.loads(each.to_json())
        for found in (alone, several):
            found["settings"].pop("command")
        assert several == {**alone, "name": each.name}
    outcome = postil("report", "both.json", "--out", "both.html")
    assert outcome.code == 0, outcome.err


def test_one_aspect_given_twice_is_one_result(postil: Postil) -> None:
    found = told(postil, "--aspect", "fluency", "--aspect", "fluency")
    assert (found["kind"], "name" in found) == ("correlate", False)


def correlated(**options: Any) -> CorrelationResult:
    return package.correlate("s.jsonl", "j.jsonl", aspect="fluency", resamples=100, permutations=200, **options)


def test_differences_from_a_baseline_are_those_of_all_pairs_adjusted_for_fewer() -> None:
    found, plain = correlated(baseline="rouge-l"), correlated()
    assert found.differences == plain.differences
    assert found.correlations == plain.correlations
    pairs = {(row.first, row.second, row.coefficient): row for row in plain.differences}
    rows = [row for row in found.from_baseline if row.coefficient == "pearson"]
    assert [row.first for row in rows] == ["bleu-4", "meteor", "control:length"]
    assert {row.second for row in rows} == {"rouge-l"}
    for row in rows:
        turned = pairs.get((row.first, row.second, "pearson"))
        other = turned or pairs[row.second, row.first, "pearson"].reversed()
        assert (row.value, row.low, row.high, row.p) == (other.value, other.low, other.high, other.p)
    assert [row.p_holm for row in rows] == pytest.approx(holm([row.p for row in rows if row.p is not None]))
    assert plain.from_baseline == ()
    assert "from_baseline" not in plain.to_dict()


def test_a_baseline_has_columns_and_a_dagger(postil: Postil) -> None:
    baseline = ("--aspect", "fluency", "-c", "pearson", "--baseline", "rouge-l")
    differences = {row.first: row for row in correlated(coefficients="pearson", baseline="rouge-l").from_baseline}
    rows = list(csv.DictReader(io.StringIO(postil(*COMMAND, *baseline, "--format", "csv").out)))
    read = {row["metric"]: (row["difference"], row["difference_p"]) for row in rows if row["difference"]}
    assert read == {name: (str(row.value), str(row.p_holm)) for name, row in differences.items()}
    significant = {row["metric"]: row["significant"] for row in rows if row["difference"]}
    assert significant == {name: str(row.significant) for name, row in differences.items()}
    head = next(line for line in postil(*COMMAND, *baseline).out.splitlines() if line.startswith("metric"))
    assert re.split(r" {2,}", head.strip()) == ["metric", "pearson", "- rouge-l", "p (Holm)"]
    text = postil(*COMMAND, *baseline, "--layout", "metrics", "--format", "markdown").out
    marked = {line.split("|")[1].strip(): "†" in line for line in text.splitlines() if line.startswith("| ")}
    assert differences["meteor"].significant
    assert marked["METEOR"]
    assert not marked["ROUGE-L"]
    assert "from ROUGE-L." in text


def test_a_level_that_a_coefficient_needs_can_be_given(postil: Postil) -> None:
    outcome = postil(*COMMAND, "--aspect", "fluency", "-c", "pa", "--by", "system", "--format", "csv")
    assert outcome.code == 0, outcome.err
    assert {row["by"] for row in csv.DictReader(io.StringIO(outcome.out))} == {"system"}


LAYOUT = ("-c", "pearson", "--layout", "metrics")
SIDE_BY_SIDE = ("item", "system", "annotator", *ASPECTS)


def side_by_side() -> list[dict[str, object]]:
    """The judgements with a column per aspect."""
    found: dict[tuple[str, ...], dict[str, object]] = {}
    for row in read("j.jsonl", Judgement):
        key = (row.item, row.system, row.annotator)
        found.setdefault(key, dict(zip(SIDE_BY_SIDE, key, strict=False)))[str(row.aspect)] = row.grade
    return list(found.values())


def test_aspects_in_columns_of_their_names(postil: Postil) -> None:
    expected = postil(*COMMAND, *BOTH, *LAYOUT)
    assert expected.code == 0
    Path("wide.csv").write_text(str(rows_as_cells(side_by_side())))
    found = postil("correlate", "s.jsonl", "--judgements", "wide.csv", *COMMAND[4:], *BOTH, *LAYOUT)
    assert (found.code, found.out) == (0, expected.out), found.err
    assert "not read" not in found.err


def test_a_field_of_the_rows_is_no_aspect(postil: Postil) -> None:
    write("plain.jsonl", [replace(row, aspect=None) for row in read("j.jsonl", Judgement) if row.aspect == "fluency"])
    outcome = postil("correlate", "s.jsonl", "--judgements", "plain.jsonl", "--aspect", "item")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err == 'postil: plain.jsonl: no judgement names an aspect, so none is "item"\n'


def test_an_annotator_who_left_an_aspect_out(postil: Postil) -> None:
    rows = side_by_side()
    gone = rows[3].pop("relevance")
    Path("wide.csv").write_text(str(rows_as_cells(rows, SIDE_BY_SIDE)))
    kept = [
        row
        for row in read("j.jsonl", Judgement)
        if row.aspect == "fluency" or [*rows[3].values()][:3] != [row.item, row.system, row.annotator]
    ]
    write("j.jsonl", kept)
    found = postil("correlate", "s.jsonl", "--judgements", "wide.csv", *COMMAND[4:], *BOTH, *LAYOUT)
    assert (found.code, found.out) == (0, postil(*COMMAND, *BOTH, *LAYOUT).out), found.err
    assert gone is not None
    assert "wide.csv: 1 row without a number, left out\n" in found.err


@pytest.mark.parametrize("form", ["jsonl", "json", "jsonl.gz"])
def test_aspects_that_the_first_rows_have_no_key_for(postil: Postil, form: str) -> None:
    rows = side_by_side()
    for row in rows[:2]:
        del row["fluency"]
    Path("wide.csv").write_text(str(rows_as_cells(rows, SIDE_BY_SIDE)))
    expected = postil("correlate", "s.jsonl", "--judgements", "wide.csv", *COMMAND[4:], *BOTH, *LAYOUT)
    assert expected.code == 0, expected.err
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    data = (json.dumps(rows) if form == "json" else lines).encode()
    Path(f"wide.{form}").write_bytes(gzip.compress(data) if form.endswith("gz") else data)
    found = postil("correlate", "s.jsonl", "--judgements", f"wide.{form}", *COMMAND[4:], *BOTH, *LAYOUT)
    assert (found.code, found.out) == (0, expected.out), found.err
    assert f"wide.{form}: 2 rows without a number, left out\n" in found.err


@pytest.mark.parametrize("form", ["jsonl", "json", "csv"])
@pytest.mark.parametrize("side", [True, False])
def test_aspects_of_standard_input(postil: Postil, form: str, side: bool) -> None:
    expected = postil(*COMMAND, *BOTH, *LAYOUT)
    rows = side_by_side() if side else [asdict(row) for row in read("j.jsonl", Judgement)]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    data = {"csv": str(rows_as_cells(rows)), "json": json.dumps(rows), "jsonl": lines}[form]
    told = () if form == "jsonl" else ("--input-format", f"judgements={form}")
    command = ("correlate", "s.jsonl", "--judgements", "-", *COMMAND[4:], *BOTH, *LAYOUT, *told)
    found = postil(*command, stdin=data.encode())
    assert (found.code, found.out) == (0, expected.out), found.err


def test_an_aspect_whose_column_no_row_has(postil: Postil) -> None:
    Path("wide.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in side_by_side()))
    command = ("correlate", "s.jsonl", "--judgements", "wide.jsonl", "--aspect", "fluency", "--aspect", "relevant")
    outcome = postil(*command)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "postil: unknown aspect 'relevant'; did you mean 'relevance'? Known: fluency, relevance; these are columns, as "
        "the other aspects are\n"
    )


def test_aspects_of_each_file_are_told_where_one_has_a_column_of_its_own(postil: Postil) -> None:
    write("wit.jsonl", [replace(row, aspect=None) for row in read("j.jsonl", Judgement) if row.aspect == "fluency"])
    for given, name in (((), "j"), (("--aspect", "wits"), "wits")):
        outcome = postil("correlate", "s.jsonl", "--judgements", "j.jsonl", "--judgements", "wit.jsonl", *given)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith(f"postil: unknown aspect '{name}'")
        assert outcome.err.endswith(
            "Known: fluency, relevance, wit; no file has it: j.jsonl has fluency and relevance, wit.jsonl has wit; "
            "choose: --aspect NAME\n"
        )
    one = ("correlate", "s.jsonl", "--judgements", "j.jsonl", "--judgements", "wit.jsonl", "--aspect", "wit")
    assert postil(*one).code == 0


def test_aspects_in_sheets_of_their_names(postil: Postil) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for aspect in ASPECTS:
        sheet = book.create_sheet(aspect)
        sheet.append(["item", "system", "annotator", "grade"])
        for row in side_by_side():
            sheet.append([*(row[name] for name in SIDE_BY_SIDE[:3]), row[aspect]])
    book.save("book.xlsx")
    expected = postil(*COMMAND, *BOTH, *LAYOUT)
    found = postil("correlate", "s.jsonl", "--judgements", "book.xlsx", *COMMAND[4:], *BOTH, *LAYOUT)
    assert (found.code, found.out) == (0, expected.out), found.err


def test_several_files_of_judgements_are_of_an_aspect_each(postil: Postil) -> None:
    for aspect in ASPECTS:
        rows = [replace(row, aspect=None) for row in read("j.jsonl", Judgement) if row.aspect == aspect]
        write(f"{aspect}.jsonl", rows)
    files = ("--judgements", "fluency.jsonl", "--judgements", "relevance.jsonl")
    expected = postil(*COMMAND, *BOTH, *LAYOUT)
    assert expected.code == 0
    assert postil("correlate", "s.jsonl", *files, *COMMAND[4:], *LAYOUT) == expected
    one = postil("correlate", "s.jsonl", *files, *COMMAND[4:], "--aspect", "fluency")
    assert one == postil(*COMMAND, "--aspect", "fluency")
    Path("other").mkdir()
    write("other/fluency.csv", [Judgement("i0", "s0", "ann", 1.0)])
    twice = postil("correlate", "s.jsonl", *files, "--judgements", "other/fluency.csv")
    assert (twice.code, twice.out) == (2, "")
    assert "fluency.jsonl and other/fluency.csv are both called fluency, as an aspect; rename one of them" in twice.err


def test_an_aspect_in_a_column_in_python() -> None:
    options = {"resamples": 10, "permutations": 10}
    expected = package.correlate("s.jsonl", "j.jsonl", aspect="relevance", **options)  # type: ignore[arg-type]
    assert package.correlate("s.jsonl", side_by_side(), aspect="relevance", **options) == expected  # type: ignore[arg-type]
    agreed = package.agreement("j.jsonl", aspect="fluency", resamples=10)
    assert package.agreement(side_by_side(), aspect="fluency", resamples=10) == agreed


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("--aspect", "fluency", "--baseline", "rouge"), "unknown metric 'rouge'"),
        (("--aspect", "fluency", "--aspect", "wit"), "unknown aspect 'wit'. Known: fluency, relevance"),
        (("--aspect", "fluency", "--by", "pool", "--by", "text"), "unknown level 'text'"),
        (("--aspect", "fluency", "-c", "pa", "--by", "system", "--by", "pool"), "pa compares systems"),
        ((*BOTH, "--layout", "metrics", "--as-printed"), "--as-printed is of scores, and --layout metrics"),
        ((*BOTH, "--layout", "metrics", "--format", "json"), "--layout metrics goes with --format"),
        ((*BOTH, "--layout", "systems"), "--layout systems is for scores of systems"),
        ((*BOTH, "--caption", "x"), "--caption goes with the layout of systems or of metrics"),
    ],
)
def test_what_cannot_be_asked(postil: Postil, given: tuple[str, ...], problem: str) -> None:
    outcome = postil(*COMMAND, *given)
    assert (outcome.code, outcome.out) == (2, "")
    assert problem in outcome.err
