"""Metrics by their specs: sets of them, and remarks on those that are for another language."""

from __future__ import annotations

import numpy as np
import pytest

import postil
from postil.errors import UnknownName, UsageError
from postil.metrics.bleu import Bleu, DeltaBleu
from postil.metrics.cider import CiderD
from postil.metrics.languages import language_remarks
from postil.metrics.meteor import Meteor
from postil.metrics.metric_set import DeterministicSum, MetricSet, parse_all
from postil.metrics.references import References
from postil.metrics.rouge import RougeL, RougeN
from postil.metrics.spec import METRICS, known_metric, parse_metric, register_metric
from postil.text.tokens import Vocabulary
from postil.version import VERSION


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
    if name == "ter":
        with pytest.raises(UsageError, match="w-ter: edits count against a text"):
            parse_metric("w-ter")
        return
    assert parse_metric(f"w-{name}").weighted
    assert parse_metric(f"w-{name}").needs_weights


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("metor", "unknown metric 'metor'; did you mean 'meteor'?"),
        ("BLEU-5", "unknown metric 'BLEU-5'; did you mean 'bleu"),
        ("w-bleus", "unknown metric 'w-bleus'; did you mean 'w-bleu'?"),
        ("bleu(tokenizer=zn)", "unknown tokenizer 'zn'"),
        ("rouge1(tokenizer=13)", "unknown tokenizer '13'; did you mean '13a'?"),
        ("ter(case=low)", "unknown value of case 'low'. Known: lc, mixed"),
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


@pytest.mark.parametrize("columns", [1, 2, 7])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_a_total_is_the_same_however_the_rows_arrive(columns: int, layout: str) -> None:
    rows = np.random.default_rng(1).random((3000, columns))
    whole = DeterministicSum()
    whole.add(rows)
    assert whole.sum() == pytest.approx(rows.sum(axis=0))
    for chunk in (1, 7, 1023, 1024, 1025, 2999):
        total = DeterministicSum()
        for begin in range(0, 3000, chunk):
            part = rows[begin : begin + chunk]
            total.add(np.asfortranarray(part) if layout == "F" else part)
        assert total.count == 3000
        assert total.sum().tobytes() == whole.sum().tobytes(), chunk


def test_a_total_adds_block_by_block() -> None:
    """1e16 + 1 is 1e16 in floating point, so the sum tells how it was made: the ones of a block are summed first."""
    rows = np.ones((3 * DeterministicSum.BLOCK, 2))
    rows[0] = 1e16
    total = DeterministicSum()
    total.add(rows)
    assert total.sum().tolist() == [1e16 + 2 * DeterministicSum.BLOCK] * 2


def test_a_total_of_nothing_and_of_empty_parts() -> None:
    total = DeterministicSum()
    assert total.sum().shape == (0,)
    total.add(np.zeros((0, 3)))
    assert total.count == 0
    total.add(np.ones((2, 3)))
    total.add(np.zeros((0, 3)))
    assert total.sum().tolist() == [2.0, 2.0, 2.0]
    assert total.sum().tolist() == [2.0, 2.0, 2.0]


def panel_of(specs: list[str], sizes: list[int]) -> MetricSet:
    texts = [["a", "b"]] * sum(sizes)
    references = References(Vocabulary().encode_tokens(texts), np.cumsum([0, *sizes]))
    return MetricSet(parse_all(specs), references, tokenizer="space", weights="score|scale:1:5")


def test_signatures() -> None:
    signatures = panel_of(["bleu-1", "w-cider", "delta-bleu"], [2, 2]).signatures
    assert signatures == {
        "bleu-1": f"bleu-1(smooth=coco,effective=false)|tokenizer:space|references:2|postil:{VERSION}",
        "w-cider": "w-cider(order=4)|tokenizer:space|weights:score|scale:1:5|references:2|background:references/2|"
        f"documents:c762f2b45e3c|postil:{VERSION}",
        "delta-bleu": f"delta-bleu(order=4)|tokenizer:space|weights:score|scale:1:5|references:2|postil:{VERSION}",
    }
    assert "|references:1-3|" in panel_of(["rouge-l"], [3, 1, 2]).signatures["rouge-l"]


GERMAN = ["Die Versammlung wurde auf den nächsten Tag verschoben, weil nicht genug Leute da waren."]
ENGLISH = ["The meeting was put off until the next day since there were not enough people."]
CHINESE, JAPANESE, THAI = ["今天天气很好，我们去公园。"], ["今日は天気がいいですね。"], ["วันนี้อากาศดีมาก"]
ARABIC, KOREAN = ["اجتمع الناس في الساحة الكبيرة أمس"], ["오늘은 날씨가 아주 좋습니다"]


def remarks(texts: list[str], *specs: str, tokenizer: str = "words") -> list[str]:
    return list(language_remarks({spec: parse_metric(spec) for spec in specs}, tokenizer, texts, "references"))


@pytest.mark.parametrize(
    ("texts", "are"),
    [
        (GERMAN, "German"),
        (ARABIC, "written in Arabic letters"),
        (KOREAN, "Korean"),
        (CHINESE, "Chinese"),
        (JAPANESE, "Japanese"),
    ],
)
def test_metrics_for_english(texts: list[str], are: str) -> None:
    said = remarks(texts, "meteor", "w-meteor", "rouge-1(stem=true)", "bleu-4", "chrf", tokenizer="characters")
    assert said == [
        f"meteor, w-meteor are for English, and the references are {are}; params=other fits them",
        f"rouge-1(stem=true) is for English, and the references are {are}; stem=false fits them",
    ]
    assert remarks(texts, "meteor(params=other)", "rouge-l", "rouge-lsum", tokenizer="characters") == []


def test_english_has_no_remark() -> None:
    assert remarks(ENGLISH, "meteor", "rouge-1(stem=true)", tokenizer="13a") == []
    assert remarks([], "meteor") == []


@pytest.mark.parametrize("tokenizer", ["13a", "ptb", "space"])
@pytest.mark.parametrize(("texts", "fits"), [(CHINESE, "jieba"), (JAPANESE, "MeCab"), (THAI, "PyThaiNLP")])
def test_tokenizers_that_split_at_spaces(texts: list[str], fits: str, tokenizer: str) -> None:
    (said,) = remarks(texts, "bleu-1", tokenizer=tokenizer)
    assert said.startswith(f"the tokenizer {tokenizer} splits words at spaces, and the references are ")
    assert fits in said
    assert "characters" in said


def test_words_that_somebody_separated_are_split_at_spaces() -> None:
    assert remarks(["今天 天气 很 好 ， 我们 去 公园 。"], "bleu-1", tokenizer="space") == []


@pytest.mark.parametrize(("texts", "fits"), [(JAPANESE, "characters"), (KOREAN, "words"), (ARABIC, "words")])
def test_jieba_is_for_chinese(texts: list[str], fits: str) -> None:
    for tokenizer in ("jieba", "rjieba"):
        (said,) = remarks(texts, "bleu-1", tokenizer=tokenizer)
        assert f"the tokenizer {tokenizer} is for Chinese, and the references are " in said
        assert f"what fits: {fits}" in said
    assert remarks(CHINESE, "bleu-1", tokenizer="jieba") == remarks(ENGLISH, "bleu-1", tokenizer="jieba") == []


def test_scores_of_python_warn_and_are_what_they_were() -> None:
    with pytest.warns(UserWarning, match="meteor is for English, and the references are German"):
        found = postil.score(GERMAN, [[f"{GERMAN[0]} Heute nicht."]], metrics=["meteor", "bleu-1"])
    assert 0 < found.corpus["meteor"] < 1


def test_metrics_that_read_no_tokens_have_no_tokenizer() -> None:
    assert remarks(JAPANESE, "chrf", tokenizer="13a") == []


@pytest.mark.parametrize(
    ("spec", "printed"),
    [
        ("BLEU", "bleu(tokenizer=13a,smooth=exp)"),
        ("bleu(tokenizer=sacrebleu:zh)", "bleu(tokenizer=zh,smooth=exp)"),
        ("w-BLEU", "w-bleu(tokenizer=13a,smooth=exp)"),
        ("chrF", "chrf(order=6,words=0,beta=2)"),
        ("chrF++", "chrf++(order=6,words=2,beta=2)"),
        ("ROUGE-L", "rouge-l(reading=max,beta=1.2,over=max)"),
        ("ROUGE1", "rouge1(tokenizer=rouge,part=f,stem=false)"),
        ("RougeL(stem=true)", "rougeL(tokenizer=rouge,part=f,stem=true)"),
        ("rougelsum", "rougeLsum(tokenizer=rouge,part=f,stem=false)"),
        ("TER", "ter(case=lc,norm=false,punct=true,asian=false)"),
        ("METEOR", str(parse_metric("meteor"))),
        ("BERTScore", str(parse_metric("bertscore"))),
    ],
)
def test_names_of_papers_in_any_case(spec: str, printed: str) -> None:
    assert str(parse_metric(spec)) == printed
    assert parse_metric(printed) == parse_metric(spec)


def test_an_exact_name_comes_before_another_case() -> None:
    @register_metric(name="BLEu", version="1")
    def mine(candidate: str, references: list[str]) -> float:
        return float(candidate in references)

    assert parse_metric("BLEu").origin
    assert parse_metric("BLEU").name == "bleu"
    assert known_metric("Ter") is None  # a metric of another program goes by its own name
    assert mine("a", ["a"]) == 1.0
