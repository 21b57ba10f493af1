"""Metrics by the names of papers are those of sacreBLEU and rouge-score, texts and tokens and all."""

from __future__ import annotations

import logging
import random
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import originals
import pytest
from originals import Texts, summaries

import postil
from postil.errors import UsageError
from postil.metrics.citations import sacrebleu_signature
from postil.text.tokenizers import tokenizer

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings("ignore")]

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Record

NAMES = ["13a", "none", "intl", "zh", "char", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm"]
CORNERS = [
    "",
    " ",
    "-",
    "ends with a hyphen and a line-\n",
    "a line-\nbreak &quot;quoted&quot; &amp; more\n",
    "1,000.50 € -- 3-0 <skipped> it's «so», A.B.C.",
    "我爱北京天安门,iPhone 16。",
    "今日は天気がいいですね。2026年に行きます",
    "오늘은 날씨가 좋네요. 2026년에 갑니다",
    "The cat  sat on\tthe mat . ",
    "THE CAT SAT on the mat.",
    "ß İstanbul naïve x² 👍🏽 “quotes” – dash",
]


def raw_texts(n: int = 300) -> Texts:
    """Raw texts of several scripts, with marks, markup and white space; one to four references, few of them empty."""
    rng = random.Random(48)  # noqa: S311 - texts, not secrets
    made = summaries(n)
    candidates, references = list(CORNERS), [[text, *rng.sample(CORNERS, 2)] for text in reversed(CORNERS)]
    for text, several in zip(made.candidates, made.references, strict=True):
        pieces = [text, *several, *rng.sample(CORNERS, 2)]
        rng.shuffle(pieces)
        candidates.append(" ".join(pieces[:2]))
        references.append([" ".join(rng.sample(pieces, 2)) for _ in range(rng.randint(1, 4))])
    return Texts("raw", candidates, references)


FURTHER = {"ja-mecab", "ko-mecab", "flores101", "flores200", "spm"}
"""Tokenizers that need packages or models besides sacreBLEU, which need not be there."""


def streams(texts: Texts) -> list[list[str | None]]:
    """References as sacreBLEU takes them: a list per position, None where an item has fewer."""
    deepest = max(map(len, texts.references))
    return [[row[at] if at < len(row) else None for row in texts.references] for at in range(deepest)]


def test_bleu_is_that_of_sacrebleu_by_default(
    texts: Texts, record: Record, largest: Callable[[object, object], float]
) -> None:
    worst = compare_bleu(texts.first(600), "13a", "exp", largest)
    assert worst < 1e-12
    record("bleu", "sacrebleu", texts.first(600), worst)


@pytest.mark.parametrize("name", NAMES)
def test_bleu_with_each_tokenizer_is_that_of_sacrebleu(
    name: str, record: Record, largest: Callable[[object, object], float]
) -> None:
    if name != "none":
        try:
            tokenizer(f"sacrebleu:{name}")
        except UsageError as error:
            if name not in FURTHER:
                raise
            pytest.skip(str(error))
    texts = raw_texts()
    worst = max(compare_bleu(texts, name, smooth, largest) for smooth in ("exp", "none", "floor", "add-k"))
    assert worst < 1e-12
    record(f"bleu(tokenizer={name}), all smoothings", "sacrebleu", texts, worst)


def compare_bleu(texts: Texts, name: str, smooth: str, largest: Callable[[object, object], float]) -> float:
    bleu = pytest.importorskip("sacrebleu.metrics").BLEU
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    corpus = bleu(tokenize=name, smooth_method=smooth).corpus_score(texts.candidates, streams(texts)).score / 100
    single = bleu(tokenize=name, smooth_method=smooth, effective_order=True)
    pairs = zip(texts.candidates, texts.references, strict=True)
    items = [single.sentence_score(candidate, references).score / 100 for candidate, references in pairs]
    spec = f"bleu(tokenizer={name},smooth={smooth})"
    weights = [[1.0] * len(row) for row in texts.references]
    ours = postil.score(texts.candidates, texts.references, weights=weights, metrics=[spec, f"w-{spec}"])
    assert ours.corpus[spec] == ours.corpus[f"w-{spec}"]
    assert ours.items[spec].tolist() == ours.items[f"w-{spec}"].tolist()
    return max(largest(ours.items[spec], items), abs(ours.corpus[spec] - corpus))


TER: dict[str, dict[str, Any]] = {
    "ter": {},
    "ter(case=mixed)": {"case_sensitive": True},
    "ter(norm=true)": {"normalized": True},
    "ter(norm=true,asian=true)": {"normalized": True, "asian_support": True},
    "ter(punct=false,asian=true)": {"no_punct": True, "asian_support": True},
}


@pytest.mark.parametrize("spec", TER)
def test_ter_is_that_of_sacrebleu(spec: str, record: Record, largest: Callable[[object, object], float]) -> None:
    ter = pytest.importorskip("sacrebleu.metrics").TER
    texts = raw_texts(60)
    theirs = ter(**TER[spec])
    pairs = zip(texts.candidates, texts.references, strict=True)
    items = [theirs.sentence_score(candidate, references).score / 100 for candidate, references in pairs]
    corpus = theirs.corpus_score(texts.candidates, streams(texts)).score / 100
    ours = postil.score(texts.candidates, texts.references, metrics=[spec])
    worst = max(largest(ours.items[spec], items), abs(ours.corpus[spec] - corpus))
    assert worst < 1e-12
    record(spec, "sacrebleu", texts, worst)


@pytest.mark.parametrize("stem", [False, True])
def test_rouge_is_that_of_rouge_score(stem: bool, record: Record, largest: Callable[[object, object], float]) -> None:
    names = {"rouge1": "rouge1", "rouge2": "rouge2", "rougeL": "rougeL", "rougeLsum": "rougeLsum"}
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(list(names), use_stemmer=stem)
    texts = summaries(200)
    pairs = zip(texts.candidates, texts.references, strict=True)
    theirs = [scorer.score_multi(references, candidate) for candidate, references in pairs]
    worst = 0.0
    for part, attribute in (("f", "fmeasure"), ("p", "precision"), ("r", "recall")):
        specs = {name: f"{name}(stem={str(stem).lower()},part={part})" for name in names}
        ours = postil.score(texts.candidates, texts.references, metrics=list(specs.values()))
        for name, spec in specs.items():
            worst = max(worst, largest(ours.items[spec], [getattr(row[name], attribute) for row in theirs]))
    assert worst < 1e-14
    record(f"rouge1, rouge2, rougeL, rougeLsum{', stems' * stem}", "rouge-score", texts, worst)


def test_a_model_that_is_not_there_is_not_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    utils = pytest.importorskip("sacrebleu.utils")
    monkeypatch.setattr(utils, "SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: pytest.fail("it asked the network"))
    with pytest.raises(UsageError, match=r"reads the model .*flores200sacrebleuspm, which is not there"):
        postil.score(["a"], [["a"]], metrics=["bleu(tokenizer=flores200)"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(find_spec("MeCab") is not None, reason="MeCab is installed")
def test_what_a_tokenizer_needs_is_named() -> None:
    pytest.importorskip("sacrebleu")
    with pytest.raises(UsageError, match=r"'sacrebleu:ja-mecab' needs .* pip install 'sacrebleu\[ja\]'"):
        postil.score(["a"], [["a"]], tokenizer="sacrebleu:ja-mecab")


def test_the_run_takes_them_too() -> None:
    pytest.importorskip("sacrebleu")
    texts = originals.Texts("zh", CORNERS, [[text, CORNERS[6]] for text in reversed(CORNERS)])
    spec = "bleu-4(smooth=exp)"
    run = postil.score(texts.candidates, texts.references, metrics=[spec], tokenizer="sacrebleu:zh")
    named = postil.score(texts.candidates, texts.references, metrics=["bleu(tokenizer=zh)"])
    assert run.corpus[spec] == named.corpus["bleu(tokenizer=zh)"]
    assert "|tokenizer:sacrebleu-2." in run.signatures[spec]


@pytest.mark.parametrize(
    "spec", ["bleu", "bleu(smooth=floor)", "bleu(tokenizer=zh,smooth=add-k)", "chrf", "chrf++", *TER]
)
def test_signatures_are_those_that_sacrebleu_prints(spec: str) -> None:
    metrics = pytest.importorskip("sacrebleu.metrics")
    made = {
        "bleu": metrics.BLEU(),
        "bleu(smooth=floor)": metrics.BLEU(smooth_method="floor"),
        "bleu(tokenizer=zh,smooth=add-k)": metrics.BLEU(tokenize="zh", smooth_method="add-k"),
        "chrf": metrics.CHRF(),
        "chrf++": metrics.CHRF(word_order=2),
        **{name: metrics.TER(**given) for name, given in TER.items()},
    }[spec]
    for references in ([["a b", "c"], ["d"]], [["a"], ["d"]]):
        texts = Texts("few", ["a", "d"], references)
        made.corpus_score(texts.candidates, streams(texts))
        ours = postil.score(texts.candidates, texts.references, metrics=[spec]).signatures[spec]
        assert sacrebleu_signature(spec, ours) == str(made.get_signature())


def test_numbers_like_a_program_are_its_own(largest: Callable[[object, object], float]) -> None:
    bleu = pytest.importorskip("sacrebleu.metrics").BLEU
    texts = raw_texts(50)
    ours = postil.score(texts.candidates, texts.references, like="sacrebleu", tokenizer="sacrebleu:zh")
    theirs = bleu(tokenize="zh").corpus_score(texts.candidates, streams(texts)).score
    assert largest(list(ours.corpus.values()), [theirs / 100]) < 1e-12
