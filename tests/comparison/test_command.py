"""`postil compare`: systems against a baseline on each metric."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from command_line import put, refusal
from postil.comparison.calls import compare_rows
from postil.comparison.options import CompareOptions
from postil.data.row_files import write
from postil.data.rows import Candidate, Reference, Score
from postil.meta.rated import open_score_files
from postil.results.views import show

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conftest import Outcome, Postil

COMMAND = ("compare", "s.jsonl", "--resamples", "100", "--permutations", "200")

# `plus` is .1 above `base` on every item: every resample has that difference, and of the 2^4 sign flips two reach
# it, the one that turns none and the one that turns all.
BASE = (0.1, 0.2, 0.3, 0.4)
ROWS = {"base": BASE, "plus": (0.2, 0.3, 0.4, 0.5), "same": BASE}


def scores(metric: str, of: dict[str, Iterable[float]]) -> list[Score]:
    return [
        Score(f"i{item}", system, metric, value, f"{metric}|by hand")
        for system, values in of.items()
        for item, value in enumerate(values)
    ]


def test_scores_need_no_signature(postil: Postil) -> None:
    rows_without = [
        {"item": f"i{i}", "system": s, "metric": "m", "score": i / 4 + (s == "b")} for s in "ab" for i in range(4)
    ]
    put("s.jsonl", rows_without)
    assert rows(postil(*COMMAND, "--format", "jsonl"))["b", "m"]["difference"] == 1.0
    Path("s.jsonl").write_text(json.dumps(rows_without[0] | {"signature": "m|1"}) + "\n" + json.dumps(rows_without[1]))
    outcome = postil(*COMMAND)
    assert outcome.code == 3
    assert "m has two signatures, so its numbers cannot be compared: m|1 and external" in outcome.err


@pytest.mark.parametrize("items", [9, 10])
def test_few_items_have_a_note(postil: Postil, items: int) -> None:
    values = [i / 10 for i in range(items)]
    write("s.jsonl", scores("m", {"base": values, "plus": [value + 0.1 for value in values]}))
    said = "note: 9 items are few: intervals and tests that resample items cannot be trusted below 10, so nothing is"
    assert (said in postil(*COMMAND).out) == (items == 9)


def test_scores_of_the_first_words_are_those_of_another_tokenizer(postil: Postil) -> None:
    signatures = {
        "a": "m|tokenizer:words|references:1|postil:0.3.0",
        "b": "m|tokenizer:words-2|references:1|postil:0.3.0",
    }
    write("s.jsonl", [Score(f"i{i}", s, "m", i / 4, signatures[s]) for s in "ab" for i in range(4)])
    outcome = postil(*COMMAND)
    assert outcome.code == 3
    assert "their tokenizers are others: words and words-2; give the scores of one run" in outcome.err
    write("s.jsonl", [Score(f"i{i}", s, "m", i / 4, signatures["a"]) for s in "ab" for i in range(4)])
    assert postil(*COMMAND).code == 0  # among themselves they are compared as before


def small() -> None:
    write("s.jsonl", scores("meteor", dict(ROWS)))


def rows(outcome: Outcome) -> dict[tuple[str, str], dict[str, Any]]:
    assert outcome.code == 0, outcome.err
    found = [json.loads(line) for line in outcome.out.splitlines()]
    return {(row["system"], row["metric"]): row for row in found}


FEW_ITEMS = (
    "4 items are few: intervals and tests that resample items cannot be trusted below 10, so nothing is called "
    "significant by them alone"
)
WITHOUT_STATISTICS = (
    "the scores have no statistics, so means of item scores are compared, not the corpus scores of postil score: meteor"
)
GOLDEN = {
    "table": """\
4 items, means of item scores, against base

system  metric               mean         difference  p (bootstrap)  p (permutation)  p (Holm)
------  ------  -----------------  -----------------  -------------  ---------------  --------
base    meteor  .250 [.150, .363]                  -              -                -         -
plus    meteor  .350 [.250, .463]  .100 [.100, .100]         0.0198           0.1493    0.2985
same    meteor  .250 [.150, .363]  .000 [.000, .000]         1.0000           1.0000    1.0000

note: 4 items are few: intervals and tests that resample items cannot be trusted below 10, so nothing is \
called significant by them alone
note: the scores have no statistics, so means of item scores are compared, not the corpus scores of postil score: meteor
seed 20181, 100 resamples, 200 permutations; Holm-adjusted within a metric
""",
    "markdown": """\
| system | metric | mean | difference | p (bootstrap) | p (permutation) | p (Holm) |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
| base | meteor | .250 [.150, .363] | - | - | - | - |
| plus | meteor | .350 [.250, .463] | .100 [.100, .100] | 0.0198 | 0.1493 | 0.2985 |
| same | meteor | .250 [.150, .363] | .000 [.000, .000] | 1.0000 | 1.0000 | 1.0000 |
""",
    "latex": r"""\begin{tabular}{lrrrrrr}
\toprule
system & metric & mean & minus base & p (bootstrap) & p (randomization) & p (Holm) \\
\midrule
base & meteor & .250 [.150, .363] & -- & -- & -- & -- \\
plus & meteor & .350 [.250, .463] & +.100 [.100, .100] & .0198 & .1493 & .2985 \\
same & meteor & .250 [.150, .363] & .000 [.000, .000] & 1.0000 & 1.0000 & 1.0000 \\
\bottomrule
\end{tabular}
""",
}


@pytest.mark.parametrize("form", GOLDEN)
def test_layouts_for_people(postil: Postil, form: str) -> None:
    small()
    outcome = postil(*COMMAND, "--format", form)
    assert (outcome.code, outcome.out) == (0, GOLDEN[form])


def test_json_schema(postil: Postil) -> None:
    small()
    said = json.loads(postil(*COMMAND, "--format", "json").out)
    found = list(rows(postil(*COMMAND, "--format", "jsonl")).values())
    assert [row.pop("significant") for row in found] == [None, False, False]
    assert said == {
        "schema": 1,
        "kind": "compare",
        "aggregation": "item mean",
        "baseline": "base",
        "items": 4,
        "systems": found,
        "lower_is_better": [],
        "left_out": [],
        "notes": [FEW_ITEMS, WITHOUT_STATISTICS],
        "signatures": {"meteor": "meteor|by hand"},
        "settings": {**said["settings"], "resamples": 100, "permutations": 200, "seed": 20181},
    }


def test_the_same_bytes_from_several_files(postil: Postil) -> None:
    small()
    straight = postil(*COMMAND, "--format", "jsonl")
    assert postil(*COMMAND, "--format", "jsonl") == straight
    lines = Path("s.jsonl").read_text().splitlines(keepends=True)
    for name, part in (("1.jsonl", lines[:5]), ("2.jsonl", lines[5:])):
        Path(name).write_text("".join(part))
    assert postil("compare", "1.jsonl", "2.jsonl", *COMMAND[2:], "--format", "jsonl") == straight


def test_small_numbers_may_be_good(postil: Postil) -> None:
    small()
    turned = postil(*COMMAND, "--lower-is-better", "meteor")
    line = "lower is better, so a system below the baseline is better: meteor\n"
    assert turned.out.replace(line, "") == GOLDEN["table"]
    assert json.loads(postil(*COMMAND, "--lower-is-better", "meteor", "--format", "json").out)["lower_is_better"] == [
        "meteor"
    ]


def test_controls_are_in_the_json_alone(postil: Postil) -> None:
    control = "control:top(w-meteor)"
    rows_of = [
        *scores("meteor", dict(ROWS)),
        *scores(control, dict(ROWS)),
        *scores("control:shuffled(w-meteor,draw=1)", dict(ROWS)),
    ]
    write("s.jsonl", rows_of)
    outcome = postil(*COMMAND)
    assert "control:" not in outcome.out.partition("\n\n")[2].partition("\n\n")[0]
    assert "1 control not shown; --format json has them all\n" in outcome.out
    assert "note: single draws of random controls passed over: 1\n" in outcome.out
    assert {metric for _, metric in rows(postil(*COMMAND, "--format", "jsonl"))} == {"meteor", control}
    write("s.jsonl", scores(control, dict(ROWS)))
    table = re.sub("note: the scores .*\n", "", GOLDEN["table"])
    assert postil(*COMMAND).out == table.replace("  metric", f"  {'metric':>21}").replace(
        "------  ------  ", f"------  {'-' * 21}  "
    ).replace("meteor ", f"{control} ")


def test_systems_that_cover_different_items(postil: Postil) -> None:
    write("s.jsonl", scores("meteor", {**ROWS, "short": BASE[1:3]}))
    said = "s.jsonl: systems cover different items; items that short lacks: 2 (i2, i3); give all systems the same items"
    assert refusal(postil, *COMMAND) == f"{said}, or compare on those that they share: --intersect"
    outcome = postil(*COMMAND, "--intersect")
    assert outcome.out.startswith("2 items, means of item scores, against base\n")
    assert "excluded: items that short lacks: 2 (i2, i3)\n" in outcome.out


def test_large_numbers_keep_the_table_narrow(postil: Postil) -> None:
    write("s.jsonl", scores("length", {"a": [3e99, 5e99], "b": [-1e99, 7e99]}))
    said = postil(*COMMAND).out
    assert "4.000e+99 [3.000e+99, 5.000e+99]" in said
    assert max(map(len, said.splitlines())) < 160


def test_names_cannot_break_the_layout(postil: Postil) -> None:
    write("s.jsonl", scores("me\nteor", {"系统\x1b[31m": BASE, "b\n\u202e": BASE[:3]}))
    outcome = postil(*COMMAND, "--intersect")
    assert (outcome.code, outcome.err) == (0, "")
    assert not {"\x1b", "\u202e"} & set(outcome.out)
    assert len(outcome.out.splitlines()) == 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": 1e200}, "s.jsonl:3: score: expected a number from -1e+100 to 1e+100, got 1e+200"),
        ({"signature": "x"}, "s.jsonl:3: signature: meteor has two signatures"),
        ({"item": "i1"}, 's.jsonl:3: metric: a second score of item "i1" by system "base" for one metric: meteor'),
    ],
)
def test_a_bad_row(postil: Postil, change: dict[str, object], message: str) -> None:
    small()
    lines = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    lines[2] |= change
    put("s.jsonl", lines)
    said = refusal(postil, *COMMAND)
    assert said.startswith(message)


def test_without_a_file_from_python() -> None:
    with pytest.raises(Exception, match="expected at least one file of scores"):
        open_score_files([])


def test_the_first_system_is_the_baseline(postil: Postil) -> None:
    small()
    found = compare_rows(open_score_files(["s.jsonl"]), CompareOptions(resamples=100, permutations=200))
    table = show("table", found)
    assert table == postil(*COMMAND).out == postil(*COMMAND, "--baseline", "base").out


def test_the_example_in_the_help_runs(postil: Postil) -> None:
    write("s.jsonl", scores("meteor", {"a": BASE, "seq2seq": BASE}))
    said = re.sub(r"\s+", " ", postil("compare", "--help").out)
    words = said.partition("Example: postil ")[2].partition(" Arguments:")[0].replace("scores.jsonl", "s.jsonl").split()
    assert postil(*words).code == 0


METRICS = ("bleu-4(smooth=exp)", "meteor", "w-meteor(corpus=chosen)", "rouge-1(corpus=pooled)", "rouge-l", "w-rouge-l")


def made(items: int = 40) -> None:
    """Texts of three systems with graded references, in `c.jsonl` and `r.jsonl`."""
    random = Random(7)  # noqa: S311 - test data
    words = [f"w{n}" for n in range(30)]
    references = [[random.choices(words, k=random.randint(4, 12)) for _ in range(3)] for _ in range(items)]

    def copied(text: list[str], noise: float) -> str:
        return " ".join(random.choice(words) if random.random() < noise else word for word in text)

    write(
        "c.jsonl",
        [
            Candidate(str(item), system, copied(several[0], noise))
            for system, noise in (("base", 0.5), ("close", 0.45), ("good", 0.1))
            for item, several in enumerate(references)
        ],
    )
    write(
        "r.jsonl",
        [
            Reference(str(item), " ".join(text), grade=float(5 - n))
            for item, several in enumerate(references)
            for n, text in enumerate(several)
        ],
    )


def scored(postil: Postil, file: str = "s.jsonl") -> dict[tuple[str, str], float]:
    specs = [word for spec in METRICS for word in ("-m", spec)]
    return postil(
        "score", "c.jsonl", "-r", "r.jsonl", *specs, "--scale", 5, "--items", file, "--format", "jsonl"
    ).scores


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_compare_has_the_numbers_of_score(postil: Postil, kind: str) -> None:
    made()
    corpus = scored(postil, f"s.{kind}")
    outcome = postil("compare", f"s.{kind}", *COMMAND[2:], "--format", "json")
    found = json.loads(outcome.out)
    (note,) = found["notes"]
    assert found["aggregation"] == "corpus"
    assert note.startswith("18 candidates are references of their own items")
    assert found["summed"] == ["bleu-4(smooth=exp)", "meteor", "w-meteor(corpus=chosen)", "rouge-1(corpus=pooled)"]
    assert {(row["system"], row["metric"]): row["mean"] for row in found["systems"]} == pytest.approx(corpus, rel=1e-12)
    for row in found["systems"]:
        assert row["low"] <= row["mean"] <= row["high"]
        if row["system"] == "good":
            assert row["difference"] == pytest.approx(row["mean"] - corpus["base", row["metric"]], rel=1e-9)
            assert row["p_randomisation"] == pytest.approx(1 / 201)
    assert set(found["signatures"]) == set(METRICS)


def test_means_of_items_on_request(postil: Postil) -> None:
    made()
    corpus = scored(postil)
    outcome = postil(*COMMAND, "--item-means")
    assert outcome.out.startswith("40 items, means of item scores, against base\n")
    assert "note: means of item scores are compared, not the corpus scores of postil score: bleu-4" in outcome.out
    rows_of = rows(postil(*COMMAND, "--item-means", "--format", "jsonl"))
    read = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    for (system, metric), row in rows_of.items():
        values = [each["score"] for each in read if (each["system"], each["metric"]) == (system, metric)]
        assert row["mean"] == pytest.approx(sum(values) / len(values), rel=1e-12)
        assert (row["mean"] == pytest.approx(corpus[system, metric], rel=1e-9)) == ("rouge-l" in metric)
    # Without statistics, as earlier files have none, the comparison is that of the means.
    Path("s.jsonl").write_text("".join(json.dumps(each | {"statistics": []}) + "\n" for each in read))
    assert rows(postil(*COMMAND, "--format", "jsonl")) == rows_of


def test_means_are_the_same_with_and_without_corpus_scores_beside_them(postil: Postil) -> None:
    made()
    scored(postil)
    beside = rows(postil(*COMMAND, "--format", "jsonl"))
    for metric in ("rouge-l", "w-rouge-l"):
        lines = [line for line in Path("s.jsonl").read_text().splitlines() if json.loads(line)["metric"] == metric]
        Path("alone.jsonl").write_text("\n".join(lines) + "\n")
        alone = rows(postil("compare", "alone.jsonl", *COMMAND[2:], "--format", "jsonl"))
        for key, row in alone.items():
            for name, value in beside[key].items():
                assert row[name] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value)


def test_a_metric_of_another_program_beside_corpus_scores(postil: Postil) -> None:
    made()
    scored(postil)
    read = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    with Path("s.jsonl").open("a") as out:
        for each in read:
            if each["metric"] == "rouge-l":
                out.write(json.dumps(each | {"metric": "bert-score", "signature": "theirs"}) + "\n")
    said = postil(*COMMAND).out
    assert "note: the mean of item scores is taken for the corpus score of bert-score\n" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"statistics": [1.0]},
            "s.jsonl:7: statistics: expected 10 numbers, as the first row of bleu-4(smooth=exp) has",
        ),
        (
            {"statistics": None},
            "s.jsonl:7: statistics: expected 10 numbers, as the first row of bleu-4(smooth=exp) has",
        ),
        ({"statistics": ["a"]}, 's.jsonl:7: statistics[0]: expected a number, got "a"'),
        ({"statistics": [1e300] * 10}, "s.jsonl:7: statistics: expected a number from -1e+100 to 1e+100, got 1e+300"),
        (
            {"score": 0.99},
            's.jsonl: bleu-4(smooth=exp): the score of item "1" by system "base" is not that of its stat',
        ),
    ],
)
def test_bad_statistics(postil: Postil, change: dict[str, object], message: str) -> None:
    made()
    scored(postil)
    lines = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    lines[6] |= change
    put("s.jsonl", lines)
    said = refusal(postil, *COMMAND)
    assert said.startswith(message)


def test_statistics_of_a_metric_that_is_not_known_here(postil: Postil) -> None:
    made()
    scored(postil)
    text = Path("s.jsonl").read_text()
    Path("s.jsonl").write_text(text.replace("rouge-1(count=clipped", "rouge-17(count=clipped"))
    said = refusal(postil, *COMMAND, code=2)
    assert said.startswith(
        "rouge-1(corpus=pooled): its corpus score cannot be computed here (unknown metric with the signature rouge-17("
    )
    assert said.endswith("; compare means of item scores: --item-means")
    Path("s.jsonl").write_text(text.replace("bleu-4(smooth=exp,eff", "bleu-3(smooth=exp,eff"))
    said = refusal(postil, *COMMAND)
    assert said.startswith("s.jsonl: bleu-4(smooth=exp): expected 8 statistics of each text, got 10; score again, or")


def test_p_values_of_sacrebleu(postil: Postil) -> None:
    small()
    found = rows(postil(*COMMAND, "--p-values", "sacrebleu", "--format", "jsonl"))
    # Of equal systems no resample and no swap exceeds the difference of 0.
    assert (found["same", "meteor"]["p_bootstrap"], found["same", "meteor"]["p_randomisation"]) == (1 / 101, 1 / 201)
    assert "; p-values as in sacrebleu\n" in postil(*COMMAND, "--p-values", "sacrebleu").out
    said = refusal(postil, *COMMAND, "--p-values", "sacreblue", code=2)
    assert said.startswith("unknown definition of p-values 'sacreblue'; did you mean 'sacrebleu'?")


def test_layout_of_systems(postil: Postil) -> None:
    made()
    corpus = scored(postil)
    tested = rows(postil(*COMMAND, "--format", "jsonl"))
    outcome = postil(*COMMAND, "--layout", "systems", "--format", "markdown", "--percent", "--intervals")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in outcome.out.splitlines() if "|" in line]
    assert lines[0] == ["system", "BLEU-4", "METEOR", "w-METEOR", "ROUGE-1", "ROUGE-L", "w-ROUGE-L"]
    found = {line[0]: dict(zip(METRICS, line[1:], strict=True)) for line in lines[2:5]}
    assert list(found) == ["base", "close", "good"]
    for (system, metric), value in corpus.items():
        cell = found[system][metric]
        assert re.search(r"\d+\.\d\d", cell)[0] == f"{100 * value:.2f}"  # type: ignore[index]
        assert re.search(r"\[\d+\.\d\d, \d+\.\d\d\]$", cell)
        assert cell.startswith("**") == (system == "good")
        significant = (tested[system, metric]["p_holm"] or 1) < 0.05
        assert ("†" in cell) == significant == bool(tested[system, metric]["significant"])
    note = "40 items. Corpus scores. Scores × 100. Best in bold. † significantly different from base (approximate "
    assert f"\n{note}" in outcome.out
    assert "- METEOR: meteor(params=en," in outcome.out


def test_a_workbook_has_the_decimals_and_the_significance_of_the_table(postil: Postil) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    made()
    scored(postil)
    assert postil(*COMMAND, "--format", "t.xlsx").code == 0
    head, *lines = openpyxl.load_workbook("t.xlsx").active.iter_rows()
    names = [cell.value for cell in head]
    found = [dict(zip(names, line, strict=True)) for line in lines]
    assert {row["mean"].number_format for row in found} == {"0.000"}
    tested = [row for row in found if row["p_holm"].value is not None]
    assert {row[name].number_format for row in tested for name in names[6:9]} == {"0.000"}
    assert {row[name].number_format for row in tested for name in names[9:12]} == {"0.0000"}
    assert [row["significant"].value for row in tested] == [row["p_holm"].value < 0.05 for row in tested]
    assert {row["significant"].value for row in tested} == {True, False}
    assert {row["significant"].value for row in found if row not in tested} == {None}
    whole = {key: row["mean"] for key, row in rows(postil(*COMMAND, "--format", "jsonl")).items()}
    read = {(row["system"].value, row["metric"].value): row["mean"].value for row in found}
    assert read == pytest.approx(whole, rel=1e-15)

    layout = ("--layout", "systems", "--second-best", "--percent", "--intervals")
    assert postil(*COMMAND, *layout, "--format", "t.xlsx").code == 0
    head, *lines = openpyxl.load_workbook("t.xlsx").active.iter_rows()
    text = postil(*COMMAND, *layout, "--format", "html").out
    cells = [re.findall("<td>(.*?)</td>", line) for line in re.findall("<tr>.*</tr>", text)[1:]]
    for line, of_html in zip(lines, cells, strict=True):
        means = line[2::3]  # each of them before the ends of its interval
        marks = [(each.font.b, each.font.u == "single", '"†"' in each.number_format) for each in means]
        assert marks == [tuple(mark in cell for mark in ("<b>", "<u>", "†")) for cell in of_html]
        assert {cell.number_format.removesuffix('"†"') for cell in line[2:]} == {"0.00"}
    assert {cell.font.b for line in lines for cell in line[2:]} == {True, False}


def test_the_best_is_the_lowest_where_lower_is_better(postil: Postil) -> None:
    small()
    said = postil(*COMMAND, "--layout", "systems", "--lower-is-better", "meteor").out
    assert "system    meteor ↓\n" in said
    assert "base    **0.2500**\nplus      0.3500\nsame    **0.2500**\n" in said
    assert "†" not in said.partition("\n\n")[2].partition("\n\n")[0]


def test_options_of_the_layout_are_checked_before_the_work(postil: Postil) -> None:
    for more, message in (
        (("--layout", "systems", "--format", "json"), "--layout systems goes with --format table, csv, markdown"),
        (("--layout", "system"), "unknown layout 'system'; did you mean 'systems'?"),
        (("--percent",), "--percent goes with the layout of systems or of metrics: --layout systems or"),
        (("--as-printed",), "--as-printed goes with the layout of systems: --layout systems"),
        (("--layout", "systems", "--label", "a b", "--format", "latex"), "--label: expected letters, digits"),
        (("--layout", "systems", "--label", "a"), "--label goes with --format latex"),
    ):
        said = refusal(postil, *COMMAND, *more, code=2)
        assert said.startswith(message)
    outcome = postil("score", "none.jsonl", "-r", "none", "--layout", "systems", "--intervals")
    assert (outcome.code, outcome.err) == (
        2,
        "postil: --intervals: there are none here; postil compare computes them from item scores\n",
    )


def test_corpus_scores_of_shared_items(postil: Postil) -> None:
    made()
    scored(postil)
    lines = [json.loads(line) for line in Path("s.jsonl").read_text().splitlines()]
    kept = [row for row in lines if (row["system"], row["item"]) != ("good", "3")]
    put("s.jsonl", kept)
    found = rows(postil(*COMMAND, "--intersect", "--format", "jsonl"))
    candidates = [json.loads(line) for line in Path("c.jsonl").read_text().splitlines()]
    Path("c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in candidates if row["item"] != "3"))
    assert {key: row["mean"] for key, row in found.items()} == pytest.approx(scored(postil), rel=1e-12)


def test_one_system_has_corpus_scores(postil: Postil) -> None:
    made()
    scored(postil)
    lines = [line for line in Path("s.jsonl").read_text().splitlines() if '"system":"good"' in line]
    Path("s.jsonl").write_text("\n".join(lines) + "\n")
    found = rows(postil(*COMMAND, "--format", "jsonl"))
    assert {row["difference"] for row in found.values()} == {None}
    said = postil(*COMMAND, "--layout", "systems").out
    assert "**" not in said
    assert "†" not in said
    assert "note: good is the only system, so there are scores and nothing to compare them with\n" in said


def test_results_of_several_runs_are_joined_into_one_table(postil: Postil) -> None:
    put("r.jsonl", [{"item": f"i{i}", "text": "the rain falls on the hill"} for i in range(3)])
    for system, text in (("a", "the rain falls"), ("b", "the rain falls on a hill")):
        put(f"{system}.jsonl", [{"item": f"i{i}", "system": system, "text": text} for i in range(3)])
    for name, system, metric in (
        ("1", "a", "meteor"),
        ("2", "b", "meteor"),
        ("3", "a", "rouge-l"),
        ("4", "b", "rouge-l"),
    ):
        done = postil("score", f"{system}.jsonl", "-r", "r.jsonl", "-m", metric, "--format", "json")
        assert done.code == 0, done.err
        Path(f"{name}.json").write_text(done.out, encoding="utf-8")
    runs = ("1.json", "2.json", "3.json", "4.json", "1.json")
    joined = postil("compare", *runs, "--format", "csv")
    Path("both.jsonl").write_bytes(Path("a.jsonl").read_bytes() + Path("b.jsonl").read_bytes())
    at_once = postil("score", "both.jsonl", "-r", "r.jsonl", "-m", "meteor", "-m", "rouge-l", "--format", "csv")
    assert joined.code == 0, joined.err
    assert sorted(joined.out.splitlines()) == sorted(at_once.out.splitlines())
    assert "nothing is tested: compare the files of score --items" in joined.err
    assert "& METEOR & ROUGE-L" in postil("compare", *runs, "--layout", "systems", "--format", "latex").out

    put("rows.json", [{"item": "i1", "system": "a", "metric": "m", "score": 1}])
    one = json.loads(Path("1.json").read_text(encoding="utf-8"))
    for name, change in (("n", {"n": 2}), ("score", {"score": 0.9}), ("signature", {"signature": "other"})):
        system = {"n": "c"}.get(name, "a")
        Path(f"{name}.json").write_text(json.dumps(one | {"scores": [one["scores"][0] | change | {"system": system}]}))
    for words, code, message in (
        (("1.json", "rows.json"), 3, "rows.json: expected a result of the kind score, as another file holds, got rows"),
        (("1.json", "n.json"), 3, "n.json: expected 3 candidates of a system, as 1.json has, got 2 of c"),
        (("1.json", "score.json"), 3, "score.json: expected the same score and signature in all results, got 0.9 of a"),
        (
            ("1.json", "signature.json"),
            3,
            "signature.json: expected the same score and signature in all results, got oth",
        ),
        (("1.json", "--intervals", "--layout", "systems"), 2, "--intervals: there are none here"),
        (("1.json", "--fail-below", "meteor=.2"), 2, "--fail-below is of item scores, and results of score have none"),
    ):
        assert refusal(postil, "compare", *words, code=code).startswith(message)
