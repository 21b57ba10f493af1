"""Tables of articles and comments, in any order, with whatever spreadsheets and databases write."""

from __future__ import annotations

import random
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from postil.corpus.importers import fields
from postil.corpus.importers.fields import read_table
from postil.data.rows import Article, Comment
from postil.errors import InvalidInput, PostilError, UsageError
from refusals import refused

if TYPE_CHECKING:
    from conftest import Lines, Problems
    from postil.corpus.importers.import_report import ImportReport

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


def test_dates(lines: Lines, problems: Problems, report: ImportReport) -> None:
    """In one table the column ``date`` is the comments', unless the map says more."""
    comments = lines("c.csv", "article,title,text,date,posted", *(f"1,Rain,Oh,{date},2020-03-21" for date in DATES))
    [found] = read_table(comments, report)
    assert (found.date, [comment.date for comment in found.comments]) == (None, [DATE, None])
    assert problems(report) == [
        (
            'c.csv:4: date: expected a date such as 2017-03-30T02:56:13Z, or Unix seconds, got "soon"; '
            "to import without dates, map date to an empty name"
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


def test_what_is_broken(lines: Lines, problems: Problems, report: ImportReport) -> None:
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


def test_a_file_that_is_cut_off(lines: Lines, problems: Problems, report: ImportReport) -> None:
    noise = random.Random(1)  # noqa: S311 - no secret
    path = lines("c.csv.gz", ONE[0], *(f"{i},Rain,{noise.random()},1" for i in range(5000)))
    path.write_bytes(path.read_bytes()[:-5000])
    assert 100 < len(list(read_table(path, report))) < 5000
    assert "the gzip file ends early after line" in problems(report)[-1]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"encoding": "utf-9"}, "unknown encoding 'utf-9'"),
        ({"delimiter": ";;"}, 'one character stands between columns, or the word tab; got ";;"'),
    ],
)
def test_options_that_make_no_sense(lines: Lines, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem.replace("(", r"\(")):
        list(read_table(lines("c.csv", *ONE), **options))


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
