"""Decisions of moderators that a screen can learn: kept texts, insults and spam."""

from __future__ import annotations

from typing import Any

import numpy as np

from postil.data.rows import Decision

NICE = ("the", "bus", "was", "late", "we", "walked", "home", "in", "rain", "with", "coat", "and", "bread", "baker")
RUDE = ("idiot", "moron", "stupid", "liar")
SPAM = ("cheap", "watches", "buy", "now", "www.watches.example", "discount")


def rows(n: int = 300, *, seed: int = 1, start: int = 0, **fields: Any) -> list[Decision]:
    """Decisions: of ten texts six are kept, two held as spam and two as insults."""
    random = np.random.default_rng(seed)
    found = []
    for at in range(start, start + n):
        words = list(random.choice(NICE, 8))
        reason = {0: "spam", 1: "spam", 2: "insult", 3: "insult"}.get(at % 10)
        if reason:
            words += list(random.choice(SPAM if reason == "spam" else RUDE, 2))
        text = f"{' '.join(words)} {at}"
        found.append(Decision(text, "hold" if reason else "keep", reason, article="a", id=str(at), **fields))
    return found
