"""Files that no reader may take whole into memory: lines without end, and little else than line ends."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from postil.corpus.blocks import blocks
from postil.corpus.importers.fields import table_rows
from postil.corpus.importers.import_report import ImportReport, json_lines
from postil.corpus.importers.inex import read_topics
from postil.corpus.importers.trec import read_collection, read_qrels, read_run
from postil.data.streams import text_lines
from postil.errors import InvalidInput
from postil.passages.similarity import passages_of
from refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

READERS: dict[str, tuple[str, Callable[[Path], Iterable[object]]]] = {
    "lines": ("one\n", text_lines),
    "JSON Lines": ("{}\n", lambda path: json_lines(path, ImportReport())),
    "table": ("text\n", lambda path: table_rows(path, ImportReport())),
    "collection": ("d1\ttext\n", read_collection),
    "collection in JSON": ('{"id": 1, "text": ""}\n', read_collection),
    "qrels": ("7 Q0 d1 1\n", read_qrels),
    "run": ("7 Q0 d1 1 1 a\n", read_run),
    "topics": ("7 text\n", read_topics),
    "topics in JSON": ('{"id": 1, "text": ""}\n', read_topics),
    "blocks": ("{}\n", lambda path: blocks(path, size=1 << 12)),
}


def memory(read: Callable[[Path], Iterable[object]], path: Path) -> tuple[str, int]:
    """Error message of a reader for a file, and its peak memory."""
    tracemalloc.start()
    try:
        said = refused(InvalidInput, read, path)
        return said, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("reader", READERS)
def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    monkeypatch.setattr("postil.data.streams.LONGEST_LINE", 1 << 18)
    first, read = READERS[reader]
    path = tmp_path / "file.jsonl"
    path.write_text(first + "x" * (1 << 24))
    said, peak = memory(read, path)
    assert said.startswith(f"{path}:2: expected a line of at most 262,144 bytes, got a longer one; does the file have")
    assert peak < 1 << 22


@pytest.mark.parametrize("reader", READERS)
def test_nothing_but_line_ends(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(b"\n" * (1 << 22 if reader == "blocks" else 1 << 17))
    if reader == "blocks":  # which are cut where lines end, whatever these hold
        assert sum(len(block.data) for block in blocks(path)) == 1 << 22
        return
    said, peak = memory(READERS[reader][1], path)
    assert said.startswith(f"{path}: the ")
    assert peak < 1 << 21


def topics(inside: str) -> str:
    return f"<topics><topic id='1'><title>{inside}</title></topic></topics>"


def test_xml_takes_time_in_proportion(tmp_path: Path) -> None:
    """The parser gives line ends one by one; to put each behind all others takes minutes."""
    path = tmp_path / "topics.xml"
    path.write_text(topics("Rain" + "\n" * 1_000_000 + "tomorrow"))
    assert read_topics(path) == {"1": "Rain tomorrow"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (topics("\n" * 2_000_000), "expected an element of at most 100,000 characters, got a larger one"),
        ("<topics " + "x" * 2_000_000, "expected a tag of at most 100,000 bytes, got one without end"),
        ("<a>" * 200_000, "expected elements at most 100 deep, got deeper ones"),
    ],
)
def test_xml_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    monkeypatch.setattr("postil.documents.xml.LARGEST", 100_000)
    path = tmp_path / "topics.xml"
    path.write_text(text)
    found, peak = memory(read_topics, path)
    assert found.startswith(f"{path}:")
    assert found.endswith(said)
    assert peak < 1 << 22


@pytest.mark.parametrize("split", ["paragraphs", "sentences", "lines"])
def test_a_page_is_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, split: str) -> None:
    path = tmp_path / "page.txt"
    path.write_text("\n" * 100_000 + "Rain.\n")
    assert passages_of(str(path), split) == ["Rain."]  # type: ignore[arg-type]
    monkeypatch.setattr("postil.documents.reading.LARGEST", 50_000)
    path.write_text("Rain.\n" * 1_000_000)
    said, peak = memory(lambda path: passages_of(str(path), split), path)  # type: ignore[arg-type]
    assert said.startswith(f"{path}:")
    assert "expected a document of at most 50,000 bytes, got a longer one" in said
    assert peak < 1 << 20
