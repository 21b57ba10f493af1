"""Articles of objects and tables of many shapes, with fields under any names; what is broken says where."""

from __future__ import annotations

import json
import random
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from postil.corpus.importers import fields
from postil.corpus.importers.fields import read_forum, read_table
from postil.corpus.importers.import_report import ImportReport
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, PostilError, UnknownName, UsageError
from postil.messages import COMMAND_LINE
from refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Lines, Problems

POST = {"id": "a", "title": "Rain", "comments": [{"text": "Oh"}]}


def post(**fields: object) -> dict[str, Any]:
    return {**POST, **fields}


def test_everything_that_a_row_holds(lines: Lines) -> None:
    comment = {"id": 5, "text": "Oh", "votes": 3, "grade": 4, "user": "ann", "date": 1490842573, "replies": 1}
    told = {"content": "Text", "category": 7, "lang": "en", "url": "http://a", "date": "2017-03-30 04:00+02:00"}
    path = lines("p.jsonl", post(**told, comments=[comment], votes=9))
    report = ImportReport()
    [article] = read_forum([path], report)
    said = Comment("5", "Oh", 3, 4.0, (), "ann", "2017-03-30T02:56:13Z")
    dated = {"date": "2017-03-30T02:00:00Z"}
    assert article == Article("a", "Rain", (said,), "Text", "7", "en", "http://a", **dated)
    assert (report.unread, report.unread_of_comments) == ({"votes"}, {"replies"})
    assert (report.articles, report.comments, report.graded, report.low, report.high) == (1, 1, 1, 4, 4)


def test_what_articles_may_lack(lines: Lines, report: ImportReport) -> None:
    path = lines("my.posts.jsonl.gz", post(id=None, url="http://a"), post(id=""))
    assert [article.id for article in read_forum([path], report)] == ["http://a", "my.posts:2"]
    assert (report.by_url, report.by_place) == (1, 1)
    path = lines("p.jsonl", post(title=None, comments=None), post(id="b", title="", content="", comments=[]))
    report = ImportReport()
    assert [article.title for article in read_forum([path], report)] == ["", ""]
    assert (report.untitled, report.bare, report.without_content, report.rejected) == (2, 2, 2, 0)


def test_ids_that_stood_before(lines: Lines, problems: Problems, report: ImportReport) -> None:
    said = [{"id": name, "text": name} for name in ("x", "y", "x")]
    one, two = lines("one.jsonl", post(), post(id="b")), lines("two.jsonl", post(id="b"), post(id="c", comments=said))
    found = list(read_forum([one, two], report))
    assert [article.id for article in found] == ["a", "b", "c"]
    assert [comment.id for comment in found[2].comments] == ["x", "y"]
    assert problems(report) == [
        f'two.jsonl:1: id: article "b" stands in {one}:2 already; keep one of them',
        'two.jsonl:2: comments[2]: comment "x" of this article stands in comments[0] already; keep one of them',
    ]
    assert report.articles == 3


def test_files(lines: Lines, problems: Problems, report: ImportReport, tmp_path: Path) -> None:
    path = lines("p.jsonl", b"\xef\xbb\xbf" + json.dumps(post(id=1)).encode())
    assert [article.id for article in read_forum([path])] == ["1"]
    for indent in (None, 1):
        path.write_text(json.dumps([POST, post(id="b")], indent=indent))
        assert [article.id for article in read_forum([path])] == ["a", "b"]
    assert list(read_forum([lines("p.jsonl", "")], report)) == []
    assert problems(report) == ["p.jsonl:None: : the file holds no lines"]
    assert "no such file" in refused(InvalidInput, read_forum, [tmp_path / "none.jsonl"])


def test_comments_are_numbered_by_place(lines: Lines, report: ImportReport) -> None:
    path = lines("p.jsonl", post(comments=[{"text": "a"}, {"text": " "}, {"text": None}, {"id": "", "text": "b"}]))
    [article] = read_forum([path], report)
    assert [(comment.id, comment.text) for comment in article.comments] == [("1", "a"), ("4", "b")]
    assert (report.textless, report.comments, report.rejected) == (2, 2, 0)


def test_replies_inside_comments(lines: Lines, report: ImportReport, problems: Problems) -> None:
    """They come after what they answer, and name it; those of a broken or an empty comment stay."""
    deep: dict[str, Any] = {"text": "end"}
    for number in range(400):
        deep = {"id": f"d{number}", "text": "on", "answers": [deep]}
    thread = [
        {"id": "x", "text": "a", "answers": [{"text": "b", "answers": ["c"]}, {"text": "d", "parent": "other"}]},
        {"id": "y", "text": " ", "answers": [{"text": "e"}]},
        {"id": "z", "text": "f", "votes": "many", "answers": [{"text": 3}]},
        deep,
    ]
    path = lines("p.jsonl", post(comments=thread))
    [article] = read_forum([path], report, comment_fields={"replies": "answers"})
    found = [(comment.id, comment.text, comment.parent) for comment in article.comments]
    assert found[:5] == [
        ("x", "a", None), ("2", "b", "x"), ("3", "c", "2"), ("4", "d", "other"), ("6", "e", "y"),
    ]  # fmt: skip
    assert found[5] == ("d399", "on", None)
    assert found[-1] == ("409", "end", "d0")
    assert [problem.partition(": expected")[0] for problem in problems(report)] == [
        "p.jsonl:1: comments[2].upvotes or votes",
        "p.jsonl:1: comments[2].answers[0].text",
    ]
    assert report.unread_of_comments == set()


@pytest.mark.parametrize(
    ("comments", "names"),
    [
        ([["Oh", 3], ["No", None], ["Yes"]], {"text": "0", "upvotes": "1"}),
        ({"text": ["Oh", "No", "Yes"], "votes": [3, None, None], "replies": 1}, {}),
        ([{"body": "Oh", "votes": 3}, {"body": "No", "votes": None}, {"body": "Yes"}], {"text": "body"}),
        ({"texts": ["Oh", "No", "Yes"], "scores": [3, None, None]}, {"text": "texts", "upvotes": "scores"}),
    ],
    ids=["arrays", "object of arrays", "objects", "arrays in the article"],
)
def test_shapes_of_comments(lines: Lines, comments: Any, names: dict[str, str]) -> None:
    fields = {"comments": ""} if "texts" in comments else {}
    row = {"id": 1, "title": "Rain", **comments} if fields else post(comments=comments)
    [article] = read_forum([lines("p.jsonl", row)], fields=fields, comment_fields=names)
    assert article.comments == (Comment("1", "Oh", 3), Comment("2", "No"), Comment("3", "Yes"))


def test_dates(lines: Lines, report: ImportReport) -> None:
    """A blank is a missing date; what is none is broken, unless the map says that there are no dates."""
    dates = ["2020-03-21", " ", None, 1490842573000]
    path = lines("p.jsonl", post(comments=[{"text": "Oh", "date": date} for date in dates]))
    [article] = read_forum([path], report)
    found = [comment.date for comment in article.comments]
    assert found == ["2020-03-21T00:00:00Z", None, None, "2017-03-30T02:56:13Z"]
    path = lines("q.jsonl", post(date="soon", comments=[{"text": "Oh", "date": "later"}, {"text": "No"}]))
    wanted = "expected a date such as 2017-03-30T02:56:13Z, 30.03.2017 02:56 or Unix seconds, got"
    remedy = "; to import without dates, map date to an empty name"
    assert refused(InvalidInput, read_forum, [path]) == f'{path}:1: comments[0].date: {wanted} "later"{remedy}'
    assert (
        refused(InvalidInput, read_forum, [path], comment_fields={"date": ""})
        == f'{path}:1: date: {wanted} "soon"{remedy}'
    )
    [article] = read_forum([path], fields={"date": ""}, comment_fields={"date": ""})
    assert (article.date, article.comments[0].date) == (None, None)


def test_votes(lines: Lines, report: ImportReport) -> None:
    votes = [3, -2, None, "12", "-1", "", 4.0, "5.0"]
    path = lines("p.jsonl", post(comments=[{"text": "Oh", "votes": vote} for vote in votes]))
    [article] = read_forum([path], report)
    assert [comment.upvotes for comment in article.comments] == [3, -2, None, 12, -1, None, 4, 5]
    assert (report.settled, report.negative) == (4, 2)


@pytest.mark.parametrize(
    ("vote", "got"),
    [(2.5, "2.5"), ("many", '"many"'), ("1_000", '"1_000"'), (True, "true"), ([1], "an array"), ("1.5", '"1.5"')],
)
def test_votes_that_are_none(lines: Lines, problems: Problems, report: ImportReport, vote: object, got: str) -> None:
    path = lines("p.jsonl", post(comments=[{"text": "Oh"}, {"text": "No", "votes": vote}]))
    [article] = read_forum([path], report)
    assert [comment.id for comment in article.comments] == ["1"]
    field = "comments[1].upvotes or votes"
    assert problems(report) == [f"p.jsonl:1: {field}: expected a whole number of votes, got {got}"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"id": 1, "comments": []}, "title: missing; the line has: id, comments"),
        (post(title=3), "title: expected text, got 3"),
        (post(id=1.5), "id: expected text or an integer, got 1.5"),
        ({"id": 1, "title": "Rain"}, "comments: missing; the line has: id, title"),
        (post(comments="Oh"), 'comments: expected an array of comments, got "Oh"'),
        (post(comments=[3]), "comments[0]: expected a comment, got 3"),
        (post(comments=[{"body": "Oh"}]), "comments[0].text: missing; the comment has: body"),
        (post(comments=[{"text": 3}]), "comments[0].text: expected text, got 3"),
        (post(comments=[{"text": "Oh", "grade": "good"}]), 'comments[0].grade: expected a number, got "good"'),
        (post(comments=[{"text": "Oh", "votes": 2**63}]), "comments[0].votes: expected an integer of at most 64"),
        (post(comments=[{"text": "Oh", "user": []}]), "comments[0].user: expected text or an integer, got an array"),
        (post(comments={"text": ["Oh"], "votes": []}), "comments: expected arrays of one length, got 1 text, 0 votes"),
        (post(comments={"text": "Oh"}), 'comments.text: expected an array, one value per comment, got "Oh"'),
        (post(comments={"body": ["Oh"]}), "comments: no texts of comments; there are: body"),
        (post(comments=[{"id": 1, "text": "a"}, {"id": "1", "text": "b"}]), 'comments[1]: comment "1" of this article'),
        (post(content=["a", 1]), "content: expected text, got an array"),
    ],
)
def test_what_is_broken_is_raised_with_its_place(lines: Lines, row: object, problem: str) -> None:
    path = lines("p.jsonl", post(id="fine"), "", row)
    assert refused(InvalidInput, read_forum, [path]).startswith(f"{path}:3: {problem}")


def test_a_broken_field_of_a_comment_has_the_name_of_the_source(lines: Lines) -> None:
    path = lines("p.jsonl", post(comments=[{"msg": 3}]))
    said = refused(InvalidInput, read_forum, [path], comment_fields={"text": "msg"})
    assert said == f"{path}:1: comments[0].msg: expected text, got 3"


def test_paragraphs_and_language(lines: Lines) -> None:
    path = lines("p.jsonl", post(content=["One.", "Two."]), post(id="b", lang="de"))
    found = list(read_forum([path], lang="en"))
    [untitled] = read_forum([lines("q.jsonl", {"id": 1, "comments": []})], fields={"title": ""})
    assert untitled.title == ""
    assert (found[0].content, found[0].lang, found[1].lang) == ("One.\nTwo.", "en", "de")


def test_fields_that_there_are_not() -> None:
    with pytest.raises(UnknownName, match="unknown field of an article 'contents'; did you mean 'content'"):
        list(read_forum([], fields={"contents": "x"}))
    with pytest.raises(UnknownName, match="field of a comment"):
        list(read_forum([], comment_fields={"x": "y"}))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"id": 1, "title"', "the JSON ends too early; is the line cut off?"),
        (b"{", "expected a whole object on one line; convert the file with"),
    ],
)
def test_broken_lines(lines: Lines, problems: Problems, report: ImportReport, line: bytes, problem: str) -> None:
    path = lines("p.jsonl", post(), line, post(id="b"))
    assert [article.id for article in read_forum([path], report)] == ["a", "b"]
    [said] = problems(report)
    assert said.startswith("p.jsonl:2: ")
    assert problem in said
    with pytest.raises(InvalidInput, match=r"p\.jsonl:2: "):
        list(read_forum([path]))


def test_a_file_that_is_cut_off(lines: Lines, problems: Problems, report: ImportReport) -> None:
    noise = random.Random(1)  # noqa: S311 - no secret
    whole = lines("p.jsonl.gz", *(post(id=i, content=str(noise.random())) for i in range(5000)))
    cut: Path = whole.with_name("cut.jsonl.gz")
    cut.write_bytes(whole.read_bytes()[:-5000])
    after = lines("q.jsonl", post(id="last"))
    ids = [article.id for article in read_forum([cut, after], report)]
    assert ids[:-1] == [str(i) for i in range(len(ids) - 1)]
    assert ids[-1] == "last"
    said = problems(report)[-1]
    assert f"the gzip file ends early after line {len(ids) - 1 + report.rejected - 1}" in said


ARTICLES = ("id,title,content", "1,Rain,Tomorrow", "2,Snow,")
COMMENTS = ("article,text,upvotes", "2,At last,5", "1,Oh,3", "2,No,-1", "1,Yes,")
EXPECTED = [
    Article("1", "Rain", (Comment("1", "Oh", 3), Comment("2", "Yes")), "Tomorrow"),
    Article("2", "Snow", (Comment("1", "At last", 5), Comment("2", "No", -1))),
]
DATE = "2017-03-30T02:56:13Z"
DATES = ("1490842573", "", "soon")
ONE = ("article,title,text,upvotes", "1,Rain,Oh,3", "2,Snow,No,-1", "1,Rain,Yes,")


def test_two_tables(lines: Lines, report: ImportReport) -> None:
    found = read_table(lines("c.csv", *COMMENTS), report, articles=lines("a.csv", *ARTICLES))
    assert list(found) == EXPECTED
    assert (report.articles, report.comments, report.negative, report.without_content) == (2, 4, 1, 1)


def test_one_table(lines: Lines, report: ImportReport) -> None:
    assert list(read_table(lines("c.csv.gz", *ONE), report, lang="en")) == [
        Article("1", "Rain", (Comment("1", "Oh", 3), Comment("2", "Yes")), lang="en"),
        Article("2", "Snow", (Comment("1", "No", -1),), lang="en"),
    ]


def test_other_names(lines: Lines) -> None:
    articles = lines("a.tsv", "post\thead", "1\tRain")
    comments = lines("c.tsv", "post\tbody\tscore\tauthor\tid", "1\tOh\t3\tann\tx")
    names = {"article": "post", "text": "body", "upvotes": "score", "user": "author"}
    [found] = read_table(comments, articles=articles, columns={"id": "post", "title": "head"}, comment_columns=names)
    assert found == Article("1", "Rain", (Comment("x", "Oh", 3, None, (), "ann"),))


@pytest.mark.parametrize("by", ["column", "comment column"])
def test_other_names_in_one_table(lines: Lines, by: str) -> None:
    path = lines("c.csv", "post,reply,id", "7,Oh,1")
    columns = {"title": "", **({"id": "post"} if by == "column" else {})}
    comment_columns = {"text": "reply", **({"article": "post"} if by == "comment column" else {})}
    [found] = read_table(path, columns=columns, comment_columns=comment_columns)
    assert found == Article("7", "", (Comment("1", "Oh"),))


def test_dates_of_tables(lines: Lines, problems: Problems, report: ImportReport) -> None:
    """In one table the column ``date`` is the comments', unless the map says more."""
    comments = lines("c.csv", "article,title,text,date,posted", *(f"1,Rain,Oh,{date},2020-03-21" for date in DATES))
    [found] = read_table(comments, report)
    assert (found.date, [comment.date for comment in found.comments]) == (None, [DATE, None])
    assert problems(report) == [
        (
            "c.csv:4: date: expected a date such as 2017-03-30T02:56:13Z, 30.03.2017 02:56 or Unix seconds, got "
            '"soon"; to import without dates, map date to an empty name'
        )
    ]
    [found] = read_table(comments, report, columns={"date": "posted"}, comment_columns={"date": ""})
    assert (found.date, [comment.date for comment in found.comments]) == ("2020-03-21T00:00:00Z", [None] * 3)
    articles = lines("a.csv", "id,title,date", f"1,Rain,{DATE}")
    [found] = read_table(comments, report, articles=articles)
    assert (found.date, [comment.date for comment in found.comments]) == (DATE, [DATE, None])


def test_order_does_not_matter(lines: Lines) -> None:
    rows = [f"{i % 50},{i},c{i:04}" for i in range(2000)]
    articles = lines("a.csv", "id,title", *(f"{i},t" for i in range(50)))
    found = []
    for seed in range(2):
        random.Random(seed).shuffle(rows)  # noqa: S311 - no secret
        comments = read_table(lines(f"{seed}.csv", "article,id,text", *rows), articles=articles)
        found.append([(article.id, sorted(comment.text for comment in article.comments)) for article in comments])
    assert found[0] == found[1]
    assert [name for name, _ in found[0]] == [str(i) for i in range(50)]
    assert found[0][7][1] == [f"c{i:04}" for i in range(7, 2000, 50)]


def test_quoted_line_breaks(lines: Lines) -> None:
    path = lines("c.csv", "article,title,text", '1,"Rain, and', "snow", '"Say ""no"""', "")
    path.write_bytes(b'article,title,text\r\n1,"Rain, and\r\nsnow","Say ""no"""\r\n\r\n1,"Rain, and\r\nsnow",Oh\r\n')
    [article] = read_table(path)
    assert article.title == "Rain, and\r\nsnow"
    assert [comment.text for comment in article.comments] == ['Say "no"', "Oh"]


def test_rows_that_are_broken(lines: Lines, problems: Problems, report: ImportReport) -> None:
    rows = (
        "article,title,id,text,upvotes",
        "1,Rain,a,Oh,3",
        "1,Rain,b",
        b"1,Rain,c,\xb0\xae,",
        "1,Rain,d,No,many",
        ",Rain,e,Oh,",
        "1,Snow,f,Oh,",
        "1,Rain,g,,1",
        "1,Rain,a,Again,",
        "2,,h,Oh,",
        '3,Rain,"i"x,Oh,',
        "3,Rain,j,Yes,",
    )
    found = list(read_table(lines("c.csv", *rows), report, encoding="utf-8"))
    assert [(article.id, [comment.id for comment in article.comments]) for article in found] == [
        ("1", ["a"]),
        ("2", ["h"]),
        ("3", ["j"]),
    ]
    assert (report.textless, report.untitled) == (1, 1)
    quote = "a quote that is not closed or not doubled? A table without quoting: --no-quotes"
    assert problems(report) == [
        "c.csv:3: : expected 5 columns, got 3",
        "c.csv:4: : byte 0xb0 is not utf-8; name the encoding with --encoding",
        'c.csv:5: upvotes: expected a whole number of votes, got "many"',
        "c.csv:6: article: the cell is empty; it names the comment's article",
        'c.csv:7: : the columns of article "1" say something else in line 2; make them equal',
        f"c.csv:11: : ',' expected after '\"'; {quote}",
        'c.csv:9: id: comment "a" of this article stands in line 2 already; keep one of them',
    ]


def test_the_lines_of_two_tables(lines: Lines, problems: Problems, report: ImportReport) -> None:
    articles = lines("a.csv", *ARTICLES, "1,Again,", "3,Sun,")
    comments = lines("c.csv", *COMMENTS, "9,Nobody's,1")
    assert [article.id for article in read_table(comments, report, articles=articles)] == ["1", "2", "3"]
    assert (report.orphans, report.bare) == (1, 1)
    assert problems(report) == [f'a.csv:4: id: article "1" stands in {articles}:2 already; keep one of them']


@pytest.mark.parametrize(
    ("rows", "columns", "problem"),
    [
        (("article,title", "1,Rain"), {}, ":1: text: no such column; the table has: article, title"),
        (("article,text", "1,Oh"), {}, ":1: title: no such column; the table has: article, text"),
        (("article,title,text", "1,Rain,Oh"), {"url": "link"}, ":1: link: no such column"),
        (("article,title,text,text", "1,Rain,Oh,No"), {}, ":1: text: the column stands twice; give one another name"),
        (("", ""), {}, ": the table is empty"),
        (
            ("\x01" + "x" * 10_000,),
            {},
            f":1: article, text, title: no such columns; the table has: \\x01{'x' * 199}…; name",
        ),
        (("article,title,text", '1,Rain,"Oh', "no end"), {}, ":2: unexpected end of data; a quote that is not closed"),
    ],
)
def test_tables_that_are_none(lines: Lines, rows: tuple[str, ...], columns: dict[str, str], problem: str) -> None:
    path = lines("c.csv", *rows)
    assert refused(InvalidInput, read_table, path, columns=columns).startswith(f"{path}{problem}")


def test_a_table_that_is_cut_off(lines: Lines, problems: Problems, report: ImportReport) -> None:
    noise = random.Random(1)  # noqa: S311 - no secret
    path = lines("c.csv.gz", ONE[0], *(f"{i},Rain,{noise.random()},1" for i in range(5000)))
    path.write_bytes(path.read_bytes()[:-5000])
    assert 100 < len(list(read_table(path, report))) < 5000
    assert "the gzip file ends early after line" in problems(report)[-1]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"encoding": "utf-9"}, "unknown encoding 'utf-9'"),
        ({"encoding": "rot13"}, "unknown encoding 'rot13'"),  # not from bytes to text
        ({"encoding": "idna"}, "unknown encoding 'idna'"),  # cannot go on after a byte that it has not
        ({"encoding": "a\0b"}, "unknown encoding 'a"),
        ({"delimiter": ";;"}, 'one character stands between columns, or the word tab; got ";;"'),
    ],
)
def test_options_that_make_no_sense(lines: Lines, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem.replace("(", r"\(")):
        list(read_table(lines("c.csv", *ONE), **options))
    with pytest.raises(InvalidInput) as caught:
        list(read_table(lines("c.csv", *ONE), encoding="utf-16"))
    problem = "c.csv:1: not utf-16: UTF-16 stream does not start with BOM; name the encoding with --encoding"
    assert problem in caught.value.words(COMMAND_LINE)


@pytest.mark.parametrize(("name", "given"), [("c.txt.gz", None), ("c.csv", "tab"), ("c.csv", "\\t"), ("c.csv", "\t")])
def test_tabs(lines: Lines, name: str, given: str | None) -> None:
    path = lines(name, *(row.replace(",", "\t") for row in ONE))
    assert len(list(read_table(path, delimiter=given))) == 2


def test_sheets_of_a_workbook(lines: Lines, problems: Problems, report: ImportReport) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    articles, comments = book.active, book.create_sheet("Comments")
    for page, rows in ((articles, ARTICLES), (comments, (*COMMENTS, "1,Error,#N/A"))):
        for row in rows:
            page.append([float(cell) if cell.isdecimal() else cell for cell in row.split(",")])
    path = lines("c.xlsx")
    book.save(path)
    sheets = {"sheet": "Comments", "sheet_of_articles": "Sheet"}
    assert list(read_table(path, report, articles=path, **sheets)) == EXPECTED
    [problem] = problems(report)
    assert problem.startswith("c.xlsx:6: upvotes: expected a value, got the error #N/A in cell C6; correct the formula")


def test_tables_that_are_no_utf_8(lines: Lines, report: ImportReport) -> None:
    path = lines("c.csv", *(row.replace(",", ";").encode("cp1252") for row in ("article,title,text", "1,Grüße,Schön")))
    [article] = read_table(path, report)
    assert (article.title, article.comments[0].text) == ("Grüße", "Schön")
    assert report.detected == [f"{path}: read as cp1252 with ';' between columns"]


def test_no_room_for_the_temporary_file(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "TABLES", f"PRAGMA max_page_count = 4; {fields.TABLES}")
    path = lines("c.csv", ONE[0], *(f"{i},Rain,{'long ' * 500},1" for i in range(100)))
    with pytest.raises(PostilError, match="refuses: database or disk is full; see TMPDIR") as caught:
        list(read_table(path))
    assert isinstance(caught.value.__cause__, sqlite3.Error)


def test_points_that_may_separate_thousands(lines: Lines, problems: Problems, report: ImportReport) -> None:
    path = lines("c.csv", "article;title;text;upvotes", "7;Rain;Yes.;1.000", "7;Rain;No.;999")
    with pytest.raises(
        InvalidInput, match=r':2: upvotes: expected .* got "1.000", beside "999" in line 3.* decimal="."'
    ):
        list(read_table(path, report))
    assert report.articles == 0
    for mark, votes in ((".", [1, 999]), (",", [1000, 999])):
        (article,) = read_table(path, decimal=mark)
        assert [comment.upvotes for comment in article.comments] == votes
    graded = lines("g.csv", "article;title;text;grade", "7;Rain;Yes.;4.125", "7;Rain;No.;3.875", "7;Rain;Oh.;")
    (article,) = read_table(graded)
    assert [comment.grade for comment in article.comments] == [4.125, 3.875, None]
    marked = lines("m.csv", "article;title;text;grade", "7;Rain;Yes.;2,5", "7;Rain;No.;2.5", "7;Rain;Oh.;1.250,75")
    (article,) = read_table(marked, report, decimal=",")
    assert [comment.grade for comment in article.comments] == [2.5, 1250.75]
    (problem,) = problems(report)
    assert (
        problem == "m.csv:3: grade: expected a number, got \"2.5\"; --decimal says that ',' stands before the decimals"
    )
    with pytest.raises(UsageError, match=r"^decimal: expected \. or , for the mark before the decimals"):
        list(read_table(graded, decimal=";"))
