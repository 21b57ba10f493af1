"""Dumps of Wikipedia and files of wikitext, and grades joined to their passages."""

from __future__ import annotations

import bz2
import gzip
from html import escape
from typing import TYPE_CHECKING, Final

import pytest

from postil.corpus.importers.trec import read_grades
from postil.corpus.importers.wikipedia import Chosen, WikiPassages, WikiReport, read_titles, read_wikipedia
from postil.data.rows import Passage
from postil.engine import open_engine
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Read = Callable[..., tuple[list[Passage], WikiReport]]

pytest.importorskip("mwparserfromhell", reason="needs the extra pages")

DUCK: Final = (
    "{{Infobox|x=[[y]]}}'''Ducks''' are [[bird]]s that swim in [[Lake|lakes]].<ref>[[Book]]</ref> They dive.\n\n"
    "== Food ==\n* [[Poaceae|Grass]] and reeds of the bank\n* Bread\n== See also ==\n* [[Goose]] is a bird of lakes too"
)
RYE: Final = "Rye is a [[grass]] that grows where [[wheat]] does not."


def page(title: str, text: str, *, namespace: int = 0, redirect: str = "", revisions: int = 1) -> str:
    goes = f'<redirect title="{redirect}" />' if redirect else ""
    old = "<revision><text>Old words of the page that nobody reads any more.</text></revision>" * (revisions - 1)
    body = f'<revision><id>3</id><text bytes="9" xml:space="preserve">{escape(text)}</text></revision>'
    return f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>7</id>{goes}{old}{body}</page>\n"


def dump(*pages: str, name: str = "enwiki") -> str:
    return (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n'
        f"<siteinfo><sitename>W</sitename><dbname>{name}</dbname></siteinfo>\n{''.join(pages)}</mediawiki>\n"
    )


PAGES: Final = (
    page("Duck", DUCK, revisions=2),
    page("Anas", "#REDIRECT [[Duck]]", redirect="Duck"),
    page("Mercury", "'''Mercury''' may be many things in many places of the sky.\n* [[Planet]]\n{{disambiguation}}"),
    page("Talk:Duck", "Nobody has ever seen a duck here, says one who lives by the lake.", namespace=1),
    page("Rye & bread", RYE),
)


@pytest.fixture
def rows(tmp_path: Path) -> Read:
    def read(
        *texts: str | bytes, jobs: int = 1, make: WikiPassages | None = None, chosen: Chosen | None = None
    ) -> tuple[list[Passage], WikiReport]:
        paths = [tmp_path / f"dump{at}.xml" for at in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        report = WikiReport()
        make = make or WikiPassages(min_words=5)
        with open_engine(jobs=jobs) as engine:
            return list(read_wikipedia(paths, report, engine=engine, make=make, chosen=chosen)), report

    return read


def test_passages_and_counts(rows: Read) -> None:
    passages, report = rows(dump(*PAGES))
    assert passages == [
        Passage("Duck", "1", "Ducks are birds that swim in lakes. They dive.", anchors=("birds", "lakes")),
        Passage("Duck", "2", "Grass and reeds of the bank", anchors=("Grass",)),
        Passage("Rye & bread", "1", "Rye is a grass that grows where wheat does not.", anchors=("grass", "wheat")),
    ]
    assert (report.pages, report.redirects, report.disambiguations, report.elsewhere) == (2, 1, 1, 1)
    assert (report.short, report.anchors, report.empty) == (1, 5, 0)


def test_sentences_have_their_own_anchors(rows: Read) -> None:
    text = "A [[duck]] swims. [[Geese]] fly over the [[lake]]."
    passages, _ = rows(dump(page("Duck", text)), make=WikiPassages("sentences", 1, targets=True))
    assert [(each.id, each.text, each.anchors) for each in passages] == [
        ("1", "A duck swims.", ("Duck",)),
        ("2", "Geese fly over the lake.", ("Geese", "Lake")),
    ]
    passages, report = rows(dump(page("鸭", "[[鸭]]是一种会游泳的水鸟。\n\n鸭。"), name="zhwiki"))
    assert ([each.text for each in passages], report.short) == (["鸭是一种会游泳的水鸟。"], 1)  # by characters


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress], ids=["plain", "gzip", "bzip2"])
def test_dumps_are_read_compressed_and_by_several_workers(rows: Read, pack: Callable[[bytes], bytes]) -> None:
    several = [page(f"Duck {at}", DUCK) for at in range(70)]
    packed = pack(dump(*several[:40]).encode()) if pack is not bz2.compress else b"".join(
        bz2.compress(part.encode()) for part in dump(*several[:40]).partition("Duck 20")
    )  # fmt: skip
    passages, report = rows(packed, dump(*several[40:]), jobs=2 if pack is bytes else 1)
    assert [each.topic for each in passages] == [f"Duck {at}" for at in range(70) for _ in range(2)]
    assert report.pages == 70


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress], ids=["plain", "gzip", "bzip2"])
def test_what_xml_forbids_is_replaced_and_counted(rows: Read, pack: Callable[[bytes], bytes]) -> None:
    text = dump(page("Duck", "A duck\0 swims &#x1c; on caf\xe9 lakes of R&D."), page("Rye & bread", RYE))
    data = text.replace("&amp;#x1c;", "&#x1c;").replace("R&amp;D", "R&D").encode("latin-1")
    passages, report = rows(pack(b"\n" + data))
    shown = "A duck� swims � on caf� lakes of R&D."
    assert [each.text for each in passages] == [shown, "Rye is a grass that grows where wheat does not."]
    assert (report.read.replaced, report.read.detected) == (3, [])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "cp1252"])
def test_dumps_in_other_encodings(rows: Read, encoding: str) -> None:
    head = f'\n<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>\n'
    passages, report = rows((head + dump(page("Rye", RYE.replace("wheat", "blé")))).encode(encoding))
    assert [each.text for each in passages] == ["Rye is a grass that grows where blé does not."]
    assert report.read.replaced == 0


def test_pages_can_be_chosen(rows: Read, tmp_path: Path) -> None:
    (titles := tmp_path / "titles").write_text("Rye_& bread\nGoose\n", encoding="utf-8")
    passages, report = rows(dump(*PAGES), chosen=Chosen(titles=read_titles(titles)))
    assert [each.topic for each in passages] == ["Rye & bread"]
    assert (report.unnamed, report.absent) == (3, ["Goose"])
    passages, report = rows(dump(*PAGES), chosen=Chosen(limit=1))
    assert {each.topic for each in passages} == {"Duck"}
    passages, report = rows(dump(*PAGES), chosen=Chosen(namespaces=frozenset({1})))
    assert {each.topic for each in passages} == {"Talk:Duck"}


def test_files_of_wikitext(tmp_path: Path) -> None:
    (path := tmp_path / "Rye_bread.wiki").write_text(RYE, encoding="utf-8")
    with open_engine() as engine:
        found = list(read_wikipedia([path], WikiReport(), engine=engine))
    assert found == [Passage("Rye bread", "1", "Rye is a grass that grows where wheat does not.", ("grass", "wheat"))]
    (path := tmp_path / "a.txt").write_bytes(b"caf\xe9")
    with open_engine() as engine, pytest.raises(InvalidInput, match="byte 3 is not UTF-8"):
        list(read_wikipedia([path], WikiReport(), engine=engine))


WHOLE: Final = dump(*PAGES)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "expected a dump"),
        (b"a,b\n", "expected a dump"),
        (b"<?xml version='1.0'?><rss></rss>", "outermost element is mediawiki, got rss"),
        (dump().encode(), "the dump has no pages"),
        (WHOLE[:-300].encode(), "the rest is not read; is the file cut off"),
        (bz2.compress(WHOLE.encode())[:-30], "the bzip2 file ends early"),
        (b"BZh91AY&SY" + bytes(99), "the bzip2 file is damaged"),
        (gzip.compress(WHOLE.encode(), mtime=0)[:-30], "the gzip file ends early"),
        (b'<!DOCTYPE m [<!ENTITY a "b">]><mediawiki>&a;</mediawiki>', "expected a dump|declares the entity"),
        (b"<?xml version='1.0'?><!DOCTYPE m [<!ENTITY a 'b'>]><mediawiki/>", "declares the entity a"),
        (dump("<page><ns>0</ns></page>").encode(), "expected a page with a title"),
        (dump("<page><title>a</title><ns>x</ns></page>").encode(), "expected a page with a title"),
    ],
)  # fmt: skip
def test_broken_dumps_are_one_sentence(rows: Read, data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem) as caught:
        rows(data)
    assert "\n" not in str(caught.value)


def test_grades_are_joined_by_page_and_number(tmp_path: Path) -> None:
    passages = [Passage("Rye bread", str(at), "x") for at in range(1, 4)] + [Passage("Duck", "1", "y")]
    (qrels := tmp_path / "qrels").write_text(
        "Rye_bread Q0 1 2\nq7 Q0 Rye_bread#3 1\nq8 Q0 Rye_bread#3 0\nDuck Q0 9 1\n"
    )
    grades = read_grades(qrels)
    assert list(grades.joined(passages, "skip")) == [
        Passage("Rye bread", "1", "x", grade=2),
        Passage("q7", "Rye bread#3", "x", grade=1),
        Passage("q8", "Rye bread#3", "x", grade=0),
    ]
    assert (grades.unjudged, grades.missing) == (2, ["Duck#9"])
    assert [each.grade for each in read_grades(qrels).joined(passages, "zero")] == [2, 0, 1, 0, 0]
    assert [each.grade for each in read_grades(qrels).joined(passages, "keep")] == [2, None, 1, 0, None]
    (path := tmp_path / "grades.jsonl").write_text('{"topic": "Rye bread", "id": 2, "grade": 1.5}\n')
    assert read_grades(path).judged == {("Rye bread", "2"): {None: 1.5}}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('{"topic": "a", "id": "1"}', "grade: expected a number of at least 0"),
        ('{"topic": "a", "id": "1", "grade": -1}', "grade: expected a number of at least 0"),
        ('{"topic": "a", "id": 1.5, "grade": 1}', "id: expected text or a whole number"),
        ('{"id": "1", "grade": 1}', "topic: expected text or a whole number"),
        ('{"topic": "b", "id": "1", "grade": 1}', "another grade in an earlier line"),
    ],
)
def test_grades_that_are_broken_are_named(tmp_path: Path, row: str, problem: str) -> None:
    (path := tmp_path / "grades.jsonl").write_text('{"topic": "b", "id": "1", "grade": 2}\n' + row + "\n")
    with pytest.raises(InvalidInput, match=problem) as caught:
        read_grades(path)
    assert caught.value.line == 2
