"""bertscore and sentence-cosine, with models in memory."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from made_models import FIRST, LAST, TABLE, Words, put_in_place
from postil.errors import InvalidInput, Undefined, UsageError
from postil.metrics.controls import ControlOptions
from postil.metrics.evaluation import Batch, Evaluation, ReferenceTexts
from postil.metrics.metric_set import parse_all
from postil.metrics.spec import parse_metric

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

CANDIDATES = ["the rain falls", "snow", "", "the day and the night"]
REFERENCES = [["rain falls on the hill", "the sun"], ["snow falls", "snow"], ["rain"], ["", "day and night"]]


@pytest.fixture(autouse=True)
def networks(monkeypatch: pytest.MonkeyPatch) -> dict[int, Words]:
    return put_in_place(monkeypatch)


def score(spec: str, candidates=CANDIDATES, references=REFERENCES, **more) -> list[float]:
    with warnings.catch_warnings(action="ignore"):
        return postil.score(candidates, references, metrics=[spec], **more).items[spec].tolist()


def units(text: str, layer: int = 1) -> tuple[list[int], NDArray[np.float64]]:
    """Ids and unit vectors of a text, by the definition."""
    network = Words(layer=layer)
    (ids,) = network.tokenize([text], 40)
    vectors = network.vectors(np.array([ids]))[0].astype(np.float64)
    return ids, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def program(
    candidate: str, reference: str, weight=lambda token: float(token not in {FIRST, LAST})
) -> NDArray[np.float64]:
    """P, R and F of a pair."""
    (own, x), (theirs, y) = units(candidate), units(reference)
    a, r = (np.array([weight(token) for token in ids]) for ids in (own, theirs))
    if not a.any() or not r.any():
        return np.zeros(3)
    similar = x @ y.T
    p, recall = a @ similar.max(axis=1) / a.sum(), r @ similar.max(axis=0) / r.sum()
    return np.array([p, recall, 2 * p * recall / (p + recall)])


@pytest.mark.parametrize(("part", "column"), [("p", 0), ("r", 1), ("f", 2)])
def test_it_is_greedy_matching_with_special_tokens_that_weigh_nothing(part: str, column: int) -> None:
    every = [[program(text, each)[column] for each in row] for text, row in zip(CANDIDATES, REFERENCES, strict=True)]
    expected = [max(row) for row in every]  # of each part by itself
    assert score(f"bertscore(model=m,layer=1,part={part})") == pytest.approx(expected, abs=1e-6)


def test_a_word_may_match_a_special_token() -> None:
    """The vectors are two at an angle, and special tokens that point as the candidate's word does."""
    _, x = units("snow")
    assert x.shape == (3, 6)
    whole = program("snow", "rain")[0]
    (_, own), (_, theirs) = units("snow"), units("rain")
    assert whole == pytest.approx(float((own @ theirs.T)[1].max()))
    assert score("bertscore(model=m,layer=1,part=p)", ["snow"], [["rain"]]) == pytest.approx([whole], abs=1e-6)


def test_idf_counts_references_as_often_as_they_are_there() -> None:
    references = [["rain falls", "rain falls"], ["snow falls"]]
    documents = [units(text)[0] for row in references for text in row]

    def weight(token: int) -> float:
        return float(np.log((len(documents) + 1) / (sum(token in each for each in documents) + 1)))

    expected = [
        max(program(text, each, weight)[2] for each in row)
        for text, row in zip(("rain falls", "new snow"), references, strict=True)
    ]
    found = score("bertscore(model=m,layer=1,idf=true)", ["rain falls", "new snow"], references)
    assert found == pytest.approx(expected, abs=1e-6)
    assert score("bertscore(model=m,layer=1,idf=true)", ["falls", "falls"], [["falls"], ["falls now"]])[0] == 0.0


def write_baseline(folder: Path, *lines: str) -> Path:
    path = folder / "baseline.tsv"
    path.write_text("\n".join(["LAYER,P,R,F", *lines]), encoding="utf-8")
    return path


def test_a_baseline_rescales_each_part_and_each_reference(tmp_path: Path) -> None:
    path = write_baseline(tmp_path, "0,.1,.1,.1", "1,.2,.3,.25")
    for part, b in (("p", 0.2), ("r", 0.3), ("f", 0.25)):
        raw = np.array(score(f"bertscore(model=m,layer=1,part={part})"))
        spec = f"bertscore(model=m,layer=1,part={part},baseline={path})"
        assert score(spec) == pytest.approx(((raw - b) / (1 - b)).tolist(), abs=1e-9)
        weighted = score(f"w-{spec}", weights=[[1.0] * len(row) for row in REFERENCES])
        assert weighted[2] == 0.0
        assert weighted[0] == pytest.approx(score(spec)[0], abs=1e-12)


def test_weights_act_on_what_is_positive() -> None:
    rows, (low,) = [[0.25]], [row for row in range(400) if program("snow", f"w{row}")[2] < 0][:1]
    assert score("w-bertscore(model=m,layer=1)", ["snow"], [[f"w{low}"]], weights=rows) == pytest.approx(
        score("bertscore(model=m,layer=1)", ["snow"], [[f"w{low}"]])
    )


def test_signatures_have_the_model_the_layer_and_the_number_of_the_baseline(tmp_path: Path) -> None:
    path = write_baseline(tmp_path, "2,.2,.3,.25")
    spec = f"bertscore(model=m,layer=2,idf=true,part=r,baseline={path})"
    result = postil.score(CANDIDATES, REFERENCES, metrics=[spec, "sentence-cosine(model=m,prefix=good,baseline=0.1)"])
    for signature, wanted in zip(
        result.signatures.values(),
        [
            "bertscore(model=words-m,layer=2,idf=true,part=r,baseline=0.3,over=max)|references:1-2|idf:references/7|",
            "sentence-cosine(model=sentences-m,prefix=good,baseline=0.1,over=max)|references:1-2|",
        ],
        strict=True,
    ):
        assert signature.startswith(wanted)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["0,.1,.1,.1"], "no row for layer 1"),
        (["1,.1,.1"], "baseline.tsv:2: expected four numbers, got 1,.1,.1"),
        (["1,.1,.1,1"], "baseline.tsv:2: F: expected a number below 1, got 1.0"),
    ],
)
def test_bad_baselines(lines: list[str], problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=problem):
        score(f"bertscore(model=m,layer=1,baseline={write_baseline(tmp_path, *lines)})")
    with pytest.raises(InvalidInput, match="no readable baseline"):
        score(f"bertscore(model=m,layer=1,baseline={tmp_path / 'none.tsv'})")
    (tmp_path / "baseline.tsv").write_text("a,b\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"baseline.tsv:1: expected the columns LAYER,P,R,F, got a,b"):
        score(f"bertscore(model=m,layer=1,baseline={tmp_path / 'baseline.tsv'})")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("bertscore", r"needs a model: bertscore\(model=FOLDER,layer=N\)"),
        ("sentence-cosine", r"needs a model: sentence-cosine\(model=FOLDER\)"),
        ("bertscore(model=a(b),layer=1)", "model: expected a path without commas, brackets"),
        ("bertscore(model=m,layer=half)", "layer: expected a whole number, got 'half'"),
        ("bertscore(model=m,over=kernel)", "over=kernel is a mean of the references' weights"),
        ("sentence-cosine(model=m,baseline=1)", "baseline: expected auto or a number from -1 to below 1"),
    ],
)
def test_wrong_usage(spec: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        score(spec)


def test_a_measured_baseline_needs_two_items() -> None:
    assert score("sentence-cosine(model=m,baseline=auto)")[2] == 0.0
    with pytest.raises(Undefined, match="needs references of at least two items"):
        score("sentence-cosine(model=m,baseline=auto)", ["a"], [["b"]])


def test_sentence_cosine_is_the_cosine_of_the_encoder() -> None:
    (own, theirs) = (
        Words().vectors(np.array(Words().tokenize([text], 40)))[0].mean(axis=0) for text in ("snow", "snow falls")
    )
    expected = float(own @ theirs / np.linalg.norm(own) / np.linalg.norm(theirs))
    assert score("sentence-cosine(model=m)", ["snow", " "], [["snow falls"], ["snow"]]) == pytest.approx(
        [expected, 0.0]
    )
    assert score("sentence-cosine(model=m)", ["snow"], [["snow"]]) == pytest.approx([1.0])


def test_each_text_is_encoded_once_for_all_metrics_and_controls(networks: dict[int, Words]) -> None:
    specs = [f"w-bertscore(model=m,layer=1,{rest})" for rest in ("part=p", "part=r", "idf=true", "over=near")]
    with warnings.catch_warnings(action="ignore"):
        postil.score(
            CANDIDATES * 3, REFERENCES * 3, weights=[[0.5] * len(row) for row in REFERENCES] * 3, metrics=specs
        )
    distinct = {text for row in [CANDIDATES, *REFERENCES] for text in row}
    lengths = {len(Words().tokenize([text], 40)[0]) for text in distinct}
    # One more run finds the length of vectors; batches are filled up to 64 tokens with copies.
    assert networks[1].texts <= 1 + sum(len(distinct) + 64 // length + 1 for length in lengths)
    run = networks[1].texts
    evaluation = evaluate(specs[:1])
    assert networks[1].texts == run
    for scored in evaluation.measure([batch()]):
        assert len(list(scored.control_scores())) > 4
    assert networks[1].texts == run


def batch() -> Batch:
    return Batch(CANDIDATES, np.arange(4, dtype=np.int32))


def evaluate(specs: list[str], **more) -> Evaluation:
    texts = [text for row in REFERENCES for text in row]
    weights = np.linspace(0.1, 1, len(texts))
    references = ReferenceTexts(texts, np.cumsum([0, *map(len, REFERENCES)]), weights)
    return Evaluation(parse_all(specs), references, tokenizer="words", controls=ControlOptions(draws=2), **more)


def test_controls_and_batches_and_blocks_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = ["w-bertscore(model=m,layer=1,idf=true,over=near)", "w-sentence-cosine(model=m)"]
    found = []
    for together, jobs in ((1 << 18, 1), (10, 2)):
        monkeypatch.setattr("postil.metrics.bertscore.TOGETHER", together)
        (scored,) = evaluate(specs, jobs=jobs).measure([batch()])
        found.append(dict(scored.item_scores()) | dict(scored.control_scores()))
    for name, values in found[0].items():
        np.testing.assert_array_equal(values, found[1][name], err_msg=name)
    nearest = found[0][f"control:nearest({specs[1]})"]
    assert nearest[0] in np.linspace(0.1, 1, 7)[:2]


def test_texts_that_are_cut_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place(monkeypatch, longest=5)
    with warnings.catch_warnings(record=True, action="always") as seen:
        postil.score(["a b c d", "a"], [["a"], ["a b c d e"]], metrics=["bertscore(model=m,layer=1)"])
    assert sorted(str(each.message) for each in seen) == [
        "1 of 2 candidates have more tokens than the model in m takes, and were cut",
        "1 of 2 references have more tokens than the model in m takes, and were cut",
    ]


def test_the_lowest_score_is_known() -> None:
    assert (parse_metric("bertscore").low, parse_metric("sentence-cosine").low) == (-1.0, 0.0)
    assert TABLE.min() < 0
