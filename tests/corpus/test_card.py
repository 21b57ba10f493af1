from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from corpus_work import built, row, rows

from postil.corpus.card import card
from postil.corpus.split import Share
from postil.corpus.statistics import statistics
from postil.corpus.store import Corpus

if TYPE_CHECKING:
    from pathlib import Path

SIZES = {"dev": Share(size=6), "test": Share(size=5)}


def test_the_card_of_a_small_corpus(tmp_path: Path) -> None:
    corpus = built(tmp_path, rows(30), **SIZES)
    text = (tmp_path / "out" / "README.md").read_text()
    assert text == card(corpus, statistics(corpus))
    for line in (
        "- **Source:** a site",
        "- **Licence:** ours",
        "| test words | 6 |",
        "| seed | 20181 |",
        f"| out.jsonl |  | {(tmp_path / 'out.jsonl').stat().st_size:,} | `{corpus.made['inputs'][0]['blake2b']}` |",
        f"By postil {corpus.made['postil']}, words by `words`; {len(corpus.words()):,} distinct words.",
    ):
        assert line in text.splitlines()
    assert "salt" not in text


def test_names_cannot_break_its_tables(tmp_path: Path) -> None:
    corpus = built(tmp_path, rows(30), **SIZES, source="a\x1b[2J site\n| x |")
    (file,) = corpus.made["inputs"]
    made = corpus.made | {"inputs": [file | {"name": "a|b\n`<b>`"}]}
    lines = card(Corpus(corpus.path, made), statistics(corpus)).splitlines()
    assert "- **Source:** a\\x1b[2J site | x |" in lines
    assert [line for line in lines if line.startswith(r"| a\|b \`&lt;b>\` |")]


@pytest.mark.parametrize("license_name", ["CC-BY-4.0", 'a "free" licence: none', "我们的", "x\n---\ny", "- [a, {b: c"])
def test_its_header_is_yaml(tmp_path: Path, license_name: str) -> None:
    yaml = pytest.importorskip("yaml")
    articles = rows(30)
    for place, lang in enumerate(("zh-Hans", "no", 'x"y', None)):
        articles[place]["lang"] = lang
    corpus = built(tmp_path, articles, **SIZES, license=license_name)
    text = (corpus.path / "README.md").read_text(encoding="utf-8")
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


def test_splits_and_languages_that_are_not_there_are_not_named(tmp_path: Path) -> None:
    text = (built(tmp_path, [row("a", ["x"])]).path / "README.md").read_text()
    assert "split: train" in text
    assert "split: dev" not in text
    assert "language" not in text.split("---")[1]


@pytest.mark.parametrize(
    ("articles", "size"),
    [(999, "n<1K"), (1_000, "1K<n<10K"), (191_502, "100K<n<1M"), (9_999_999, "1M<n<10M"), (10_000_000, "n>10M")],
)
def test_sizes(tmp_path: Path, articles: int, size: str) -> None:
    corpus = built(tmp_path, [row("a", ["x"])])
    splits = corpus.made["splits"] | {"train": {"articles": articles, "comments": 1, "files": 1}}
    assert f"- {size}\n" in card(Corpus(corpus.path, corpus.made | {"splits": splits}), statistics(corpus))


def test_the_python_in_it_is_python(tmp_path: Path) -> None:
    text = (built(tmp_path, [row("a", ["x"])]).path / "README.md").read_text()
    compile(text.split("```python\n")[1].split("```")[0], "card", "exec")
