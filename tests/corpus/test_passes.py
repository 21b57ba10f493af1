"""The passes of a build: rows in blocks, tables that are prepared, shards that are finished."""

from __future__ import annotations

import functools
import gzip
import io
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from corpus_work import Row, built, ids, loose, row, rows
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from exploration import examples
from postil.corpus import passes
from postil.corpus.blocks import Block, blocks, open_block_table, words_in
from postil.corpus.calls import build_corpus
from postil.corpus.finish import FIELDS, Count, Finish, Finished, Part
from postil.corpus.passes import Prepare
from postil.data.parquet import schema_of
from postil.data.reading import Reading
from postil.data.row_files import write
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, UsageError
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import File


GOOD = json.dumps(row("good", ["x", "y"]))


def line(**changes: Any) -> bytes:
    return json.dumps(row("bad", ["x", "y"]) | changes).encode()


def comment(**changes: Any) -> bytes:
    return line(comments=[{"id": 0, "text": "x"}, {"id": 1, "text": "y"} | changes])


BAD = {
    "broken": (b'{"id": "bad", "title": ', "the JSON ends too early; is the"),
    "not UTF-8": (b'{"id": "bad\xe9"}', "byte 0xe9 at offset 11 of the line is not UTF-8; save the"),
    "id a float": (line(id=1.5), "id: expected text or an integer, got 1.5"),
    "lone surrogate": (line(title="a\ud800b"), r'title: expected text, got "a\ud800b"'),
    "lone surrogate in a comment": (comment(text="\udfff"), r'comments[1].text: expected text, got "\udfff"'),
    "comment without text": (line(comments=[{"id": 1}]), "comments[0].text: missing; a comment"),
    "huge votes": (comment(upvotes=2**63), "comments[1].upvotes: expected an integer of at most 64 bits, got 9223"),
    "grade NaN": (comment(grade=float("nan")), "comments[1].grade: NaN is not JSON; write null, or"),
    "no name": (comment(ratings=[{"grade": 1}]), "comments[1].ratings[0].annotator: missing"),
    "comment ids twice": (comment(id=0), "comments[1].id: expected an id that no other comment of the article"),
    "comment ids twice, text and number": (comment(id="0"), "comments[1].id: expected an id that no other"),
    "an object over lines": (b"{", "expected a whole object on one line; convert the file with: jq -c ."),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_row_that_is_wrong(tmp_path: Path, name: str) -> None:
    text, problem = BAD[name]
    (path := tmp_path / "a.jsonl").write_bytes(b"\n".join([GOOD.encode(), b"", text, GOOD.encode()]))
    block = Block(str(path), 11, path.read_bytes())
    said = refused(InvalidInput, Prepare(loose()), block)
    assert said.startswith(f"{path}:13: {problem}")
    assert "\n" not in said


def test_all_that_is_wrong_may_be_skipped(tmp_path: Path) -> None:
    lines = [text for text, _ in BAD.values()]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([GOOD.encode(), *lines, json.dumps(row("last", ["z"])).encode()]))
    corpus = build_corpus([path], tmp_path / "out", loose(on_error="skip"), jobs=1)
    assert ids(corpus) == {"train": ["good", "last"]}
    rejected = [json.loads(each) for each in (tmp_path / "out.rejected.jsonl").read_text().splitlines()]
    assert [each["line"] for each in rejected] == list(range(2, 2 + len(BAD)))
    for each, (_, problem) in zip(rejected, BAD.values(), strict=True):
        assert each["file"] == str(path)
        assert f"{each['field']}: {each['problem']}".removeprefix(": ").startswith(problem)


def test_what_is_odd_but_right(tmp_path: Path) -> None:
    odd: list[Row] = [
        row("no title", ["x"], title=""),
        row("5", ["x"], id=5),
        row("against", [{"text": "x", "upvotes": -7}]),
        row("long id " * 50, ["x"]),
        row("extra", ["x"], paras=["never read"], held_out=None),
        row("held out", ["x"], held_out=[{"id": "h", "text": "y"}, {"id": "i", "text": "z"}]),  # of another corpus
        row("null", [{"text": "x", "upvotes": None, "grade": None, "ratings": None, "user": None}], content=None),
        row("most", [{"text": "x", "upvotes": 2**63 - 1}, {"text": "y", "upvotes": -(2**63)}]),
        row("\x01", [{"text": "\x02"}, {"text": "\x7f x"}]),  # a comment of a control character has no text
    ]
    corpus = built(tmp_path, odd)
    articles = {article.id: article for article in corpus.articles("train")}
    assert list(articles) == [str(each["id"]) for each in odd]
    assert articles["against"].comments[0].upvotes == -7
    assert [each.upvotes for each in articles["most"].comments] == [2**63 - 1, -(2**63)]
    assert [each.text for each in articles["\x01"].comments] == ["x"]
    assert ([each.text for each in articles["held out"].comments], articles["held out"].held_out) == (["x"], ())
    assert corpus.metadata.seen == {"comments without text": 1, "comments: held out before": 2}


@pytest.mark.parametrize("text", [f"\ufeff{GOOD}\n", f"{GOOD}\r\n", f"\n \n{GOOD}", GOOD.replace(", ", ",\r\t")])
def test_files_from_elsewhere(tmp_path: Path, text: str) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(text.encode())
    assert ids(build_corpus([path], tmp_path / "out", loose(), jobs=1)) == {"train": ["good"]}


class TestHan:
    @pytest.mark.parametrize("size", [100, 1 << 20])
    def test_blocks_do_not_decide(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
        monkeypatch.setattr(passes, "blocks", functools.partial(blocks, size=size))
        articles = [*rows(20), row("han", ["说得好，谢谢"] * 5, title="今天天气很好")]
        corpus = built(tmp_path, articles, "few")
        assert corpus.metadata.seen == {"texts in Han characters, split at spaces and punctuation": 6}
        with pytest.raises(InvalidInput, match=r"out.jsonl: 6 of 28 texts are in Han characters"):
            built(tmp_path, articles[-4:])

    def test_much_of_it_is_seen_before_all_is_read(self) -> None:
        data = json.dumps(row("han", ["说得好，谢谢"] * 120)).encode()
        with pytest.raises(InvalidInput, match=r"a.jsonl: 120 of 1,000 texts"):
            Prepare(loose())(Block("a.jsonl", 1, data))

    def test_another_tokenizer(self, tmp_path: Path) -> None:
        pytest.importorskip("rjieba")
        corpus = built(
            tmp_path, [row("a", ["说得好，谢谢"], title="今天天气很好", content="适合出去玩。")], tokenizer="rjieba"
        )
        assert {"今天天气", "谢谢", "，"} <= set(corpus.words())


def test_of_ids_that_come_twice_the_first_may_stay(tmp_path: Path) -> None:
    articles = rows(12)
    for place in (4, 9, 11):
        articles[place]["id"] = "a002"
    corpus = built(tmp_path, articles, on_error="skip")
    assert ids(corpus)["train"] == [f"a{number:03d}" for number in (0, 1, 2, 3, 5, 6, 7, 8, 10)]
    assert next(each for each in corpus.articles("train") if each.id == "a002").title == articles[2]["title"]
    assert corpus.metadata.seen == {"articles: id came before": 3}
    rejected = [json.loads(each) for each in (tmp_path / "out.rejected.jsonl").read_text().splitlines()]
    assert [each["line"] for each in rejected] == [5, 10, 12]
    assert all(each["problem"].endswith(f"as in {tmp_path / 'out.jsonl'}:3") for each in rejected)


HTML = row(
    "html",
    [
        {"text": "<p>Oh, <b>yes</b></p>"},
        {"text": "I <3 it, a < b"},
        {"text": "<blockquote>Oh</blockquote>"},
        {"text": "R&amp;D\u0008!", "upvotes": 3},
    ],
    title="Rain &amp; snow",
    content="<p>It will rain.</p>\n<script>x()</script><blockquote>Wet.</blockquote>",
)


@pytest.mark.parametrize("escaped", [False, True])
def test_html_becomes_text(tmp_path: Path, escaped: bool) -> None:
    """Its quotations are left out of comments; other texts stay as they are."""
    text = json.dumps(HTML)
    text = text.replace("<", "\\u003c").replace("&", "\\u0026") if escaped else text
    corpus = built(tmp_path, [text])
    (article,) = corpus.articles("train")
    assert (article.title, article.content) == ("Rain & snow", "It will rain.\nWet.")
    assert [comment.text for comment in article.comments] == ["Oh, yes", "I <3 it, a < b", "R&D !"]
    assert corpus.metadata.seen == {"comments without text": 1, "texts with HTML, of which the text is kept": 5}
    (article,) = built(tmp_path, [HTML], "kept", html="keep").articles("train")
    assert [comment.text for comment in article.comments][:3] == [one["text"] for one in HTML["comments"]][:3]
    assert article.title == HTML["title"]


def test_a_bomb_of_html_is_a_broken_row(tmp_path: Path) -> None:
    bomb = row("bomb", ["x", "<p>" + "a" * (1 << 22)])
    with pytest.raises(InvalidInput, match=r"bad.jsonl:2: comments\[1\].text: expected HTML of at most 4,194,304"):
        built(tmp_path, [GOOD, bomb], "bad")
    corpus = built(tmp_path, [GOOD, bomb], "skipped", on_error="skip")
    assert ids(corpus) == {"train": ["good"]}


def part(articles: list[Row], codes: list[int], first_id: int = 0, **changes: Any) -> Part:
    """A prepared table; the words of its block get the ids from some number on."""
    data = Prepare(loose(**changes))(Block("a", 1, "".join(json.dumps(each) + "\n" for each in articles).encode()))
    ids = np.arange(len(words_in(open_block_table(data))), dtype=np.int32) + first_id
    return Part(data, np.array(codes, dtype=np.int8), ids)


def table(finished: Finished) -> Any:
    return pq.read_table(io.BytesIO(finished.parquet))


def test_words_are_counted_in_train_and_listed_if_they_stand_anywhere() -> None:
    articles = [row(name, [f"{name} all"], title="", content=name) for name in ("train", "dev", "test", "gone")]
    counted = Count(loose())(part(articles, [0, 1, 2, -2]))
    found = dict(zip(counted.words, zip(counted.places.tolist(), counted.counts.tolist(), strict=True), strict=True))
    assert {word: count for word, (_, count) in found.items()} == {"train": 2, "all": 1, "dev": 0, "test": 0}
    words = words_in(open_block_table(part(articles, [0, 1, 2, -2]).data))
    assert all(words[place] == word for word, (place, _) in found.items())


def test_a_shard_for_each_split_that_has_articles() -> None:
    articles = rows(6)
    finished = Finish(loose(), sample=False)([part(articles, [0, 1, 0, -2, 0, -1])])
    assert list(finished) == ["train", "dev"]
    assert table(finished["train"])["id"].to_pylist() == ["a000", "a002", "a004"]
    assert table(finished["train"]).schema.equals(schema_of(Article, dates=False))
    assert Finish(loose(), sample=False)([part(articles, [-2] * 6)]) == {}


def test_blocks_of_a_shard_lie_behind_one_another() -> None:
    articles = rows(6)
    parts = [part(articles[:2], [0, 0], 1_000), part(articles[2:4], [-2, -2]), part(articles[4:], [-2, 0], 5_000)]
    shard = Finish(loose(), sample=False)(parts)["train"]
    assert table(shard)["id"].to_pylist() == ["a000", "a001", "a005"]
    assert shard.sizes.tolist() == [5, 5, 5]
    for field in FIELDS:
        assert shard.lengths[field].sum() == len(shard.ids[field])
        assert (shard.ids[field].dtype, shard.lengths[field].dtype) == (np.int32, np.int64)
    split = int(shard.lengths["title"][:2].sum())
    assert (shard.ids["title"][:split] < 5_000).all()
    assert (shard.ids["title"][split:] >= 5_000).all()


@pytest.mark.parametrize("draw", [1, 4, 5, 9])
def test_references_are_drawn_for_test_alone(draw: int) -> None:
    articles = [part(rows(4), [2, 0, 1, 2])]
    finished = Finish(loose(references_per_article=draw), sample=True)(articles)
    drawn = min(draw, 5)
    for article in table(finished["test"]).to_pylist():
        assert (len(article["comments"]), len(article["held_out"])) == (drawn, 5 - drawn)
    assert finished["test"].sizes.tolist() == [drawn, drawn]
    assert len(finished["test"].lengths["comments"]) == 2 * drawn
    for split in ("train", "dev"):
        assert [len(each) for each in table(finished[split])["held_out"].to_pylist()] == [0] * len(
            table(finished[split])
        )
    whole = Finish(loose(references_per_article=draw), sample=False)(articles)
    assert whole["test"].sizes.tolist() == [5, 5]


def test_what_is_drawn_does_not_depend_on_the_shard() -> None:
    articles = rows(6)
    alone = {
        article["id"]: article["comments"]
        for each in articles
        for article in table(Finish(loose(), sample=True)([part([each], [2])])["test"]).to_pylist()
    }
    together = table(Finish(loose(), sample=True)([part(articles[:4], [2] * 4), part(articles[4:], [2] * 2)])["test"])
    assert {article["id"]: article["comments"] for article in together.to_pylist()} == alone


LINES = b'{"a": 1}\n\n{"b": 22}\n{"c": 333}'


def pieces(path: object, size: int) -> list[tuple[int, bytes]]:
    return [(block.first, block.data) for block in blocks(path, size=size)]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize("size", [1, 7, 10, 20, 1_000])
def test_blocks_hold_whole_lines_and_know_where_they_stand(
    file: File, monkeypatch: pytest.MonkeyPatch, name: str, size: int
) -> None:
    path = file(name, LINES)
    found = list(blocks(path, "dev", size))
    assert b"".join(block.data for block in found) == LINES + b"\n"
    first = 1
    for block in found:
        assert (block.where, block.split, block.first) == (str(path), "dev", first)
        assert block.data.endswith(b"\n")
        first += block.data.count(b"\n")
    assert len(found) <= 2 or size < len(LINES)  # a last line without an end is a block of its own
    long = b'"' + b"x" * 1_000 + b'"'
    assert pieces(file("b.jsonl", b"1\n" + long + b"\n2\n"), 64) == [(1, b"1\n"), (2, long + b"\n2\n")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES)))
    assert list(blocks("-")) == [Block("stdin", 1, LINES[:-10]), Block("stdin", 4, LINES[-10:] + b"\n")]


@examples(60, [HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"\r")), min_size=1, max_size=12),
       st.integers(1, 40), st.booleans())  # fmt: skip
def test_no_byte_is_lost(tmp_path: Path, lines: list[bytes], size: int, end: bool) -> None:
    data = b"\n".join(lines) + b"\n" * end
    (tmp_path / "a.jsonl").write_bytes(data)
    if not data:
        with pytest.raises(InvalidInput, match="the file holds no rows"):
            pieces(tmp_path / "a.jsonl", size)
        return
    found = pieces(tmp_path / "a.jsonl", size)
    assert b"".join(block for _, block in found) == data + b"\n" * (not data.endswith(b"\n"))
    every = data.split(b"\n")
    for first, block in found:  # a block's first line is the line that it says
        assert block.startswith(every[first - 1] + b"\n")
        assert len(block) <= size + 14 or block.count(b"\n") == 1


def article(number: int) -> Article:
    return Article(f"a{number}", "T\u2028itle", (Comment("c", "x", upvotes=-1, grade=0.1),), content=None)


def test_parquet(tmp_path: Path) -> None:
    articles = [article(number) for number in range(5)]
    write(tmp_path / "a.parquet", articles)
    found = pieces(tmp_path / "a.parquet", 100)
    assert [first for first, _ in found] == [1, 2, 3, 4, 5]
    rows = [json.loads(line) for _, data in found for line in data.decode().split("\n")[:-1]]
    assert [(row["id"], row["title"], row["comments"][0]["grade"]) for row in rows] == [
        (each.id, each.title, 0.1) for each in articles
    ]
    assert [data for _, data in pieces(tmp_path / "a.parquet", 10_000)] == [b"".join(data for _, data in found)]


def test_nan_in_parquet_is_a_missing_value(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = [
        {"id": 1, "title": "t", "comments": [{"id": 1, "text": "x", "grade": grade} for grade in (2.5, float("nan"))]}
    ]
    pa.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    ((_, data),) = pieces(tmp_path / "a.parquet", 100)
    assert [comment["grade"] for comment in json.loads(data)["comments"]] == [2.5, None]


@pytest.mark.parametrize("kept", [0.2, 0.9])
def test_a_gzip_file_cut_short(tmp_path: Path, kept: float) -> None:
    lines = b"".join(b'{"id": %d, "text": "%d"}\n' % (number, number**7) for number in range(20_000))
    data = gzip.compress(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(data[: int(kept * len(data))])
    seen = 0

    def whole_lines() -> None:
        nonlocal seen
        for block in blocks(tmp_path / "a.jsonl.gz", size=10_000):
            assert lines.startswith(block.data, seen)
            seen += len(block.data)

    with pytest.raises(InvalidInput, match=r"gz: the gzip file ends early after line \d+; is the download") as failure:
        whole_lines()
    assert f"after line {lines[:seen].count(10)};" in str(failure.value)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert "a.jsonl: no such file" in refused(InvalidInput, pieces, tmp_path / "a.jsonl", 10)
    assert "a.bz2: unknown kind of file" in refused(UsageError, pieces, tmp_path / "a.bz2", 10)


def test_rows_of_other_tables(tmp_path: Path) -> None:
    comments = [{"id": 1, "text": "Bring a coat."}]
    (tmp_path / "a.json").write_text(
        json.dumps([{"key": place, "title": "Rain", "comments": comments} for place in (7, 8)])
    )
    (tmp_path / "a.csv").write_text(
        "key;title;comments\n"
        + "".join(f'{place};Rain;"{json.dumps(comments).replace(chr(34), chr(34) * 2)}"\n' for place in (7, 8))
    )
    for name in ("a.json", "a.csv"):
        (block,) = blocks(tmp_path / name, "dev", reading=Reading(columns={"id": "key"}))
        rows = [json.loads(line) for line in block.data.splitlines()]
        assert rows == [
            {"id": key, "title": "Rain", "comments": [{"id": "1", "text": "Bring a coat."}]} for key in ("7", "8")
        ]
        assert (block.first, block.split) == (1, "dev")
