"""Sentences on correlations and comparisons."""

from __future__ import annotations

from typing import Any

from postil.comparison.result import Comparison
from postil.comparison.view import compared
from postil.correlation.result import CorrelationResult
from postil.correlation.view import Lookup, paragraph, weights
from postil.metrics.result import ScoreResult
from postil.results.page.blocks import plain
from postil.scoring.view import scored
from result_examples import comparison, correlated, difference, row, scores, typed


def told(**changes: Any) -> str:
    found = typed(correlated(**changes), CorrelationResult)
    return plain(paragraph(Lookup(found))).replace("\N{NO-BREAK SPACE}", " ")


def test_paragraph() -> None:
    assert told() == (
        "w-meteor has the highest correlation among the metrics with human ratings: Pearson .500 [.400, .600]; "
        "control:top(w-meteor) has .550 [.450, .650]. "
        "By Pearson w-meteor is significantly higher than every other metric. "
        "The split-half correlation of the human ratings is .800 [.700, .900] (Pearson); w-meteor lies .300 below, a "
        "difference without a test. "
        "The reliability ceiling, the expected upper bound of Pearson’s coefficient with these mean ratings, is .866; "
        "w-meteor reaches .500. "
        "The length of the text alone reaches .100 [.000, .200] (Pearson); every metric is significantly higher."
    )


def test_an_interval_without_zero_is_not_enough_where_there_is_a_test() -> None:
    said = told(differences=[difference("w-meteor", "meteor", 0.1, 0.06)])
    assert "By Pearson w-meteor is not significantly higher than any other metric." in said


def test_a_small_p_is_not_enough_where_the_interval_holds_zero() -> None:
    assert "not significantly higher than any" in told(differences=[difference("w-meteor", "meteor", 0.04, 0.001)])


def test_best_by_one_coefficient_each() -> None:
    both = [*correlated()["correlations"], row("meteor", 0.45, "spearman"), row("w-meteor", 0.44, "spearman")]
    settings = correlated()["settings"] | {"coefficients": ["pearson", "spearman"]}
    said = told(correlations=both, settings=settings)
    assert said.startswith(
        "w-meteor correlates best among the metrics with human ratings by Pearson .500 [.400, .600], meteor by "
        "Spearman .450 [.350, .550]; by Pearson control:top(w-meteor) has .550 [.450, .650]."
    )


def test_without_people_or_metrics() -> None:
    assert "There are no human reference points: no text has two ratings." in told(
        human={"reason": "no text has two ratings"}
    )
    said = told(correlations=[], differences=[], signatures={}, human={"reason": "x"})
    assert said.startswith("No metric has a correlation with human ratings.")


def test_weights() -> None:
    ((name, said),) = weights(Lookup(typed(correlated(), CorrelationResult)))
    assert (name, plain(said)) == (
        "w-meteor",
        (
            "By Pearson significantly higher than unweighted meteor and shuffled weights; not significantly different "
            "from top references."
        ),
    )


def test_systems() -> None:
    ((name, said),) = compared(typed(comparison(), Comparison))
    assert name == "meteor"
    assert plain(said) == (
        "Significantly higher than tfidf: seq2seq (+.300); significantly lower than tfidf: copy (−.200); "
        "not significantly different from tfidf: att (+.050)."
    )
    said = plain(scored(typed(scores(), ScoreResult)))
    assert said == "Of 2 systems b has the highest bleu-1 (.500); a has the highest meteor (.750)."
