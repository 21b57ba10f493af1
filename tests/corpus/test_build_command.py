"""`postil corpus build`: flags, words on standard error, exit codes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from postil.corpus.store import Corpus
from postil.data.row_files import write
from postil.data.rows import Article, Comment
from postil.results.views import show

if TYPE_CHECKING:
    from conftest import Outcome, Postil

ALL = ("--min-content-words", 0, "--min-comments", 1, "--test-min-comments", 0, "--test-min-upvotes", 0)
MUST = ("--out", "corpus", "--source", "a site", "--license", "ours")


def article(number: int, **changes: Any) -> Article:
    fields: dict[str, Any] = {
        "id": f"a{number}",
        "title": f"Title {number}",
        "content": " ".join(f"w{number}x{place}" for place in range(30)),
        "comments": tuple(
            Comment(str(place), f"comment {number} {place}", upvotes=5, user="Ana") for place in range(4)
        ),
    }
    return Article(**fields | changes)


@pytest.fixture(autouse=True)
def here(postil: Postil) -> None:
    """In a folder that holds ten articles."""
    assert postil
    write("a.jsonl", [article(number) for number in range(10)])


def files(folder: str) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def build(postil: Postil, *more: object, of: str = "a.jsonl", stdin: bytes | None = None) -> Outcome:
    return postil("corpus", "build", of, *MUST, *ALL, *more, stdin=stdin)


def test_a_build_says_what_it_did_on_standard_error(postil: Postil) -> None:
    write("a.jsonl", [*(article(number) for number in range(10)), article(10, comments=())])
    done = build(postil, "--dev", 2, "--test", 0.3, "--references-per-article", 3)
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        "articles: no comments: 1",
        "train: 5 articles, 20 comments",
        "dev: 2 articles, 8 comments",
        "test: 3 articles, 9 comments",
    ]
    assert sorted(each.name for each in Path().iterdir() if each.suffix != ".jsonl") == ["corpus"]
    assert Corpus.open("corpus").splits == ("train", "dev", "test")


def test_what_a_threshold_leaves_out_is_said_with_it(postil: Postil) -> None:
    many = tuple(Comment(str(place), "Much too long a comment " * 3) for place in range(4))
    some = (*many[:3], *(Comment(str(place), "Short, that is.") for place in range(4, 8)))
    others = [
        article(10, comments=many),
        article(11, content="Thin."),
        article(12, comments=(Comment("1", "Alone."),)),
        article(13, comments=some),
    ]
    write("a.jsonl", [*(article(number) for number in range(10)), *others])
    limits = ("--max-comment-words", 9, "--min-comments", 2, "--min-content-words", 2, "--test", 1, "--dev", 1)
    done = build(postil, *limits)
    assert done.err.splitlines()[:5] == [
        "articles: content of fewer than 2 words (--min-content-words): 1",
        "articles: fewer than 2 comments (--min-comments): 1",
        "articles: only comments longer than 9 words (--max-comment-words): 1",
        "comments of articles left out: 9",
        "comments: longer than 9 words (--max-comment-words): 3",
    ]
    assert "comments: longer than 9 words (max_comment_words): 3" in show("table", Corpus.open("corpus").metadata)


def test_every_flag_is_written_down(postil: Postil) -> None:
    flags = {
        "tokenizer": "space", "min_content_words": 1, "min_comments": 2, "max_comment_words": 9,
        "long_comments": "truncate", "dev": "1", "test": "0.2", "test_min_comments": 1, "test_min_words": 2,
        "test_min_upvotes": 3, "references_per_article": 4, "sample_references_from": "long", "dedup_threshold": 0.9,
        "vocab_size": 7, "html": "keep", "user_ids": "keep", "seed": 5, "source": "there", "license": "theirs",
    }  # fmt: skip
    words = [word for name, value in flags.items() for word in (f"--{name.replace('_', '-')}", value)]
    done = postil("corpus", "build", "a.jsonl", "--out", "c", *words, "--mask", "urls", "--mask", "phones", "-j", 1)
    assert done.code == 0, done.err
    assert json.loads(Path("c/metadata.json").read_text())["options"] == flags | {"mask": ["urls", "phones"]}


def test_it_reads_what_import_writes(postil: Postil) -> None:
    articles = [article(number) for number in range(10)]
    write("a.parquet", articles)
    write("a.jsonl.gz", articles)
    found = []
    for name, stdin in (
        ("a.jsonl", None),
        ("a.jsonl.gz", None),
        ("a.parquet", None),
        ("-", Path("a.jsonl").read_bytes()),
    ):
        done = build(postil, "--out", f"of {name}", "--dev", 2, "--test", 2, of=name, stdin=stdin)
        assert done.code == 0, done.err
        made = files(f"of {name}")
        found.append({key: made[key] for key in made.keys() - {"metadata.json", "README.md"}})
    assert all(each == found[0] for each in found)
    assert len(found[0]) == 2 + 3 + 3 * 7  # words and counts, Parquet, arrays


def test_given_splits(postil: Postil) -> None:
    write("dev.jsonl", [article(20)])
    write("test.jsonl", [article(21), article(22)])
    done = build(postil, "--dev-from", "dev.jsonl", "--test-from", "test.jsonl", "--test", 5)
    assert done.err.splitlines()[-3:] == [
        "train: 10 articles, 40 comments", "dev: 1 article, 4 comments", "test: 2 articles, 8 comments",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--on-error", "ignore"), "unknown error policy 'ignore'. Known: stop, skip"),
        (("--user-ids", "hash"), "--user-ids hash and --hash-key must be given together"),
        (("--tokenizer", "jiba"), "unknown tokenizer 'jiba'; did you mean 'jieba'?"),
        (("--dev", "half"), "expected a number of articles such as 5000, or a fraction such as 0.05, got 'half'"),
        (("--source", " "), "a corpus says where it comes from and what may be done with it; source is empty"),
        (("--engine", "roy"), "unknown engine 'roy'; did you mean 'ray'?"),
        (("--dev-from", "-", "--test-from", "-"), "standard input can be one file only"),
        (("--out", "none/c"), "none/c: parent folder"),
        (("--out", "a.jsonl"), "a.jsonl: already exists; choose another output folder or remove it"),
    ],
)  # fmt: skip
def test_wrong_usage(postil: Postil, more: tuple[str, ...], message: str) -> None:
    done = build(postil, *more)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.startswith("postil: ")
    assert done.err.count("\n") == 1
    assert not Path("corpus").exists()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("none.jsonl", None, "no such file"),
        ("blank.jsonl", b"\n\n", "the file holds no rows"),
        ("few.jsonl", b'{"id": 1, "title": "t", "comments": []}', "no article meets the thresholds (1 with no"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.find(".") > 0 else "",
)  # fmt: skip
def test_bad_input(postil: Postil, name: str, data: bytes | None, message: str) -> None:
    if data is not None:
        Path(name).write_bytes(data)
    done = build(postil, of=name)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"postil: {name}: {message}")
    assert done.err.count("\n") == 1
    assert not Path("corpus").exists()


def test_a_table_of_comments_is_joined_first(postil: Postil) -> None:
    """With names of its own, odd ones included, and HTML."""
    table = "post;headline;story;reader says;likes;reply to\n" + "".join(
        f"{n // 3};<b>Rain</b> {n // 3};<p>It rains.</p>;Oh {n}, a < b;{n};\n" for n in range(30)
    )
    Path("t.csv").write_text(table)
    done = build(postil, of="t.csv")
    assert done.code == 3
    assert done.err.endswith("; or, where each row is a comment, first: postil corpus import csv --comments t.csv\n")
    command = ("corpus", "import", "csv", "--comments", "t.csv", "--out", "t.jsonl")
    done = postil(*command)
    assert done.err == (
        "postil: t.csv:1: article, text, title: no such columns; the table has: post, headline, story, reader says, "
        "likes, reply to; name yours with --column, such as --column title=COLUMN --column comments.text=COLUMN\n"
    )
    names = {"id": "post", "title": "headline", "content": "story", "comments.text": "reader says"}
    names |= {"comments.upvotes": "likes", "comments.parent": "reply to"}
    done = postil(*command, *(word for name in names.items() for word in ("--column", "=".join(name))))
    assert done.code == 0, done.err
    done = build(postil, of="t.jsonl")
    assert done.err.splitlines() == [
        "texts with HTML, of which the text is kept: 20",
        "train: 10 articles, 30 comments",
    ]


def test_a_folder_is_a_dataset(postil: Postil) -> None:
    Path("folder").mkdir()
    done = build(postil, of="folder")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("postil: folder: ")
    assert done.err.count("\n") == 1
    Path("a.jsonl").rename("folder/train.jsonl")
    assert build(postil, of="folder").code == 0


def test_broken_lines_stop_or_are_listed(postil: Postil) -> None:
    good = Path("a.jsonl").read_text()
    Path("a.jsonl").write_text(f"{good}nonsense\n{good.splitlines()[3]}\n")
    assert build(postil).err == "postil: a.jsonl:11: not JSON at character 1: expecting value\n"
    done = build(postil, "--on-error", "skip")
    assert done.code == 0, done.err
    assert done.err.splitlines()[0] == ("2 rows could not be read and were left out; listed in corpus.rejected.jsonl")
    rejected = [json.loads(line) for line in Path("corpus.rejected.jsonl").read_text().splitlines()]
    assert rejected == [
        {"file": "a.jsonl", "line": 11, "field": "", "problem": "not JSON at character 1: expecting value"},
        {"file": "a.jsonl", "line": 12, "field": "id",
         "problem": "expected an id that no other article has, got 'a3', as in a.jsonl:4"},
    ]  # fmt: skip
    assert Corpus.open("corpus").metadata.seen == {"articles: id came before": 1}


def test_names_are_hashed_with_a_key_that_stays_outside(postil: Postil) -> None:
    for out in ("one", "two"):
        assert build(postil, "--user-ids", "hash", "--hash-key", "secret", "--out", out).code == 0
    key = Path("secret")
    assert key.stat().st_mode & 0o777 == 0o600
    assert files("one") == files("two")
    assert not [name for name, data in files("one").items() if key.read_bytes() in data or b"secret" in data]
    user = next(Corpus.open("one").articles("train")).comments[0].user
    assert user is not None
    assert user != "Ana"
    assert build(postil, "--user-ids", "hash", "--hash-key", "other", "--out", "three").code == 0
    assert next(Corpus.open("three").articles("train")).comments[0].user != user


def test_a_corpus_that_is_there_is_not_touched(postil: Postil) -> None:
    assert build(postil).code == 0
    before = files("corpus")
    done = build(postil, "--seed", 3)
    assert done.code == 2
    assert "corpus: already exists" in done.err
    assert files("corpus") == before


def test_chinese_needs_a_tokenizer(postil: Postil) -> None:
    comments = tuple(Comment(str(place), "说得好，谢谢") for place in range(4))
    write("zh.jsonl", [article(0, title="今天天气很好", content="适合出去玩。", comments=comments)])
    done = build(postil, of="zh.jsonl")
    assert done.code == 3
    assert done.err == "postil: zh.jsonl: 6 of 6 texts are in Han characters; expected --tokenizer jieba or rjieba\n"
    assert not Path(".corpus.building").exists()
    Path("rows.doc").write_bytes(b"")
    assert build(postil, of="rows.doc").code == 2
    assert not Path(".corpus.building").exists()
    if find_spec("rjieba"):
        assert build(postil, "--tokenizer", "rjieba", of="zh.jsonl").code == 0


@pytest.mark.integration
@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra scale")
def test_ray_makes_the_same_bytes(postil: Postil) -> None:
    """In a process of its own, as Ray leaves threads behind."""
    assert build(postil, "--dev", 2, "--test", 2).code == 0
    flags = [str(each) for each in (*MUST, *ALL, "--dev", 2, "--test", 2, "--out", "ray", "--engine", "ray", "-j", 2)]
    command = (sys.executable, "-m", "postil", "corpus", "build", "a.jsonl", *flags)
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)  # noqa: S603 - our own program
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == b""
    assert done.stderr.decode().splitlines()[-1] == "test: 2 articles, 8 comments"
    assert files("ray") == files("corpus")


REDDIT = {"id": "a1", "title": "Rain", "selftext": "", "subreddit": "x"}
FORUM = {"id": 1, "title": "Rain", "comments": [{"body": "Oh"}]}
FORUM_ADVICE = "forum raw.jsonl --out articles.jsonl, with --column comments.text=FIELD and the like"


@pytest.mark.parametrize("policy", [[], ["--on-error", "skip"]])
@pytest.mark.parametrize(
    ("row", "files", "advice"),
    [
        (REDDIT, ["a.jsonl", "raw.jsonl"], "reddit raw.jsonl --out articles.jsonl"),
        (REDDIT, ["a.jsonl", "--test-from", "raw.jsonl"], "reddit raw.jsonl --out articles.jsonl"),
        (REDDIT, ["raw.jsonl", "--column", "title=title"], "reddit raw.jsonl --out articles.jsonl"),
        (
            {"id": 7, "post_stream": {"posts": []}},
            ["a.jsonl", "raw.jsonl"],
            "discourse raw.jsonl --out articles.jsonl",
        ),
        (FORUM, ["raw.jsonl"], FORUM_ADVICE),
        (FORUM, ["a.jsonl", "--test-from", "raw.jsonl"], FORUM_ADVICE),
    ],
)
def test_a_raw_export_is_refused_with_its_import(
    postil: Postil, row: dict[str, Any], files: list[str], advice: str, policy: list[str]
) -> None:
    Path("raw.jsonl").write_text(f"{json.dumps(row)}\n" * 3)
    done = postil("corpus", "build", *files, *MUST, *policy)
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert done.err.startswith("postil: raw.jsonl: expected article rows, got ")
    assert done.err.endswith(f"; first: postil corpus import {advice}\n")
    assert not Path("corpus.articles.jsonl").exists()


def reddit() -> list[dict[str, Any]]:
    """Eight submissions with four comments each, as in the dumps."""
    rows: list[dict[str, Any]] = []
    for number in range(8):
        words = " ".join(f"w{number}x{place}" for place in range(30))
        rows.append({"id": f"s{number}", "title": f"Title {number}", "selftext": words, "subreddit": "x"})
        rows += [
            {"id": f"c{number}{place}", "body": f"comment {number} {place}", "link_id": f"t3_s{number}", "score": place}
            for place in range(4)
        ]
    return rows


def test_exports_of_a_site_are_imported_beside_the_corpus(postil: Postil) -> None:
    for name, rows in (("one", reddit()[:20]), ("two", reddit()[20:])):
        Path(f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    options = [*map(str, ALL), "--dev", "1", "--test", "1"]
    done = postil("corpus", "build", "one.jsonl", "two.jsonl", *MUST, *options)
    assert done.code == 0, done.err
    assert "8 articles with 32 comments in corpus.articles.jsonl\n" in done.err
    imported = postil("corpus", "import", "reddit", "one.jsonl", "two.jsonl", "--out", "rows.jsonl")
    assert imported.code == 0, imported.err
    assert Path("rows.jsonl").read_bytes() == Path("corpus.articles.jsonl").read_bytes()
    again = postil("corpus", "build", "rows.jsonl", "--out", "again", *MUST[2:], *options)
    assert again.code == 0, again.err
    made, plain = files("corpus"), files("again")
    assert {name for name in made if made[name] != plain[name]} <= {"metadata.json", "README.md"}
    assert len(Corpus.open("corpus").metadata.splits) == 3


def test_the_articles_of_an_export_keep_their_time_where_they_are_the_same(postil: Postil) -> None:
    """By which a build that was interrupted knows them again."""
    command = ("corpus", "build", "raw.jsonl", *MUST, *map(str, ALL), "--dev", "1", "--test", "1")

    def made(rows: list[dict[str, Any]]) -> int:
        Path("raw.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        done = postil(*command)
        assert done.code == 0, done.err
        shutil.rmtree("corpus")
        return Path("corpus.articles.jsonl").stat().st_mtime_ns

    first = made(reddit())
    assert made(reddit()) == first
    assert made(reddit()[:35]) != first
    Path("corpus").mkdir()
    Path("corpus.articles.jsonl").unlink()
    assert "already exists" in postil(*command).err
    assert not Path("corpus.articles.jsonl").exists()


def test_a_broken_export_leaves_what_cannot_be_read_beside_the_corpus(postil: Postil) -> None:
    rows = [json.dumps(row) for row in reddit()]
    Path("raw.jsonl").write_text("\n".join([*rows[:3], '{"id": "broken", ', *rows[3:]]))
    options = [*map(str, ALL), "--dev", "1", "--test", "1"]
    assert postil("corpus", "build", "raw.jsonl", *MUST, *options).code == 3
    assert not Path("corpus.articles.jsonl").exists()
    done = postil("corpus", "build", "raw.jsonl", *MUST, *options, "--on-error", "skip")
    assert done.code == 0, done.err
    assert json.loads(Path("corpus.articles.jsonl.rejected.jsonl").read_text())["line"] == 4
