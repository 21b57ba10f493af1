"""Folders of WMT's metrics task: what is read, what is excluded, and the numbers of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from postil.correlation.calls import correlate_files
from postil.correlation.options import CorrelateOptions
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Judgement, Reference, Score
from postil.errors import InvalidInput
from postil.results.base import replace
from postil.results.formats import short
from postil.wmt.calls import metrics_task
from postil.wmt.options import WmtOptions
from postil.wmt.test_set import WmtSet
from postil.wmt.view import view
from wmt_folders import write_set

if TYPE_CHECKING:
    from pathlib import Path

    from postil.wmt.result import MetricsTaskResult


SYSTEMS = ("A", "B", "C", "D", "Weird")
PEOPLE = ("refA", "refB")
SEGMENTS = 12
COLUMNS = [f"{by} {name}" for by in ("system", "pool", "item") for name in ("pearson", "kendall-b")]
RNG = np.random.default_rng(5)
GRADES = {name: RNG.integers(-6, 1, SEGMENTS).astype(float).tolist() for name in (*SYSTEMS, *PEOPLE)}
GRADES["B"][3] = GRADES["C"][7] = None
GRADES |= {name: [-2.0 if place == 5 else grade for place, grade in enumerate(each)] for name, each in GRADES.items()}
NOISE = {
    name: [round((grade or 0) / 8 + noise, 4) for grade, noise in zip(grades, RNG.random(SEGMENTS), strict=True)]
    for name, grades in GRADES.items()
}


def means(scores: dict[str, list[float | None]]) -> dict[str, list[float]]:
    return {name: [float(np.mean([each for each in of if each is not None]))] for name, of in scores.items()}


def without(scores: dict[str, list[float]], *names: str) -> dict[str, list[float]]:
    return {name: of for name, of in scores.items() if name not in names}


def make(root: Path, **more: dict[str, object]) -> Path:
    """Five systems, two references that were judged as well, and a system that nobody judged."""
    texts = {name: [f"{name} says {place}" for place in range(SEGMENTS)] for name in (*SYSTEMS, *PEOPLE, "Unjudged")}
    lengths = {name: [float(len(name) + place) for place in range(SEGMENTS)] for name in texts}
    return write_set(
        root,
        "en-de",
        human={
            "mqm.sys": means(GRADES),
            "mqm.seg": GRADES,
            "wmt.sys": {name: [float(len(name) + place)] for place, name in enumerate(SYSTEMS)},
        },
        metrics={
            "BLEU-refA.sys": without(means(NOISE), "refA") | {"Unjudged": [0.1]},
            "sent-refA.seg": without(NOISE, "refA"),
            "sent-refA.sys": without(means(NOISE), "refA"),
            "other-refB.seg": without(lengths, "refB"),
            "QE-src.seg": {name: [-each for each in of] for name, of in NOISE.items()},
            "half-refA.seg": without(NOISE, "refA", "B"),
        }
        | more.pop("metrics", {}),
        references={name: texts[name] for name in PEOPLE},
        outputs=texts,
        **more,
    )


def task(root: Path, *scores: str, rows: str | None = None, **options: object) -> MetricsTaskResult:
    given = WmtOptions(**({"language_pair": "en-de", "resamples": 20, "permutations": 50} | options))
    return metrics_task(str(root), given, scores, rows=rows)


def values(found: MetricsTaskResult, metric: str) -> dict[str, float]:
    return {f"{row.by} {row.coefficient}": row.value for row in found.correlations if row.metric == metric}


# BLEU and the standardized direct assessments of the 11 systems of WMT19's English-Czech; the paper of its metrics task
# (Ma et al. 2019, table 4) has .897.
CZECH = {
    "online-X.0": (-0.651, 0.1271),
    "TartuNLP-c.6633": (-0.195, 0.1581),
    "CUNI-DocTransformer-Marian.6922": (0.223, 0.1769),
    "online-A.0": (-0.594, 0.1466),
    "online-B.0": (-0.336, 0.1775),
    "CUNI-Transformer-T2T-2018.6457": (0.401, 0.1968),
    "online-Y.0": (-0.156, 0.1766),
    "online-G.0": (-0.3, 0.1543),
    "CUNI-DocTransformer-T2T.6751": (0.402, 0.1904),
    "uedin.6667": (0.206, 0.1916),
    "CUNI-Transformer-T2T-2019.6851": (0.388, 0.1892),
}


def czech(tmp_path: Path) -> Path:
    human, bleu = ({name: [each[column]] for name, each in CZECH.items()} for column in (0, 1))
    return write_set(tmp_path / "wmt19", "en-cs", human={"wmt-z.sys": human}, metrics={"BLEU-ref.sys": bleu})


def test_a_published_figure(tmp_path: Path) -> None:
    found = task(czech(tmp_path), language_pair="en-cs")
    assert round(values(found, "BLEU-ref")["system pearson"], 3) == 0.897
    assert (found.human, found.references, found.segments) == ({"system": "wmt-z"}, ("ref",), 0)


def test_coefficients_are_those_of_the_definitions(tmp_path: Path) -> None:
    found = values(task(make(tmp_path / "wmt99")), "sent-refA")
    by_system = np.array([[np.mean(NOISE[name]), means(GRADES)[name][0]] for name in SYSTEMS])
    rows = [(place, NOISE[name][place], GRADES[name][place]) for name in SYSTEMS for place in range(SEGMENTS)]
    rated = np.array([row for row in rows if row[2] is not None], float)
    of_item = [np.corrcoef(rated[rated[:, 0] == place, 1:].T)[0, 1] for place in range(SEGMENTS) if place != 5]
    assert found["system pearson"] == pytest.approx(np.corrcoef(by_system.T)[0, 1])
    assert found["pool pearson"] == pytest.approx(np.corrcoef(rated[:, 1:].T)[0, 1])
    assert found["item pearson"] == pytest.approx(np.mean(of_item))  # people gave segment 5 one grade
    assert [*found] == COLUMNS


def test_kendall_is_that_of_scipy(tmp_path: Path) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = values(task(make(tmp_path / "wmt99")), "sent-refA")
    kept = {name: [place for place in range(SEGMENTS) if GRADES[name][place] is not None] for name in SYSTEMS}
    scores, grades = ([of[name][place] for name in SYSTEMS for place in kept[name]] for of in (NOISE, GRADES))
    assert found["pool kendall-b"] == pytest.approx(stats.kendalltau(scores, grades).statistic)
    of_item = [
        stats.kendalltau(*([of[name][place] for name in SYSTEMS if place in kept[name]] for of in (NOISE, GRADES)))
        for place in range(SEGMENTS)
        if place != 5
    ]
    assert found["item kendall-b"] == pytest.approx(np.mean([each.statistic for each in of_item]))


def test_accuracies_are_those_of_correlate(tmp_path: Path) -> None:
    found = task(make(tmp_path / "wmt99"), rows=str(tmp_path), coefficients=("acc-eq", "pa", "spa"))
    got = values(found, "sent-refA")
    assert [*got] == ["system acc-eq", "system pa", "system spa", "pool acc-eq", "item acc-eq"]
    files = [str(tmp_path / "scores.jsonl")], str(tmp_path / "judgements.jsonl")
    for by, name in (("item", "acc-eq"), ("pool", "acc-eq"), ("system", "spa")):
        options = CorrelateOptions(by=by, coefficients=(name,), resamples=20, permutations=50)  # type: ignore[arg-type]
        rows = {row.metric: row for row in correlate_files(*files, options).correlations}
        (mine,) = (
            row for row in found.correlations if (row.metric, row.by, row.coefficient) == ("sent-refA", by, name)
        )
        assert mine == rows["sent-refA"]
    pairs = [
        (np.mean(NOISE[a]) < np.mean(NOISE[b])) == (means(GRADES)[a][0] < means(GRADES)[b][0])
        for place, a in enumerate(SYSTEMS)
        for b in SYSTEMS[place + 1 :]
    ]
    assert got["system pa"] == pytest.approx(np.mean(pairs))


def test_accuracies_that_need_other_scores_say_so(tmp_path: Path) -> None:
    found = task(make(tmp_path / "wmt99"), coefficients=("pa", "spa"))
    reasons = {(row.metric, row.coefficient): row.reason for row in found.absent}
    assert reasons["BLEU-refA", "spa"] == "no scores of segments by the metric"
    assert reasons["QE-src", "pa"] == "no scores of systems by the metric"
    with pytest.raises(postil.Undefined, match="BLEU-ref: no scores of segments by people"):
        task(czech(tmp_path), language_pair="en-cs", coefficients=("spa",))


def test_what_is_in_the_table_and_what_is_not(tmp_path: Path) -> None:
    found = task(make(tmp_path / "wmt99"))
    assert found.systems == SYSTEMS
    assert found.human == {"system": "mqm", "segment": "mqm"}
    assert found.references == ("refA",)
    assert {row.metric for row in found.correlations} == {"BLEU-refA", "sent-refA", "QE-src"}
    assert sorted(map(str, found.left_out)) == [
        "people's translations: 1 (refB)",
        "references that metrics used: 1 (refA)",
        "segment level: metric without all scores of B: 1 (half-refA)",
        "segment level: metrics that used other references: 1 (other-refB)",
        "systems without human scores: 1 (Unjudged)",
    ]
    assert list(found.ranks) == COLUMNS
    assert set(found.ranks["system pearson"]) == {"BLEU-refA", "sent-refA"}


def test_people_outliers_and_references_by_choice(tmp_path: Path) -> None:
    folder = make(tmp_path / "wmt99")
    assert task(folder, include_human=True).systems == (*SYSTEMS, "refB")
    assert task(folder, outliers=("Weird",)).systems == SYSTEMS[:-1]
    other = task(folder, references=("refB",), include_human=True)
    assert other.systems == (*SYSTEMS, "refA")
    assert {row.metric for row in other.correlations} == {"other-refB", "QE-src"}
    both = task(folder, references=PEOPLE, metrics=("sent", "other-refB"))
    assert {row.metric for row in both.correlations} == {"other-refB", "sent-refA"}
    assert task(folder, human="wmt", include_human=True).human == {"system": "wmt"}


def test_the_choices_of_the_metrics_task(tmp_path: Path) -> None:
    outlier = "WMTBiomedBaseline.183"
    human = {name: [float(place)] for place, name in enumerate((*SYSTEMS, outlier))}
    scores = {"mqm.sys": human, "wmt-z.sys": human}
    folder = write_set(tmp_path / "wmt20", "zh-en", human=scores, metrics={"BLEU-ref.sys": human})
    found = task(folder, language_pair="zh-en")
    assert (found.human, found.systems) == ({"system": "wmt-z"}, SYSTEMS)
    assert task(folder, language_pair="zh-en", include_outliers=True).systems == (*SYSTEMS, outlier)
    later = write_set(tmp_path / "wmt21.tedtalks", "zh-en", human=scores, metrics={"BLEU-refB.sys": human})
    found = task(later, language_pair="zh-en")
    assert (found.human, found.references) == ({"system": "mqm"}, ("refB",))


def test_a_metric_of_ones_own(tmp_path: Path) -> None:
    folder, file = make(tmp_path / "wmt99"), tmp_path / "own.jsonl"
    rows = [Score(str(place + 1), name, "own", NOISE[name][place]) for name in SYSTEMS for place in range(SEGMENTS)]
    write(file, [*rows, Score("1", "refA", "own", 0.5)])
    found = task(folder, str(file))
    assert values(found, "own") == pytest.approx(values(found, "sent-refA"))
    write(file, [*rows, *(Score(None, name, "own", float(place)) for place, name in enumerate(SYSTEMS))])
    again = values(task(folder, str(file)), "own")
    assert again["pool pearson"] == values(found, "own")["pool pearson"]
    assert again["system pearson"] != values(found, "own")["system pearson"]
    edits = [Score(row.item, row.system, row.metric, -row.score, "edits|better:low") for row in rows]
    write(file, edits)
    low = task(folder, str(file))
    assert values(low, "own") == pytest.approx(values(found, "own"))
    assert low.settings.lower_is_better == ("own",)
    write(file, rows[1:])
    with pytest.raises(postil.InvalidInput, match=r"own\.jsonl: own has scores of 11 of 12 segments by A;"):
        task(folder, str(file))
    write(file, [*rows, rows[0]])
    with pytest.raises(postil.InvalidInput, match=r"own\.jsonl:61: metric: a second score of item"):
        task(folder, str(file))
    write(file, [Score(None, "A", "own", 0.5)])
    with pytest.raises(postil.InvalidInput, match=r"own\.jsonl: expected item scores .*, got 1 corpus scores"):
        task(folder, str(file))
    write(file, [Score("1", "A", "BLEU-refA", 0.5)])
    with pytest.raises(postil.UsageError, match="has a metric BLEU-refA; give yours another name"):
        task(folder, str(file))
    write(file, [*rows, Score("13", "A", "own", 0.5)])
    with pytest.raises(
        postil.InvalidInput, match=r"own\.jsonl:61: item: expected the number of a segment, 1 to 12, got '13'"
    ):
        task(folder, str(file))


def test_a_corpus_score_is_of_the_statistics_of_segments(tmp_path: Path) -> None:
    words = ["the", "cat", "sat", "on", "the", "mat", "near", "the", "door", "today"]
    texts = [" ".join(words[k % 3 : 3 + (1 + k) * place % 7]) for k in range(len(SYSTEMS)) for place in range(SEGMENTS)]
    items = [str(place + 1) for place in range(SEGMENTS)] * len(SYSTEMS)
    systems = [name for name in SYSTEMS for _ in range(SEGMENTS)]
    scored = postil.score(
        texts, [[" ".join(words)]] * len(texts), items=items, systems=systems, metrics=["bleu-2(smooth=exp)"]
    )
    file, rows = tmp_path / "bleu.jsonl", list(scored.score_rows())
    write(file, rows)
    human = {name: [of["bleu-2(smooth=exp)"]] for name, of in scored.by_system.items()}
    folder = write_set(make(tmp_path / "wmt99"), "en-de", human={"mqm.sys": human}, metrics={})
    found = values(task(folder, str(file), coefficients=("pearson",)), "bleu-2(smooth=exp)")
    assert found["system pearson"] == pytest.approx(1.0, abs=1e-12)
    write(file, [replace(row, statistics=()) for row in rows])
    mean = values(task(folder, str(file), coefficients=("pearson",)), "bleu-2(smooth=exp)")
    assert mean["system pearson"] < 0.999
    write(file, [replace(rows[0], statistics=(1.0,)), *rows[1:]])
    with pytest.raises(postil.InvalidInput, match=r"expected 1 numbers, as the first row of .* has, got 6"):
        task(folder, str(file))


def test_rows_give_the_same_numbers(tmp_path: Path) -> None:
    out = tmp_path / "rows"
    found = task(make(tmp_path / "wmt99"), rows=str(out), metrics=("sent",))
    again = correlate_files(
        [str(out / "scores.jsonl")],
        str(out / "judgements.jsonl"),
        CorrelateOptions(by="item", coefficients=("pearson",), resamples=20),
    )
    assert again.correlations[0].value == values(found, "sent-refA")["item pearson"]
    candidates = list(read(out / "candidates.jsonl", Candidate))
    assert len(candidates) == len(SYSTEMS) * SEGMENTS
    assert candidates[13] == Candidate("2", "B", "B says 1")
    assert next(iter(read(out / "references.jsonl", Reference))) == Reference("1", "refA says 0", id="refA")
    assert next(iter(read(out / "judgements.jsonl", Judgement))).annotator == "mqm"


def test_lower_is_better(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "wmt99", metrics={"TER-refA.sys": {name: [-each[0]] for name, each in means(NOISE).items()}}
    )
    found = task(folder, lower_is_better=("TER-refA",))
    assert values(found, "TER-refA")["system pearson"] == pytest.approx(values(found, "BLEU-refA")["system pearson"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"language_pair": "en-fr"}, "unknown language pair 'en-fr'; did you mean 'en-de'"),
        ({"human": "esa"}, "unknown human scores 'esa'.*Known: mqm, wmt"),
        ({"references": ("refC",)}, "unknown reference 'refC'; did you mean 'refB'"),
        ({"metrics": ("sents",)}, "unknown metric 'sents'; did you mean 'sent'"),
        ({"lower_is_better": ("TER",)}, "unknown metric 'TER'"),
        ({"outliers": ("weird",)}, "unknown system 'weird'; did you mean 'Weird'"),
        ({"outliers": ("Weird",), "include_outliers": True}, "outliers and include_outliers cannot be given together"),
        ({"coefficients": ("kendall",)}, "unknown coefficient 'kendall'; did you mean 'kendall-c'"),
        ({"coefficients": ()}, "no coefficient: expected at least one of pearson"),
    ],
)
def test_names_that_do_not_occur(options: dict[str, object], problem: str, tmp_path: Path) -> None:
    with pytest.raises(postil.UsageError, match=problem):
        task(make(tmp_path / "wmt99"), **options)


def test_nothing_to_correlate(tmp_path: Path) -> None:
    human = {"a.sys": {"A": [1.0]}, "b.sys": {"A": [1.0]}}
    folder = write_set(tmp_path / "wmt99", "en-de", human=human, metrics={})
    with pytest.raises(postil.UsageError, match=r"^human: expected one of a, b, since wmt99 has no standard"):
        task(folder)
    with pytest.raises(postil.Undefined, match="wmt99: no metric of no reference has scores of all 1 systems"):
        task(folder, human="a")
    write_set(folder, "en-de", human={}, metrics={"BLEU-ref.sys": {"A": [0.5]}})
    with pytest.raises(postil.Undefined, match="wmt99: BLEU-ref: only one text"):
        task(folder, human="a")
    with pytest.raises(postil.UsageError, match="rows needs human scores of segments"):
        task(folder, human="a", rows=str(tmp_path / "rows"))
    write(tmp_path / "own.jsonl", [Score("1", "A", "own", 0.5)])
    with pytest.raises(postil.UsageError, match=r"^scores: .* has no sources or system-outputs"):
        task(folder, str(tmp_path / "own.jsonl"), human="a")


TEXTS = {"A": ["one", "", "three"], "refA": ["one", "two", "three"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_set(
        tmp_path / "wmt22",
        "en-de",
        human={"mqm.seg": {"A": [0, None, -1.5]}, "mqm.doc": {"A": [1]}, "mqm.unb.sys": {"A": [-0.5]}},
        metrics={
            "COMET-QE-src.seg": {"A": [1, 2, 3]},
            "chrF-refA.refB.sys": {"A": [0.5]},
            "all-all.domain": {"A": [1]},
        },
        references={"refA": TEXTS["refA"]},
        outputs=TEXTS,
    )


def test_files_by_level_and_name(folder: Path) -> None:
    found = WmtSet.open(folder, "en-de")
    assert [[*each] for each in found.human.values()] == [["mqm.unb"], ["mqm"]]
    assert [[*each] for each in found.metrics.values()] == [["chrF-refA.refB"], ["COMET-QE-src"]]
    assert (found.name, found.segments, [*found.references], [*found.outputs]) == ("wmt22", 3, ["refA"], ["A", "refA"])
    assert found.scores(found.human["seg"]["mqm"], "seg") == {"A": [0.0, None, -1.5]}
    assert found.texts(found.outputs["A"]) == TEXTS["A"]
    names = ("COMET-QE-src", "chrF-refA.refB", "m-all")
    assert [found.used_references(name) for name in names] == [set(), {"refA", "refB"}, {"refA"}]


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("human-scores/en-de.mqm.seg.score", "A 1\nA\n", ":2: expected a system and a score, got 'A'"),
        ("human-scores/en-de.mqm.seg.score", "A\t1\nA\tx\nA\t2\n", ":2: score: expected a number or None, got 'x'"),
        ("human-scores/en-de.mqm.seg.score", "A 1\nA nan\nA 2\n", ":2: score: expected a number or None, got 'nan'"),
        ("human-scores/en-de.mqm.seg.score", "B 1\n", ":1: expected a system of system-outputs/en-de, got 'B'"),
        ("human-scores/en-de.mqm.seg.score", "A 1\nA 2\n", ": expected 3 scores of A, one per segment, got 2"),
        ("human-scores/en-de.mqm.seg.score", "", ": the file holds no lines"),
    ],
)
def test_scores_that_cannot_be_read(file: str, text: str, problem: str, folder: Path) -> None:
    (folder / file).write_text(text)
    found = WmtSet.open(folder, "en-de")
    with pytest.raises(InvalidInput) as error:
        found.scores(found.human["seg"]["mqm"], "seg")
    assert str(error.value) == f"{folder / file}{problem}"


def test_folders_that_are_no_test_set(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="no folder human-scores in it; expected a test set"):
        WmtSet.open(folder.parent, "en-de")
    (folder / "human-scores/en-de.mqm.sys.score").write_text("A 1\nA 2\n")
    found = WmtSet.open(folder, "en-de")
    with pytest.raises(InvalidInput, match="expected one score of A, got 2"):
        found.scores(found.human["sys"]["mqm"], "sys")
    (folder / "system-outputs/en-de/A.txt").write_text("one\n")
    with pytest.raises(InvalidInput, match=r"refA\.txt: expected 1 lines, one per segment, got 3"):
        WmtSet.open(folder, "en-de").texts(folder / "references/en-de.refA.txt")
    (folder / "system-outputs/en-de/A.txt").write_bytes(b"one\n\xff\nthree\n")
    with pytest.raises(InvalidInput, match=r"A\.txt:2: expected UTF-8"):
        WmtSet.open(folder, "en-de")
    (folder / "metric-scores/en-de/BLEU.sys.score").write_text("A 1\n")
    with pytest.raises(InvalidInput, match="expected a name of the form NAME-REFERENCE"):
        WmtSet.open(folder, "en-de")


def test_accuracies_stand_beside_chance(tmp_path: Path) -> None:
    found = task(make(tmp_path / "wmt99"), coefficients=("pearson", "acc-eq"))
    accuracies = [row for row in found.correlations if row.coefficient == "acc-eq"]
    assert accuracies
    (table,) = view(found).details
    head, *lines = table.grid()
    assert head == ["accuracy", "measure", "value", "chance", "p"]
    assert len(lines) == len(accuracies)
    for line, row in zip(lines, accuracies, strict=True):
        assert line[3].startswith(short(row.chance))
    by_name = {(row["metric"], row["by"], row["coefficient"]): row for row in found.to_rows()}
    for row in found.correlations:
        assert by_name[row.metric, row.by, row.coefficient]["chance"] == row.chance
    plain = task(tmp_path / "wmt99", coefficients=("pearson",))
    assert view(plain).details == []
    assert "chance" not in plain.to_csv()
