"""Judgements, collections and runs of TREC."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.corpus.duplicates import merge_duplicates
from postil.corpus.importers.trec import read_collection, read_qrels, read_run, read_texts, read_trec, run_lines
from postil.data.ranking import Ranking
from postil.data.rows import Passage
from postil.errors import InvalidInput, UnknownName, UsageError

if TYPE_CHECKING:
    from conftest import File, Refused

DATA = Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[4] / "shared" / "data")) / "passages" / "trec_dl19"
QRELS = "7 Q0 d1 2\n7\t0\td2  0\n8 Q0 d1 1.5\n"
TSV = "d1\tRain tomorrow.\nd2\tSnow,\tthen rain.\nd3\tSun.\n"
JSON = (
    '{"id": "d1", "text": "Rain tomorrow."}\n\n{"id": "d2", "text": "Snow,\\tthen rain."}\n{"id": 3, "text": "Sun."}\n'
)
ROWS = [
    Passage("7", "d1", "Rain tomorrow.", grade=2),
    Passage("7", "d2", "Snow,\tthen rain.", grade=0),
    Passage("8", "d1", "Rain tomorrow.", grade=1.5),
]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize(("name", "text"), [("c.tsv", TSV), ("c.jsonl", JSON)])
def test_judged_passages(file: File, name: str, text: str, ending: str) -> None:
    found = read_trec(file(f"qrels{ending}", QRELS), [file(name + ending, text)])
    assert found.passages == ROWS
    assert (found.missing, found.repeated, found.negative, found.unjudged, found.unused) == ((), (), (), (), 1)


@pytest.mark.parametrize("name", ["_id", "id", "docid", "doc_id", "docno", "pid"])
@pytest.mark.parametrize("field", ["text", "contents", "passage", "doc", "body"])
def test_names_of_fields(file: File, name: str, field: str) -> None:
    path = file("c.jsonl", f'{{"title": "Weather", "{name}": 4, "{field}": "Rain."}}')
    assert list(read_collection(path)) == [(1, "4", "Rain.")]


def test_what_is_met_is_reported(file: File) -> None:
    qrels = file("qrels", "7 Q0 d1 -2\n7 Q0 d2 1\n7 Q0 d9 3\n7 Q0 d2 1\n8 Q0 d9 0\n7 Q0 d1 -2\n7 Q0 d2 1.0\n")
    found = read_trec(qrels, [file("c.tsv", TSV)])
    assert [(row.id, row.grade) for row in found.passages] == [("d1", 0.0), ("d2", 1.0)]
    assert found.missing == (("7", "d9"), ("8", "d9"))
    assert found.repeated == (("7", "d2"), ("7", "d1"))
    assert found.negative == (("7", "d1"),)


def test_collections_may_be_mixed_and_qrels_those_of_beir(file: File) -> None:
    first, second = TSV.splitlines(keepends=True)[:2]
    collections = [file("a.tsv", first), file("b.jsonl", '{"_id": "x", "text": ""}'), file("c.tsv", second + first)]
    assert read_trec(file("qrels", QRELS), collections).passages == ROWS
    usual = read_qrels(file("qrels.tsv", "query-id\tcorpus-id\tscore\n7\td1\t2\n"))
    by_name = read_qrels(file("sorted.tsv", "corpus-id\tquery-id\tscore\nd1\t7\t2\n"))
    assert usual.grades == by_name.grades == {("7", "d1"): 2.0}


RUN = "7 Q0 d3 1 9 mine\n7 Q0 d1 2 8 mine\n9 Q0 d2 1 1 mine\n"


@pytest.mark.parametrize(("unjudged", "grade"), [("zero", 0.0), ("keep", None), ("skip", None)])
def test_unjudged_passages_of_runs(file: File, unjudged: str, grade: float | None) -> None:
    files = file("qrels", QRELS), [file("c.tsv", TSV)]
    found = read_trec(*files, runs=[file("run", RUN)], unjudged=unjudged)  # type: ignore[arg-type]
    added = [Passage("7", "d3", "Sun.", grade=grade), Passage("9", "d2", "Snow,\tthen rain.", grade=grade)]
    assert found.passages == [*ROWS, *(added if unjudged != "skip" else ())]
    assert found.unjudged == (("7", "d3"), ("9", "d2"))
    assert found.unused == (unjudged == "skip")


def test_requests_that_make_no_sense(file: File) -> None:
    qrels, texts = file("qrels", QRELS), file("c.tsv", TSV)
    with pytest.raises(UnknownName, match="did you mean 'zero'"):
        read_trec(qrels, [texts], unjudged="zeros")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="unjudged needs at least one run"):
        read_trec(qrels, [texts], unjudged="zero")
    with pytest.raises(UsageError, match="stand in collections; name at least one"):
        read_trec(qrels, [])
    with pytest.raises(InvalidInput, match=r"none of the judged documents, such as 'd1', is in .*d\.tsv"):
        read_trec(qrels, [file("d.tsv", "D1\tRain.\n")])


BAD = {
    "qrels": [
        ("7 Q0 d1\n", "1: expected 4 columns (topic Q0 document grade), got 3"),
        ("7 Q0 d1 1\n\n7 Q0 d 2 1\n", "3: expected 4 columns (topic Q0 document grade), got 5"),
        ("query-id corpus-id score\n7 Q0 d1 1\n", "2: expected 3 columns (query-id corpus-id score), got 4"),
        ("7 Q0 d1 good\n", "1: grade: expected a number, got 'good'"),
        (f"7 Q0 d1 {'9' * 5000}\n", f"1: grade: expected a number, got '{'9' * 40}…'"),
        ("7 Q0 d1 nan\n", "1: grade: expected a number, got 'nan'"),
        ("7 Q0 d1 1\n7 Q0 d1 2\n", "2: grade: document d1 of topic 7 has 1 in line 1, here 2; keep one"),
        ("7 Q0 d1 -1\n7 Q0 d1 0\n", "2: grade: document d1 of topic 7 has -1 in line 1, here 0; keep one"),
    ],
    "collection": [
        ("d1 Rain.\n", "1: expected an id, a tab and a text"),
        ("d1\tRain.\n\tSnow.\n", "2: expected an id, a tab and a text"),
        ('{"text": "a"}', "1: _id: no such field, nor id, docid, doc_id, docno, pid; the line has: text"),
        ('\n{"id": 1}', "2: text: no such field, nor contents, passage, doc, body; the line has: id"),
        ('{"id": true, "text": "a"}', "1: id: expected text or an integer, got true"),
        ('{"id": 1, "doc": 2}', "1: doc: expected text, got 2"),
        ('{"id": 1, "text"', "1: the JSON ends too early; is the line cut off?"),
        ('[{"id": 1}]', "1: expected JSON Lines, one object per line, got a JSON array…"),
    ],
    "run": [
        ("7 Q0 a 1 0.5\n", "1: expected 6 columns (topic Q0 document rank score tag), got 5"),
        ("7 Q0 a 1 best x\n", "1: score: expected a number, got 'best'"),
        ("7 Q0 a 1 2 x\n7 Q0 a 2 1 x\n", "2: document: topic 7 has 'a' twice"),
    ],
}
READ = {"qrels": read_qrels, "collection": lambda path: list(read_collection(path)), "run": read_run}


@pytest.mark.parametrize(("kind", "text", "message"), [(kind, *each) for kind, bad in BAD.items() for each in bad])
def test_bad_files(write_error: Refused, kind: str, text: str, message: str) -> None:
    write_error(READ[kind], kind, text, f"{kind}:{message}")


def test_two_texts_for_a_document(file: File) -> None:
    path = file("c.tsv", "d1\tRain.\nd2\tSun.\nd2\tSnow.\nd1\tRain.\n")
    assert read_texts([path], {"d1"}) == ({"d1": "Rain."}, 2)
    with pytest.raises(InvalidInput, match=r"c\.tsv:3: id: 'd2' stood before with another text"):
        read_texts([path], {"d1", "d2"})


def test_the_score_says_the_order_of_a_run(file: File) -> None:
    run = read_run(file("run.gz", "7 Q0 a 1 0.5 x\n8 Q0 a 1 1 x\n7 Q0 c 2 2.5e0 x\n7 Q0 b 3 0.5 x\n"))
    assert {topic: list(ranking) for topic, ranking in run.items()} == {
        "7": [("c", 2.5), ("a", 0.5), ("b", 0.5)],
        "8": [("a", 1.0)],
    }


@pytest.mark.parametrize(
    ("scores", "written"),
    [
        ([0.1, 0.3], ["0.3", "0.1"]),
        ([-0.5, -1e300], ["2", "1"]),  # beyond single precision
        ([1.0, 1.0 + 1e-9], ["2", "1"]),  # equal in single precision
        ([float("inf"), 3.0], ["2", "1"]),
        ([5.0], ["5.0"]),
        ([], []),
    ],
)
def test_scores_of_runs(scores: list[float], written: list[str]) -> None:
    ranking = Ranking.from_scores([f"d{i}" for i in range(len(scores))], scores)
    assert [line.split()[4] for line in run_lines({"7": ranking}, "mine")] == written


@given(
    st.dictionaries(
        st.sampled_from(["t1", "t2"]),
        st.dictionaries(st.text("abc", min_size=1), st.floats(allow_nan=False), min_size=1),
        min_size=1,
    )
)
def test_the_order_survives_a_reader_in_single_precision(
    tmp_path_factory: pytest.TempPathFactory, scores: dict[str, dict[str, float]]
) -> None:
    rankings = {topic: Ranking.from_scores(list(of), list(of.values())) for topic, of in scores.items()}
    lines = list(run_lines(rankings, "mine"))
    for topic, ranking in rankings.items():
        rows = [line.split() for line in lines if line.startswith(f"{topic} ")]
        read = np.array([row[4] for row in rows], np.float32)
        assert (read[1:] < read[:-1]).all()
        assert [row[2] for row in rows] == ranking.keys.tolist()
        assert [int(row[3]) for row in rows] == list(range(1, len(rows) + 1))
    path = tmp_path_factory.mktemp("runs") / "run"
    path.write_text("\n".join(lines))
    again = read_run(path)
    assert {topic: ranking.keys.tolist() for topic, ranking in again.items()} == {
        topic: ranking.keys.tolist() for topic, ranking in rankings.items()
    }


def test_names_that_would_be_two_columns() -> None:
    good = Ranking.from_scores(["d1"], [1.0])
    with pytest.raises(UsageError, match="the tag of a run is one word, got 'my run'"):
        list(run_lines({"7": good}, "my run"))
    with pytest.raises(InvalidInput, match='an id without white space, got "d 1"'):
        list(run_lines({"7": Ranking.from_scores(["d 1"], [1.0])}, "mine"))
    with pytest.raises(InvalidInput, match='an id without white space, got ""'):
        list(run_lines({"": good}, "mine"))


def test_the_real_collection() -> None:
    if not DATA.is_dir():
        pytest.skip(f"no data in {DATA}; POSTIL_DATA names the folder")
    found = read_trec(DATA / "2019qrels-pass.txt", [DATA / "dl2019_document.jsonl.gz"])
    assert len(found.passages) == 9260
    assert len({passage.topic for passage in found.passages}) == 43
    assert len({passage.text for passage in found.passages}) == 9139
    assert Counter(passage.grade for passage in found.passages) == {0: 5158, 1: 1601, 2: 1804, 3: 697}
    assert (found.missing, found.repeated, found.negative, found.unused) == ((), (), (), 1679)
    merged = merge_duplicates(found.passages)
    assert (merged.groups, merged.dropped) == (233, 259)  # counted by code that shares nothing with this one
