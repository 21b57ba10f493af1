"""vector-f1 and vector-cosine: worked values, weights of units, baselines, unknown units, what does not matter."""

from __future__ import annotations

import warnings
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

import made_vectors as made
import postil
from postil.engine import open_engine
from postil.errors import InvalidInput, Undefined, UsageError
from postil.metrics.controls import ControlOptions
from postil.metrics.evaluation import Batch, Evaluation, ReferenceTexts
from postil.metrics.metric_set import parse_all
from postil.metrics.references import References
from postil.metrics.spec import parse_metric
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["words", "subwords"])
def folder(request, tmp_path: Path) -> str:
    make = made.word_folder if request.param == "words" else made.subword_folder
    return str(make(tmp_path / "v"))


@pytest.fixture
def wide(tmp_path: Path) -> str:
    return str(made.word_folder(tmp_path / "wide", 9))


def score(spec: str, candidates, references, **more) -> list[float]:
    return postil.score(candidates, references, metrics=[spec], **more).items[spec].tolist()


@pytest.mark.parametrize(
    ("spec", "reference", "value"),
    [
        ("vector-f1(part=p", "b", 0.4),
        ("vector-f1(part=r", "b", 0.8),
        ("vector-f1(part=f", "b", 0.64 / 1.2),
        ("vector-f1(part=f", "a", 1.6 / 1.8),
        ("vector-f1(weigh=norm,part=p", "b", 4 / 6),
        ("vector-f1(weigh=norm", "b", 2 * (4 / 6) * 0.8 / (4 / 6 + 0.8)),
        ("vector-f1(baseline=0.3", "b", (0.64 / 1.2 - 0.3) / 0.7),
        ("vector-f1(baseline=0.9", "b", 0.0),
        ("vector-cosine(weigh=none", "b", 0.5**0.5),
        ("vector-cosine(baseline=0.2", "b", (0.5**0.5 - 0.2) / 0.8),
    ],
)
def test_worked_values(folder: str, spec: str, reference: str, value: float) -> None:
    assert score(f"{spec},vectors={folder})", ["a d"], [[reference]]) == pytest.approx([value], abs=1e-6)


def test_idf_counts_each_text_once_for_each_item(folder: str) -> None:
    """M = 2 of "b" and "a": a unit of one text has ln(3/2), of none ln 3; so with a text twice in an item."""
    low, high = np.log(3 / 2), np.log(3)
    precision = (low * 0 + high * 0.8) / (low + high)
    for references in (["b"], ["b", "b"]):
        spec = f"vector-f1(vectors={folder},weigh=idf,part=p)"
        assert score(spec, ["a d", "a"], [references, ["a"]])[0] == pytest.approx(precision, abs=1e-6)


def test_idf_of_a_unit_in_all_texts_is_0_and_so_is_the_score_without_another(folder: str) -> None:
    spec = f"vector-f1(vectors={folder},weigh=idf)"
    found = score(spec, ["a", "a b"], [["a b"], ["a d"]])
    assert found[0] == 0.0
    assert found[1] > 0.5


def test_a_unit_counts_as_often_as_it_occurs(folder: str) -> None:
    spec = f"vector-f1(vectors={folder},part=p)"
    assert score(spec, ["a d d d"], [["b"]]) == pytest.approx([3 * 0.8 / 4])


def test_negative_cosines_are_0(tmp_path: Path) -> None:
    folder = made.word_folder(tmp_path / "v", 2)
    vectors = np.load(folder / "vectors.npy")
    opposite = next(
        word for word, vector in zip(made.WORDS[4:], vectors[4:], strict=True) if vector[0] < -abs(vector[1])
    )
    for name in ("vector-f1", "vector-cosine"):
        assert score(f"{name}(vectors={folder})", ["a"], [[opposite]]) == [0.0]


@pytest.mark.parametrize("over", ["max", "mean", "near", "kernel"])
@pytest.mark.parametrize("name", ["w-vector-f1", "w-vector-cosine"])
@pytest.mark.parametrize("weigh", ["none", "idf", "norm"])
def test_texts_without_a_known_unit_score_0(folder: str, name: str, over: str, weigh: str) -> None:
    spec = f"{name}(vectors={folder},over={over},weigh={weigh})"
    with warnings.catch_warnings(action="ignore"):
        found = score(spec, ["", "z z", "c", "a z"], [["a", "b"]] * 3 + [["a", "d"]], weights=[[0.5, 1]] * 4)
    assert found[:3] == [0.0, 0.0, 0.0]
    assert found[3] > 0


def test_unknown_units_are_counted_in_the_signature_and_in_a_remark(folder: str) -> None:
    spec = f"vector-f1(vectors={folder})"
    with pytest.warns(UserWarning, match=r"75\.0% of the units of the candidates have no vector in .*v and are"):
        result = postil.score(["a z z z"], [["b a a a a a a a a z"]], metrics=[spec])
    assert "|unknown:10.00%|" in result.signatures[spec]
    with warnings.catch_warnings(action="error"):
        result = postil.score(["a"], [["b"]], metrics=[spec])
    assert "unknown" not in result.signatures[spec]


ITEMS = [["a d e", "b f", "g h i"], ["d d", "j k"], ["l m n o", "p a"], ["q", "r s t"]]


def data(seed: int = 1) -> tuple[list[str], list[list[str]], list[list[float]]]:
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(list(made.WORDS), random.integers(0, 7))) for _ in range(12)]
    return texts, ITEMS * 3, [[0.25, 0.75, 1.0][: len(each)] for each in ITEMS] * 3


SPECS = [
    "vector-f1(vectors={},weigh=idf,baseline=auto)",
    "w-vector-f1(vectors={},weigh=idf,baseline=auto,over=near)",
    "w-vector-f1(vectors={},weigh=norm,over=kernel,part=r)",
    "w-vector-cosine(vectors={},weigh=idf,baseline=auto,over=top-2)",
    "vector-cosine(vectors={})",
]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_order_of_references_and_items_changes_nothing(wide: str) -> None:
    candidates, references, weights = data()
    specs = [spec.format(wide) for spec in SPECS]
    items = [*range(4)] * 3
    expected = postil.score(candidates, references, weights=weights, metrics=specs, items=items)
    for order in list(permutations(range(3)))[1:]:
        turned = [[row[i] for i in order if i < len(row)] for row in references]
        of_them = [[row[i] for i in order if i < len(row)] for row in weights]
        rows = candidates[::-1], turned[::-1]
        found = postil.score(*rows, weights=of_them[::-1], metrics=specs, items=items[::-1])
        assert found.signatures == expected.signatures
        for spec in specs:
            np.testing.assert_allclose(found.items[spec][::-1], expected.items[spec], rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_score_depends_neither_on_its_batch_nor_on_jobs_nor_on_the_engine(wide: str) -> None:
    candidates, _, weights = data()
    metrics = parse_all([spec.format(wide) for spec in SPECS])
    texts = ReferenceTexts(
        [text for row in ITEMS for text in row],
        np.cumsum([0, *map(len, ITEMS)]),
        np.array([weight for row in weights[:4] for weight in row]),
    )
    sets = np.arange(12, dtype=np.int32) % 4

    def items(batches: list[Batch], jobs: int = 1, engine: object = None) -> dict[str, bytes]:
        evaluation = Evaluation(metrics, texts, tokenizer="words", jobs=jobs)
        parts = [dict(scored.item_scores()) for scored in evaluation.measure(batches, engine=engine)]
        return {spec: np.concatenate([part[spec] for part in parts]).tobytes() for spec in metrics}

    whole = items([Batch(candidates, sets)])
    assert items([Batch(candidates, sets)], jobs=3) == whole
    assert items([Batch(candidates[i : i + 1], sets[i : i + 1], i) for i in range(12)]) == whole
    with open_engine("local", jobs=2) as engine:
        assert items([Batch(candidates[:7], sets[:7]), Batch(candidates[7:], sets[7:], 7)], engine=engine) == whole


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_controls_are_those_of_the_metric(folder: str) -> None:
    spec = f"w-vector-f1(vectors={folder},over=near)"
    options = ControlOptions(draws=2, best=1)
    result = postil.score(["a d"], [["b", "a"]], weights=[[1, 0.5]], metrics=[spec], controls=options)
    assert result.items[f"control:nearest({spec})"].tolist() == [0.5]
    assert result.items[f"control:mean-weight({spec})"].tolist() == [0.75]
    one = (1 + 1) * (0.64 / 1.2) / (1 + 0.64 / 1.2)  # near, of the one reference with weight 1
    assert result.items[f"control:top({spec})"].tolist() == pytest.approx([one], abs=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_controls_keep_idf_and_baseline_of_all_references(wide: str) -> None:
    candidates, references, weights = data()
    spec = SPECS[1].format(wide)
    plain = spec.removeprefix("w-")
    ones = [[1.0] * len(row) for row in weights]
    result = postil.score(candidates, references, weights=ones, metrics=[spec, plain], controls=ControlOptions(draws=1))
    np.testing.assert_array_equal(result.items[f"control:best-5({spec})"], result.items[plain])
    np.testing.assert_array_equal(result.items[f"control:shuffled({spec},draw=1)"], result.items[plain])


def test_a_similarity_for_consensus_weights(folder: str) -> None:
    weights = postil.consensus_weights([["a", "d", "d"], ["b"]], metric=f"vector-f1(vectors={folder})")
    assert weights[0] == pytest.approx([1.2 / 1.6, 1.0, 1.0], abs=1e-6)
    assert weights[1] == [1.0]


def test_one_signature_names_the_vectors_by_content(tmp_path: Path) -> None:
    signatures = []
    for name in ("one", "other"):
        folder = made.subword_folder(tmp_path / name)
        spec = f"w-vector-f1(vectors={folder},weigh=idf,baseline=auto)"
        result = postil.score(["a", "b"], [["a d"], ["b"]], weights=[[1.0], [1.0]], metrics=[spec], tokenizer="space")
        signatures.append(result.signatures[spec])
    assert signatures[0] == signatures[1]
    assert str(tmp_path) not in signatures[0]
    hashed = parse_metric(f"vector-f1(vectors={tmp_path}/one)").encoder().signature
    parts = signatures[0].split("|")
    assert parts[0] == f"w-vector-f1(vectors={hashed},weigh=idf,baseline=auto,over=max)"
    assert "idf:references/2" in parts
    assert next(part for part in parts if part.startswith("baseline:")) == "baseline:0.533333"
    assert not any(part.startswith("tokenizer") for part in parts)


def test_the_tokenizer_is_in_the_signature_where_it_makes_the_units(tmp_path: Path) -> None:
    spec = f"vector-f1(vectors={made.word_folder(tmp_path / 'v')})"
    assert "|tokenizer:space|" in postil.score(["a"], [["a"]], metrics=[spec], tokenizer="space").signatures[spec]


def test_a_baseline_needs_two_items(folder: str) -> None:
    spec = f"vector-f1(vectors={folder},baseline=auto)"
    with pytest.raises(Undefined, match=r"baseline=auto needs references of at least two items.*baseline=0\.3"):
        score(spec, ["a"], [["a", "b"]])
    with pytest.raises(Undefined, match=r"references: .*baseline=0\.3$"):
        postil.score([{"item": "1", "system": "s", "text": "a"}], [{"item": "1", "text": "b"}], metrics=[spec])


@pytest.mark.parametrize("name", ["vector-f1", "vector-cosine"])
def test_a_baseline_of_references_that_are_all_alike_is_undefined(folder: str, name: str) -> None:
    """It would be 1, which leaves 0 / 0."""
    with pytest.raises(Undefined, match=rf"{name}: baseline=auto has nothing to rescale.*such as baseline=0\.3"):
        score(f"{name}(vectors={folder},baseline=auto)", ["a", "b"], [["a", "a a"], ["a"]])


def test_a_baseline_keeps_its_digits(folder: str) -> None:
    spec = f"vector-f1(vectors={folder},baseline=0.9999999)"
    assert "baseline=0.9999999," in str(parse_metric(spec))
    assert score(spec, ["a d", "a"], [["b"], ["a"]]) == [0.0, 1.0]


def test_texts_that_match_fully_are_ties(wide: str) -> None:
    """References with the same words, and two that hold half of a text each, tie as the nearest."""
    spec = f"w-vector-f1(vectors={wide})"
    texts, references = ["e f g", "e f"], [["g f e", "e e f g", "h"], ["e", "f"]]
    options = ControlOptions(draws=1)
    found = postil.score(texts, references, weights=[[1, 0.5, 0], [1, 0]], metrics=[spec], controls=options).items
    assert found[spec][0] == 1.0
    assert found[f"control:nearest({spec})"].tolist() == [0.75, 0.5]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_half_a_surrogate_pair_is_a_character_like_others(folder: str) -> None:
    """Python's texts may hold one, which no tokenizer of another library takes."""
    spec = f"vector-f1(vectors={folder},part=r)"
    assert score(spec, ["a \ud800 d"], [["b \udfff"]]) == pytest.approx([0.8], abs=1e-6)


def test_the_baseline_is_the_mean_over_texts_of_other_items(tmp_path: Path) -> None:
    """There are two items, so that every pair is (a, b), whatever is drawn: F = 0, though each item has a twin."""
    spec = f"vector-f1(vectors={made.word_folder(tmp_path / 'v')},baseline=auto)"
    result = postil.score(["a", "b"], [["a", "a"], ["b", "b"]], metrics=[spec])
    assert "|baseline:0|" in result.signatures[spec]
    result = postil.score(["a", "b"], [["a"], ["d", "d"]], metrics=[spec])
    assert "|baseline:0.6|" in result.signatures[spec]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("vector-f1(vectors=a,b)", "a value cannot hold a comma"),
        ("vector-f1(vectors=a(b))", "expected a path without commas, brackets"),
        ("vector-f1(baseline=high)", "baseline: expected auto or a number from -1 to below 1, got 'high'"),
        ("vector-cosine(baseline=1)", "baseline: expected auto or a number"),
        ("vector-f1(tau=.1)", "tau is the width of over=kernel"),
        ("vector-f1(over=kernel)", "w-vector-f1"),
    ],
)
def test_bad_parameters_are_refused(spec: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem.replace("(", r"\(")):
        parse_metric(spec)


def test_vectors_that_are_missing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"vector-f1 needs vectors: vector-f1\(vectors=FOLDER\)"):
        score("vector-f1", ["a"], [["a"]])
    with pytest.raises(UsageError, match="nothing is downloaded"):
        score(f"vector-f1(vectors={tmp_path}/none)", ["a"], [["a"]])
    with pytest.raises(InvalidInput, match="no vectors here"):
        score(f"vector-f1(vectors={tmp_path})", ["a"], [["a"]])


def test_pairs_are_found_where_texts_were_not_kept(tmp_path: Path) -> None:
    """A scorer bound to tokens alone splits them joined by spaces."""
    vocabulary = Vocabulary()
    references = References(vocabulary.encode_tokens([["b"]]), np.array([0, 1]))
    scorer = parse_metric(f"vector-f1(vectors={made.subword_folder(tmp_path / 'v')})").against(references)
    stats = scorer.stats(vocabulary.branch().encode_tokens([["a", "d"]]), np.zeros(1, np.int32))
    assert scorer.items(stats) == pytest.approx([0.64 / 1.2], abs=1e-6)
