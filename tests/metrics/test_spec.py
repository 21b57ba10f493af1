from __future__ import annotations

import pytest

from postil.errors import UnknownName, UsageError
from postil.metrics.bleu import Bleu, DeltaBleu
from postil.metrics.cider import CiderD
from postil.metrics.meteor import Meteor
from postil.metrics.metric_set import parse_all
from postil.metrics.rouge import RougeL, RougeN
from postil.metrics.spec import METRICS, parse_metric


@pytest.mark.parametrize(
    ("spec", "metric"),
    [
        ("bleu-2", Bleu(order=2)),
        ("w-bleu-4(smooth=exp, effective=true)", Bleu(order=4, smooth="exp", effective=True, weighted=True)),
        ("  cider-d ( sigma = 4 , order=2 )  ", CiderD(sigma=4.0, order=2)),
        ("delta-bleu()", DeltaBleu()),
        ("rouge-l(reading=union,beta=1e-3)", RougeL(reading="union", beta=0.001)),
        ("w-rouge-su4(corpus=pooled)", RougeN(unit="su4", corpus="pooled", weighted=True)),
        ("meteor(function_words=/a (b)=c.txt)", Meteor(function_words="/a (b)=c.txt")),
        ("meteor(characters=false,params=2005)", Meteor(params="2005")),
    ],
)
def test_specs_and_metrics(spec: str, metric: object) -> None:
    assert parse_metric(spec) == metric
    assert parse_metric(str(parse_metric(spec))) == metric


@pytest.mark.parametrize(
    ("metric", "spec"),
    [
        (Bleu(order=1, weighted=True), "w-bleu-1(smooth=coco,effective=false)"),
        (CiderD(sigma=0.1), "cider-d(order=4,sigma=0.1)"),
        (RougeL(beta=1 / 3), f"rouge-l(reading=max,beta={1 / 3!r},over=max)"),
        (Meteor(), "meteor(params=en,stages=exact+stem,characters=false,corpus=stats,over=max)"),
    ],
)
def test_the_full_spec_is_printed(metric: object, spec: str) -> None:
    assert str(metric) == spec


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_knows_its_name(name: str) -> None:
    assert parse_metric(name).name == name
    assert not parse_metric(name).weighted
    assert parse_metric(f"w-{name}").weighted
    assert parse_metric(f"w-{name}").needs_weights


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("metor", "unknown metric 'metor'; did you mean 'meteor'?"),
        ("BLEU-4", "unknown metric 'BLEU-4'; did you mean 'bleu-4'?"),
        ("w-bleu", "unknown metric 'w-bleu'; did you mean 'w-bleu-"),
        ("w-w-meteor", "did you mean 'w-meteor'?"),
        ("bleu-5", "did you mean 'bleu-"),
        (
            "rouge-l(readings=max)",
            "unknown parameter of rouge-l 'readings'; did you mean 'reading'? Known: reading, beta, over",
        ),
        ("bleu-4(order=2)", "unknown parameter of bleu-4 'order'"),
        ("meteor(weighted=true)", "unknown parameter of meteor 'weighted'"),
        ("meteor(params=eng)", "unknown value of params 'eng'; did you mean 'en'? Known: en, other, 2005"),
        ("rouge-1(count=clip)", "unknown value of count 'clip'; did you mean 'clipped'?"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(spec: str, message: str) -> None:
    with pytest.raises(UnknownName) as caught:
        parse_metric(spec)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "metric '': expected name or name(parameter=value,…)"),
        ("bleu 4", "expected name or name(parameter=value,…)"),
        ("bleu-4(smooth=exp", "expected name or name(parameter=value,…)"),
        ("bleu-4)", "expected name or name(parameter=value,…)"),
        ("bleu-4(exp)", "expected parameter=value, got 'exp'"),
        ("bleu-4(smooth=)", "expected parameter=value, got 'smooth='"),
        ("bleu-4(smooth=exp,)", "expected parameter=value, got ''"),
        ("rouge-l(beta=1,beta=2)", "beta is given twice"),
        ("rouge-l(beta=one)", "beta: expected a number, got 'one'"),
        ("rouge-l(beta=nan)", "beta: expected a number, got 'nan'"),
        ("rouge-l(beta=1e999)", "beta: expected a number, got '1e999'"),
        ("rouge-l(beta=0)", "beta: expected a positive number, got 0"),
        ("cider-d(sigma=-1)", "sigma: expected a positive number, got -1"),
        ("cider-d(sigma=1e-200)", "sigma: expected a positive number from 1e-6 to 1e6, got 1e-200"),
        ("w-rouge-l(beta=1e-163)", "beta: expected a positive number from 1e-6 to 1e6, got 1e-163"),
        ("rouge-lsum(beta=1e7)", "beta: expected a positive number from 1e-6 to 1e6, got 10000000"),
        ("chrf(beta=5e-324)", "beta: expected a positive number from 1e-6 to 1e6, got 5e-324"),
        ("cider(order=2.5)", "order: expected a whole number, got '2.5'"),
        ("cider(order=0)", "cider: order: expected 1 to 9, got 0"),
        ("cider-d(order=10)", "cider-d: order: expected 1 to 9, got 10"),
        ("delta-bleu(order=0)", "delta-bleu: order: expected 1 to 9, got 0"),
        ("delta-bleu(order=-1)", "delta-bleu: order: expected 1 to 9, got -1"),
        ("bleu-4(effective=yes)", "effective: expected true or false, got 'yes'"),
        ("bleu-4(effective=true)", "effective=true does not go with smooth=coco"),
        ("meteor(function_words=a,b.txt)", "expected parameter=value, got 'b.txt' (a value cannot hold a comma)"),
        ("meteor(params=other,function_words=f)", "function_words has no effect with params=other"),
        ("meteor(wordnet=w)", "wordnet has no effect with stages=exact+stem"),
    ],
)
def test_a_spec_that_makes_no_sense(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_metric(spec)
    assert message in str(caught.value)
    assert not isinstance(caught.value, UnknownName)


def test_metrics_that_have_no_spec_are_refused() -> None:
    with pytest.raises(UsageError, match="order: expected 1 to 4, got 5"):
        Bleu(order=5)
    for path in ("a,b", "", " a"):
        with pytest.raises(UsageError, match="expected a path without commas"):
            Meteor(function_words=path)


def test_parse_all_keeps_order_and_wording() -> None:
    specs = ["w-meteor", "bleu-1", "bleu-1(smooth=coco)", "w-meteor"]
    assert list(parse_all(specs)) == specs[:3]
    with pytest.raises(UsageError, match="no metric"):
        parse_all([])


def test_a_spec_with_much_white_space_is_refused_at_once() -> None:
    """With two ways to give up each space these would be a minute of work for these."""
    with pytest.raises(UsageError, match="bleu"):
        parse_metric("bleu-1" + " " * 50_000 + "!")
