"""Real PDFs, of several makers, with sentences that are known from their sources."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import mean

import pytest

pytest.importorskip("bench.documents")
import bench.documents
from bench.documents import articles, known
from bench.documents.whole import main, missing

PAGES = Path(bench.documents.__file__).parent / "pages"
DATA = Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[3] / "shared" / "data")) / "documents"


@pytest.mark.parametrize("name", ["asmeconf", "chromium", "docbook-xsl", "groff"])
def test_sentences_of_real_pages_are_whole(name: str) -> None:
    lost, number = missing(PAGES / f"{name}.pdf")
    assert number > 12
    assert len(lost) <= 0.05 * number, lost


def test_every_page_has_a_source_and_a_license() -> None:
    page = (PAGES / "README.md").read_text(encoding="utf-8")
    assert {path.stem for path in PAGES.glob("*.pdf")} == {path.stem for path in PAGES.glob("*.txt")}
    assert all(f"| `{path.name}` |" in page for path in PAGES.glob("*.pdf"))


def test_the_table_names_what_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "groff.pdf").write_bytes((PAGES / "groff.pdf").read_bytes())
    first = (PAGES / "groff.txt").read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "groff.txt").write_text(f"{first}\nNobody wrote this in any of the pages.\n", encoding="utf-8")
    assert main([str(tmp_path), "--missing"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:] == [
        "| groff | 2 | 0.500 |",
        "    Nobody wrote this in any of the pages.",
        "| mean of 1 | | 0.500 |",
    ]


def test_known_sentences_are_those_that_a_pdf_has() -> None:
    html = (
        b"<p>It rained all day in <b>June</b>.<p>See <a href=x>page 3</a> of the mill.<pre>It is no prose at all.</pre>"
    )
    assert list(known.sentences(known.of_html(html))) == ["It rained all day in June."]
    latex = (
        r"\begin{document}\section{Mills} The \emph{mill} of the ``left'' bank stood. It has $x^2$ wheels of its own."
    )
    assert list(known.sentences(known.of_latex(latex))) == ['The mill of the "left" bank stood.']
    roff = ".PP\nThe \\fImill\\fP stood on the left bank.\n.FS\nIt is no longer there now.\n.FE\n"
    assert list(known.sentences(known.of_roff(roff))) == ["The mill stood on the left bank."]
    assert known.folded("“Well–known”  and\xad so‐on") == known.folded('"Well-known" and so-on')


@pytest.mark.skipif(not (DATA / "manuals").is_dir(), reason="needs the manuals under POSTIL_DATA")
def test_sentences_of_manuals_are_whole() -> None:
    found = [missing(pdf) for pdf in sorted((DATA / "manuals").glob("*.pdf"))]
    assert mean(1 - len(lost) / number for lost, number in found) >= 0.89


@pytest.mark.skipif(not (DATA / "readability").is_dir(), reason="needs readability's pages under POSTIL_DATA")
def test_articles_of_pages_are_found() -> None:
    found = [articles.found(page.parent) for page in (DATA / "readability").glob("*/expected.html")]
    assert mean(one.f1 for one in found) >= 0.955


def test_what_is_found_of_an_article(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paragraphs = [f"The keeper of lock {lock} saw nobody until the evening of the fair." for lock in ("one", "two")]
    (tmp_path / "lock").mkdir()
    (tmp_path / "lock" / "expected.html").write_text("".join(f"<p>{each}</p>" for each in paragraphs), encoding="utf-8")
    more = "A third paragraph, which is not of the article, as its reader says."
    page = f"<title>Locks</title><article><h1>Locks</h1><p>{paragraphs[0]}</p><p>{more}</p></article>"
    (tmp_path / "lock" / "source.html").write_text(page, encoding="utf-8")
    assert articles.main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| lock | 0.500 | 0.495 | 0.498 |",  # 51 letters of 51 + 51, and of 51 + 52
        "| mean of 1 | 0.500 | 0.495 | 0.498 |",
    ]
    (tmp_path / "lock" / "source.html").write_text("<p></p>", encoding="utf-8")
    assert articles.found(tmp_path / "lock").f1 == 0
