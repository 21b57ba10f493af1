"""The informativeness of the passages of TREC Deep Learning 2019: figures found by code that shares nothing with this.

43 topics, 9,260 judged passages, grades 0 to 3; words are runs of letters and digits in lower case, without stop words
removed and without stems; a list a topic, nCG with the expected value over ties, the mean over topics. A few passages
have combining marks, which are in words since: the number of words was counted anew by other code, and the values that
moved (by .0016 at most) are the package's own.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from postil.data.rows import Passage
from postil.kernel import NAME
from postil.metrics.passage_measures import measure_passages
from postil.metrics.passage_pools import PassageCollection, informativeness
from postil.metrics.spec import parse_measure
from postil.passages.calls import find_gains
from postil.passages.gain import gain_curve
from postil.passages.options import PassagesOptions
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from postil.passages.result import NcgResult

pytestmark = pytest.mark.skipif(NAME == "python", reason="the pure-Python kernel would take minutes")

DATA = Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[3] / "shared" / "data"))
KS = (5, 10, 20, 50, 100)
NEAR = 1e-6

# Every passage in its own reference, as in the paper
INSIDE = {
    "f1-1": (0.638255, 0.666997, 0.673927, 0.764424, 0.864296),
    "f1-2": (0.663757, 0.703903, 0.759787, 0.868957, 0.936207),
    "f1-sk": (0.671043, 0.706034, 0.763852, 0.870240, 0.938901),
    "kl-1": (0.725734, 0.758767, 0.785232, 0.836947, 0.895346),
    "kl-2": (0.488088, 0.555116, 0.639697, 0.741349, 0.830986),
    "kl-sk": (0.431795, 0.466959, 0.558178, 0.700179, 0.807338),
    "logsim-1": (0.702000, 0.682560, 0.675882, 0.736787, 0.843151),
    "logsim-2": (0.728667, 0.751504, 0.768443, 0.817432, 0.886336),
    "logsim-sk": (0.717426, 0.737003, 0.757345, 0.819742, 0.880135),
    "w-f1-1": (0.776699, 0.761393, 0.740992, 0.796375, 0.868599),
    "w-f1-2": (0.869795, 0.854824, 0.870568, 0.929162, 0.951612),
    "w-f1-sk": (0.880973, 0.872202, 0.879824, 0.937272, 0.960090),
    "length(inverse=false)": (0.322182, 0.312243, 0.352381, 0.462434, 0.661233),
    "length": (0.126673, 0.167922, 0.211347, 0.318914, 0.535247),
    "random": (0.252209, 0.266105, 0.293430, 0.393811, 0.597945),
}

# Each passage without itself
WITHOUT = {
    "f1-1": (0.566056, 0.562274, 0.556493, 0.676555, 0.817158),
    "f1-2": (0.606426, 0.613672, 0.637591, 0.756906, 0.861896),
    "f1-sk": (0.606170, 0.605229, 0.636722, 0.729265, 0.854989),
    "kl-1": (0.675032, 0.678190, 0.693195, 0.796498, 0.864065),
    "kl-2": (0.370663, 0.432162, 0.485528, 0.595255, 0.726494),
    "kl-sk": (0.300434, 0.349928, 0.400732, 0.504788, 0.666322),
    "logsim-1": (0.629420, 0.630101, 0.624492, 0.713861, 0.828619),
    "logsim-2": (0.666871, 0.667135, 0.699174, 0.762616, 0.854893),
    "logsim-sk": (0.656026, 0.638649, 0.644456, 0.704191, 0.814531),
    "w-f1-1": (0.596151, 0.574824, 0.583178, 0.687847, 0.817675),
    "w-f1-2": (0.640784, 0.653204, 0.687057, 0.762749, 0.868060),
    "w-f1-sk": (0.645190, 0.640975, 0.680987, 0.758698, 0.855056),
}


@pytest.fixture(scope="module")
def rows() -> list[Passage]:
    """The judgements in the order of their file, with the texts."""
    folder = DATA / "passages" / "trec_dl19"
    if not folder.is_dir():
        pytest.skip(f"no data in {DATA}; POSTIL_DATA names the folder")
    with gzip.open(folder / "dl2019_document.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = {row["docid"]: row["doc"] for row in map(json.loads, file)}
    lines = (folder / "2019qrels-pass.txt").read_text(encoding="utf-8").splitlines()
    return [
        Passage(topic, document, texts[document], grade=float(grade))
        for topic, _, document, grade in (line.split() for line in lines)
    ]


@pytest.fixture(scope="module")
def found(rows: list[Passage]) -> NcgResult:
    """Results of `postil passages` with two threads."""
    options = PassagesOptions(measures=tuple(INSIDE), pool="topic", leave_one_out=True, k=KS, resamples=1, jobs=2)
    return find_gains(rows, options)[0]


@pytest.fixture(scope="module")
def collection(rows: list[Passage]) -> PassageCollection:
    return PassageCollection(Vocabulary().encode([row.text for row in rows], tokenizer("words"), allow_han=True))


def gains(found: NcgResult, *, without: bool) -> dict[str, tuple[float, ...]]:
    some = [row for row in found.gains if row.leave_one_out is without]
    return {
        name: tuple(row.ncg for row in some if row.measure == name)
        for name in dict.fromkeys(row.measure for row in some)
    }


def test_the_data_are_those_of_the_figures(rows: list[Passage], collection: PassageCollection) -> None:
    assert (len(rows), len({row.topic for row in rows}), len({row.id for row in rows})) == (9260, 43, 9139)
    assert [sum(row.grade == grade for row in rows) for grade in range(4)] == [5158, 1601, 1804, 697]
    lengths = collection.tokens.lengths
    assert (lengths.sum(), lengths.min(), lengths.max(), np.median(lengths)) == (528_735, 6, 186, 51)
    expected = {"1": (20_868, 528_735), "2": (171_036, 519_475), "sk": (208_521, 510_215)}
    for unit, numbers in expected.items():
        units = collection.bags(unit).units
        assert (units.distinct, units.totals.sum()) == numbers, unit


def test_every_passage_in_its_own_reference(found: NcgResult) -> None:
    """A measure with w- is not shown so: it would read the grade that it is to predict. See the next test."""
    assert gains(found, without=False) == {
        name: pytest.approx(row, abs=NEAR) for name, row in INSIDE.items() if not name.startswith("w-")
    }


@pytest.mark.parametrize("name", [name for name in INSIDE if name.startswith("w-")])
def test_every_passage_in_its_own_weighted_reference(
    rows: list[Passage], collection: PassageCollection, name: str
) -> None:
    topics = {topic: number for number, topic in enumerate(dict.fromkeys(row.topic for row in rows))}
    topic = np.array([topics[row.topic] for row in rows])
    grades = np.array([row.grade for row in rows], np.float64)
    pools = informativeness(topic, grades / 3).all_inside()
    measure = parse_measure(name)
    scores = measure.ranked(measure_passages([measure], collection, pools)[measure])
    curve = gain_curve(scores, grades[pools.texts], topic[pools.texts], KS, resamples=1)
    assert curve.ncg.tolist() == pytest.approx(INSIDE[name], abs=NEAR)


def test_each_passage_without_itself(found: NcgResult) -> None:
    assert gains(found, without=True) == {name: pytest.approx(row, abs=NEAR) for name, row in WITHOUT.items()}


def test_how_far_measures_follow_length(rows: list[Passage], collection: PassageCollection) -> None:
    """The table in research/passage-measures.md: Spearman with the number of words in a topic, mean over topics."""
    stats = pytest.importorskip("scipy.stats")
    topics = {topic: number for number, topic in enumerate(dict.fromkeys(row.topic for row in rows))}
    topic = np.array([topics[row.topic] for row in rows])
    pools = informativeness(topic, [float(row.grade or 0) / 3 for row in rows])
    expected = {
        "1": {"rouge": 0.72, "f1": 0.65, "logsim": 0.55, "js": 0.43, "tf-idf": 0.20, "kl": -0.12},
        "2": {"rouge": 0.38, "f1": 0.42, "logsim": 0.36, "js": 0.28, "tf-idf": 0.19, "kl": -0.70},
    }
    for unit, row in expected.items():
        measures = {family: parse_measure(f"{family}-{unit}") for family in row}
        values = measure_passages(list(measures.values()), collection, pools, 2)
        for family, measure in measures.items():
            ranked, length = measure.ranked(values[measure]), collection.tokens.lengths[pools.texts]
            of = topic[pools.texts]
            found = np.mean([stats.spearmanr(ranked[of == each], length[of == each])[0] for each in topics.values()])
            assert found == pytest.approx(row[family], abs=0.005), (family, unit)
    assert np.median(values[measures["js"]]) == pytest.approx(0.645, abs=5e-4)
