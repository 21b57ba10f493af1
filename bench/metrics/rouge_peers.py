"""Packages that compute ROUGE, and one that computes its common subsequence."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bench.metrics.peers import Score, simple, words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager


class SpaceTokenizer:
    """Splits at spaces; the tokenizer of rouge-score and its relatives keeps ASCII alone and would drop Chinese."""

    def tokenize(self, text: str) -> list[str]:
        return text.split(" ")


def _rouge_scorer(module: str, types: list[str], tokenizer: Any) -> Score:
    scorer = importlib.import_module(f"{module}.rouge_scorer").RougeScorer(types, tokenizer=tokenizer)

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        for candidate, texts in zip(candidates, references, strict=True):
            scorer.score_multi(texts, candidate)

    return score


def rouge_scorer(module: str, *types: str) -> Callable[[], AbstractContextManager[Score]]:
    """rouge-score, or a package with its interface, splitting at spaces."""
    return simple(lambda: _rouge_scorer(module, list(types), SpaceTokenizer()))


def rouge_score_rs(*types: str) -> Callable[[], AbstractContextManager[Score]]:
    """rouge-score-rs with the fastest of its own tokenizers that keeps Chinese."""

    def make() -> Score:
        tokenizers = importlib.import_module("rouge_score_rs.tokenizers")
        return _rouge_scorer("rouge_score_rs", list(types), tokenizers.UnicodeTokenizer())

    return simple(make)


def rouge_metric(**options: bool | int) -> Callable[[], AbstractContextManager[Score]]:
    def make() -> Score:
        asked = {"rouge_n": (), "rouge_l": False, "rouge_w": False, "rouge_s": False, "rouge_su": False, **options}
        rouge = importlib.import_module("rouge_metric").PyRouge(**asked, multi_ref_mode="best")

        def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
            rouge.evaluate_tokenized(
                [[candidate] for candidate in words(candidates)],
                [[[text] for text in words(texts)] for texts in references],
            )

        return score

    return simple(make)


def rouge_rust() -> Score:
    compute = importlib.import_module("fast_rouge").score_batch_flat

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        compute(
            [text for texts in references for text in texts],
            [candidate for candidate, texts in zip(candidates, references, strict=True) for _ in texts],
        )

    return score


def rapidfuzz_lcs() -> Score:
    similarity = importlib.import_module("rapidfuzz.distance").LCSseq.similarity

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        for candidate, texts in zip(words(candidates), references, strict=True):
            for text in words(texts):
                similarity(candidate, text)

    return score
