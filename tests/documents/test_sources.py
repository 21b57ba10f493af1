"""Sources of documents: folders, feeds, and what cannot be read among others."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from postil.documents import reading
from postil.documents.document import Document, FailedPage
from postil.documents.feed import FeedReport
from postil.documents.options import SourceOptions
from postil.documents.reading import documents_of, entries_of, load, read_source
from postil.endpoint import page_fetch
from postil.endpoint.page_fetch import Page
from postil.errors import InvalidInput
from postil.interest.calls import rank_sources
from postil.interest.options import InterestingOptions
from postil.passages.similarity import passages_of

if TYPE_CHECKING:
    from pathlib import Path

RAIN = "It rained on Ely all night, and nobody left the house."
FEED = f"""<rss version="2.0"><channel><title>Fen News</title><language>en</language>
<item><title>Rain</title><link>https://fen.example/rain</link><description>&lt;p&gt;{RAIN}&lt;/p&gt;</description>
<pubDate>Mon, 02 Nov 2026 09:00:00 GMT</pubDate></item>
<item><title>Sun</title><link>https://fen.example/sun</link></item>
</channel></rss>"""


def names(found: list[Document | FailedPage | FeedReport]) -> list[str]:
    return [each.source.rpartition("/")[2] for each in found]


def test_a_folder_is_read_in_the_order_of_names_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b.txt", "a/c.md", ".hidden/d.txt", ".e.txt", "f.jpeg", "g.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(RAIN, encoding="utf-8")
    (tmp_path / "z.pdf").write_bytes(b"%PDF-1.7 nothing else")
    found = list(documents_of([str(tmp_path), str(tmp_path / "none.txt")], SourceOptions()))
    assert names(found) == ["c.md", "b.txt", "z.pdf", "none.txt"]
    assert [isinstance(each, Document) for each in found] == [True, True, False, False]
    failed = found[-1]
    assert isinstance(failed, FailedPage)
    assert failed.problem == "no such file"


def test_what_a_browser_saves_beside_a_page_is_no_document(tmp_path: Path) -> None:
    names_of = ("Rain.html", "Rain_files/ad.html", "Rain_files/a/b.html", "Sun.htm", "Sun-Dateien/ad.htm")
    for name in (*names_of, "Rain_notes/c.md", "Moon_files/d.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(f"<html><body><p>{RAIN}</p></body></html>", encoding="utf-8")
    found = documents_of([str(tmp_path)], SourceOptions())
    assert sorted(names(list(found))) == ["Rain.html", "Sun.htm", "c.md", "d.md"]


def test_entries_of_a_feed_are_documents(tmp_path: Path) -> None:
    (tmp_path / "feed.xml").write_text(FEED, encoding="utf-8")
    rain, sun = entries_of(load(str(tmp_path / "feed.xml")), SourceOptions())
    assert isinstance(rain, Document)
    assert (rain.title, rain.url, rain.date, rain.lang) == ("Rain", "https://fen.example/rain", "2026-11-02", "en")
    assert RAIN in rain.text
    assert isinstance(sun, FailedPage)
    assert sun.source == "https://fen.example/sun"
    assert "no text" in sun.problem


def test_what_is_odd_in_a_feed_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "feed.xml"
    path.write_bytes(FEED.replace("Rain<", "Rain & caf\xe9<").encode("latin-1")[:-20])
    report, rain, _ = entries_of(load(str(path)), SourceOptions())
    assert isinstance(report, FeedReport)
    assert isinstance(rain, Document)
    assert (rain.title, report.cut_off, report.encoding) == ("Rain & café", True, "cp1252")
    assert rank_sources([str(path)], InterestingOptions()).notes == (
        f"{path}: the feed is cut off; its last entry is 2, and may not be whole",
        f"{path}: the feed says no encoding and is not UTF-8; read as cp1252",
    )
    head = '<?xml version="1.0" encoding="utf-8"?>'
    path.write_bytes((head + FEED.replace("Rain<", "Rain caf\xe9\0<")).encode("latin-1"))
    assert rank_sources([str(path)], InterestingOptions()).notes == (
        f"{path}: characters forbidden in XML, or bytes that are not of the feed's encoding, replaced by U+FFFD: 2",
    )
    assert passages_of(str(path)) == [RAIN]


def test_only_named_addresses_may_lead_inside_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, bool] = {}

    async def fetch(url: str, *, allow_private: bool, **_: object) -> Page:
        asked[url] = allow_private
        return Page(url=url, body=f"<title>Sun</title><p>{RAIN}</p>".encode(), kind="text/html", charset="utf-8")

    monkeypatch.setattr(page_fetch, "fetch_page", fetch)
    (tmp_path / "feed.xml").write_text(FEED, encoding="utf-8")
    followed = list(documents_of([str(tmp_path / "feed.xml"), "http://intranet.example/"], SourceOptions(follow=True)))
    assert asked == {
        "https://fen.example/rain": False,
        "https://fen.example/sun": False,
        "http://intranet.example/": True,
    }
    assert all(isinstance(each, Document) for each in followed)


def test_an_address_that_cannot_be_fetched_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fetch(url: str, **_: object) -> Page:
        del url
        raise InvalidInput("there is no host 'fen.example'", field="url")

    monkeypatch.setattr(page_fetch, "fetch_page", fetch)
    with pytest.raises(InvalidInput, match=r"^https://fen\.example/: there is no host 'fen\.example'$"):
        load("https://fen.example/")


def test_standard_input_and_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RAIN.encode())))
    assert read_source(load("-"), SourceOptions(kind="text")).text == RAIN
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RAIN.encode())))
    monkeypatch.setattr(reading, "LARGEST", 10)
    with pytest.raises(InvalidInput, match="at most 10 bytes"):
        load("-")
