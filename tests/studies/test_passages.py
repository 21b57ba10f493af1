"""The study of passages: six figures whose numbers are those of the commands; vectors and anchors where there are."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from postil.data.row_files import read, write
from postil.data.rows import Candidate, Passage, TopicArticle
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import COMMAND_LINE
from postil.passages.calls import gains_of_file
from postil.passages.options import PassagesOptions
from postil.passages.result import NcgResult, PassageSettings, SummaryResult
from postil.results.base import read_results
from postil.results.numbers import number
from postil.results.page.report import write_report
from postil.studies.papers import Range, passages_paper
from postil.studies.passages.calls import study_passages
from postil.studies.passages.figures import FAMILIES, Evidence, passages_study
from postil.studies.passages.options import PassagesStudyOptions
from postil.studies.stages import read_result
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="pages need the extra report")

NO_ANCHORS = "No passage has anchors (links)"
QUICK: dict[str, Any] = {"train": False, "resamples": 10, "k": (3, 6), "stem": "none", "stop": "none", "folds": 3}


def passages() -> list[Passage]:
    words = ["moon", "tide", "water", "rye", "bread", "dough", "drake", "reed", "pond"]
    return [
        Passage(
            f"t{topic}",
            f"p{n}",
            " ".join(words[(topic + n * step) % 9] for step in range(4 + n)),
            anchors=(words[topic + n % 3], words[n]),
            grade=float(max(0, 2 - n % 4)),
        )
        for topic in range(6)
        for n in range(5)
    ]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ponds")
    write(folder / "passages.jsonl", passages())
    return folder


STAGES = ("informativeness", "informativeness-anchors", "interestingness", "interestingness-anchors", "figures")


@pytest.fixture(scope="module")
def done(collection: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """All stages but the page, which takes longer than they do."""
    out, said = tmp_path_factory.mktemp("out"), list[str]()
    for stage in STAGES:
        study_passages(collection, out, PassagesStudyOptions(**QUICK, stage=stage), said.append)
    return out, said


def part(out: Path, key: str) -> dict[str, Any]:
    parts = json.loads((out / "study.json").read_text())["parts"]
    return next(each for each in parts if each["key"] == key)


def test_six_figures(done: tuple[Path, list[str]]) -> None:
    titles = [each["title"] for each in json.loads((done[0] / "study.json").read_text())["parts"]]
    assert [title.partition(":")[0] for title in titles] == [
        *(f"Figure {n}" for n in range(1, 7)),
        "Claims of the paper",
    ]
    write_report(read_results([done[0] / "study.json"]), done[0] / "page.html")
    page = (done[0] / "page.html").read_text()
    assert all(title in page for title in titles)
    assert page.count("<svg") == 6
    names = [line["measure"] for line in part(done[0], "figure-3-part")["pictures"][0]["curves"]]
    assert len(names) == 12
    assert names[-1] == "logsim-sk of anchors"


@pytest.mark.parametrize(("figure", "reference"), [(2, "topic"), (5, "others")])
def test_the_numbers_are_those_of_passages(
    done: tuple[Path, list[str]], collection: Path, figure: int, reference: Any
) -> None:
    options = PassagesOptions(measures=("logsim-2",), reference=reference, k=(3, 6), folds=3, resamples=10)
    result, _ = gains_of_file(str(collection / "passages.jsonl"), options)
    rows = {row["name"]: row["cells"] for row in part(done[0], f"figure-{figure}-part")["tables"][0]["rows"]}
    assert [cell[0] for cell in rows["logsim-2"]] == [row.ncg for row in result.gains]


def test_claims_are_differences_of_the_figures(done: tuple[Path, list[str]]) -> None:
    rows = {row["name"]: row["cells"] for row in part(done[0], "figure-5-part")["tables"][0]["rows"]}
    claims = part(done[0], "claims")["tables"][0]["rows"]
    found = next(row["cells"] for row in claims if row["cells"][1] == "kl-1 − f1-1")
    assert found[2][0] == pytest.approx(rows["kl-1"][0][0] - rows["f1-1"][0][0])


def test_further_measures_of_whole_passages(done: tuple[Path, list[str]], collection: Path, tmp_path: Path) -> None:
    more = ("js-1", "length(inverse=false)", "f1-1")
    said = list[str]()
    for stage in ("informativeness", "informativeness-anchors"):
        study_passages(collection, tmp_path, PassagesStudyOptions(**QUICK, measures=more, stage=stage), said.append)
    usual, found = (
        {(row.name, row.k): row for row in read_result(out / "informativeness.json", NcgResult).gains}
        for out in (done[0], tmp_path)
    )
    added = {name for name, _ in found} - {name for name, _ in usual}
    assert added == {"js-1", "js-1, without itself", "length(inverse=false)"}
    assert {key: found[key] for key in usual} == usual
    assert " -m js-1 " in next(line for line in said if line.startswith("informativeness: "))
    anchors = [(out / "informativeness-anchors.json").read_bytes() for out in (done[0], tmp_path)]
    assert anchors[0] == anchors[1]


def test_without_anchors_and_vectors_it_says_so(done: tuple[Path, list[str]]) -> None:
    found = {name: read_result(done[0] / f"{name}.json", NcgResult) for name in ("informativeness", "interestingness")}
    made = passages_study("ponds", found, [])
    said = [" ".join(each.words) for each in made.parts]
    assert [text.partition(",")[0] for text in said[:3]] == ["No word vectors were given or trained", "", NO_ANCHORS]


# The preset of the paper

PAPER_STAGES = ("collection", *STAGES)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], PassagesStudyOptions]:
    """All stages but the trainings and the page; vectors of words are given for w2v_g."""
    folder, said = tmp_path_factory.mktemp("paper"), list[str]()
    # p0 again, with another middle: it starts and ends with the same 25 characters
    text = "moon tide water rye, bread and dough: drake, reed and pond, all of them in one long row by the water"
    twins = [Passage("t0", f"twin{n}", text.replace("all", word), grade=1.0) for n, word in enumerate(("all", "some"))]
    write(folder / "passages.jsonl", [*passages(), *twins])
    words = ("moon", "tide", "water", "rye", "bread", "dough", "drake", "reed", "pond")
    Vectors(words, np.eye(9, dtype=np.float32)).save(folder / "news", {"spec": "by hand"})
    options = PassagesStudyOptions(
        preset="paper", train=False, resamples=10, folds=3, k=(2, 6, 18), vectors={"google_news": str(folder / "news")}
    )
    for stage in PAPER_STAGES:
        study_passages(folder, folder / "out", replace(options, stage=stage), said.append)
    return folder / "out", said, options


def table(out: Path, key: str) -> dict[str, list[Any]]:
    """Cells of the rows of a table, by name."""
    parts = json.loads((out / "study.json").read_text())["parts"]
    (found,) = [each for section in parts for each in section.get("tables", ()) if each["key"] == key]
    return {row["name"]: row.get("cells", []) for row in found["rows"]}


def test_the_preset_has_the_papers_measures_and_figures(paper: tuple[Path, list[str], Any]) -> None:
    out, _, _ = paper
    measures = table(out, "measures")
    assert len(measures) == 14
    assert measures["LS_sk"][0] == "logsim-sk"
    assert (measures["w2v_g"][0], measures["w2v_wp_bi"][0]) == ("w2v_g", "not given")
    assert list(table(out, "figure-1")) == [
        "f1-1 (F1_1)",
        "f1-2 (F1_2)",
        "f1-sk (F1_sk)",
        "w2v_g",
        "w2v_c: not trained",
    ]
    assert list(table(out, "figure-4"))[-2:] == ["w2v_wp_bi: not given", "length (len_inv)"]
    assert list(table(out, "figure-6"))[-1] == "logsim-sk (LS_sk) of anchors"
    titles = [each["title"].partition(":")[0] for each in json.loads((out / "study.json").read_text())["parts"]]
    assert [title for title in titles if title.startswith("Figure")] == [f"Figure {n}" for n in range(1, 7)]
    assert titles[-1] == "Deviations from the paper"


def test_the_preset_merges_duplicates_and_says_what_is_otherwise(paper: tuple[Path, list[str], Any]) -> None:
    out, said, _ = paper
    assert sum(1 for _ in read(out / "passages.jsonl", Passage)) == 31
    rows = table(out, "deviations")
    assert rows["duplicates"][1].startswith("the same within a topic, 1 merged;")
    assert rows["option folds"] == ["12", "3", "this command"]
    assert "option stem" not in rows
    assert rows["vectors w2v_g"][1] == "given: by hand, .010 of the units have no vector"
    told = 'preset="paper": folds is taken as given: 3; the paper has 12'
    assert told in said
    assert COMMAND_LINE.words(said[said.index(told)]).startswith("--preset paper: --folds is taken as given: 3; ")


def test_the_preset_says_which_reading_of_equation_13_it_took(
    paper: tuple[Path, list[str], Any], tmp_path: Path
) -> None:
    out, said, options = paper
    (command,) = (line for line in said if line.startswith("interestingness: postil passages"))
    assert "--repeated-texts once" in command
    assert "--equal-texts" not in command
    rows = table(out, "deviations")
    assert rows["folds of interestingness"][1].startswith("3 folds of whole topics, at random by the seed")
    assert rows["a text that is informative for several topics"][1].startswith("once, with its highest grade, as the")
    assert rows["texts equal to the scored passage"][1].startswith("they leave the reference: by its own words")
    every = rows["all options of interestingness"][1]
    for name in set(PassageSettings.__struct_fields__) - {"postil", "command"}:
        assert f"{name} " in every
    other = replace(options, folds_by="consecutive", repeated_texts="each", equal_texts="stay")
    collection, said = out.parent, []
    for stage in PAPER_STAGES:
        study_passages(collection, tmp_path, replace(other, stage=stage), said.append)
    (command,) = (line for line in said if line.startswith("interestingness: postil passages"))
    assert "--folds-by consecutive --equal-texts stay" in command
    (command,) = (line for line in said if line.startswith("figures: "))
    assert "--folds-by consecutive --repeated-texts each --equal-texts stay" in command
    rows = table(tmp_path, "deviations")
    assert rows["folds of interestingness"][1].startswith("3 runs of whole topics in the order of the file")
    assert rows["a text that is informative for several topics"][1].startswith("once for every topic")
    assert rows["texts equal to the scored passage"][1].startswith("they are part of the reference")
    assert table(tmp_path, "measures-interestingness").keys() == table(out, "measures-interestingness").keys()


def test_the_preset_checks_claims_of_anchors_by_paired_differences(paper: tuple[Path, list[str], Any]) -> None:
    out, _, _ = paper
    figure, compared = table(out, "figure-6"), table(out, "comparisons")
    whole, anchors = figure["logsim-2 (LS_2)"], figure["logsim-2 (LS_2) of anchors"]
    cells = compared["logsim-2 − logsim-2 of anchors"]
    assert [cell[0] for cell in cells[3:]] == [
        pytest.approx(one[0] - other[0]) for one, other in zip(whole, anchors, strict=True)
    ]
    assert cells[3][1] <= cells[3][0] <= cells[3][2]
    sections = json.loads((out / "study.json").read_text())
    assert any("sentences of the paper about its figures" in text for text in sections["conclusion"])
    verdicts = {cell[-2] for cell in table(out, "verdicts").values()}
    rows = next(one for part in sections["parts"] for one in part.get("tables", ()) if one["key"] == "verdicts")["rows"]
    untested = sum("not tested" in row["cells"] for row in rows)
    assert any(f"For the other {untested} there is no such measure" in text for text in sections["conclusion"])
    assert verdicts <= {"holds", "does not hold", "not decided", "not tested"}


def test_verdicts_leave_one_out_are_of_those_rankings(paper: tuple[Path, list[str], Any]) -> None:
    out, _, _ = paper
    result = read_result(out / "informativeness.json", NcgResult)
    at = {(row.measure, row.k, row.leave_one_out): row.ncg for row in result.gains}
    (claim,) = [each for each in passages_paper().sentences if each.pairs == (("f1-1", "kl-1"), ("f1-1", "logsim-1"))]
    ranges: dict[int, Range] = dict.fromkeys((2, 6, 18), "low")
    for leave in (False, True):
        evidence = Evidence({"informativeness": result}, {}, ranges, leave_one_out=leave)
        found = {each.k: each.value for each in evidence.estimates(claim, ("f1-1", "kl-1"))}
        assert found == {k: pytest.approx(at["f1-1", k, leave] - at["kl-1", k, leave]) for k in (2, 6, 18)}
        (level, *_) = evidence.estimates(claim, ("f1-1",))
        assert level.value == at["f1-1", 2, leave]
        assert evidence.estimates(claim, ("f1-1", "random"))
    assert all((cells[-1] is None) == (name in {"Figure 4", "Figure 5", "Figure 6"}) for name, cells in rows_of(out))


def rows_of(out: Path) -> list[tuple[str, list[Any]]]:
    """Rows of the table of verdicts; several have the same name."""
    parts = json.loads((out / "study.json").read_text())["parts"]
    (found,) = [each for section in parts for each in section.get("tables", ()) if each["key"] == "verdicts"]
    return [(row["name"], row["cells"]) for row in found["rows"]]


def test_the_preset_is_the_numbers_of_passages(paper: tuple[Path, list[str], Any]) -> None:
    out, _, _ = paper
    options = PassagesOptions(
        measures=("kl-2",), stem="porter", stop="en", k=(2, 6, 18), folds=3, resamples=10, leave_one_out=True
    )
    result, _ = gains_of_file(str(out / "passages.jsonl"), options)
    rows = table(out, "measures-informativeness")
    inside = [row for row in result.gains if not row.leave_one_out]
    assert [cell[0] for cell in rows["kl-2 (KL_2)"]] == [row.ncg for row in inside]
    assert [cell[1] for cell in rows["kl-2 (KL_2)"]] == [row.low for row in inside]


def test_the_preset_does_nothing_twice(paper: tuple[Path, list[str], PassagesStudyOptions]) -> None:
    out, _, options = paper
    before, said = (out / "study.json").read_bytes(), list[str]()
    for stage in PAPER_STAGES:
        study_passages(out.parent, out, replace(options, stage=stage), said.append)
    assert said == [f"{name}: done before" for name in PAPER_STAGES]
    (out / ".stages" / "figures.json").unlink()
    study_passages(out.parent, out, replace(options, stage="figures"), lambda _: None)
    assert (out / "study.json").read_bytes() == before


def test_whole_runs_are_scored_by_pool_and_articles(paper: tuple[Path, list[str], Any], tmp_path: Path) -> None:
    out, _, options = paper
    plain = json.loads((out / "study.json").read_text())["parts"]
    assert next(part for part in plain if part["key"] == "runs")["words"][0].startswith(
        "No runs are given: summaries=FILE"
    )
    rows = [
        Candidate(f"t{topic}", f"run{run}", " ".join(row.text for row in passages()[topic * 5 :][run : run + 2]))
        for topic in range(6)
        for run in range(4)
    ]
    write(tmp_path / "runs.jsonl", rows)
    articles = [TopicArticle(f"t{n}", " ".join(row.text for row in passages()[n * 5 : n * 5 + 4])) for n in range(6)]
    write(tmp_path / "articles.jsonl", articles)
    runs, articles_file = str(tmp_path / "runs.jsonl"), str(tmp_path / "articles.jsonl")
    with_runs = replace(options, summaries=runs, articles=articles_file)
    shutil.copytree(out, tmp_path / "out")
    said: list[str] = []
    for stage in ("summaries", "figures"):
        study_passages(out.parent, tmp_path / "out", replace(with_runs, stage=stage), said.append)
    assert said[0].startswith(f"summaries: postil passages {tmp_path}/out/passages.jsonl --summaries {runs}")
    result = read_result(tmp_path / "out" / "summaries.json", SummaryResult)
    table_of = table(tmp_path / "out", "agreement")
    pearson = {row.metric: row for row in result.agreement if row.coefficient == "pearson"}
    assert set(table_of) == set(pearson) == set(FAMILIES)
    for measure, (topics, over_runs, _, published) in table_of.items():
        assert topics == [pearson[measure].value, pearson[measure].low, pearson[measure].high]
        assert over_runs[0] == pytest.approx(topics[0])
        assert over_runs[1:] != topics[1:]
        assert published == 0.88
    conclusion = json.loads((tmp_path / "out" / "study.json").read_text())["conclusion"]
    best = max(pearson.values(), key=lambda row: row.value)
    assert any(f"to {number(best.value)} ({best.metric}); in the paper .88" in text for text in conclusion)
    means = table(tmp_path / "out", "runs")
    assert list(means) == [f"run{n}" for n in range(4)]
    (one,) = [
        row for row in result.scores if (row.system, row.measure) == ("run0", "f1-1") and row.reference == "passages"
    ]
    assert means["run0"][0] == [one.mean, one.low, one.high]


def test_runs_belong_to_the_preset(collection: Path, tmp_path: Path) -> None:
    options = PassagesStudyOptions(**QUICK, preset="paper", summaries=str(tmp_path / "none.jsonl"))
    with pytest.raises(InvalidInput, match=r"none\.jsonl: no such file"):
        study_passages(collection, tmp_path / "out", options, lambda _: None)
    assert not (tmp_path / "out").exists()
    with pytest.raises(UsageError, match='measure: preset="paper" has the measures of the paper alone'):
        PassagesStudyOptions(preset="paper", measures=("js-1",))
    with pytest.raises(UsageError, match='summaries: whole runs belong to preset="paper"; postil'):
        PassagesStudyOptions(summaries="runs.jsonl")
    with pytest.raises(UsageError, match="articles: they are a reference of runs; expected summaries=FILE as well"):
        PassagesStudyOptions(preset="paper", articles="articles.jsonl")


def test_vectors_that_the_preset_refuses(collection: Path, tmp_path: Path) -> None:
    Vectors(("a_b",), np.ones((1, 2), np.float32), {"bigrams": True}).save(tmp_path / "pairs")
    folder = str(tmp_path / "pairs")
    for vectors, error, problem in (
        ({"google_news": folder}, InvalidInput, "expected vectors of words for w2v_g"),
        ({"wiki": folder, "w2v_wp_bi": folder}, UsageError, 'vectors="w2v_wp_bi": w2v_wp_bi is given twice'),
        ({"w2v_c": folder}, UsageError, 'vectors="w2v_c": the study trains vectors of that name'),
    ):
        options = PassagesStudyOptions(**QUICK, preset="paper", vectors=vectors)
        with pytest.raises(error, match=problem):
            study_passages(collection, tmp_path / "out", options, lambda _: None)
        assert not (tmp_path / "out").exists()
    with pytest.raises(UnknownName, match="unknown preset 'papre'; did you mean 'paper'"):
        PassagesStudyOptions(preset="papre")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("gensim") is None, reason="vectors are trained by gensim")
def test_vectors_are_trained_and_stand_in_figures_1_and_4(collection: Path, tmp_path: Path) -> None:
    page = study_passages(collection, tmp_path, PassagesStudyOptions(**QUICK | {"train": True}), lambda _: None)
    assert "Figure 6" in page.read_text()
    for figure in (1, 4):
        names = [row["name"] for row in part(tmp_path, f"figure-{figure}-part")["tables"][0]["rows"]]
        assert names == ["f1-1", "f1-2", "f1-sk", "w2v-words", "w2v-pairs", "length"]
    table = part(tmp_path, "vectors")["tables"][0]["rows"]
    assert table[0]["cells"] == [9, "words"]
    assert table[-1]["cells"] == [10_000_000, "pairs of words"]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("gensim") is None, reason="vectors are trained by gensim")
def test_the_preset_compares_four_kinds_of_vectors_and_given_ones(collection: Path, tmp_path: Path) -> None:
    Vectors(("moon", "tide"), np.eye(2, dtype=np.float32)).save(tmp_path / "few")
    options = PassagesStudyOptions(**QUICK | {"train": True}, preset="paper", vectors={"few": str(tmp_path / "few")})
    page = study_passages(collection, tmp_path / "out", options, lambda _: None)
    assert "hierarchical softmax" in page.read_text()
    rows = table(tmp_path / "out", "kinds-interestingness")
    assert {"w2v_c: skip-gram, negative sampling", "cbow, negative sampling"} <= set(rows)
    assert sum(name.startswith("minus ") for name in rows) == 2  # a name may occur more than once
    local = table(tmp_path / "out", "local-informativeness")["w2v_c − few"]
    nothing = table(tmp_path / "out", "without-vector")
    assert nothing["w2v_c"][1] == 0.0
    assert 0.5 < nothing["few"][1] < 1.0
    first = table(tmp_path / "out", "measures-informativeness")["w2v_c"]
    assert local[0][0] <= first[0][0]
    assert table(tmp_path / "out", "figure-4")["w2v_c_bi"][0] is not None


def test_what_is_no_collection(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"expected one of passages\.jsonl"):
        study_passages(tmp_path, tmp_path / "out", PassagesStudyOptions(**QUICK), lambda _: None)
    with pytest.raises(UnknownName, match="pool"):
        study_passages(tmp_path, tmp_path / "out", PassagesStudyOptions(**QUICK, pool="both"), lambda _: None)
    assert not (tmp_path / "out").exists()
