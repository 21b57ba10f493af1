"""Folders of made-up vectors: 24 words, as word vectors and as subwords with a tokenizer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import save_file

from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from pathlib import Path

WORDS = tuple("abcdefghijklmnopqrstuvwx")
"""The first four have worked values: a (1, 0), b (0, 1), c (0, 0), which is no direction, d (3, 4)."""


def matrix(dimensions: int = 2, count: int = len(WORDS)) -> np.ndarray:
    vectors = np.random.default_rng(11).normal(size=(count, dimensions)).astype(np.float32)
    vectors[:4] = 0
    vectors[0, 0], vectors[1, 1], vectors[3, :2] = 1, 1, (3, 4)
    return vectors


def word_folder(path: Path, dimensions: int = 2) -> Path:
    Vectors(WORDS, matrix(dimensions)).save(path)
    return path


def tokenizer(words: tuple[str, ...] = WORDS, **more: object) -> dict[str, object]:
    """A tokenizer that pads and truncates, as those of packages do; ``x`` is its token for unknown text."""
    return {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": "BatchLongest",
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "a",
        },
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(words)}, "unk_token": "x"},
        **more,
    }


def subword_folder(path: Path, dimensions: int = 2, dtype: str = "float32", words: tuple[str, ...] = WORDS) -> Path:
    path.mkdir(exist_ok=True)
    save_file({"embeddings": matrix(dimensions, len(words)).astype(dtype)}, path / "model.safetensors")
    (path / "tokenizer.json").write_text(json.dumps(tokenizer(words)))
    return path
