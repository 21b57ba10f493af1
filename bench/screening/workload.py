"""Decisions of moderators under ``moderated/`` of the data, their folds, and many comments made of their words."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from postil.data.rows import Decision
from postil.screening.fit import FOLDS, Split, split_texts

if TYPE_CHECKING:
    from pathlib import Path

    from postil.kernel.arrays import Int64s
    from postil.screening.decisions import Decisions

SEED: Final = 50_077
GERMAN, SPAM, SPANS = "germeval2018_train.de", "youtube_spam.en", "toxic_spans_trial.en"


class MarkedText(msgspec.Struct, frozen=True):
    """A text and the ranges of its characters that readers found toxic.

    Args:
        text: The text.
        spans: Index of the first character of each range, and after its last.
    """

    text: str
    spans: list[tuple[int, int]]


def decided(folder: Path, name: str, lang: str) -> list[Decision]:
    """Decisions of a file."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [msgspec.convert({**json.loads(line), "lang": lang}, Decision) for line in lines]


def marked(folder: Path) -> list[MarkedText]:
    """Texts with toxic spans."""
    with gzip.open(folder / f"{SPANS}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [msgspec.convert(json.loads(line), MarkedText) for line in lines]


def random_folds(groups: Int64s) -> Int64s:
    """Random folds of groups, such as equal texts.

    Args:
        groups: int64[n], from 0.
    """
    return (np.random.default_rng(SEED).permutation(int(groups.max()) + 1) % FOLDS)[groups]


def splits(rows: list[Decision], decisions: Decisions) -> dict[str, Split]:
    """Ways to part what is learned from and what is predicted: by video, author and time where known, else by text."""
    nowhere = np.full(len(rows), np.nan)
    found = {}
    if rows[0].article is not None:
        articles = np.unique([str(row.article) for row in rows], return_inverse=True)[1].astype(np.int64)
        found["video"] = Split("text", articles)
        found["author"] = split_texts(nowhere, decisions.author, decisions.text)
        found["time"] = split_texts(decisions.dates, decisions.author, decisions.text)
    else:
        texts = np.unique(decisions.text, return_inverse=True)[1].astype(np.int64)
        found["text"] = Split("text", random_folds(texts))
    return found


def mixed(rows: list[Decision], size: int) -> list[Decision]:
    """Comments with the words of given ones.

    Each draws two comments of one decision, takes all words of both, shuffles them, and keeps as many as the first has.
    Words and their frequencies by decision and the lengths are thus as given, pairs of words mostly new.

    Args:
        rows: The given decisions.
        size: Number of comments to make.
    """
    random = np.random.default_rng(SEED)
    words = [row.text.split() for row in rows]
    held = np.array([row.decision == "hold" for row in rows])
    of_kind = {kind: np.flatnonzero(held == kind) for kind in (False, True)}
    found = []
    for number in range(size):
        first = int(random.integers(len(rows)))
        second = int(random.choice(of_kind[bool(held[first])]))
        both = words[first] + words[second]
        text = " ".join(both[at] for at in random.permutation(len(both))[: len(words[first])])
        found.append(Decision(text, rows[first].decision, rows[first].reason, id=str(number), lang=rows[first].lang))
    return found
