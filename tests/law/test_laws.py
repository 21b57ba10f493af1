"""Laws over all metrics: what must hold for each, whatever its formula."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from specs import (
    AVERAGES,
    BEST,
    BLEU,
    CHOOSES_ONE,
    COCO,
    EPS,
    MEAN,
    OTHERS,
    OUTSIDE,
    OWN,
    PARAMETERS,
    PLAIN,
    SIDES,
    SPECS,
    WEIGHTED,
    of,
    without,
)
from strategies import TEXTS, WEIGHTS, WORDS, Problem, law, problems, references_of, scores

import postil
from postil.kernel import NAME
from postil.metrics.background import DocumentFrequencies, frequencies_of
from postil.metrics.spec import METRICS, parse_metric
from postil.text.tokens import Vocabulary

LAW = law(40, python=15)
EXACT = 1e-12


def precision(spec: str) -> float:
    """Precision of a score of 1: bert-score, whose numbers these are, does not clip what single precision leaves."""
    return 1e-6 if parse_metric(spec).name == "bertscore" else EXACT


def test_every_metric_is_under_the_laws() -> None:
    assert set(PARAMETERS) == (set(METRICS) - OTHERS) | OWN


@pytest.mark.parametrize("spec", SPECS)
def test_the_printed_spec_parses_back(spec: str) -> None:
    metric = parse_metric(spec)
    assert parse_metric(str(metric)) == metric
    assert hash(parse_metric(str(metric))) == hash(metric)
    assert str(parse_metric(str(metric))) == str(metric)
    assert metric.better == "high"


@LAW
@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_references_changes_no_item_score(problem: Problem, random: Random) -> None:
    references, weights = [], []
    for texts, of_texts in zip(problem.references, problem.weights, strict=True):
        pairs = list(zip(texts, of_texts, strict=True))
        random.shuffle(pairs)
        references.append([text for text, _ in pairs])
        weights.append([weight for _, weight in pairs])
    before, after = scores(problem, SPECS), scores(replace(problem, references=references, weights=weights), SPECS)
    for spec in without(SPECS, SIDES):  # of references with equal F the first has P and R
        np.testing.assert_allclose(after.items[spec], before.items[spec], rtol=EXACT, atol=EXACT, err_msg=spec)
    # Of references with equal scores METEOR sums the statistics of the first, so its corpus score may change.
    for spec in without(SPECS, CHOOSES_ONE):
        assert after.corpus[spec] == pytest.approx(before.corpus[spec], rel=EXACT, abs=EXACT), spec


def test_why_the_corpus_score_of_meteor_is_exempt() -> None:
    """References with one score have other sums: the corpus score shows which came first."""
    first, second = ["a", "x"], ["a", "b", "y", "z"]  # neither matches q, but one is longer
    weights = [1.0, 0.0]
    problem = Problem([[first, second], [["c"]]], [weights, [1.0]], [["q"], ["c"]], [0, 1])
    turned = replace(problem, references=[[second, first], [["c"]]], weights=[weights[::-1], [1.0]])
    specs = ["w-meteor(params=other,stages=exact)"]
    before, after = scores(problem, specs), scores(turned, specs)
    assert before.items[specs[0]].tolist() == after.items[specs[0]].tolist() == [0.0, 1.0]
    assert before.corpus[specs[0]] > after.corpus[specs[0]]


@LAW
@given(problems(), st.data())
def test_raising_one_weight_never_lowers_an_item_score(problem: Problem, data: st.DataObject) -> None:
    s = data.draw(st.integers(0, len(problem.references) - 1))
    j = data.draw(st.integers(0, len(problem.references[s]) - 1))
    raised = [list(row) for row in problem.weights]
    raised[s][j] = data.draw(st.floats(raised[s][j], 1.0))
    before, after = scores(problem, WEIGHTED), scores(problem.with_weights(raised), WEIGHTED)
    # Raising the best weight of an item scales delta-BLEU's denominator: see the next test.
    new_best = max(raised[s]) > max(problem.weights[s])
    # METEOR with the penalty outside the maximum can choose another reference: see test_meteor_golden.
    # P and R of ROUGE are those of the reference with the highest F, which can be another one: see below.
    for spec in without(WEIGHTED, OUTSIDE + SIDES + (of("delta-bleu") if new_best else [])):
        assert (after.items[spec] >= before.items[spec] - EXACT).all(), spec


LOWERED = [
    *("w-meteor(penalty=outside)", "delta-bleu", "w-rouge-lsum(part=p)", "w-rouge-lsum(part=r)"),
    *(f"w-rouge-l(reading=best,part={part})" for part in "pr"),
    *(f"w-rouge-{unit}(over=max,part={part})" for unit in ("1", "2", "su4") for part in "pr"),
]
"""The exceptions, as research/validation.md has them."""


def test_every_exception_is_one() -> None:
    """Raising a weight lowers some score of each."""
    draw = Random(5)  # noqa: S311 - texts
    texts = [[" ".join(draw.choices("abcd", k=draw.randint(1, 6))) for _ in range(4)] for _ in range(2000)]
    weights = [[draw.random() for _ in range(3)] for _ in texts]
    raised = [[draw.uniform(first, 1), *others] for first, *others in weights]
    before, after = (
        postil.score([each[0] for each in texts], [each[1:] for each in texts], weights=given, metrics=LOWERED)
        for given in (weights, raised)
    )
    assert [spec for spec in LOWERED if (after.items[spec] >= before.items[spec] - EXACT).all()] == []


@LAW
@given(problems(), st.data())
def test_a_penalty_outside_the_maximum_never_scores_more(problem: Problem, data: st.DataObject) -> None:
    """And the same for one reference, down to the last bit."""
    outside = [spec for spec in OUTSIDE if spec.startswith("w-")]
    inside = [spec.replace("penalty=outside,", "").replace("(penalty=outside)", "") for spec in outside]
    result = scores(problem, outside + inside)
    pick = [data.draw(st.integers(0, len(row) - 1)) for row in problem.references]
    single = replace(
        problem,
        references=[[row[i]] for row, i in zip(problem.references, pick, strict=True)],
        weights=[[row[i]] for row, i in zip(problem.weights, pick, strict=True)],
    )
    alone = scores(single, outside + inside)
    for spec, other in zip(outside, inside, strict=True):
        assert (result.items[spec] <= result.items[other] + EXACT).all(), spec
        assert alone.items[spec].tobytes() == alone.items[other].tobytes(), spec
        assert alone.stats[spec].tobytes() == alone.stats[other].tobytes(), spec


@LAW
@given(problems())
def test_even_weights_are_no_weights(problem: Problem) -> None:
    plain = without(PLAIN, of("delta-bleu"))  # which has no unweighted form
    result = scores(problem.evenly(1.0), SPECS)
    ignored = scores(problem, plain)
    for spec in plain:
        for other in (result.items[f"w-{spec}"], ignored.items[spec]):
            assert other.tobytes() == result.items[spec].tobytes(), spec
        assert result.corpus[f"w-{spec}"] == result.corpus[spec] == ignored.corpus[spec], spec
    for spec in of("delta-bleu"):
        bleu = f"bleu-{parse_metric(spec).order}(smooth=none)"  # type: ignore[attr-defined]
        same = scores(problem, [bleu])
        assert result.items[spec].tobytes() == same.items[bleu].tobytes()
        assert result.corpus[spec] == same.corpus[bleu]


@LAW
@given(problems())
def test_with_all_weights_0_nothing_scores(problem: Problem) -> None:
    result = scores(problem.evenly(0.0), WEIGHTED)
    for spec in without(WEIGHTED, COCO + EPS):
        if parse_metric(spec).low < 0:  # weights act on what is positive
            assert (result.items[spec] <= 0).all(), spec
            continue
        assert not result.items[spec].any(), spec
        # corpus=chosen takes the chosen references' statistics as they are; the weights only choose.
        assert result.corpus[spec] == 0.0 or "corpus=chosen" in spec, spec
    for spec in without(COCO + EPS, PLAIN):  # what the epsilons leave
        assert (result.items[spec] < 1e-7).all(), spec
        assert result.corpus[spec] < 1e-7, spec


@LAW
@given(problems(), st.integers(0, 3))
def test_a_copy_of_a_reference_of_weight_1_scores_the_top(problem: Problem, number: int) -> None:
    picks = [number % len(row) for row in problem.references]
    copies = [row[pick] for row, pick in zip(problem.references, picks, strict=True)]
    weights = [list(row) for row in problem.weights]
    for row, pick in zip(weights, picks, strict=True):
        row[pick] = 1.0
    problem = Problem(problem.references, weights, copies, list(range(len(copies))))
    # METEOR of 2005 takes a penalty from equal texts too.
    exempt = [spec for spec in of("meteor") if "alignment=2005" in spec]
    specs = without(of("meteor", "rouge-l", "delta-bleu", "chrf", "chrf++", *BLEU) + BEST, AVERAGES + exempt)
    result = scores(problem, specs)
    for spec in specs:
        shortest = getattr(parse_metric(spec), "order", 2 if re.search("rouge-?2", spec) else 1)
        top = np.array([score for score, copy in zip(result.items[spec], copies, strict=True) if len(copy) >= shortest])
        np.testing.assert_allclose(top, 1.0, rtol=0, atol=1e-8 if spec in COCO else precision(spec), err_msg=spec)


@LAW
@given(problems(references=st.lists(TEXTS.filter(lambda text: len(text) >= 4), min_size=1, max_size=1)))
def test_a_copy_of_the_only_reference_scores_the_top_of_what_goes_over_all_references(problem: Problem) -> None:
    copies = [row[0] for row in problem.references]
    problem = Problem(problem.references, [[1.0]] * len(copies), copies, list(range(len(copies))))
    references = references_of(problem, Vocabulary())
    norms = frequencies_of(references, 4, None).grams.norms(references.tokens.ids, references.tokens.offsets)
    specs = of("cider", "cider-d", "rouge-1", "rouge-2", "rouge-su4", "rouge-lsum", "chrf", "chrf++") + AVERAGES
    result = scores(problem, specs)
    for spec in specs:
        metric = parse_metric(spec)
        # An order in which every n-gram is in all items has idf 0 and gives nothing to anyone.
        told_apart = (norms > 0.0).all(axis=1) if metric.name.startswith("cider") else np.ones(len(copies), dtype=bool)
        np.testing.assert_allclose(result.items[spec][told_apart], metric.high, rtol=precision(spec), err_msg=spec)


@LAW
@given(problems())
def test_an_empty_candidate_scores_0_and_never_wins(problem: Problem) -> None:
    """Exactly 0, by coco too: its brevity penalty is exp(1 - (r + 1e-9) / 1e-15), where even r = 0 gives exp(-1e6)."""
    empty = replace(problem, candidates=[[] for _ in problem.candidates])
    result, nothing = scores(problem, SPECS), scores(empty, SPECS)
    for spec in SPECS:
        most = 1e-15 if spec in EPS else 0.0
        assert (nothing.items[spec] <= most).all(), spec
        assert nothing.corpus[spec] <= most, spec
        assert (result.items[spec] >= nothing.items[spec]).all(), spec


@LAW
@given(problems(weights=WEIGHTS | st.floats(-1.0, 0.0)))
# An item whose every reference is bad beside a perfect one: delta-BLEU's denominators must not fall below its matches.
@example(Problem([[["cat"] * 3], [["run"]]], [[1.0], [-0.5]], [["cat"] * 3, ["the"] * 4], [0, 1]))
def test_scores_stay_in_range(problem: Problem) -> None:
    clipped = problem.with_weights([[max(0.0, weight) for weight in row] for row in problem.weights])
    for given_problem, specs in ((problem, of("delta-bleu")), (clipped, SPECS)):
        result = scores(given_problem, specs)
        for spec in specs:
            metric = parse_metric(spec)
            values = np.append(result.items[spec], result.corpus[spec])
            assert ((values >= metric.low) & (values <= metric.high * (1 + precision(spec)))).all(), (spec, values)


@LAW
@given(problems(), st.data())
def test_stats_add_and_chunks_change_no_bit(problem: Problem, data: st.DataObject) -> None:
    chunks = sorted(data.draw(st.sets(st.integers(1, len(problem.candidates)), max_size=3)))
    whole, parts = scores(problem, SPECS), scores(problem, SPECS, chunks=chunks)
    for spec in SPECS:
        assert parts.stats[spec].tobytes() == whole.stats[spec].tobytes(), spec
        assert parts.corpus[spec] == whole.corpus[spec], spec
        sums = [part.sum(axis=0) for part in np.split(whole.stats[spec], chunks)]
        assert whole.metrics.corpus(spec, np.sum(sums, axis=0)) == pytest.approx(whole.corpus[spec], rel=EXACT), spec


@LAW
@given(problems())
def test_the_spec_of_a_signature_scores_sums_without_references(problem: Problem) -> None:
    result = scores(problem, SPECS)
    for spec in SPECS:
        metric = parse_metric(result.metrics.signatures[spec].partition("|")[0])
        stats = result.stats[spec]
        assert metric.width == stats.shape[1], spec
        assert metric.items(stats).tobytes() == result.items[spec].tobytes(), spec
        total = stats.sum(axis=0)
        assert metric.score(total[None]).tolist() == [result.metrics.corpus(spec, total)], spec


@LAW
@given(problems())
def test_the_corpus_score_of_one_candidate_is_its_item_score(problem: Problem) -> None:
    result = scores(problem, SPECS)
    # sacreBLEU leaves out orders for which a text is too short in scores of sentences alone.
    for spec in without(SPECS, [*(spec for spec in SPECS if "corpus=chosen" in spec), *of("bleu")]):
        for row, item in zip(result.stats[spec], result.items[spec], strict=True):
            assert result.metrics.corpus(spec, row) == item, spec


@LAW
@given(problems())
def test_a_mean_is_the_mean_of_the_items(problem: Problem) -> None:
    result = scores(problem, MEAN)
    for spec in MEAN:
        assert result.corpus[spec] == pytest.approx(result.items[spec].mean(), rel=EXACT, abs=1e-300), spec


@pytest.mark.parametrize("jobs", [2, 3])
def test_jobs_change_no_bit(jobs: int) -> None:
    rng = np.random.default_rng(5)
    count = 1200 if NAME == "compiled" else 60  # the pure-Python kernel has one thread

    def texts(n: int) -> list[list[str]]:
        return [[WORDS[i] for i in rng.integers(0, len(WORDS), length)] for length in rng.integers(0, 9, n)]

    sets = [texts(3) for _ in range(50)]
    weights = rng.random((50, 3)).tolist()
    problem = Problem(sets, weights, texts(count), rng.integers(0, 50, count).tolist())
    one, more = scores(problem, SPECS), scores(problem, SPECS, jobs=jobs)
    for spec in SPECS:
        assert more.items[spec].tobytes() == one.items[spec].tobytes(), spec
        assert more.corpus[spec] == one.corpus[spec], spec


@LAW
@given(problems(), st.integers(2, 3))
def test_more_systems_on_the_same_items_change_nothing(problem: Problem, systems: int) -> None:
    count = len(problem.references)
    # Each system brings its own copy of the references; the copies of one item stand together.
    many = replace(
        problem,
        references=[row for row in problem.references for _ in range(systems)],
        weights=[row for row in problem.weights for _ in range(systems)],
        candidates=problem.candidates * systems,
        sets=[s * systems + system for system in range(systems) for s in problem.sets],
    )
    items = [item for item in range(count) for _ in range(systems)]
    one, all_of_them = scores(problem, SPECS), scores(many, SPECS, items=items)
    for spec in SPECS:
        assert all_of_them.items[spec].tobytes() == np.tile(one.items[spec], systems).tobytes(), spec
    # A pseudo-count of BLEU weighs less against larger sums; the others do not mind their size.
    for spec in without(SPECS, of(*BLEU)):
        assert all_of_them.corpus[spec] == pytest.approx(one.corpus[spec], rel=EXACT, abs=1e-300), spec


@LAW
@given(problems())
def test_alone_with_a_background_is_as_together(problem: Problem) -> None:
    together = scores(problem, SPECS)
    background = DocumentFrequencies.of(references_of(problem, Vocabulary()), "given")
    for row, (candidate, s) in enumerate(zip(problem.candidates, problem.sets, strict=True)):
        single = Problem([problem.references[s]], [problem.weights[s]], [candidate], [0])
        alone = scores(single, SPECS, background=background)
        for spec in SPECS:
            assert alone.items[spec][0] == pytest.approx(together.items[spec][row], rel=EXACT, abs=EXACT), spec


@LAW
@given(problems(), TEXTS)
def test_one_more_reference_of_weight_0(problem: Problem, text: list[str]) -> None:
    """It changes no maximum, and never raises a mean; for CIDEr and over=mean it counts in K."""
    assume(text)
    background = DocumentFrequencies.of(references_of(problem, Vocabulary()), "given")
    more = replace(
        problem,
        references=[[*row, text] for row in problem.references],
        weights=[[*row, 0.0] for row in problem.weights],
    )
    specs = without(of("meteor", "rouge-l", "cider", "cider-d", "chrf", "chrf++", specs=WEIGHTED) + BEST, PLAIN + EPS)
    before, after = scores(problem, specs, background=background), scores(more, specs, background=background)
    sizes = np.array([len(problem.references[s]) for s in problem.sets])
    for spec in specs:
        if parse_metric(spec).name.startswith("cider") or "over=mean" in spec:
            expected = before.items[spec] * sizes / (sizes + 1)
            np.testing.assert_allclose(after.items[spec], expected, rtol=EXACT, atol=EXACT, err_msg=spec)
        elif spec in AVERAGES:
            assert (after.items[spec] <= before.items[spec] + EXACT).all(), spec
        elif "union" not in spec:
            np.testing.assert_array_equal(after.items[spec], before.items[spec], err_msg=spec)
