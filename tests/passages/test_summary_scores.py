"""Scores of summaries against pooled references, beside the printed formulas."""

from __future__ import annotations

from collections import Counter
from math import exp, isnan, log

import numpy as np
import pytest

from postil.errors import UsageError
from postil.metrics.passage_pools import PassageCollection
from postil.metrics.spec import parse_measure
from postil.passages.summaries import summary_scores
from postil.text.tokens import Vocabulary

MEASURES = [parse_measure(name) for name in ("f1-1", "kl-1", "js-1", "logsim-1", "rouge-1", "tf-idf-1", "w-f1-1")]
POOL = ["a b c", "b d", "x y a"]
SUMMARIES = ["a b b q", "x y", "b d", ""]
LONGEST = 6


def collection(summaries: list[str], background: int = len(POOL)) -> PassageCollection:
    return PassageCollection(
        Vocabulary().encode_tokens([text.split() for text in (*POOL, *summaries)]), background=background
    )


def scores(summaries: list[str] = SUMMARIES, rows: list[list[int]] | None = None) -> dict[str, list[list[float]]]:
    """One topic has the reference "a b c", "b d", another "x y a"; the first two passages weigh 1/2."""
    rows = rows or [[3, 4, 5, 6], [4, 3, -1, 6]]
    found = summary_scores(
        MEASURES,
        collection(summaries),
        [np.array([0, 1]), np.array([2])],
        np.array([0.5, 0.5, *[1.0] * (len(summaries) + 1)]),
        summaries=np.array(rows),
        longest=LONGEST,
    )
    return {str(measure).partition("(")[0]: values.tolist() for measure, values in found.items()}


def plain(summary: str, reference: list[str]) -> dict[str, float]:
    """Equations 1, 2, 3 and 8 as they are printed; |X| is the number of words of X."""
    s, r, pool = Counter(summary.split()), Counter(" ".join(reference).split()), Counter(" ".join(POOL).split())

    def p(word: str, of: Counter[str]) -> float:
        return of[word] / max(1, of.total())

    def ln_count(word: str, of: Counter[str]) -> float:
        return log(1 + p(word, of) * r.total())

    size = s.total()
    return {
        "f1-1": 2 * len(s.keys() & r.keys()) / (len(s) + len(r)),
        "kl-1": sum(log(p(w, r) * (size + 1) / (p(w, s) * size + p(w, pool))) * p(w, r) for w in r),
        "logsim-1": sum(exp(-abs(log(ln_count(w, s) / ln_count(w, r)))) * p(w, r) for w in s.keys() & r.keys()),
    }


def test_the_printed_formulas_with_all_passages_as_omega() -> None:
    found = scores()
    for system, summary in enumerate(SUMMARIES[:3]):
        for name, value in plain(summary, POOL[:2]).items():
            assert found[name][0][system] == pytest.approx(value), (name, summary)
    for name, value in plain(SUMMARIES[0], POOL[2:]).items():
        assert found[name][1][1] == pytest.approx(value), name


def test_weights_are_those_of_the_reference() -> None:
    assert scores()["w-f1-1"][0][2] == pytest.approx(0.5 * scores()["f1-1"][0][2])


@pytest.mark.parametrize("topic", [0, 1])
def test_a_missing_or_empty_summary_is_as_bad_as_the_longest_that_shares_nothing(topic: int) -> None:
    found = scores([*SUMMARIES, " ".join(["nothing"] * LONGEST)], [[7, -1, 6], [7, -1, 6]])
    for name, values in found.items():
        foreign, missing, empty = values[topic]
        assert missing == pytest.approx(foreign), name
        assert missing == empty, name
        others = scores()[name][topic][:2]
        better = max if parse_measure(name).better == "high" else min
        assert better(missing, *others) in others, name


def test_no_score_depends_on_other_summaries() -> None:
    alone = scores(SUMMARIES[:1], [[3], [3]])
    for name, values in scores().items():
        assert [alone[name][0][0], alone[name][1][0]] == [values[0][0], values[1][1]], name


def test_a_reference_without_units_has_no_score() -> None:
    for references in ([np.array([], np.int64)], [np.array([6])]):
        found = summary_scores(
            [parse_measure("f1-1")],
            collection(SUMMARIES),
            references,
            np.ones(7),
            summaries=np.array([[3, -1]]),
            longest=LONGEST,
        )
        assert all(isnan(value) for value in next(iter(found.values())).ravel())


def test_a_measure_without_a_reference_is_refused() -> None:
    with pytest.raises(UsageError, match="length: expected a measure that compares with a reference"):
        summary_scores(
            [parse_measure("length")], collection([]), [np.array([0])], np.ones(3), summaries=np.array([[1]]), longest=2
        )
