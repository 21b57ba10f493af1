"""A corpus read back: by us and by others, whole and damaged."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from corpus_work import built, ids, rows

from postil.corpus.options import Share
from postil.corpus.store import Corpus
from postil.errors import InvalidInput, UnknownName
from refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postil.data.rows import Article

SIZES = {"dev": Share(size=6), "test": Share(size=5), "user_ids": "keep"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return built(tmp_path_factory.mktemp("whole"), rows(30), **SIZES)


@pytest.fixture
def corpus(whole: Corpus, tmp_path: Path) -> Corpus:
    return Corpus(shutil.copytree(whole.path, tmp_path / "out"), whole.metadata)


def plain(article: Article) -> dict[str, Any]:
    """An article as every reader of Parquet should see it."""

    def fields(row: Any, *names: str) -> dict[str, Any]:
        return {name: getattr(row, name) for name in names}

    def comments(these: Any) -> list[dict[str, Any]]:
        return [
            fields(each, "id", "text", "upvotes", "grade", "user")
            | {"ratings": [fields(rating, "annotator", "grade") for rating in each.ratings]}
            for each in these
        ]

    said = {"comments": comments(article.comments), "held_out": comments(article.held_out)}
    return fields(article, "id", "title", "content", "category", "lang", "url") | said


def expected(corpus: Corpus) -> dict[str, list[dict[str, Any]]]:
    found = {split: [plain(article) for article in corpus.articles(split)] for split in corpus.splits}
    assert {split: len(some) for split, some in found.items()} == {"train": 19, "dev": 6, "test": 5}
    assert all(article["held_out"] for article in found["test"])
    assert not any(article["held_out"] for article in found["train"] + found["dev"])
    return found


def test_as_it_was_built(corpus: Corpus) -> None:
    again = Corpus.open(str(corpus.path))
    assert again.metadata == corpus.metadata
    assert (again.splits, again.tokenizer) == (("train", "dev", "test"), "words-2")
    tokens = again.tokens("train", "comments")
    assert len(tokens) == again.starts("train")[-1] == again.metadata.splits["train"].comments
    assert (tokens.ids.dtype, tokens.offsets.dtype) == (np.int32, np.int64)
    assert isinstance(tokens.ids, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        tokens.ids[0] = 1


def test_with_pyarrow(corpus: Corpus) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for split, articles in expected(corpus).items():
        (file,) = (corpus.path / "data").glob(f"{split}-*.parquet")
        assert file.name == f"{split}-00000-of-00001.parquet"
        assert parquet.read_table(file).to_pylist() == articles


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")  # of other packages
def test_with_datasets(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    found = datasets.load_dataset(str(corpus.path), cache_dir=str(tmp_path / "cache"))
    assert {split: list(found[split]) for split in found} == expected(corpus)


@pytest.mark.integration
def test_with_duckdb(corpus: Corpus) -> None:
    duckdb = pytest.importorskip("duckdb")
    articles = expected(corpus)
    data = corpus.path / "data"
    with duckdb.connect() as base:
        train, test, every = (base.read_parquet(f"{data}/{some}*.parquet") for some in ("train-", "test-", ""))
        assert train.project("id, len(comments)").fetchall() == [
            (article["id"], len(article["comments"])) for article in articles["train"]
        ]
        assert test.project("id, unnest(held_out).text").fetchall() == [
            (article["id"], comment["text"]) for article in articles["test"] for comment in article["held_out"]
        ]
        assert every.aggregate("sum(list_sum([c.upvotes for c in comments]))").fetchall() == [
            (sum(c["upvotes"] for some in articles.values() for article in some for c in article["comments"]),)
        ]


@pytest.mark.integration
def test_with_polars(corpus: Corpus) -> None:
    polars = pytest.importorskip("polars")
    for split, articles in expected(corpus).items():
        assert polars.read_parquet(corpus.path / "data" / f"{split}-*.parquet").to_dicts() == articles


def test_several_files_are_read_in_order(tmp_path: Path) -> None:
    whole = built(tmp_path, rows(6))
    (file,) = whole.files("train")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(file)
    file.unlink()
    for place in range(3):
        parquet.write_table(table.slice(2 * place, 2), file.with_name(f"train-0000{place}-of-00003.parquet"))
    found = json.loads((whole.path / "metadata.json").read_text())
    found["splits"]["train"]["files"] = 3
    (whole.path / "metadata.json").write_text(json.dumps(found))
    again = Corpus.open(whole.path)
    assert [path.name[6:11] for path in again.files("train")] == ["00000", "00001", "00002"]
    assert ids(again)["train"] == [f"a00{place}" for place in range(6)]


@pytest.mark.parametrize(
    "ask", [lambda c: c.tokens("dev", "title"), lambda c: c.starts("dev"), lambda c: c.files("dev")]
)
def test_a_split_that_it_has_not(tmp_path: Path, ask: Callable[[Corpus], object]) -> None:
    corpus = built(tmp_path, rows(3))
    assert corpus.splits == ("train",)
    with pytest.raises(UnknownName, match=r"unknown split 'dev'\. Known: train"):
        ask(corpus)


def metadata(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "metadata.json").write_text(text)


def changed(field: str, value: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        file = folder / "metadata.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {field: value}))

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "metadata.json").unlink(), "out: no metadata.json in this folder; expected a corpus"),
        (lambda folder: folder.rename(folder.with_name("gone")), "out: no such folder; expected a corpus that postil"),
        (lambda folder: (shutil.rmtree(folder), folder.write_text("{}")), "out: not a folder; expected a corpus that"),
        (metadata("{"), "out/metadata.json: not JSON, Expecting"),
        (metadata('{"kind": "corpus", "format": 2}'), "out/metadata.json: Object missing"),
        (changed("splits", {}), "out/metadata.json: Object missing"),
        (changed("options", {}), "out/metadata.json: Object missing"),
        (metadata("[]"), "out/metadata.json: expected a JSON object, got an array"),
        (metadata('{"kind": "index", "format": 1}'), 'out: expected a corpus, got "index"'),
        (
            metadata('{"kind": "corpus", "format": 3}'),
            "corpus of format 2, got 3; it needs a newer version",
        ),
        (
            changed("format", 1),
            "corpus of format 2, got 1; make it anew with postil corpus build",
        ),
        (lambda folder: (folder / "metadata.json").write_bytes(b"\xff"), "metadata.json: not JSON, 'utf-8' codec"),
    ],
)
def test_what_is_no_corpus(corpus: Corpus, damage: Callable[[Path], object], message: str) -> None:
    damage(corpus.path)
    assert message in refused(InvalidInput, Corpus.open, corpus.path)


def saved(name: str, values: list[int], dtype: type) -> Callable[[Path], object]:
    return lambda folder: np.save(folder / "tokens/train" / name, np.array(values, dtype))


def less(name: str, by: int) -> Callable[[Path], object]:
    return lambda folder: np.save(folder / name, np.load(folder / name) - by)


TITLES = "title.offsets.npy: expected int64[20], offsets that rise from 0 to "
PLACES = "articles.npy: expected int64[20], offsets that rise from 0 to 95, got "


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "counts.npy").unlink(), "counts.npy: missing; was the folder copied whole?"),
        (saved("title.ids.npy", [1, 2], np.int32), f"{TITLES}2, got offsets from 0 to"),
        (saved("title.offsets.npy", [], np.int64), TITLES),
        (saved("articles.npy", [0, 1], np.float64), f"{PLACES}float64[2]; was the folder"),
        (saved("articles.npy", [*range(0, 90, 5), 80, 95], np.int64), f"{PLACES}80 after 85; was the folder"),
        (less("counts.npy", 10_000), "counts.npy: expected int64["),
        (less("tokens/train/title.ids.npy", 1), "title.ids.npy: expected int32[any] from 0 to"),
    ],
)
def test_arrays_of_something_else(corpus: Corpus, damage: Callable[[Path], object], message: str) -> None:
    damage(corpus.path)
    assert message in refused(InvalidInput, every, Corpus.open(corpus.path))


def every(corpus: Corpus) -> None:
    """Use every file of a corpus."""
    corpus.words()
    corpus.counts()
    for split in corpus.splits:
        list(corpus.articles(split))
        corpus.starts(split)
        for field in ("title", "content", "comments"):
            corpus.tokens(split, field)  # type: ignore[arg-type]


FILES = (
    "words.txt",
    "counts.npy",
    "data/dev-00000-of-00001.parquet",
    "tokens/train/content.ids.npy",
    "tokens/dev/title.offsets.npy",
    "tokens/test/articles.npy",
)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "other"])
def test_damaged_files(corpus: Corpus, name: str, damage: str) -> None:
    every(corpus)
    file = corpus.path / name
    if damage == "gone":
        file.unlink()
    elif damage == "other":
        file.write_bytes(b"\xff\xfenot at all what it should be")
    else:
        os.truncate(file, 0 if damage == "empty" else file.stat().st_size - 100)
    with pytest.raises(InvalidInput) as failure:
        every(Corpus.open(corpus.path))
    assert failure.value.where in {str(file), str(file.parent)}
    assert "copied whole?" in str(failure.value) or name.endswith("parquet")
