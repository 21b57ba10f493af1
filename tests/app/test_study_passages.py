"""The study of passages: six figures whose numbers are those of the commands; vectors and anchors where there are."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from postil.app.passages import PassagesOptions, gains_of_file
from postil.app.report import write_report
from postil.app.study.passages import PassagesStudyOptions, study_passages
from postil.app.study.passages_figures import passages_study
from postil.app.study.stages import read_result
from postil.errors import InvalidInput, UnknownName
from postil.records import Passage, write
from postil.records.result_files import read_results
from postil.records.results import NcgResult

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(find_spec("matplotlib") is None, reason="pages need the extra plot")

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


def test_nothing_is_done_twice(done: tuple[Path, list[str]], collection: Path) -> None:
    out, first = done
    said: list[str] = []
    for stage in STAGES:
        study_passages(collection, out, PassagesStudyOptions(**QUICK, stage=stage), said.append)
    assert said == [f"{name}: done before" for name in STAGES]
    assert all(line.startswith(f"{name}: postil passages ") for name, line in zip(STAGES[:4], first, strict=False))


def test_without_anchors_and_vectors_it_says_so(done: tuple[Path, list[str]]) -> None:
    found = {name: read_result(done[0] / f"{name}.json", NcgResult) for name in ("informativeness", "interestingness")}
    made = passages_study("ponds", found, [])
    said = [" ".join(each.words) for each in made.parts]
    assert [text.partition(",")[0] for text in said[:3]] == ["No word vectors were given or trained", "", NO_ANCHORS]


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


def test_what_is_no_collection(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"expected one of passages\.jsonl"):
        study_passages(tmp_path, tmp_path / "out", PassagesStudyOptions(**QUICK), lambda _: None)
    with pytest.raises(UnknownName, match="pool"):
        study_passages(tmp_path, tmp_path / "out", PassagesStudyOptions(**QUICK, pool="both"), lambda _: None)
    assert not (tmp_path / "out").exists()
