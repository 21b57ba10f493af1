"""`postil corpus import`: rows in the file, words about what was met on standard error, exit codes."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from click.testing import CliRunner

from postil.corpus.command import corpus
from postil.corpus.importers.importer import importers
from postil.data.row_files import read
from postil.data.rows import Article, Passage
from postil.data.suggestions import RankedComment
from postil.results.views import show
from postil.threads.result import RankedCommentsResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Import = Callable[..., Result]


CUT = "the rest is not read; is the file cut off?"
INEX = Path(__file__).parent / "inex"
QRELS = "7 Q0 d1 2\n7 Q0 d2 0\n"
TEXTS = "d1\tRain tomorrow, and then snow.\nd2\tRain tomorrow, and later snow.\nd3\tSun.\n"
TREC = ("trec", "--qrels", "qrels", "-c", "texts.tsv", "-o", "p.jsonl")
INEX_FILES = ("--topics", INEX / "topics.xml", "--runs", INEX / "run_a.txt", "--runs", INEX / "run_b.txt")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Imports in a folder that holds a small TREC collection."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS)
    Path("texts.tsv").write_text(TEXTS)
    return lambda *args: CliRunner().invoke(corpus, ["import", *map(str, args)], catch_exceptions=False)


def test_trec(run: Import) -> None:
    result = run(*TREC)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        "1 text of the collection not needed\n2 passages of 1 topic in p.jsonl; grade 0: 1, grade 2: 1\n"
    )
    first = Passage("7", "d1", "Rain tomorrow, and then snow.", grade=2)
    assert list(read("p.jsonl", Passage)) == [first, Passage("7", "d2", "Rain tomorrow, and later snow.", grade=0)]
    result = run(*TREC, "--duplicates", "5")
    said = "1 passage merged with another of the topic, which begins and ends with the same 5 characters\n"
    assert said in result.stderr
    assert list(read("p.jsonl", Passage)) == [first]
    Path("qrels").write_text("".join(f"{i} Q0 d1 {i}\n" for i in range(12)))
    assert run(*TREC).stderr.endswith("12 passages of 12 topics in p.jsonl; grade 0: 1, above 0: 11\n")


def test_what_is_met_is_counted_and_named(run: Import) -> None:
    lost = [f"m{i}" for i in range(12)]
    more = "7 Q0 d3 -1\n7 Q0 d1 2\n"
    Path("qrels").write_text(QRELS + more + "".join(f"8 Q0 {name} 1\n" for name in lost))
    words = run(*TREC).stderr.splitlines()
    assert words == [
        "1 passage judged twice with the same grade, taken once: 7 d1",
        "1 passage judged below 0, taken as 0: 7 d3",
        f"12 passages not in the collection, left out: {', '.join(f'8 {name}' for name in lost[:10])} and 2 more",
        "3 passages of 1 topic in p.jsonl; grade 0: 2, grade 2: 1",
    ]


@pytest.mark.parametrize(
    ("unjudged", "said", "counts"),
    [
        ("skip", "left out", "2 passages of 1 topic in p.jsonl; grade 0: 1, grade 2: 1"),
        ("zero", "taken as 0", "3 passages of 2 topics in p.jsonl; grade 0: 2, grade 2: 1"),
        ("keep", "without a grade", "3 passages of 2 topics in p.jsonl; grade 0: 1, grade 2: 1, without a grade: 1"),
    ],
)
def test_unjudged(run: Import, unjudged: str, said: str, counts: str) -> None:
    Path("run").write_text("7 Q0 d1 1 2 x\n9 Q0 d3 1 1 x\n")
    result = run(*TREC, "--run", "run", "--unjudged", unjudged)
    words = [line for line in result.stderr.splitlines() if "not needed" not in line]
    assert words == [f"1 passage in the runs and not judged, {said}: 9 d3", counts]


def test_inex(run: Import) -> None:
    result = run("inex", *INEX_FILES, "--judgements", INEX / "trels.txt", "--out", "p.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "2 topics not among the topics, left out: 2012009, 2012008",
        "1 topic in the runs and not judged, left out: 2012004",
        "1 topic judged and in no run, left out: 2012003",
        "1 highlight in no passage, left out: 2012001 (line 5)",
        "6 passages in the runs, 5 distinct",
        "1 passage merged with another of the topic, which begins and ends with the same 25 characters",
        "4 passages of 2 topics in p.jsonl; grade 0: 2, grade 0.363636: 1, grade 2: 1",
    ]
    assert [row.id for row in read("p.jsonl", Passage)] == ["7001/1", "7002/2", "7003/1", "7004/1"]


WIKI = {
    "Rye_bread.wiki": "Rye dough needs [[sourdough]].\n\nStale bread is food of [[duck]]s.\n\nBread.",
    "Duck.txt": "#REDIRECT [[Anas]]",
}


def test_wikipedia(run: Import) -> None:
    pytest.importorskip("mwparserfromhell", reason="needs the extra pages")
    for name, text in WIKI.items():
        Path(name).write_text(text)
    result = run("wikipedia", *WIKI, "--min-words", "3", "-o", "p.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "1 redirect left out",
        "1 passage of fewer than 3 words, left out",
        "1 page with 2 anchors",
        "2 passages of 1 topic in p.jsonl; without a grade: 2",
    ]
    Path("qrels").write_text("Rye_bread 0 2 3\nRye_bread 0 9 1\n")
    result = run("wikipedia", *WIKI, "--min-words", "3", "--judgements", "qrels", "--unjudged", "zero", "-o", "p.jsonl")
    assert result.stderr.splitlines()[2:] == [
        "1 judged passage found in no file: Rye bread#9",
        "1 passage of pages with judged ones not judged, taken as 0",
        "1 page with 2 anchors",
        "2 passages of 1 topic in p.jsonl; grade 0: 1, grade 3: 1",
    ]
    assert list(read("p.jsonl", Passage)) == [
        Passage("Rye bread", "1", "Rye dough needs sourdough.", anchors=("sourdough",), grade=0),
        Passage("Rye bread", "2", "Stale bread is food of ducks.", anchors=("ducks",), grade=3),
    ]
    Path("titles").write_text("Oats\n")
    result = run("wikipedia", *WIKI, "--titles", "titles", "-o", "q.jsonl")
    assert result.exit_code == 3
    assert result.stderr == (
        "postil: Rye_bread.wiki: expected passages, got none: 0 pages with text, 2 not among the titles, 0 of other "
        "namespaces, 0 redirects; 0 passages are too short\n"
    )


def test_a_dump_that_is_cut_off_can_be_read_as_far_as_it_goes(run: Import) -> None:
    pytest.importorskip("mwparserfromhell", reason="needs the extra pages")
    page = "<page><title>{}</title><ns>0</ns><revision><text>Rye dough {} needs sourdough.</text></revision></page>"
    dump = f"<mediawiki>{page.format('Rye', 1)}{page.format('', 2)}\n{page.format('Oats', 3)}"
    Path("cut.xml").write_text(dump + "<page><title>Wheat")
    Path("whole.xml").write_text(f"<mediawiki>{page.format('Emmer', 4)}</mediawiki>")
    arguments = ("wikipedia", "cut.xml", "whole.xml", "--min-words", "3", "-o", "p.jsonl")
    result = run(*arguments)
    assert (result.exit_code, Path("p.jsonl").exists()) == (3, False)
    assert result.stderr.endswith("the number of its namespace; to go on without it: --on-error skip\n")
    result = run(*arguments, "--on-error", "skip")
    assert result.exit_code == 0
    assert [row.topic for row in read("p.jsonl", Passage)] == ["Rye", "Oats", "Emmer"]
    assert result.stderr.splitlines() == [
        "2 broken pages left out; see p.jsonl.rejected.jsonl",
        f"not read to its end: cut.xml:2: not XML at column 123: no element found; {CUT}",
        "3 pages with 0 anchors",
        "3 passages of 3 topics in p.jsonl; without a grade: 3",
    ]
    assert len(Path("p.jsonl.rejected.jsonl").read_text().splitlines()) == 2
    assert run(*arguments, "--on-error", "ignore").exit_code == 2
    assert run(*arguments[:-1], "-", "--on-error", "skip").exit_code == 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((*TREC, "--unjudged", "zeros"), 2, "unknown way with unjudged passages 'zeros'; did you mean 'zero'?"),
        ((*TREC, "--unjudged", "zero"), 2, "--unjudged needs at least one --run"),
        ((*TREC[:-1], "p.txt"), 2, "p.txt: unknown kind of file"),
        ((*TREC, "-c", "none"), 3, "none: no such file"),
        (("trec", "--qrels", "texts.tsv", *TREC[3:]), 3, "texts.tsv:1: expected 4 columns (topic Q0 document grade)"),
        (("wikipedia", "a.wiki", "--split", "words", "-o", "p.jsonl"), 2, "unknown unit of a passage 'words'"),
        (("wikipedia", "a.wiki", "--unjudged", "zero", "-o", "p.jsonl"), 2, "--unjudged needs --judgements"),
        (("wikipedia", "a.wiki", "-o", "p.jsonl"), 3, "a.wiki: no such file"),
        (("wikipedia", "texts.tsv", "-o", "p.jsonl"), 3, "texts.tsv: expected a dump (XML) or a page of wikitext"),
        (("inex", *INEX_FILES, "--judgements", "qrels", "-o", "p.jsonl"), 3, "qrels:1: expected qid Q0 file rank rsv"),
    ],
)
def test_refusals(run: Import, words: tuple[object, ...], code: int, message: str) -> None:
    result = run(*words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith(f"postil: {message}")
    assert not Path("p.jsonl").exists()


@pytest.mark.parametrize("name", list(importers()))
def test_help(run: Import, name: str) -> None:
    result = run(name, "-h")
    assert result.exit_code == 0
    assert f"Example: postil corpus import {name}" in result.stdout


def test_help_is_light() -> None:
    code = "import sys, postil.corpus.command; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert not {"matplotlib", "pyarrow", "scipy", "sklearn", "torch"} & set(done.stdout.split())


DATA = Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[3].parent / "shared" / "data")) / "articles"
GOOD = {"id": "a", "title": "Rain", "content": "Tomorrow.", "comments": [{"text": "Oh", "votes": 3}]}
POOR = {"id": "b", "title": None, "comments": [{"text": "", "votes": 1}, {"text": "No", "votes": "-2", "replies": 5}]}
BAD = {"id": "a", "title": "Again", "comments": []}


@pytest.fixture
def of_articles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Imports in a folder with `p.jsonl`, two posts, and `q.jsonl`, two broken lines more."""
    monkeypatch.chdir(tmp_path)
    good = f"{json.dumps(GOOD)}\n{json.dumps(POOR)}\n"
    Path("p.jsonl").write_text(good)
    Path("q.jsonl").write_text(good + json.dumps(BAD) + "\n" + json.dumps(GOOD)[:40] + "\n")
    return lambda *args: CliRunner().invoke(corpus, ["import", *map(str, args)], catch_exceptions=False)


def test_what_was_met_is_told(of_articles: Import) -> None:
    result = of_articles("forum", "p.jsonl", "--out", "out.jsonl")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "1 comment without text, left out",
        "1 vote written as text or with a point, taken as whole numbers",
        "1 comment with more votes against than for them, kept with negative upvotes",
        "1 article without a title, kept",
        "1 article without content, kept",
        "fields of comments that are not read: replies",
        "2 articles with 2 comments in out.jsonl",
    ]
    assert [article.id for article in read("out.jsonl", Article)] == ["a", "b"]
    assert not Path("out.jsonl.rejected.jsonl").exists()


WXR: Final = """<?xml version="1.0" encoding="UTF-8"?><rss><channel>
<item><title>Lock&#x1c;</title><wp:post_id>1</wp:post_id></item>
<item><title>Caf\xe9\0</title><wp:post_id>2</wp:post_id></item>
<item><title>Ferry</title><wp:post_id>3</wp:post_id></item></channel></rss>"""


def test_replaced_characters_and_an_unread_rest_are_told(of_articles: Import) -> None:
    data = WXR.encode("latin-1")
    Path("w.xml").write_bytes(data)
    result = of_articles("wordpress", "w.xml", "--out", "out.jsonl")
    assert result.exit_code == 0
    said = "3 characters replaced by U+FFFD: forbidden in XML, or bytes that are not of the file's encoding"
    assert said in result.stderr.splitlines()
    assert [article.title for article in read("out.jsonl", Article)] == ["Lock�", "Caf��", "Ferry"]
    Path("w.xml").write_bytes(data[:-30])
    assert of_articles("wordpress", "w.xml", "--out", "no.jsonl").exit_code == 3
    result = of_articles("wordpress", "w.xml", "--out", "out.jsonl", "--on-error", "skip")
    assert [article.id for article in read("out.jsonl", Article)] == ["1", "2"]
    end = next(line for line in result.stderr.splitlines() if line.startswith("not read to its end: w.xml:4: not XML"))
    assert end.endswith("the rest is not read; is the file cut off?")


def test_a_broken_line_stops(of_articles: Import) -> None:
    result = of_articles("forum", "q.jsonl", "--out", "out.jsonl")
    assert result.exit_code == 3
    assert result.stderr == (
        'postil: q.jsonl:3: id: article "a" stands in q.jsonl:1 already; keep one of them; '
        "to go on without it: --on-error skip\n"
    )
    assert sorted(path.name for path in Path().iterdir()) == ["p.jsonl", "q.jsonl"]


def test_a_broken_comment_stops_and_is_told_once(of_articles: Import) -> None:
    Path("r.jsonl").write_text(json.dumps({**GOOD, "comments": [{"text": "Oh", "votes": 0.5}]}))
    result = of_articles("forum", "r.jsonl", "--comment-field", "upvotes=votes", "--out", "out.jsonl")
    assert result.exit_code == 3
    assert result.stderr == (
        "postil: r.jsonl:1: comments[0].votes: expected a whole number of votes, got 0.5; "
        "to go on without it: --on-error skip\n"
    )


def test_broken_lines_are_skipped_and_written_down(of_articles: Import) -> None:
    result = of_articles("forum", "q.jsonl", "--out", "out.jsonl.gz", "--on-error", "skip")
    assert result.exit_code == 0
    assert result.stderr.startswith("2 broken lines or comments left out; see out.jsonl.gz.rejected.jsonl\n")
    assert [article.id for article in read("out.jsonl.gz", Article)] == ["a", "b"]
    rejected = [json.loads(line) for line in Path("out.jsonl.gz.rejected.jsonl").read_text().splitlines()]
    again = 'article "a" stands in q.jsonl:1 already; keep one of them'
    assert rejected == [
        {"file": "q.jsonl", "line": 3, "field": "id", "problem": again},
        {"file": "q.jsonl", "line": 4, "field": "", "problem": "the JSON ends too early; is the line cut off?"},
    ]
    assert of_articles("forum", "p.jsonl", "--out", "out.jsonl", "--on-error", "skip").exit_code == 0
    assert Path("out.jsonl.rejected.jsonl").read_bytes() == b""
    Path("r.jsonl").write_text("{}\n")
    result = of_articles("forum", "r.jsonl", "--out", "none.jsonl", "--on-error", "skip")
    problem = "no articles to write; the first problem: r.jsonl:1: title: missing; the line has: no fields"
    assert (result.exit_code, result.stderr) == (3, f"postil: none.jsonl: {problem}\n")
    assert not [path.name for path in Path().iterdir() if path.name.startswith("none")]


def test_tencent_and_tokenized(of_articles: Import) -> None:
    comments = [["好球", 12, 4.5], ["输了", 0, 1]]
    test = {"channel": "体育", "comment": comments, "title": "决赛", "url": "http://k/1"}
    Path("data.test.json").write_text(f"{json.dumps(test)}\n{json.dumps({**test, 'url': None})}\n")
    Path("c.tsv.gz").write_bytes(gzip.compress("http://k/1\t勇士\nhttp://k/2\t骑士\n".encode()))
    result = of_articles("tencent", "data.test.json", "--contents", "c.tsv.gz", "--out", "out.jsonl")
    assert result.stderr.splitlines() == [
        "1 article without an id, named by its url",
        "1 article without an id or url, named by file and line",
        "1 article without content, kept",
        "1 content of no article, left out",
        "4 comments with a grade, from 1 to 4.5",
        "human scores from 1 to 4.5: on 1 to 5, as the paper has them",
        "2 articles with 4 comments in out.jsonl",
    ]
    assert [article.content for article in read("out.jsonl", Article)] == ["勇士", None]
    Path("data.train.json").write_text('{"id": 7, "title": "明天 有 雨", "body": "带 伞", "comment": [["好 的", 3]]}\n')
    result = of_articles("tokenized", "data.train.json", "--second", "votes", "--out", "-")
    comments = '[{"id":"1","text":"好 的","upvotes":3}]'
    row = f'{{"id":"7","title":"明天 有 雨","comments":{comments},"content":"带 伞","lang":"zh"}}'
    assert result.stdout == f"{row}\n"
    assert "the tokenizer for them: --tokenizer space\n" in result.stderr


def test_csv_and_forum_with_other_names(of_articles: Import) -> None:
    Path("a.csv").write_text("id,title\n1,Rain\n2,Snow\n")
    Path("c.csv").write_text("post,text,upvotes\n2,Oh,7\n3,No,\n")
    tables = ("--articles", "a.csv", "--comments", "c.csv", "--comment-column", "article=post")
    result = of_articles("csv", *tables, "--out", "o.jsonl")
    assert result.stderr.splitlines() == [
        "1 comment of articles that are not there, left out",
        "2 articles without content, kept",
        "1 article without comments, kept",
        "no article has a content: train ir-t, seq2seq or att on them, which read titles alone",
        "2 articles with 1 comment in o.jsonl",
    ]
    Path("t.csv").write_text("article,content,text\n1,Rain,Oh\n")
    result = of_articles("csv", "--comments", "t.csv", "--column", "title=", "--out", "t.jsonl")
    assert "no article has a title: train ir-tc or att-tc on them, which read contents\n" in result.stderr
    Path("t.tsv").write_text('article\ttitle\ttext\n1\tRain\t"Oh\n')
    assert of_articles("csv", "--comments", "t.tsv", "--no-quotes", "-o", "o.parquet").exit_code == 0
    assert [article.comments[0].text for article in read("o.parquet", Article)] == ['"Oh']
    Path("r.jsonl").write_text('{"id": 1, "head": "Rain", "comments": [{"body": "Oh", "score": 4, "by": "ann"}]}\n')
    names = ("--column", "comments.text=body", "--comment-field", "grade=score", "--column", "comments.user=by")
    result = of_articles("forum", "r.jsonl", "--field", "title=head", *names, "--out", "out.jsonl")
    assert "1 comment with a grade, from 4 to 4\n" in result.stderr
    [article] = read("out.jsonl", Article)
    assert (article.title, article.comments[0].user) == ("Rain", "ann")


def test_csv_that_postil_exported_comes_back(of_articles: Import) -> None:
    said = ["=1+1", "'=1+1", "-0.5", "'tis", "@ann: no", "\t-x", "＋x", "a\rb", "a\r\n'=b", '"a", "b"', "plain"]
    rows = [RankedComment(f"-{place}", f"@{place}", 1, 0.5, text) for place, text in enumerate(said)]
    Path("c.csv").write_bytes(str(show("csv", RankedCommentsResult(comments=tuple(rows)))).encode())
    names = ("--comment-column", "id=comment", "--column", "title=")
    for flags, found in (
        (("--apostrophes",), said),
        ((), ["'=1+1", "''=1+1", "-0.5", "'tis", "'@ann: no", "'\t-x", "'＋x", *said[7:]]),
    ):
        assert of_articles("csv", "--comments", "c.csv", *names, *flags, "-o", "o.jsonl").exit_code == 0
        articles = list(read("o.jsonl", Article))
        assert [article.comments[0].text for article in articles] == found
        assert (articles[-1].id, articles[-1].comments[0].id) == (("-10", "@10") if flags else ("-10", "'@10"))


def test_dataset(of_articles: Import) -> None:
    pytest.importorskip("pyarrow")
    assert of_articles("forum", "p.jsonl", "--out", "train.parquet").exit_code == 0
    assert of_articles("dataset", ".", "--split", "train", "--out", "again.parquet").exit_code == 0
    assert Path("again.parquet").read_bytes() == Path("train.parquet").read_bytes()
    result = of_articles("dataset", ".", "--split", "dev", "--out", "dev.jsonl")
    assert (result.exit_code, "unknown split of . 'dev'" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("forum", "none", "-o", "out.jsonl"), 3, "none: no such file"),
        (("forum", "p.jsonl", "-o", "out.jsonl", "--on-error", "go"), 2, "unknown error policy 'go'"),
        (("forum", "p.jsonl", "-o", "-", "--on-error", "skip"), 2, "--on-error skip writes the rejected lines beside"),
        (("forum", "p.jsonl", "-o", "out.jsonl", "--field", "x"), 2, "--column takes NAME=SOURCE_FIELD, such as"),
        (("forum", "p.jsonl", "-o", "out.jsonl", "--field", "x=y"), 2, "unknown field of an article 'x'"),
        (("forum", "p.jsonl", *("--field", "id=x") * 2, "-o", "o.jsonl"), 2, "--column names a field twice; got 'id"),
        (("csv", "--comments", "p.jsonl", "-o", "out.jsonl"), 3, "p.jsonl: expected a table "),
        (("csv", "--comments", "p.jsonl", "--encoding", "x", "-o", "out.jsonl"), 2, "unknown encoding 'x'"),
        (("tokenized", "p.jsonl", "--second", "vote", "-o", "o.jsonl"), 2, "unknown meaning of the second element"),
        (("tencent", "p.jsonl", "-o", "out.jsonl"), 3, "p.jsonl:1: comment: missing; the line has: id, title"),
    ],
)
def test_refusals_of_articles(of_articles: Import, words: tuple[str, ...], code: int, message: str) -> None:
    result = of_articles(*words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith(f"postil: {message}")
    assert sorted(path.name for path in Path().iterdir()) == ["p.jsonl", "q.jsonl"]


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_an_end_in_the_middle_leaves_nothing_that_looks_whole(tmp_path: Path, number: signal.Signals) -> None:
    pipe = tmp_path / "p.jsonl"
    os.mkfifo(pipe)
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "postil", "corpus", "import", "forum", str(pipe), "--out", str(out)]
    if signal.getsignal(number) == signal.SIG_IGN:  # under nohup, which processes inherit
        signal.signal(number, signal.SIG_DFL)
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process,  # noqa: S603 - ours
        pipe.open("w") as stream,  # waits until the process reads
    ):
        stream.writelines(json.dumps({**GOOD, "id": i}) + "\n" for i in range(2000))
        stream.flush()
        process.send_signal(number)
        _, words = process.communicate()
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert words == ("" if number == signal.SIGKILL else "postil: interrupted\n")
    assert not out.exists()
    assert len(list(tmp_path.iterdir())) == (2 if number == signal.SIGKILL else 1)


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
def test_an_interrupt_while_modules_are_loaded_gives_no_traceback() -> None:
    code = "import os, runpy, signal, sys; sys.argv = ['postil']\n"
    code += "class Late:\n    def find_spec(self, name, *_):\n"
    code += "        if name == 'postil.cli.main': os.kill(os.getpid(), signal.SIGINT)\n"
    code += "sys.meta_path.insert(0, Late()); runpy.run_module('postil', run_name='__main__')"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "postil: interrupted\n")


OVER: Final = {
    "tencent": ("tencent", "p.jsonl"),
    "contents": ("tencent", "q.jsonl", "--contents", "p.jsonl"),
    "tokenized": ("tokenized", "p.jsonl"),
    "deepcom": ("deepcom", "p.jsonl"),
    "forum": ("forum", "q.jsonl", "p.jsonl"),
    "csv": ("csv", "--comments", "p.jsonl"),
    "articles": ("csv", "--comments", "q.jsonl", "--articles", "p.jsonl"),
    "dataset": ("dataset", "p.jsonl"),
    "qrels": ("trec", "--qrels", "p.jsonl", "-c", "q.jsonl"),
    "collection": ("trec", "--qrels", "q.jsonl", "-c", "p.jsonl"),
    "trec run": ("trec", "--qrels", "q.jsonl", "-c", "q.jsonl", "--run", "p.jsonl"),
    "dump": ("wikipedia", "p.jsonl"),
    "titles": ("wikipedia", "q.jsonl", "--titles", "p.jsonl"),
    "grades": ("wikipedia", "q.jsonl", "--judgements", "p.jsonl"),
    "topics": ("inex", "--topics", "p.jsonl", "--runs", "q.jsonl", "--judgements", "q.jsonl"),
    "runs": ("inex", "--topics", "q.jsonl", "--runs", "p.jsonl", "--judgements", "q.jsonl"),
    "judgements": ("inex", "--topics", "q.jsonl", "--runs", "q.jsonl", "--judgements", "p.jsonl"),
    "documents": (
        *("inex", "--topics", "q.jsonl", "--runs", "q.jsonl", "--judgements", "q.jsonl"),
        *("--documents", "p.jsonl"),
    ),
}


@pytest.mark.parametrize("command", OVER)
def test_no_import_writes_over_its_input(of_articles: Import, command: str) -> None:
    before = Path("p.jsonl").read_bytes()
    Path("link.jsonl").symlink_to("p.jsonl")
    result = of_articles(*OVER[command], "--out", "link.jsonl")
    assert result.exit_code == 2
    assert result.stderr == ("postil: link.jsonl: would be written over p.jsonl, which is read; name another output\n")
    assert Path("p.jsonl").read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["link.jsonl", "p.jsonl", "q.jsonl"]


def test_files_of_datasets_and_rejected_lines_are_not_written_over(of_articles: Import) -> None:
    pytest.importorskip("pyarrow")
    Path("d").mkdir()
    assert of_articles("forum", "p.jsonl", "--out", "d/train.parquet").exit_code == 0
    result = of_articles("dataset", "d", "--out", "d/train.parquet")
    said = "postil: d/train.parquet: would be written over d/train.parquet, which is read; name another output\n"
    assert (result.exit_code, result.stderr) == (2, said)
    assert of_articles("dataset", "d", "--out", "d/other.jsonl").exit_code == 0
    Path("p.jsonl").rename("o.jsonl.rejected.jsonl")
    result = of_articles("forum", "o.jsonl.rejected.jsonl", "--out", "o.jsonl", "--on-error", "skip")
    assert (result.exit_code, Path("o.jsonl").exists()) == (2, False)
    assert "o.jsonl.rejected.jsonl: would be written over o.jsonl.rejected.jsonl, which is read" in result.stderr


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("reddit_college.en.jsonl.gz", (), "2,595 articles with 84,922 comments"),
        ("tencent_examples.zh.jsonl", ("--comment-field", "grade=score"), "2 articles with 52 comments"),
    ],
)
def test_real_data(of_articles: Import, name: str, options: tuple[str, ...], said: str) -> None:
    if not (DATA / name).exists():
        pytest.skip("the data are not here; POSTIL_DATA names their folder")
    result = of_articles("forum", DATA / name, *options, "--out", "out.jsonl")
    assert result.exit_code == 0
    assert result.stderr.endswith(f"{said} in out.jsonl\n")
