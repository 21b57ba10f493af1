"""Decisions of moderators in exports: which are written, with which reasons and authors, and what is no decision."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from click.testing import CliRunner

from postil.corpus.command import corpus
from postil.corpus.importers.exports import (
    read_coral,
    read_discourse,
    read_disqus,
    read_hackernews,
    read_reddit,
    read_wordpress,
)
from postil.corpus.importers.import_report import ImportReport
from postil.corpus.importers.importer import importers
from postil.corpus.importers.moderation import Decisions
from postil.data.row_files import read
from postil.data.rows import Article, Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result

    from conftest import Lines
    from postil.errors import InvalidInput

    Reader = Callable[..., Iterator[Article]]

NOON: Final = "2020-03-21T12:00:00Z"


def decided(
    reader: Reader, *paths: Path, lang: str | None = None, **given: Any
) -> tuple[list[Decision], Decisions, list[Article]]:
    """Rows, their counts and the articles, which are those of an import without decisions."""
    rows: list[Decision] = []
    decisions = Decisions(rows.append)
    articles = list(reader(paths, ImportReport(decisions=decisions, **given), lang=lang))
    assert articles == list(reader(paths, ImportReport(**given), lang=lang))
    return rows, decisions, articles


def said(rows: list[Decision]) -> list[tuple[str | None, str, str | None, str]]:
    return [(row.id, row.decision, row.reason, row.text) for row in rows]


def no_decision(decisions: Decisions) -> tuple[int, int, int, int]:
    return decisions.pending, decisions.withdrawn, decisions.textless, decisions.repeated


def wordpress_comment(
    number: int, text: str, approved: str = "1", *, kind: str = "comment", user: int = 0, mail: str = "Ann@Secret.org"
) -> str:
    return (
        f"<wp:comment><wp:comment_id>{number}</wp:comment_id><wp:comment_author>Ann Secret</wp:comment_author>"
        f"<wp:comment_author_email>{mail}</wp:comment_author_email><wp:comment_author_IP>192.0.2.7</wp:comment_author_IP>"
        f"<wp:comment_date_gmt>2020-03-21 12:00:00</wp:comment_date_gmt><wp:comment_content><![CDATA[{text}]]>"
        f"</wp:comment_content><wp:comment_approved>{approved}</wp:comment_approved><wp:comment_type>{kind}"
        f"</wp:comment_type><wp:comment_user_id>{user}</wp:comment_user_id></wp:comment>"
    )


def wordpress(*items: tuple[int, str, str], language: str = "de-AT") -> str:
    posts = (
        f"<item><title>Rain</title><wp:post_id>{number}</wp:post_id><wp:status>{status}</wp:status>"
        f"<wp:post_type>post</wp:post_type>{comments}</item>"
        for number, status, comments in items
    )
    head = '<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/"><channel>'
    return f"{head}<language>{language}</language>{''.join(posts)}</channel></rss>"


TRASHED: Final = (
    "<wp:commentmeta><wp:meta_key>{key}</wp:meta_key><wp:meta_value>{value}</wp:meta_value></wp:commentmeta>"
    "</wp:comment>"
)
COMMENTS: Final = "".join(
    (
        wordpress_comment(1, "First <b>line</b>\nsecond <blockquote>Rain.</blockquote>"),
        wordpress_comment(2, "Buy watches", "spam", mail="ANN@secret.org"),
        wordpress_comment(3, "wait", "0"),
        wordpress_comment(4, "You fool", "trash", user=5),
        wordpress_comment(5, "Buy pills", "trash", user=6).replace(
            "</wp:comment>", TRASHED.format(key="_wp_trash_meta_status", value="spam")
        ),
        wordpress_comment(6, "[...] there", kind="pingback"),
        wordpress_comment(7, "[...] spam", "spam", kind="trackback"),
        wordpress_comment(8, "<blockquote>only a quote</blockquote>", "spam"),
        wordpress_comment(9, "of a post in the trash", "post-trashed"),
    )
)


def test_wordpress(lines: Lines) -> None:
    path = lines("site.xml", wordpress((7, "publish", COMMENTS), (8, "private", wordpress_comment(10, "secret"))))
    rows, decisions, [article] = decided(read_wordpress, path)
    assert said(rows) == [
        ("1", "keep", None, "First line\nsecond"),
        ("2", "hold", "spam", "Buy watches"),
        ("4", "hold", "trash", "You fool"),
        ("5", "hold", "spam", "Buy pills"),
    ]
    assert rows[0] == Decision("First line\nsecond", "keep", None, NOON, "7", "author-1", "1", "de-AT")
    assert [row.author for row in rows] == ["author-1", "author-1", "author-2", "author-3"]
    assert (article.id, [comment.id for comment in article.comments]) == ("7", ["1"])
    assert no_decision(decisions) == (1, 0, 1, 0)
    assert (decisions.kept, decisions.held) == (1, Counter({"spam": 2, "trash": 1}))
    assert {row.lang for row in decided(read_wordpress, path, lang="de")[0]} == {"de"}


def test_a_page_without_approved_comments_has_decisions(lines: Lines) -> None:
    page = wordpress((7, "publish", wordpress_comment(2, "Buy watches", "spam"))).replace(">post<", ">page<")
    rows, _, articles = decided(read_wordpress, lines("site.xml", page))
    assert (said(rows), articles) == ([("2", "hold", "spam", "Buy watches")], [])


def disqus_post(number: int, text: str = "Oh", *fields: str, user: str = "ann") -> str:
    flags = "".join(f"<{field}>true</{field}>" for field in fields if field != "pending")
    flags += "<isApproved>false</isApproved>" if "pending" in fields else ""
    person = f"<username>{user}</username>" if user else ""
    return (
        f'<post dsq:id="{number}"><message><![CDATA[<p>{text}</p>]]></message><createdAt>{NOON}</createdAt>{flags}'
        f"<author><email>Ann@secret.org</email><name>Ann Secret</name>{person}</author>"
        f'<ipAddress>192.0.2.7</ipAddress><thread dsq:id="1"/></post>'
    )


def test_disqus(lines: Lines) -> None:
    posts = (
        disqus_post(3),
        disqus_post(4, "Buy watches", "isSpam", "isDeleted", user="bob"),
        disqus_post(5, "You fool", "isDeleted"),
        disqus_post(6, "wait", "pending"),
        disqus_post(7, "", "isSpam"),
        disqus_post(8, "Hm", user=""),
        disqus_post(9, "Hm", user="").replace("<email>Ann@secret.org</email>", ""),
    )
    head = '<disqus xmlns:dsq="http://disqus.com/disqus-internals">'
    thread = '<thread dsq:id="1"><title>Rain</title></thread>'
    rows, decisions, _ = decided(read_disqus, lines("d.xml", f"{head}{thread}{''.join(posts)}</disqus>"), lang="en")
    assert said(rows) == [
        ("3", "keep", None, "Oh"),
        ("4", "hold", "spam", "Buy watches"),
        ("5", "hold", "deleted", "You fool"),
        ("8", "keep", None, "Hm"),
        ("9", "keep", None, "Hm"),
    ]
    assert rows[1] == Decision("Buy watches", "hold", "spam", NOON, "1", "author-2", "4", "en")
    assert [row.author for row in rows] == ["author-1", "author-2", "author-1", "author-3", "author-4"]
    assert no_decision(decisions) == (1, 0, 1, 0)


def discourse_post(number: int, **fields: object) -> dict[str, object]:
    known = {"username": "ann", "created_at": NOON, "cooked": f"<p>{number}</p>"}
    return {"id": 70 + number, "post_number": number, **known, **fields}


def flags(**counts: int) -> list[dict[str, int]]:
    ids = {"like": 2, "off": 3, "rude": 4, "moderators": 7, "spam": 8, "illegal": 10}
    return [{"id": ids[name], "count": count} for name, count in counts.items()]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, ("keep", None)),
        ({"actions_summary": flags(rude=2)}, ("keep", None)),
        ({"hidden": True}, ("hold", "flagged")),
        ({"hidden": True, "hidden_reason_id": 2}, ("hold", "flagged")),
        ({"hidden": True, "hidden_reason_id": 3}, ("hold", "spam")),
        (
            {"hidden": True, "hidden_reason_id": 1, "actions_summary": flags(like=9, rude=2, off=1)},
            ("hold", "inappropriate"),
        ),
        ({"hidden": True, "actions_summary": flags(off=2, illegal=2, moderators=7)}, ("hold", "illegal")),
        ({"hidden": True, "hidden_reason_id": 7}, None),
        ({"hidden": True, "cooked_hidden": True}, (0, 0, 1, 0)),
        ({"deleted_at": NOON}, ("hold", "deleted")),
        ({"deleted_at": NOON, "deleted_by": {"username": "mod"}, "actions_summary": flags(spam=1)}, ("hold", "spam")),
        ({"deleted_at": NOON, "deleted_by": {"username": "ann"}}, (0, 1, 0, 0)),
        ({"deleted_at": NOON, "user_deleted": True}, (0, 1, 0, 0)),
        ({"user_deleted": True, "hidden": True}, (0, 1, 0, 0)),
        ({"post_type": 3}, None),
    ],
)
def test_discourse(lines: Lines, fields: dict[str, object], found: tuple[Any, ...] | None) -> None:
    posts = [discourse_post(1), discourse_post(2, **fields)]
    topic = {"id": 7, "title": "Rain", "post_stream": {"posts": posts}}
    rows, decisions, _ = decided(read_discourse, lines("7.json", topic), lang="en")
    if found is None or isinstance(found[0], int):
        assert (rows, no_decision(decisions)) == ([], found or (0, 0, 0, 0))
    else:
        assert rows == [Decision("2", found[0], found[1], NOON, "7", "author-1", "72", "en")]


STORY: Final = {"id": "s", "metadata": {"title": "Rain"}}


def coral_comment(name: str, status: str | None = None, **fields: object) -> dict[str, object]:
    known = {"revisions": [{"body": "old"}, {"body": f"<div>{name}</div>"}], "authorID": "u1"}
    said = {} if status is None else {"status": status}
    return {"id": name, "storyID": "s", "createdAt": {"$date": NOON}, **known, **said, **fields}


REPORTS: Final = {
    "FLAG": 9,
    "FLAG__COMMENT_DETECTED_NEW_COMMENTER": 9,
    "FLAG__COMMENT_DETECTED_SPAM": {"$numberInt": "1"},
    "FLAG__COMMENT_REPORTED_SPAM": 1,
    "FLAG__COMMENT_DETECTED_BANNED_WORD": 1,
    "REACTION": 5,
}


def test_coral(lines: Lines) -> None:
    comments = (
        coral_comment("none", "NONE"),
        coral_comment("without"),
        coral_comment("approved", "APPROVED", actionCounts=REPORTS),
        coral_comment("rejected", "REJECTED"),
        coral_comment("spam", "REJECTED", actionCounts=REPORTS),
        coral_comment("own", "REJECTED", actionCounts=REPORTS),
        coral_comment("code", "REJECTED"),
        coral_comment("other", "REJECTED"),
        coral_comment("restored", "APPROVED"),
        coral_comment("waits", "PREMOD"),
        coral_comment("withheld", "SYSTEM_WITHHELD"),
        coral_comment("gone", "REJECTED", deletedAt={"$date": NOON}, revisions=[], authorID=None),
        coral_comment("odd", "UNKNOWN"),
    )
    reasons = {
        "own": {"code": "OTHER", "customReason": "advertising a shop"},
        "code": {"code": "HATE_SPEECH"},
        "other": {"code": "OTHER"},
        "restored": {"code": "SPAM"},
    }
    actions = [
        {"id": f"a-{name}", "commentID": name, "storyID": "s", "status": "REJECTED", "rejectionReason": reason}
        for name, reason in reasons.items()
    ]
    actions.append({"id": "a", "commentID": "none", "storyID": "s", "status": "APPROVED"})
    rows, decisions, [article] = decided(read_coral, lines("c.json", STORY, *actions, *comments))
    assert said(rows) == [
        ("none", "keep", None, "none"),
        ("without", "keep", None, "without"),
        ("approved", "keep", None, "approved"),
        ("rejected", "hold", None, "rejected"),
        ("spam", "hold", "spam", "spam"),
        ("own", "hold", "advertising a shop", "own"),
        ("code", "hold", "hate speech", "code"),
        ("other", "hold", None, "other"),
        ("restored", "keep", None, "restored"),
    ]
    assert {(row.article, row.author, row.date) for row in rows} == {("s", "author-1", NOON)}
    assert (no_decision(decisions), len(article.comments)) == ((2, 1, 0, 0), 4)


def reddit_comment(name: str, body: str, **fields: object) -> dict[str, object]:
    return {"id": name, "link_id": "t3_a1", "body": body, "author": "ann", "created_utc": 1584792000, **fields}


def test_reddit(lines: Lines) -> None:
    comments = (
        reddit_comment("c1", "&gt; Rain\n\nOh &lt;3", removed=False, banned_by=None),
        reddit_comment("c2", "[removed]"),
        reddit_comment("c3", "[deleted]", author="[deleted]"),
        reddit_comment("c4", "[ Removed by Reddit ]"),
        reddit_comment("c5", "Buy watches", spam=True, removed=True),
        reddit_comment("c6", "You fool", removed=True, mod_reason_title="Be kind"),
        reddit_comment("c7", "You ass", banned_by="AutoModerator", author="[deleted]"),
        reddit_comment("c8", "Be kind.", distinguished="moderator"),
    )
    post = {"id": "a1", "title": "Rain", "selftext": ""}
    rows, decisions, _ = decided(read_reddit, lines("c.jsonl", *comments, post))
    assert said(rows) == [
        ("c1", "keep", None, "Oh <3"),
        ("c5", "hold", "spam", "Buy watches"),
        ("c6", "hold", "Be kind", "You fool"),
        ("c7", "hold", "removed", "You ass"),
    ]
    assert [(row.article, row.author) for row in rows] == [("a1", "author-1")] * 3 + [("a1", None)]
    assert no_decision(decisions) == (0, 1, 2, 0)


def test_hackernews(lines: Lines) -> None:
    items: tuple[dict[str, object], ...] = (
        {"id": 4, "type": "comment", "parent": 3, "text": "You fool", "dead": True, "by": "ann", "time": 1584792000},
        {"id": 5, "type": "comment", "parent": 2, "text": "[flagged]", "dead": True},
        {"id": 6, "type": "comment", "parent": 2, "deleted": True},
        {"id": 1, "type": "story", "title": "Rain"},
        {"id": 2, "type": "comment", "parent": 1, "text": "&gt; Rain<p>Oh", "by": "ann"},
        {"id": 3, "type": "comment", "parent": 2, "text": "Yes", "by": "bob"},
        {"id": 7, "type": "comment", "parent": 99, "text": "Where?", "by": "bob"},
        {"objectID": "8", "comment_text": "No", "story_id": 1, "parent_id": 1, "author": "bob"},
    )
    rows, decisions, _ = decided(read_hackernews, lines("i.jsonl", *items))
    assert said(rows) == [
        ("4", "hold", "dead", "You fool"),
        ("2", "keep", None, "Oh"),
        ("3", "keep", None, "Yes"),
        ("7", "keep", None, "Where?"),
        ("8", "keep", None, "No"),
    ]
    assert [row.article for row in rows] == ["1", "1", "1", None, "1"]
    assert [row.author for row in rows] == ["author-1", "author-1", "author-2", "author-2", "author-2"]
    assert no_decision(decisions) == (0, 1, 1, 0)


def test_a_comment_has_one_decision(lines: Lines) -> None:
    one = coral_comment("c", "REJECTED")
    rows, decisions, _ = decided(
        read_coral, lines("c.json", STORY, one, {**one, "status": "NONE"}, {**one, "storyID": "t"})
    )
    assert [(row.article, row.decision) for row in rows] == [("s", "hold"), ("t", "hold")]
    assert no_decision(decisions) == (0, 0, 0, 1)


def test_a_broken_comment_is_told_once(lines: Lines) -> None:
    broken = [wordpress_comment(number, "Oh", "1" if number == 1 else "spam") for number in (1, 2)]
    text = wordpress((7, "publish", "".join(broken))).replace("2020-03-21 12:00:00", "yesterday")
    problems: list[InvalidInput] = []
    report = ImportReport(problems.append, decisions=Decisions(lambda _: None))
    list(read_wordpress([lines("site.xml", text)], report))
    assert [problem.field for problem in problems] == ["date", "comments[0].date"]
    report = ImportReport(problems.append, decisions=Decisions(lambda _: None))
    list(read_coral([lines("c.json", STORY, coral_comment("c", "REJECTED", revisions=[]))], report))
    assert (len(problems), problems[-1].field, report.withheld) == (3, "revisions[-1].body", 0)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Imports in a folder that holds an export of WordPress and one of Coral."""
    monkeypatch.chdir(tmp_path)
    Path("site.xml").write_text(wordpress((7, "publish", COMMENTS)))
    Path("c.json").write_text("".join(f"{json.dumps(row)}\n" for row in (STORY, coral_comment("c", "NONE"))))
    return lambda *args: CliRunner().invoke(corpus, ["import", *map(str, args)], catch_exceptions=False)


@pytest.mark.parametrize("name", ["d.jsonl", "d.jsonl.gz", "d.csv", "d.parquet"])
def test_the_file_and_what_is_said(run: Callable[..., Result], name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    before = run("wordpress", "site.xml", "-o", "before.jsonl")
    result = run("wordpress", "site.xml", "-o", "out.jsonl", "--decisions", name)
    assert result.exit_code == 0
    assert Path("out.jsonl").read_bytes() == Path("before.jsonl").read_bytes()
    told = result.stderr.splitlines()
    assert told[: told.index("1 article with 1 comment in out.jsonl")] == before.stderr.splitlines()[:-1]
    assert told[-3:] == [
        "1 comment waiting for a moderator: no decision",
        "1 comment with a decision and without text, left out",
        f"4 decisions in {name}: 1 to keep, 3 to hold (spam 2, trash 1)",
    ]
    rows = list(read(name, Decision))
    assert [(row.id, row.decision, row.reason) for row in rows] == [
        ("1", "keep", None), ("2", "hold", "spam"), ("4", "hold", "trash"), ("5", "hold", "spam"),
    ]  # fmt: skip
    assert not any(word in repr(rows) for word in ("Secret", "secret", "192.0"))
    once = Path(name).read_bytes()
    assert run("wordpress", "site.xml", "-o", "out.jsonl", "--decisions", name).exit_code == 0
    assert Path(name).read_bytes() == once


def test_one_kind_of_decision_and_missing_spam_are_told(run: Callable[..., Result]) -> None:
    told = run("coral", "c.json", "-o", "out.jsonl", "--decisions", "d.jsonl").stderr.splitlines()
    assert told[-2:] == [
        "1 decision in d.jsonl: 1 to keep, 0 to hold",
        "no comment was held: a screen learns from both kinds",
    ]
    Path("s.xml").write_text(wordpress((7, "publish", wordpress_comment(4, "You fool", "trash"))))
    told = run("wordpress", "s.xml", "-o", "out.jsonl", "--decisions", "d.jsonl").stderr.splitlines()
    assert "no comment is spam: WordPress leaves spam out of its exports, unless a plug-in keeps it in" in told
    assert told[-1] == "no comment was kept: a screen learns from both kinds"


def test_authors_with_a_key_are_the_same_in_every_import(run: Callable[..., Result]) -> None:
    Path("t.xml").write_text(wordpress((9, "publish", wordpress_comment(1, "Hm", user=6) + wordpress_comment(2, "Oh"))))
    for file in ("site", "t"):
        keyed = ("--decisions", f"{file}.jsonl", "--hash-key", "key")
        assert run("wordpress", f"{file}.xml", "-o", "out.jsonl", *keyed).exit_code == 0
    first, other = ([row.author for row in read(f"{file}.jsonl", Decision)] for file in ("site", "t"))
    assert other == [first[3], first[0]]
    assert all(author is not None and len(author) == 16 for author in first)
    assert Path("key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--decisions", "out.jsonl"), "out.jsonl: is another output already; name another file in --decisions"),
        (("--decisions", "./out.jsonl"), "./out.jsonl: is another output already"),
        (
            ("--decisions", "out.jsonl.rejected.jsonl", "--on-error", "skip"),
            "out.jsonl.rejected.jsonl: is another output",
        ),
        (("--decisions", "site.xml.csv"), "site.xml.csv: would be written over site.xml, which is read"),
        (("--decisions", "d.txt"), "d.txt: unknown kind of file"),
        (("--hash-key", "key"), "--hash-key is of the authors in --decisions"),
    ],
)
def test_refusals(run: Callable[..., Result], words: tuple[str, ...], message: str) -> None:
    Path("site.xml.csv").symlink_to("site.xml")
    result = run("wordpress", "site.xml", "-o", "out.jsonl", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"postil: {message}")
    assert not [path for path in Path().iterdir() if path.name not in {"site.xml", "site.xml.csv", "c.json", "key"}]


def test_an_import_that_fails_writes_no_decisions(run: Callable[..., Result]) -> None:
    Path("d.csv").write_text("before")
    Path("cut.xml").write_text(Path("site.xml").read_text()[:-10])
    assert run("wordpress", "cut.xml", "-o", "out.jsonl", "--decisions", "d.csv").exit_code == 3
    assert (Path("d.csv").read_text(), Path("out.jsonl").exists()) == ("before", False)
    assert run("wordpress", "cut.xml", "-o", "out.jsonl", "--decisions", "d.csv", "--on-error", "skip").exit_code == 0
    assert len(list(read("d.csv", Decision))) == 4


ABLE: Final = ("wordpress", "disqus", "discourse", "coral", "reddit", "hackernews")


@pytest.mark.parametrize("name", [name for name in importers() if name not in ABLE])
def test_formats_without_decisions(run: Callable[..., Result], name: str) -> None:
    result = run(name, "site.xml", "-o", "out.jsonl", "--decisions", "d.jsonl")
    assert (result.exit_code, "--decisions" in run(name, "-h").stdout) == (2, False)
    said = f"--decisions: files of {name} hold no decisions of moderators; those of {', '.join(ABLE)} do"
    assert said in " ".join(result.stderr.split())
