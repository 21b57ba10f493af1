"""Generators to test with: small ones that were not trained, and a task that is quickly learned."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import network_work as work
import numpy as np
import torch

from postil.comments.nn.batches import Commented
from postil.comments.nn.seq2seq import Seq2SeqNetwork
from postil.comments.nn.token_ids import BOS, EOS, PAD, SPECIAL
from postil.comments.options import GeneratorOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHAPES: list[dict[str, Any]] = [
    {},
    {"cell": "lstm", "layers": 2},
    {"attention": "additive", "layers": 2},
    {"attention": "bahdanau"},
    {"attention": "bahdanau", "cell": "lstm", "layers": 2, "hidden_size": 7},
    {"attention": "none", "hidden_size": 7},
]
"""Options of every kind of network; an odd size makes the two directions of the encoder unlike."""


def shape_name(shape: dict[str, Any]) -> str:
    return "-".join(str(value) for value in shape.values()) or "usual"


def network(words: int = 5, seed: int = 0, **options: Any) -> Seq2SeqNetwork:
    """One that knows so many words and has strong opinions."""
    torch.manual_seed(seed)
    made = Seq2SeqNetwork(GeneratorOptions(**{"hidden_size": 8, "embedding_dim": 6, **options}), SPECIAL + words)
    with torch.no_grad():
        made.words.weight *= 4
        made.bias.normal_()
    return made.eval()


def articles(*texts: Sequence[int]) -> torch.Tensor:
    """Words from 0, as the model numbers and fills them."""
    longest = max(1, *map(len, texts))
    return torch.tensor([[word + SPECIAL for word in text] + [PAD] * (longest - len(text)) for text in texts])


def log_p(made: Seq2SeqNetwork, article: torch.Tensor, texts: Sequence[tuple[int, ...]]) -> list[float]:
    """log P of texts and their ends; each is read as a whole."""
    found = {}
    for length in {len(text) for text in texts}:
        some = [text for text in texts if len(text) == length]
        words = torch.tensor([(BOS, *text, EOS) for text in some])
        with torch.no_grad():
            encoded, final = made.encode(article.expand(len(some), -1))
            features, _ = made.decoder(made.words(words[:, :-1]), made.decoder.initial_state(final), encoded)
            scores = made.logits(features).log_softmax(2).gather(2, words[:, 1:, None])
        found.update(zip(some, scores.sum((1, 2)).tolist(), strict=True))
    return [found[text] for text in texts]


def all_texts(words: int, shortest: int, longest: int) -> Iterator[tuple[int, ...]]:
    for length in range(shortest, longest + 1):
        yield from itertools.product(range(SPECIAL, SPECIAL + words), repeat=length)


def reversing(texts: int, seed: int, words: int = 8, longest: int = 4) -> Commented:
    """Each article's comment is the article backwards."""
    rng = np.random.default_rng(seed)
    read = [rng.integers(0, words, rng.integers(1, longest + 1)).tolist() for _ in range(texts)]
    return Commented(work.ragged(read), work.ragged([text[::-1] for text in read]), np.arange(texts + 1))
