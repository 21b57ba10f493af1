"""Folders of Parquet files."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from postil.corpus.importers.dataset import read_dataset, split_files
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Problems
    from postil.corpus.importers.import_report import ImportReport

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def keep(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def row(name: object, comments: object) -> dict[str, Any]:
    return {"id": name, "title": "Rain", "body": "Tomorrow", "comments": comments, "label": 3}


def test_structs_and_lists(tmp_path: Path, report: ImportReport) -> None:
    keep(tmp_path / "structs.parquet", [row(1, [{"text": "Oh", "votes": 3}, {"text": None, "votes": 1}]), row(2, None)])
    keep(tmp_path / "lists.parquet", [row(3, {"text": ["Oh"], "votes": [-3]})])
    keep(tmp_path / "texts.parquet", [row("4", ["Oh", "No"])])
    found = {article.id: article for article in read_dataset([tmp_path], report, fields={"content": "body"}, lang="en")}
    assert found["1"] == Article("1", "Rain", (Comment("1", "Oh", 3),), "Tomorrow", lang="en")
    assert found["2"].comments == ()
    assert found["3"].comments == (Comment("1", "Oh", -3),)
    assert found["4"].comments == (Comment("1", "Oh"), Comment("2", "No"))
    assert (report.textless, report.bare, report.negative, report.unread) == (1, 1, 1, {"label"})


def test_parallel_columns_with_gaps(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "title": "Rain", "texts": ["Oh", "No"], "scores": [2.0, float("nan")]},
        {"id": 2, "title": "Snow", "texts": None, "scores": None},
    ]
    keep(tmp_path / "train.parquet", rows)
    names = {"text": "texts", "upvotes": "scores"}
    one, two = read_dataset([tmp_path / "train.parquet"], fields={"comments": ""}, comment_fields=names)
    assert one.comments == (Comment("1", "Oh", 2), Comment("2", "No"))
    assert two.comments == ()


def test_dates_of_any_type(tmp_path: Path) -> None:
    zoned = datetime(2020, 3, 21, 6, 27, tzinfo=timezone(timedelta(hours=8)))
    comments = [{"text": "Oh", "date": datetime(2020, 3, 21, 6, 27)}, {"text": "No", "date": None}]  # noqa: DTZ001
    for name, date in (("text", "2020-03-20 22:27"), ("unix", 1584743220), ("zoned", zoned), ("day", zoned.date())):
        keep(tmp_path / f"{name}.parquet", [row(name, comments) | {"date": date}])
    found = {article.id: article for article in read_dataset([tmp_path])}
    at = "2020-03-20T22:27:00Z"
    assert {name: article.date for name, article in found.items()} == {
        "text": at, "unix": at, "zoned": at, "day": "2020-03-21T00:00:00Z"
    }  # fmt: skip
    assert [comment.date for comment in found["text"].comments] == ["2020-03-21T06:27:00Z", None]


def test_splits_by_name(tmp_path: Path) -> None:
    names = [
        "data/train-00001-of-00002.parquet",
        "data/train-00000-of-00002.parquet",
        "data/test-00000-of-00001.parquet",
        "dev/0000.parquet",
        "my-split_2.parquet",
    ]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    shards = [str(tmp_path / "data" / f"train-0000{i}-of-00002.parquet") for i in range(2)]
    dev, test = str(tmp_path / "dev/0000.parquet"), str(tmp_path / names[2])
    assert split_files([tmp_path], ["train"]) == shards
    assert split_files([tmp_path], ["train", "dev"]) == [*shards, dev]
    assert split_files([tmp_path]) == [dev, str(tmp_path / names[4]), test, *shards]
    with pytest.raises(UnknownName, match=r"unknown split of .* 'validation'.*Known: dev, my-split, test, train"):
        split_files([tmp_path], ["validation"])


def test_what_is_broken(tmp_path: Path, problems: Problems, report: ImportReport) -> None:
    keep(tmp_path / "a.parquet", [row(1, [{"text": "Oh", "votes": 0.5}]), row(1, [])])
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    keep(tmp_path / "c.parquet", [row(2, [])])
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), tmp_path / "d.parquet")
    assert [article.id for article in read_dataset([tmp_path], report)] == ["1", "2"]
    assert problems(report) == [
        "a.parquet:1: comments[0].upvotes or votes: expected a whole number of votes, got 0.5",
        f'a.parquet:2: id: article "1" stands in {tmp_path}/a.parquet:1 already; keep one of them',
        "b.parquet:None: : not a Parquet file, or a damaged one; is the download complete?",
        "d.parquet:None: : the file holds no rows",
    ]


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file or folder"):
        list(read_dataset([tmp_path / "none"]))
    with pytest.raises(InvalidInput, match=r"no \.parquet or \.arrow files in the folder$"):
        list(read_dataset([tmp_path]))
    (tmp_path / "data-00000-of-00001.arrow").touch()
    with pytest.raises(InvalidInput, match="not an Arrow file, or a damaged one"):
        list(read_dataset([tmp_path]))


def test_what_save_to_disk_writes(tmp_path: Path) -> None:
    for split in ("train", "test"):
        table = pa.Table.from_pylist([row(split, ["Oh"])])
        (tmp_path / split).mkdir()
        with pa.ipc.new_stream(tmp_path / split / "data-00000-of-00001.arrow", table.schema) as out:
            out.write_table(table)
        (tmp_path / split / "state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}')
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert [article.id for article in read_dataset([tmp_path])] == ["test", "train"]
    assert list(read_dataset([tmp_path], splits=["train"])) == [Article("train", "Rain", (Comment("1", "Oh"),))]
