"""`postil combine`: fitting and applying from files, formats, a page, Python, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import postil as package
from postil.data.row_files import read, write
from postil.data.rows import Judgement, Score

if TYPE_CHECKING:
    from conftest import Postil

FIT = ("combine", "fit", "s.jsonl", "--judgements", "j.jsonl")
APPLY = ("combine", "apply", "s.jsonl", "--model", "model")
SIGNATURES = {
    "rouge-l": "rouge-l|references:2-5|postil:0",
    "w-rouge-l": "w-rouge-l|weights:score|references:2-5|postil:0",
    "control:length": "control:length|tokenizer:words-2",
    "control:mean-weight(w-rouge-l)": "w-rouge-l|weights:score|references:2-5|control:mean-weight",
}


def scores(items: int = 20, **signatures: str) -> list[Score]:
    rng = np.random.default_rng(1)
    rows = []
    for item in range(items):
        for system in ("a", "b", "c"):
            quality = (7 * item + ord(system)) % 5
            values = [rng.random() + quality / 9, quality / 4 + rng.random() / 4, rng.integers(3, 30), rng.random()]
            rows += [
                Score(f"i{item:02}", system, metric, float(value), signatures.get(metric, signature))
                for (metric, signature), value in zip(SIGNATURES.items(), values, strict=True)
            ]
    return rows


def ratings(items: int = 18) -> list[Judgement]:
    return [
        Judgement(f"i{item:02}", system, who, float(1 + (7 * item + ord(system) + (who == "bob")) % 5))
        for item in range(items)
        for system in ("a", "b", "c")
        for who in ("ann", "bob")
    ]


@pytest.fixture
def files(postil: Postil) -> Postil:
    write("s.jsonl", scores())
    write("j.jsonl", ratings())
    return postil


TABLE = """\
out of fold
-----------
combination
controls only
difference

metric alone
------------
rouge-l
w-rouge-l

controls only: logarithm of the length of the text and mean weight of the references
excluded: scored but not judged: 6
"""


def test_the_table(files: Postil) -> None:
    outcome = files(*FIT)
    assert outcome.code == 0, outcome.err
    typical, _, first, *rest = outcome.out.splitlines()
    assert re.fullmatch(
        r"grades of items that a fit has not seen are off by \S+ typically \(RMSE\); by logarithm of the length of "
        r"the text and mean weight of the references alone: \S+",
        typical,
    )
    assert first.startswith("combine(")
    assert first.endswith("): ridge of 2 metrics; 54 texts of 18 items and 3 systems, 9 folds of items")
    assert rest[1].split() == ["out", "of", "fold", "Pearson", "within", "items", "RMSE"]
    assert rest[7].split() == ["metric", "alone", "Pearson", "within", "items", "weight"]
    firsts = [line.split("  ")[0] for line in rest[1:] if not line.startswith(("combine(", "--"))]
    wanted = [line for line in TABLE.splitlines() if not line.startswith("--")]
    assert [line.partition(" (")[0] for line in firsts if line] == [line for line in wanted if line]
    assert not Path("model").exists()


def test_json_has_all_fields(files: Postil) -> None:
    outcome = files(*FIT, "--penalty", "1", "--folds", "6", "--scale", "1:5", "--format", "json")
    made: dict[str, Any] = json.loads(outcome.out)
    assert made["kind"] == "combine"
    assert made["settings"]["command"].startswith("postil combine fit s.jsonl")
    assert made["settings"] | {"penalty": 1.0, "folds": 6, "scale": "1:5"} == made["settings"]
    assert made["signature"].startswith(f"{made['metric']}|out-of-fold:6|data:{made['settings']['data']}|postil:")


def test_a_page_with_pictures_and_tables(files: Postil) -> None:
    outcome = files(*FIT, "--report", "page.html")
    assert outcome.code == 0, outcome.err
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Combination of metrics" in page
    assert "On new items the combination correlates" in page
    assert page.count("<figure") == 2
    written = {path.name for path in Path().glob("page*/*")} | {path.name for path in Path().glob("page*")}
    assert any(name.endswith("combine.csv") for name in written)
    assert any(name.endswith("combination.tex") for name in written)


def test_out_of_fold_grades_are_score_rows(files: Postil) -> None:
    made = json.loads(files(*FIT, "--items", "o.jsonl", "--format", "json").out)
    rows = list(read("o.jsonl", Score))
    alone = f"control:controls-only({made['metric']})"
    assert [row.score for row in rows if row.metric == made["metric"]] == made["texts"]["grades"]
    assert [row.score for row in rows if row.metric == alone] == made["texts"]["controls"]
    correlated = json.loads(files("correlate", "o.jsonl", "--judgements", "j.jsonl", "--format", "json").out)
    value = next(row for row in correlated["correlations"] if row["metric"] == made["metric"])
    assert value["value"] == pytest.approx(made["combination"]["pool"]["value"], abs=1e-12)
    assert value["low"] == pytest.approx(made["combination"]["pool"]["low"], abs=1e-12)
    assert files("compare", "o.jsonl", "--baseline", "a").code == 0


def test_the_same_command_gives_the_same_bytes(files: Postil) -> None:
    first = files(*FIT, "--out", "model", "--items", "o.jsonl")
    before = {path: path.read_bytes() for path in (*Path("model").iterdir(), Path("o.jsonl"))}
    assert files(*FIT, "--out", "model", "--items", "o.jsonl") == first
    assert {path: path.read_bytes() for path in (*Path("model").iterdir(), Path("o.jsonl"))} == before
    write("s.jsonl", reversed(scores()))
    assert files(*FIT, "--out", "model", "--items", "o.jsonl").code == 0
    assert {path: path.read_bytes() for path in (*Path("model").iterdir(), Path("o.jsonl"))} == before


def test_applied_grades(files: Postil) -> None:
    metric = json.loads(files(*FIT, "--out", "model", "--format", "json").out)["metric"]
    write("s.jsonl", scores()[:-1])  # also texts without a rating, and one without a control, which is not needed
    outcome = files(*APPLY, "--out", "g.jsonl", "--format", "json")
    assert outcome.code == 0
    assert outcome.err.startswith("on items that the fit had not seen, grades are off by ")
    rows = list(read("g.jsonl", Score))
    assert {(row.metric, row.signature) for row in rows} == {(metric, f"{metric}|postil:{package.__version__}")}
    assert len(rows) == 60
    means = {row["system"]: row["score"] for row in json.loads(outcome.out)["scores"]}
    assert means == pytest.approx({s: np.mean([row.score for row in rows if row.system == s]) for s in "abc"})
    assert files("correlate", "g.jsonl", "--judgements", "j.jsonl").code == 0


def test_the_out_of_fold_error_stands_beside_the_grades(files: Postil) -> None:
    fitted = json.loads(files(*FIT, "--out", "model", "--format", "json").out)
    texts, rmse = fitted["texts"], fitted["combination"]["rmse"]
    apart = [abs(grade - rating) for grade, rating in zip(texts["grades"], texts["ratings"], strict=True)]
    far = sum(each > 1 for each in apart) / len(apart)
    said = f"{rmse:.2f} typically (RMSE), and {100 * far:.0f} % by more than one\n".replace("0.", ".", 1)
    assert files(*APPLY).err == f"on items that the fit had not seen, grades are off by {said}"
    metadata = json.loads(Path("model/metadata.json").read_text())
    assert metadata["out_of_fold"]["far"] == far
    del metadata["out_of_fold"]["far"]  # as an older version wrote it
    Path("model/metadata.json").write_text(json.dumps(metadata))
    assert files(*APPLY).err.endswith(" typically (RMSE)\n")


def test_texts_without_words_are_undecided(files: Postil) -> None:
    files(*FIT, "--out", "model")
    empty = {("i03", "a"), ("i04", "b")}
    rows = [
        Score(row.item, row.system, row.metric, 0.0, row.signature) if (row.item, row.system) in empty else row
        for row in scores()
    ]
    write("s.jsonl", rows)
    outcome = files(*APPLY, "--out", "g.jsonl")
    assert "excluded: undecided, as they have no words: 2 (i03 by a, i04 by b)\n" in outcome.err
    assert empty.isdisjoint((row.item, row.system) for row in read("g.jsonl", Score))
    write("s.jsonl", [row for row in rows if (row.item, row.system) in empty])
    assert "s.jsonl: no text has words, so none gets a grade" in files(*APPLY).err
    write("s.jsonl", [row for row in rows if row.metric != "control:length"])  # so that nothing tells which are empty
    assert "undecided" not in files(*APPLY).err


def test_texts_without_every_metric_are_absent_and_counted(files: Postil) -> None:
    files(*FIT, "--out", "model")
    write("s.jsonl", [row for row in scores() if row.metric != "rouge-l" or row.item != "i03"])
    outcome = files(*APPLY, "--out", "g.jsonl")
    assert "excluded: not scored by every metric: 3 (i03 by a, i03 by b, i03 by c)" in outcome.err
    assert len({(row.item, row.system) for row in read("g.jsonl", Score)}) == 57
    again = files(*FIT)
    assert "excluded: not scored by every metric: 3 (i03 by a" in again.out


def test_grades_are_clipped_only_on_request(files: Postil) -> None:
    files(*FIT, "--out", "model")
    wild = [Score(row.item, row.system, row.metric, 50 * row.score, row.signature) for row in scores()]
    write("s.jsonl", wild)
    files(*APPLY, "--out", "g.jsonl")
    assert max(row.score for row in read("g.jsonl", Score)) > 5
    outcome = files(*APPLY, "--clip")
    assert outcome.code == 2
    assert "--clip needs --scale LOW:HIGH, as the combination was fitted without --scale" in outcome.err
    assert files(*APPLY, "--clip", "--scale", "1:5", "--out", "g.jsonl").code == 0
    rows = list(read("g.jsonl", Score))
    assert {row.score for row in rows} >= {5.0}
    assert all("|clip:1:5|" in row.signature for row in rows)
    write("s.jsonl", scores())
    assert files(*FIT, "--out", "model", "--scale", "1:5").code == 0
    write("s.jsonl", wild)
    assert files(*APPLY, "--clip", "--out", "h.jsonl").code == 0
    assert [row.score for row in read("h.jsonl", Score)] == [row.score for row in rows]


def test_other_signatures_are_refused(files: Postil) -> None:
    write("s.jsonl", scores(**{"rouge-l": "rouge-l|references:2-5|baseline:0.25|idf:references/99|postil:0"}))
    files(*FIT, "--out", "model")
    new = "rouge-l|references:2-5|baseline:0.5|idf:references/9|unknown:1.00%|postil:0"
    write("s.jsonl", scores(**{"rouge-l": new}))
    assert files(*APPLY).code == 3
    assert files(*APPLY, "--any-references").code == 0
    write("s.jsonl", scores())
    files(*FIT, "--out", "model")
    other = SIGNATURES["w-rouge-l"].replace("2-5", "1-9")
    write("s.jsonl", scores(**{"w-rouge-l": other}))
    outcome = files(*APPLY)
    assert outcome.code == 3
    expected = f"s.jsonl: signature: w-rouge-l: expected {SIGNATURES['w-rouge-l']}, got {other}"
    assert f"{expected}; where other references are meant, give --any-references" in outcome.err
    outcome = files(*APPLY, "--any-references", "--format", "json")
    assert outcome.code == 0
    assert "|columns:" in json.loads(outcome.out)["scores"][0]["signature"]
    write("s.jsonl", scores(**{"w-rouge-l": other.replace("weights:score", "weights:votes")}))
    for flags in ((), ("--any-references",)):
        outcome = files(*APPLY, *flags)
        assert outcome.code == 3
        assert "weights:votes|references:1-9|postil:0; score as for the fit, or fit anew" in outcome.err


def test_boosting(files: Postil) -> None:
    pytest.importorskip("sklearn")
    outcome = files(*FIT, "--method", "boosting")
    assert outcome.code == 3
    assert "boosting needs at least 80 texts in each fit (40 per leaf), and there are 48" in outcome.err
    write("s.jsonl", scores(items=40))
    write("j.jsonl", ratings(items=40))
    fitted = files(*FIT, "--method", "boosting", "--folds", "4", "--monotone", "--out", "model")
    assert fitted.code == 0, fitted.err
    assert "boosting, monotone of 2 metrics" in fitted.out
    assert fitted.out.splitlines()[10].split() == ["metric", "alone", "Pearson", "within", "items", "weight", "gain"]
    assert files(*APPLY).code == 0
    assert json.loads(Path("model/metadata.json").read_text())["versions"]["scikit-learn"]


@pytest.mark.parametrize(
    ("command", "problem", "code"),
    [
        ((*FIT, "--method", "rigde"), "unknown method 'rigde'; did you mean 'ridge'?", 2),
        ((*FIT, "-m", "rouge-l", "-m", "rougel"), "unknown metric 'rougel'", 2),
        ((*FIT, "--method", "isotonic"), "isotonic regression is of one metric, and there are 2", 2),
        ((*FIT, "--folds", "1"), "--folds", 2),
        ((*FIT, "--folds", "19"), "19 folds need at least as many items, and 18 have scores and ratings", 3),
        ((*FIT, "--penalty", "-1"), "--penalty", 2),
        ((*FIT, "--items", "o.txt"), "o.txt: unknown kind of file", 2),
        ((*FIT, "--items", "s.jsonl"), "s.jsonl: would be written over s.jsonl, which is read", 2),
        ((*FIT, "--out", "m", "--items", "m/o.jsonl"), "items: m/o.jsonl lies in m, the folder of the combination", 2),
        ((*FIT, "--out", "none/model"), "parent folder", 2),
        ((*FIT, "--out", "."), ".: would be written over s.jsonl, which is read", 2),
        ((*FIT, "--lower-is-better", "x"), "unknown metric 'x'", 2),
        ((*APPLY, "--scale", "1:5"), "scale: is for --clip alone", 2),
        (("combine", "apply", "s.jsonl", "--model", "none"), "none: no such folder; expected a combination that", 3),
        (("combine", "apply", "s.jsonl", "--model", ".", "--out", "g.jsonl"), "g.jsonl: lies in ., which is read", 2),
    ],
)
def test_what_is_refused(files: Postil, command: tuple[str, ...], problem: str, code: int) -> None:
    outcome = files(*command)
    assert outcome.code == code
    assert problem in outcome.err
    assert outcome.out == ""


def test_fewer_items_than_folds_by_default(files: Postil) -> None:
    write("two.jsonl", [row for row in ratings() if row.item in {"i00", "i01"}])
    few = ("combine", "fit", "s.jsonl", "--judgements", "two.jsonl", "-m", "w-rouge-l")
    said = "2 folds, one per item, since there are fewer than 9 items"
    found = files(*few)
    assert (found.code, found.err) == (0, "")
    assert "6 texts of 2 items and 3 systems, 2 folds of items" in found.out
    assert said in found.out
    made = json.loads(files(*few, "--format", "json", "--items", "a.jsonl").out)
    assert (made["settings"]["folds"], made["notes"][0]) == (2, said)
    given = json.loads(files(*few, "--folds", "2", "--format", "json", "--items", "b.jsonl").out)
    assert given["notes"] == made["notes"][1:]
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert json.loads(files(*FIT, "--format", "json").out)["settings"]["folds"] == 9
    refused = files(*few, "--folds", "9")
    assert refused.code == 3
    assert "9 folds need at least as many items, and 2 have scores and ratings; give --folds 2 or fewer" in refused.err


def test_data_that_is_refused(files: Postil) -> None:
    files(*FIT, "--out", "model")
    write("one.jsonl", [row for row in ratings() if row.item == "i00"])
    outcome = files("combine", "fit", "s.jsonl", "--judgements", "one.jsonl")
    assert outcome.code == 3
    assert "there is only one item (i00), so there are no texts of other items to fit on" in outcome.err
    write("twice.jsonl", [*scores(), *scores()[4:5]])
    for command in (FIT, APPLY):
        outcome = files(*(word.replace("s.jsonl", "twice.jsonl") if word == "s.jsonl" else word for word in command))
        assert outcome.code == 3
        assert (
            'twice.jsonl:241: metric: a second score of item "i00" by system "b" for one metric: rouge' in outcome.err
        )
    write("s.jsonl", [row for row in scores() if row.metric != "w-rouge-l"])
    outcome = files(*APPLY)
    assert outcome.code == 3
    assert "s.jsonl: expected scores by w-rouge-l, which the combination needs, got rouge-l, control:" in outcome.err
    write("s.jsonl", [row for row in scores() if (row.metric == "rouge-l") == (row.system == "a")])
    assert "s.jsonl: no text is scored by all of rouge-l, w-rouge-l" in files(*APPLY).err
    huge = [Score(row.item, row.system, row.metric, 1e100, row.signature) for row in scores()]
    write("s.jsonl", huge)
    outcome = files(*APPLY)
    assert outcome.code == 3
    assert "scores of i00 by a: too far from those of the fit for a grade" in outcome.err
    shutil.rmtree("model")


def test_in_python(files: Postil) -> None:
    printed = json.loads(files(*FIT, "--format", "json").out)
    found = package.fit_combination(["s.jsonl"], judgements="j.jsonl", options=package.CombineOptions(out="model"))
    assert found.metric == printed["metric"]
    assert found.combination.pool.value == printed["combination"]["pool"]["value"]
    graded = package.apply_combination(scores(), "model")
    assert graded.items[found.metric].shape == (60,)
    again = package.correlate(graded, ratings())
    assert again.correlations[0].metric == found.metric
    columns = {name: [row.score for row in scores() if row.metric == name] for name in ("rouge-l", "w-rouge-l")}
    items = [row.item for row in scores() if row.metric == "rouge-l"]
    systems = [row.system for row in scores() if row.metric == "rouge-l"]
    same = package.apply_combination(columns, "model", items=items, systems=systems, signatures=SIGNATURES)
    assert same.items[found.metric].tolist() == graded.items[found.metric].tolist()
    with pytest.raises(package.InvalidInput, match=r"rouge-l: expected rouge-l\|.*, got external; score as"):
        package.apply_combination(columns, "model")
    with pytest.raises(package.UsageError, match="items"):
        package.apply_combination(scores(), "model", items=items)
    with pytest.warns(UserWarning, match="excluded: not scored by every metric: 1"):
        package.apply_combination(scores()[:-3], "model")
    with pytest.raises(package.UsageError, match="expected at least one column"):
        package.apply_combination({}, "model")
