from __future__ import annotations

from typing import Any

import pytest

from postil.corpus.dataset_card import card
from postil.corpus.result import (
    CorpusInput,
    CorpusMetadata,
    CorpusStatistics,
    SplitSize,
    SplitStatistics,
    Spread,
    StatisticsResult,
    StatisticsSettings,
)

NONE = Spread(**dict.fromkeys(Spread.__struct_fields__) | {"n": 0})  # type: ignore[arg-type]
COUNTS = dict.fromkeys(SplitStatistics.__struct_fields__, 0)
SPREADS = {name: NONE for name, kind in SplitStatistics.__annotations__.items() if kind == "Spread"}
SPLIT = SplitStatistics(**COUNTS | SPREADS | {"known_share": None, "categories": {}})  # type: ignore[arg-type]
STATISTICS = StatisticsResult(
    statistics=CorpusStatistics(splits={"train": SPLIT, "all": SPLIT}, top_grade=None),
    settings=StatisticsSettings(tokenizer="words", vocabulary=9, postil="0.1"),
)


def metadata(sizes: tuple[int, int, int] = (19, 6, 5), **changes: Any) -> CorpusMetadata:
    splits = {
        split: SplitSize(articles=size, comments=size, files=1)
        for split, size in zip(("train", "dev", "test"), sizes, strict=True)
    }
    options = {"source": "a site", "license": "ours", "test_min_words": 6, "mask": ("urls",), "tokenizer": "words"}
    options |= {"vocab_size": 9} | changes.pop("options", {})
    fields: dict[str, Any] = {
        "format": 2, "postil": "0.1", "options": options, "tokenizer": "words", "langs": ("en",), "splits": splits,
        "inputs": (CorpusInput(name="a.jsonl", split=None, bytes=1234, blake2b="ab"),), "words": 1500,
        "seen": {"articles: no comments": 1000},
    }  # fmt: skip
    return CorpusMetadata(**fields | changes)


def test_the_card_says_what_the_metadata_say() -> None:
    lines = card(metadata(), STATISTICS).splitlines()
    for line in (
        "- **Source:** a site",
        "- **Licence:** ours",
        "| test min words | 6 |",
        "| mask | ['urls'] |",
        "| a.jsonl |  | 1,234 | `ab` |",
        "| articles: no comments | 1,000 |",
        "By postil 0.1, words by `words`; 1,500 distinct words.",
    ):
        assert line in lines


def test_names_cannot_break_its_tables() -> None:
    file = CorpusInput(name="a|b\n`<b>`", split=None, bytes=1, blake2b="ab")
    lines = card(metadata(inputs=(file,), options={"source": "a\x1b[2J site\n| x |"}), STATISTICS).splitlines()
    assert "- **Source:** a\\x1b[2J site | x |" in lines
    assert [line for line in lines if line.startswith(r"| a\|b \`&lt;b>\` |")]


@pytest.mark.parametrize("license_name", ["CC-BY-4.0", 'a "free" licence: none', "我们的", "x\n---\ny", "- [a, {b: c"])
def test_its_header_is_yaml(license_name: str) -> None:
    yaml = pytest.importorskip("yaml")
    text = card(metadata(langs=("en", "no", 'x"y', "zh-Hans"), options={"license": license_name}), STATISTICS)
    assert text.startswith("---\n")
    header = yaml.safe_load(text[4:].split("\n---\n")[0])
    assert header == {
        "license": "other",
        "license_name": license_name,
        "language": ["en", "no", 'x"y', "zh-Hans"],
        "task_categories": ["text-generation", "text-retrieval"],
        "tags": ["article-commenting"],
        "size_categories": ["n<1K"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [
                    {"split": split, "path": f"data/{split}-*.parquet"} for split in ("train", "dev", "test")
                ],
            }
        ],
    }


def test_splits_and_languages_that_are_not_there_are_not_named() -> None:
    text = card(metadata((1, 0, 0), langs=()), STATISTICS)
    assert "split: train" in text
    assert "split: dev" not in text
    assert "language" not in text.split("---")[1]


@pytest.mark.parametrize(
    ("articles", "size"),
    [(999, "n<1K"), (1_000, "1K<n<10K"), (191_502, "100K<n<1M"), (9_999_999, "1M<n<10M"), (10_000_000, "n>10M")],
)
def test_sizes(articles: int, size: str) -> None:
    assert f"- {size}\n" in card(metadata((articles, 0, 0)), STATISTICS)


def test_the_python_in_it_is_python() -> None:
    text = card(metadata(), STATISTICS)
    compile(text.split("```python\n")[1].split("```")[0], "card", "exec")
