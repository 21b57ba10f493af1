"""Corpora that others released: Tencent, Yahoo and 163, folders of Parquet files, exports told by their beginning."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from postil.corpus.importers.corpora import range_seen, read_contents, read_deepcom, read_tencent, read_tokenized
from postil.corpus.importers.fields import read_dataset, split_files
from postil.corpus.importers.importer import import_of
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Lines, Problems
    from postil.corpus.importers.import_report import ImportReport


TRAIN = {"channel": "体育", "comment": [["好球", 12], ["输了", 0]], "title": "决赛", "url": "http://k.qq.com/1"}
TEST = {"channel": "体育", "comment": [["好球", 12, 0.75], ["输了", 0, 0]], "title": "决赛"}


def test_lines_of_tencent_are_named_by_their_url_or_place(lines: Lines, report: ImportReport) -> None:
    found = list(read_tencent([lines("data.test.json.gz", TEST, "", TEST)], report))
    assert [article.id for article in found] == ["data.test:1", "data.test:3"]
    assert [comment.grade for comment in found[0].comments] == [0.75, 0.0]
    assert (report.by_place, report.graded, report.low, report.high) == (2, 4, 0, 0.75)
    [article] = read_tencent([lines("data.train.json", TRAIN)])
    comments, url = (Comment("1", "好球", 12), Comment("2", "输了", 0)), "http://k.qq.com/1"
    assert article == Article(url, "决赛", comments, category="体育", lang="zh", url=url)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0, 1, "from 0 to 1: on [0, 1], as the README of the release has them"),
        (1, 5, "from 1 to 5: on 1 to 5, as the paper has them"),
        (1.5, 4, "from 1.5 to 4: on 1 to 5, as the paper has them"),
        (0, 5, "from 0 to 5: neither on [0, 1] nor on 1 to 5; say the scale with scale when you score"),
        (1, 1, "from 1 to 1: on [0, 1] or on 1 to 5, all are the same"),
    ],
)
def test_the_range_is_said(low: float, high: float, words: str) -> None:
    assert range_seen(low, high) == words


def test_contents_are_joined_by_url(lines: Lines, report: ImportReport) -> None:
    data = lines("data.train.json", *({**TRAIN, "url": f"u{i}"} for i in range(5)))
    tsv = lines("c.tsv.gz", "u0\tEins\tzwei", "u1\t ", "u9\tNobody's")
    json = lines("c.jsonl", *({"url": f"u{i}", name: name} for i, name in ((2, "content"), (3, "text"), (4, "body"))))
    found = list(read_tencent([data], report, contents=[tsv, json]))
    assert [article.content for article in found] == ["Eins\tzwei", None, "content", "text", "body"]
    assert (report.without_content, report.unused, report.rejected) == (1, 1, 0)


def test_contents_with_something_broken(lines: Lines, problems: Problems, report: ImportReport) -> None:
    tsv = lines("c.tsv", b"\xef\xbb\xbfu1\tRain", "no tab", b"u2\t\xb0\xae", "u1\tRain", "u1\tSnow", "\tnone")
    json = lines("c.jsonl", {"url": "u3", "content": "Sun"}, {"url": "u4"}, {"url": 5, "text": ""}, '{"url"')
    assert read_contents([tsv, json], report) == {"u1": "Rain", "u3": "Sun"}
    assert problems(report) == [
        "c.tsv:2: : expected a url, a tab and a content",
        "c.tsv:3: : byte 0xb0 at offset 3 of the line is not UTF-8; save it as UTF-8",
        f'c.tsv:5: url: "u1" has another content in {tsv}:1; keep one of them',
        "c.tsv:6: : expected a url, a tab and a content",
        "c.jsonl:2: content or text or body: missing; the line has: url",
        "c.jsonl:3: url: expected text, got 5",
        "c.jsonl:4: : the JSON ends too early; is the line cut off?",
    ]


def test_a_comment_that_is_no_list(lines: Lines, problems: Problems, report: ImportReport) -> None:
    line = {**TRAIN, "comment": [["好球", "viele"], [], ["", 3], "ja", ["nein", 2]]}
    [article] = read_tencent([lines("data.train.json", line)], report)
    assert article.comments == (Comment("4", "ja"), Comment("5", "nein", 2))
    assert report.textless == 1
    assert problems(report) == [
        'data.train.json:1: comment[0].1: expected a whole number of votes, got "viele"',
        "data.train.json:1: comment[1].0: missing; the comment has: nothing",
    ]


COPY = {"id": 7, "title": "明天 有 雨", "body": "带 伞", "comment": [["好 的", 3], ["不 去", 4]]}


@pytest.mark.parametrize(
    ("second", "comments"),
    [
        ("none", (Comment("1", "好 的"), Comment("2", "不 去"))),
        ("votes", (Comment("1", "好 的", 3), Comment("2", "不 去", 4))),
        ("grade", (Comment("1", "好 的", grade=3.0), Comment("2", "不 去", grade=4.0))),
    ],
)
def test_the_second_element_is_what_the_caller_says(
    lines: Lines, report: ImportReport, second: Any, comments: tuple[Comment, ...]
) -> None:
    [article] = read_tokenized([lines("data.train.json", COPY)], report, second=second)
    assert article == Article("7", "明天 有 雨", comments, "带 伞", lang="zh")
    assert report.unread_of_comments == ({"1"} if second == "none" else set())


def test_yahoo_and_163(lines: Lines) -> None:
    yahoo = lines("yahoo.json", {"_id": "y", "title": "Rain", "paras": ["One.", "Two."], "cmts": [{"cmt": "Oh"}]})
    other = lines("163.json", {"_id": "n", "title": "Snow", "body": "Three.", "cmts": []})
    assert list(read_deepcom([yahoo, other], lang="en")) == [
        Article("y", "Rain", (Comment("1", "Oh"),), "One.\nTwo.", lang="en"),
        Article("n", "Snow", (), "Three.", lang="en"),
    ]


pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def keep(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def row(name: object, comments: object) -> dict[str, Any]:
    return {"id": name, "title": "Rain", "body": "Tomorrow", "comments": comments, "label": 3}


def test_structs_lists_and_parallel_columns_with_gaps(tmp_path: Path, report: ImportReport) -> None:
    keep(tmp_path / "structs.parquet", [row(1, [{"text": "Oh", "votes": 3}, {"text": None, "votes": 1}]), row(2, None)])
    keep(tmp_path / "lists.parquet", [row(3, {"text": ["Oh"], "votes": [-3]})])
    keep(tmp_path / "texts.parquet", [row("4", ["Oh", "No"])])
    found = {article.id: article for article in read_dataset([tmp_path], report, fields={"content": "body"}, lang="en")}
    assert found["1"] == Article("1", "Rain", (Comment("1", "Oh", 3),), "Tomorrow", lang="en")
    assert found["2"].comments == ()
    assert found["3"].comments == (Comment("1", "Oh", -3),)
    assert found["4"].comments == (Comment("1", "Oh"), Comment("2", "No"))
    assert (report.textless, report.bare, report.negative, report.unread) == (1, 1, 1, {"label"})
    rows = [
        {"id": 1, "title": "Rain", "texts": ["Oh", "No"], "scores": [2.0, float("nan")]},
        {"id": 2, "title": "Snow", "texts": None, "scores": None},
    ]
    keep(tmp_path / "gaps" / "train.parquet", rows)
    names = {"text": "texts", "upvotes": "scores"}
    one, two = read_dataset([tmp_path / "gaps"], fields={"comments": ""}, comment_fields=names)
    assert (one.comments, two.comments) == ((Comment("1", "Oh", 2), Comment("2", "No")), ())


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


ROW = {"id": 1, "title": "Rain", "comments": [{"id": "c1", "text": "Oh"}]}
EXPORTS = [
    ("a.xml.gz", '<?xml version="1.0"?>\n<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/">', "wordpress"),
    ("a.xml", '<disqus xmlns="http://disqus.com">', "disqus"),
    ("a.xml", "<rss>", None),
    ("a.jsonl", '{"id": "a1", "title": "Rain", "selftext": "", "subreddit": "weather"}', "reddit"),
    ("a.json", '[{"kind": "Listing", "data": {"children": []}}]', "reddit"),
    ("a.jsonl.gz", '{"id": "c1", "body": "Oh", "link_id": "t3_a1"}', "reddit"),
    ("a.json", '{\n "id": 7,\n "post_stream": {"posts": []}}', "discourse"),
    ("a.jsonl", '{"id": "s", "url": "https://ely.example", "metadata": {"title": "Rain"}}', "coral"),
    ("a.jsonl", '{"id": "c", "storyID": "s", "revisions": []}', "coral"),
    ("a.jsonl", 'null\n{"id": 3, "type": "story", "by": "ann", "title": "Rain"}', "hackernews"),
    ("a.jsonl", '{"objectID": "4", "comment_text": "Yes"}', "hackernews"),
    ("a.json", '{"_id": "y1", "title": "Rain", "paras": ["Rain."], "cmts": [{"cmt": "Oh"}]}', "deepcom"),
    ("a.json", '{"channel": "nba", "comment": [["Oh", 9]], "title": "Rain", "url": "x"}', "tencent"),
    ("a.json", '{"id": 7, "title": "明天 有 雨", "body": "带 伞", "comment": [["好 的", 3]]}', "tokenized"),
    ("a.jsonl", '{"id": 1, "title": "Rain", "comments": [{"body": "Oh"}]}', "forum"),
    ("a.json", '[{"id": 1, "title": "Rain", "body": "x", "comments": [["Oh", "ann"]]}]', "forum"),
    ("a.jsonl", '{"id": 1, "headline": "Rain", "replies": [{"id": 1, "text": "Oh"}]}', "forum"),
    ("a.jsonl", json.dumps(ROW), None),
    ("a.jsonl", json.dumps({**ROW, "comments": []}), None),
    ("a.jsonl", f"{json.dumps({**ROW, 'subreddit': 'weather', 'type': 'story'})}", None),
    ("a.jsonl", f'{{"id": 1, "title": "Rain", "comments": [{{}}]}}\n{json.dumps(ROW)}', None),
    ("a.jsonl", '{"id": 1, "type": ["story"], "by": "ann"}', None),
    ("a.csv", "id,title,text", None),
    ("a.jsonl", "not JSON", None),
    ("a.jsonl.gz", b"", None),
]


@pytest.mark.parametrize(("name", "text", "kind"), EXPORTS)
def test_the_import_of_an_export(lines: Lines, name: str, text: str | bytes, kind: str | None) -> None:
    path = lines(name, text)
    assert import_of(path) == kind
    path.write_bytes(b"\x1f\x8b\x08 no gzip")
    assert import_of(path) is None  # whoever reads it says so
