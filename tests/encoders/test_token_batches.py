from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from postil.encoders.token_batches import TokenBatches

if TYPE_CHECKING:
    from collections.abc import Sequence


class Keeping:
    """A tokenizer that keeps the largest number of tokens, as those of the libraries do."""

    longest, rows, wide, step, padding = 8, 123, 16, 1, 0

    def __init__(self) -> None:
        self._kept = 0

    def tokenize(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        self._kept = longest
        time.sleep(0.002)
        return [[ord(each) for each in text][: self._kept] for text in texts]


def test_threads_do_not_change_each_others_largest_number() -> None:
    batches = TokenBatches(Keeping())
    wanted = [2, 5] * 10
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda longest: len(batches.tokenize(["abcdefgh"], longest)[0]), wanted))
    assert found == wanted
