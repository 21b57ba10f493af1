"""The first pass: rows that can be read and rows that cannot."""

from __future__ import annotations

import functools
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from corpus_work import Row, built, ids, loose, row, rows

from postil.corpus import passes
from postil.corpus.blocks import Block, blocks
from postil.corpus.calls import build_corpus
from postil.corpus.prepare import Prepare
from postil.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

GOOD = json.dumps(row("good", ["x", "y"]))


def line(**changes: Any) -> bytes:
    return json.dumps(row("bad", ["x", "y"]) | changes).encode()


def comment(**changes: Any) -> bytes:
    return line(comments=[{"id": 0, "text": "x"}, {"id": 1, "text": "y"} | changes])


BAD = {
    "broken": (b'{"id": "bad", "title": ', "the JSON ends too early; is the"),
    "no object": (b"[1, 2]", "expected an object in braces, got"),
    "not UTF-8": (b'{"id": "bad\xe9"}', "byte 0xe9 at offset 11 of the line is not UTF-8; save the"),
    "no id": (b'{"title": "t", "comments": []}', "id: missing; an article needs id, title, comments; this"),
    "no comments": (b'{"id": 1, "title": "t"}', "comments: missing; an article needs id, title"),
    "null comments": (line(comments=None), "comments: expected an array, got null"),
    "null title": (line(title=None), "title: expected text, got null"),
    "id a float": (line(id=1.5), "id: expected text or an integer, got 1.5"),
    "id a bool": (line(id=True), "id: expected text or an integer, got true"),
    "lone surrogate": (line(title="a\ud800b"), r'title: expected text, got "a\ud800b"'),
    "lone surrogate in a comment": (comment(text="\udfff"), r'comments[1].text: expected text, got "\udfff"'),
    "comment without text": (line(comments=[{"id": 1}]), "comments[0].text: missing; a comment"),
    "text as comment": (line(comments="x"), 'comments: expected an array, got "x"'),
    "huge votes": (comment(upvotes=2**63), "comments[1].upvotes: expected an integer of at most 64 bits, got 9223"),
    "enormous votes": (comment(upvotes=10**30), "comments[1].upvotes: expected an integer of at most 64 bits"),
    "half a vote": (comment(upvotes=1.5), "comments[1].upvotes: expected an integer"),
    "votes as text": (comment(upvotes="3"), 'comments[1].upvotes: expected an integer of at most 64 bits'),
    "grade NaN": (comment(grade=float("nan")), "comments[1].grade: NaN is not JSON; write null, or"),
    "grade infinite": (comment(grade=float("inf")), "comments[1].grade: Infinity is not JSON"),
    "grade as text": (comment(grade="5"), 'comments[1].grade: expected a number, got "5"'),
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
    with pytest.raises(InvalidInput) as failure:
        Prepare(loose())(block)
    assert str(failure.value).startswith(f"{path}:13: {problem}")
    assert "\n" not in str(failure.value)


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
    assert corpus.metadata.seen == {"comments without text": 1}


@pytest.mark.parametrize("text", [f"\ufeff{GOOD}\n", f"{GOOD}\r\n", f"\n \n{GOOD}", GOOD.replace(", ", ",\r\t")])
def test_files_from_elsewhere(tmp_path: Path, text: str) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(text.encode())
    assert ids(build_corpus([path], tmp_path / "out", loose(), jobs=1)) == {"train": ["good"]}


def test_comments_that_were_held_out_before_are_counted(tmp_path: Path) -> None:
    """An article of another corpus's test set: its references come in, the others do not, and that is said."""
    corpus = built(tmp_path, [row("a", ["x"], held_out=[{"id": "h", "text": "y"}, {"id": "i", "text": "z"}])])
    (article,) = corpus.articles("train")
    assert [comment.text for comment in article.comments] == ["x"]
    assert article.held_out == ()
    assert corpus.metadata.seen == {"comments: held out before": 2}


class TestHan:
    def test_words_is_no_tokenizer_for_it(self, tmp_path: Path) -> None:
        articles = [
            row(f"a{k}", ["说得好，谢谢"] * 3, title="今天天气很好", content="适合出去玩。" * 9) for k in range(3)
        ]
        with pytest.raises(InvalidInput, match=r"are in Han characters; expected tokenizer=jieba or rjieba$"):
            built(tmp_path, articles)

    def test_a_few_texts_are_counted(self, tmp_path: Path) -> None:
        corpus = built(tmp_path, [*rows(20), row("han", ["说得好，谢谢", "x"])])
        assert corpus.metadata.seen == {"texts in Han characters, split at spaces and punctuation": 1}
        assert {"说得好", "谢谢"} <= set(corpus.words())

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

    def test_unknown_tokenizer(self, tmp_path: Path) -> None:
        with pytest.raises(UnknownName, match="unknown tokenizer 'jiba'; did you mean 'jieba'"):
            built(tmp_path, rows(1), tokenizer="jiba")


def test_ids_that_come_twice_are_told_with_both_places(tmp_path: Path) -> None:
    articles = rows(12)
    articles[9]["id"] = "a002"
    with pytest.raises(InvalidInput) as failure:
        built(tmp_path, articles)
    path = tmp_path / "out.jsonl"
    assert str(failure.value) == (
        f"{path}:10: id: expected an id that no other article has, got 'a002', as in {path}:3"
    )


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


def test_it_can_be_sent() -> None:
    block = Block("a.jsonl", 1, GOOD.encode())
    prepare = Prepare(loose(mask=("urls",)))
    first = prepare(block)  # keeps what it builds
    assert pickle.loads(pickle.dumps(prepare))(block) == first  # noqa: S301 - our own


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


def test_html_may_be_kept(tmp_path: Path) -> None:
    (article,) = built(tmp_path, [HTML], html="keep").articles("train")
    assert [comment.text for comment in article.comments][:3] == [one["text"] for one in HTML["comments"]][:3]
    assert article.title == HTML["title"]


def test_a_bomb_of_html_is_a_broken_row(tmp_path: Path) -> None:
    bomb = row("bomb", ["x", "<p>" + "a" * (1 << 22)])
    with pytest.raises(InvalidInput, match=r"bad.jsonl:2: comments\[1\].text: expected HTML of at most 4,194,304"):
        built(tmp_path, [GOOD, bomb], "bad")
    corpus = built(tmp_path, [GOOD, bomb], "skipped", on_error="skip")
    assert ids(corpus) == {"train": ["good"]}
