"""Models in memory: a network of words whose vectors depend on their neighbors, and a sentence encoder on top of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from postil.encoders.contextual import ContextualEncoder
from postil.encoders.sentences import SentenceEncoder
from postil.metrics import bertscore
from postil.metrics import vectors as vector_cosine

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest
    from numpy.typing import NDArray

FIRST, LAST, ROWS = 1, 2, 1 << 12
TABLE: Final = np.random.default_rng(7).normal(size=(ROWS, 6)).astype(np.float32)


class Words:
    """Words between spaces, each with the sum of its vector and some of its neighbors'."""

    rows, wide, step, padding = ROWS, 128, 4, 0

    def __init__(self, longest: int = 40, layer: int = 1) -> None:
        self.longest = longest
        self._layer = layer
        self.texts = 0

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        split = [[3 + crc32(word.encode()) % (ROWS - 3) for word in text.split()] for text in texts]
        return [[FIRST, *ids[: longest - 2], LAST] for ids in split]

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        self.texts += len(ids)
        own = TABLE[ids] if mask is None else TABLE[ids] * mask[:, :, None].astype(np.float32)
        padded = np.pad(own, ((0, 0), (1, 1), (0, 0)))
        around = np.float32(0.2 * self._layer) * (padded[:, :-2] + padded[:, 2:])
        return np.asarray(own + around, dtype=np.float32)


def sentences(texts: Sequence[str], jobs: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    del jobs
    network = Words()
    states = [network.vectors(np.array(network.tokenize([text], 40)))[0] for text in texts]
    found = np.array([each.mean(axis=0) for each in states], dtype=np.float32).reshape(len(texts), TABLE.shape[1])
    return found, np.zeros(len(texts), np.bool_)


def put_in_place(patch: pytest.MonkeyPatch, longest: int = 40) -> dict[int, Words]:
    """Let every model that a spec names be one of these; returns the networks that were opened, by layer."""
    networks: dict[int, Words] = {}
    encoders: dict[int, ContextualEncoder] = {}

    def contextual(folder: str, layer: int | None) -> ContextualEncoder:
        at = layer or 1
        if at not in encoders:
            networks[at] = Words(longest, at)
            encoders[at] = ContextualEncoder(networks[at], f"words-{folder}", at)
        return encoders[at]

    patch.setattr(bertscore, "contextual_encoder", contextual)
    patch.setattr(
        vector_cosine,
        "sentence_encoder",
        lambda model, prefix: SentenceEncoder(sentences, f"sentences-{model}", prefix and f"{prefix} "),
    )
    return networks
