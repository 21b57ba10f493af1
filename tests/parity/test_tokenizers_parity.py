"""``13a`` against sacreBLEU's."""

from __future__ import annotations

import csv
import gzip
import json
import os
import random
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploration import examples
from postil.text.tokenizers import tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.parity
tokenizer_13a = pytest.importorskip("sacrebleu.tokenizers.tokenizer_13a", reason="needs the extra parity")

DATA = Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[3] / "shared" / "data"))
ORIGINAL = tokenizer_13a.Tokenizer13a()
OURS = tokenizer("13a")
PIECES = [
    *"ab Z09.,-'\"&;:/\\()[]{}<>|~^_`@#$%*+=?!\n\t\u3000é我。½",
    *("&quot;", "&amp;", "&lt;", "&gt;", "<skipped>", "-\n", "1,000", "3.5", "...", "U.S.", "e-mail", "3-4", "\r\n"),
]


def same(text: str) -> bool:
    expected: list[str] = ORIGINAL(text).split()
    return OURS.split(text) == expected


def test_random_pieces() -> None:
    draw = random.Random(13)  # noqa: S311
    texts = ["".join(draw.choices(PIECES, k=draw.randint(1, 25))) for _ in range(20_000)]
    assert [text for text in texts if not same(text)] == []


@examples(500)
@given(st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.characters(max_codepoint=127)), max_size=50))
def test_any_text(text: str) -> None:
    assert same(text)


def real_texts() -> Iterator[str]:
    with gzip.open(DATA / "articles" / "reddit_college.en.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in islice(file, 60):
            row = json.loads(line)
            yield from (row["title"], row["content"], *(comment["text"] for comment in row["comments"]))
    with (DATA / "judged" / "mohler" / "mohler_dataset.csv").open(encoding="utf-8", newline="") as file:
        for fields in islice(csv.reader(file), 1000):
            yield from fields


@pytest.mark.skipif(not (DATA / "articles").is_dir(), reason="needs the data folder POSTIL_DATA")
def test_real_texts() -> None:
    texts = list(real_texts())
    assert len(texts) > 2000
    assert [text for text in texts if not same(text)] == []
