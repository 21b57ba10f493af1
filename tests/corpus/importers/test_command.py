"""`postil corpus import`: rows in the file, words about what was met on standard error, exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import typer.main
from typer.testing import CliRunner

from postil.corpus.command import corpus
from postil.corpus.importers.articles import EXPORTS
from postil.data.row_files import read
from postil.data.rows import Passage

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
    assert list(read("p.jsonl", Passage)) == [
        Passage("7", "d1", "Rain tomorrow, and then snow.", grade=2),
        Passage("7", "d2", "Rain tomorrow, and later snow.", grade=0),
    ]


def test_rows_to_standard_output(run: Import) -> None:
    result = run(*TREC[:-1], "-")
    assert result.stdout.startswith('{"topic":"7","id":"d1","text":"Rain tomorrow, and then snow.","grade":2.0}\n')


@pytest.mark.parametrize("kind", ["jsonl.gz", "parquet"])
def test_kinds_of_files(run: Import, kind: str) -> None:
    assert run(*TREC[:-1], f"p.{kind}").exit_code == 0
    assert [row.id for row in read(f"p.{kind}", Passage)] == ["d1", "d2"]


def test_duplicates(run: Import) -> None:
    result = run(*TREC, "--duplicates", "5")
    said = "1 passage merged with another of the topic, which begins and ends with the same 5 characters\n"
    assert said in result.stderr
    assert [row.id for row in read("p.jsonl", Passage)] == ["d1"]


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
    pytest.importorskip("mwparserfromhell", reason="needs the extra wiki")
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
    pytest.importorskip("mwparserfromhell", reason="needs the extra wiki")
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


def test_many_grades_are_summed_up(run: Import) -> None:
    Path("qrels").write_text("".join(f"{i} Q0 d1 {i}\n" for i in range(12)))
    assert run(*TREC).stderr.endswith("12 passages of 12 topics in p.jsonl; grade 0: 1, above 0: 11\n")


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


FORMATS: Final = {"trec", "inex", "wikipedia", "tencent", "tokenized", "deepcom", "forum", "csv", "dataset"} | set(
    EXPORTS
)


def test_every_option_says_what_it_is() -> None:
    group = typer.main.get_command(corpus).commands["import"]  # type: ignore[attr-defined]
    assert set(group.commands) == FORMATS
    for command in group.commands.values():
        assert command.help
        assert all(parameter.help for parameter in command.params)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_help(run: Import, name: str) -> None:
    result = run(name, "-h")
    assert result.exit_code == 0
    assert f"Example: postil corpus import {name}" in result.stdout


def test_help_is_light() -> None:
    code = "import sys, postil.corpus.command; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert not {"matplotlib", "pyarrow", "scipy", "sklearn", "torch"} & set(done.stdout.split())
