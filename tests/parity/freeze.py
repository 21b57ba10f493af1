"""Ask the originals for their numbers on small made texts and keep them in ``frozen/``: parity tested anywhere.

    pip install 'postil[parity]'
    python tests/parity/freeze.py

Needs Java for METEOR. Run it again only to change the texts; the numbers are the originals', never postil's.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import logging
import warnings
from pathlib import Path
from typing import Any

import originals
import ptb_texts
from originals import Texts

FROZEN = Path(__file__).parent / "frozen"
TOKENS = Path(__file__).parent / "frozen_tokens.json"
Numbers = dict[str, tuple[float, list[float]]]
"""Corpus score and item scores by postil's spec."""

JAR = {
    "meteor(params=other,stages=exact)": ["-l", "other"],
    "meteor(params=2005,stages=exact)": ["-l", "other", "-m", "exact", "-w", "1.0", "-p", "0.9 3.0 0.5 0.5"],
    "meteor(params=en,stages=exact,function_words=NONE)": [
        *("-l", "en", "-m", "exact", "-w", "1.0"),
        *("-p", "0.85 0.2 0.6 0.5"),
    ],
    "meteor(params=en,stages=exact+stem,function_words=NONE)": [
        *("-l", "en", "-m", "exact stem", "-w", "1.0 0.6"),
        *("-p", "0.85 0.2 0.6 0.5"),
    ],
}
"""Delta .5 makes function words harmless; ``NONE`` is a list without a word of these texts, which does the same."""


def pycocoevalcap(texts: Texts) -> Numbers:
    truths = dict(enumerate(texts.references))
    results = {number: [text] for number, text in enumerate(texts.candidates)}
    bleu, by_order = _class("pycocoevalcap.bleu.bleu", "Bleu")(4).compute_score(truths, results, verbose=0)
    numbers: Numbers = {f"bleu-{order + 1}": (bleu[order], by_order[order]) for order in range(4)}
    for spec, module, name in (
        ("rouge-l", "pycocoevalcap.rouge.rouge", "Rouge"),
        ("cider-d", "pycocoevalcap.cider.cider", "Cider"),
    ):
        corpus, items = _class(module, name)().compute_score(truths, results)
        numbers[spec] = (float(corpus), [float(value) for value in items])
    return numbers


def sacrebleu(texts: Texts) -> Numbers:
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    deepest = max(map(len, texts.references))
    streams = [[row[at] if at < len(row) else None for row in texts.references] for at in range(deepest)]
    numbers: Numbers = {}
    for smooth in ("none", "exp", "floor", "add-k"):
        for effective in (False, True):
            bleu = _class("sacrebleu.metrics", "BLEU")(
                tokenize="none", force=True, smooth_method=smooth, effective_order=effective
            )
            pairs = zip(texts.candidates, texts.references, strict=True)
            items = [bleu.sentence_score(candidate, references).score / 100 for candidate, references in pairs]
            corpus = bleu.corpus_score(texts.candidates, streams).score / 100
            numbers[f"bleu-4(smooth={smooth},effective={str(effective).lower()})"] = (corpus, items)
    return numbers


def chrf(texts: Texts) -> Numbers:
    deepest = max(map(len, texts.references))
    streams = [[row[at] if at < len(row) else None for row in texts.references] for at in range(deepest)]
    numbers: Numbers = {}
    for words in (0, 2):
        for spec, options in {
            "": {},
            "beta=1,lowercase=true,": {"beta": 1, "lowercase": True},
            "order=4,whitespace=true,": {"char_order": 4, "whitespace": True},
            "smooth=eps,": {"eps_smoothing": True},
        }.items():
            metric = _class("sacrebleu.metrics", "CHRF")(word_order=words, **options)
            pairs = zip(texts.candidates, texts.references, strict=True)
            items = [metric.sentence_score(candidate, references).score / 100 for candidate, references in pairs]
            numbers[f"chrf({spec}words={words})"] = (metric.corpus_score(texts.candidates, streams).score / 100, items)
    return numbers


def rouge_score(texts: Texts) -> Numbers:
    kinds = {
        "rouge1": "rouge-1(over=max,",
        "rouge2": "rouge-2(over=max,",
        "rougeL": "rouge-l(reading=best,beta=1,",
        "rougeLsum": "rouge-lsum(",
    }
    numbers: Numbers = {}
    for stem in (False, True):
        scorer = _class("rouge_score.rouge_scorer", "RougeScorer")(list(kinds), use_stemmer=stem)
        pairs = zip(texts.candidates, texts.references, strict=True)
        rows = [scorer.score_multi(references, candidate) for candidate, references in pairs]
        for kind, spec in kinds.items():
            for part, column in (("p", 0), ("r", 1), ("f", 2)):
                items = [float(row[kind][column]) for row in rows]
                numbers[f"{spec}part={part},stem={str(stem).lower()})"] = (sum(items) / len(items), items)
    return numbers


def nltk(texts: Texts) -> Numbers:
    bleu = importlib.import_module("nltk.translate.bleu_score")
    candidates = [text.split(" ") for text in texts.candidates]
    references = [[text.split(" ") for text in row] for row in texts.references]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of orders without a match
        items = [bleu.sentence_bleu(row, text) for text, row in zip(candidates, references, strict=True)]
        return {"bleu-4(smooth=method0)": (bleu.corpus_bleu(references, candidates), items)}


def meteor(texts: Texts) -> Numbers:
    return {spec: originals.jar_scores(texts, *options) for spec, options in JAR.items()}


def tokens(coco: str) -> None:
    """Keep what PTBTokenizer makes of sentences of our own."""
    pairs = []
    for kind in ptb_texts.KINDS:
        texts = ptb_texts.made(kind, 120, seed=2014)
        pairs += [[text, line] for text, line in zip(texts, originals.ptb_lines(texts), strict=True)]
    page = {"made_by": f"the CoreNLP 3.4.1 jar in {coco}", "command": "PTBTokenizer().tokenize", "tokens": pairs}
    TOKENS.write_text(json.dumps(page, indent=0, ensure_ascii=False) + "\n", "utf-8")


def _class(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def write(name: str, made_by: str, command: object, numbers: Numbers, **how: str) -> None:
    rows = {spec: {"corpus": corpus, "items": items} for spec, (corpus, items) in numbers.items()}
    page = {"made_by": made_by, "command": command, **how, "numbers": rows}
    (FROZEN / f"{name}.json").write_text(json.dumps(page, indent=0, ensure_ascii=False) + "\n", "utf-8")


def write_texts(name: str, texts: Texts) -> None:
    page = {"candidates": texts.candidates, "references": texts.references}
    (FROZEN / f"{name}.json").write_text(json.dumps(page, indent=0, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    texts, lines = originals.without_collisions(originals.made(90, seed=2018)), originals.summaries(40, seed=1)
    write_texts("texts", texts)
    write_texts("lines", lines)
    version = importlib.metadata.version
    write(
        "chrf",
        f"sacrebleu {version('sacrebleu')}",
        "CHRF(…): sentence_score, corpus_score; divided by 100",
        chrf(lines),
        texts="lines",
    )
    write(
        "rouge-score",
        f"rouge-score {version('rouge-score')}",
        "RougeScorer(…, use_stemmer=…): score_multi, and the mean",
        rouge_score(lines),
        texts="lines",
        tokenizer="rouge",
    )
    coco = f"pycocoevalcap {version('pycocoevalcap')}"
    write("pycocoevalcap", coco, "Bleu(4), Rouge(), Cider(): compute_score", pycocoevalcap(texts))
    tokens(coco)
    write(
        "sacrebleu",
        f"sacrebleu {version('sacrebleu')}",
        "BLEU(tokenize='none', smooth_method=…, effective_order=…): sentence_score, corpus_score; divided by 100",
        sacrebleu(texts),
    )
    write("nltk", f"nltk {version('nltk')}", "sentence_bleu, corpus_bleu", nltk(texts))
    commands = {spec: " ".join(["java -jar meteor-1.5.jar - - -stdio", *options]) for spec, options in JAR.items()}
    write("meteor", f"the METEOR 1.5 jar in {coco}", commands, meteor(texts))


if __name__ == "__main__":
    main()
