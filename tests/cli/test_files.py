"""Files of every command: any kind and any name of a column says the same, and one that cannot be read is a line."""

from __future__ import annotations

import csv
import gzip
import json
import shlex
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from command_line import put, refusal
from postil.cli.output import emit, print_into
from postil.data.conversion import convert
from postil.data.escaping import without_apostrophe
from postil.data.row_files import write
from postil.data.rows import Candidate, Judgement, PairPreference, Passage, Reference, Score
from postil.data.suggestions import Impression
from postil.messages import COMMAND_LINE, INTERFACE
from postil.results.base import Result
from postil.results.formats import FILES, FORMATS
from postil.results.views import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Postil

    Record = dict[str, object]


GOOD = b'{"item": "a", "text": "a cat"}\n'
JUDGED = ("--judgements", "j.jsonl")
ENDPOINT = ("--scale", "1:5", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m")

PLACES = {
    "score": ("score", "FILE", "-r", "r.jsonl"),
    "score --references": ("score", "c.jsonl", "-r", "FILE"),
    "judge": ("judge", "FILE", "-r", "r.jsonl", *ENDPOINT),
    "judge --references": ("judge", "c.jsonl", "-r", "FILE", *ENDPOINT),
    "weights plan": ("weights", "plan", "FILE", "-r", "r.jsonl", "--budget", "2"),
    "weights plan --references": ("weights", "plan", "c.jsonl", "-r", "FILE", "--budget", "2"),
    "compare": ("compare", "FILE"),
    "compare --preferences": ("compare", "--preferences", "FILE"),
    "compare --interleaved": ("compare", "--interleaved", "FILE"),
    "correlate": ("correlate", "FILE", *JUDGED),
    "correlate --judgements": ("correlate", "s.jsonl", "--judgements", "FILE"),
    "correlate --candidates": ("correlate", "s.jsonl", *JUDGED, "--candidates", "FILE"),
    "estimate": ("estimate", "FILE", *JUDGED),
    "estimate --judgements": ("estimate", "--judgements", "FILE"),
    "budget": ("budget", "FILE", *JUDGED),
    "budget --judgements": ("budget", "s.jsonl", "--judgements", "FILE"),
    "combine fit": ("combine", "fit", "FILE", *JUDGED, "--out", "m"),
    "combine fit --judgements": ("combine", "fit", "s.jsonl", "--judgements", "FILE", "--out", "m"),
    "passages": ("passages", "FILE"),
    "passages --summaries": ("passages", "p.jsonl", "--summaries", "FILE"),
    "rank-comments": ("rank-comments", "FILE", "--by", "votes"),
    "annotate plan": ("annotate", "plan", "FILE", "a.db", "-n", "2"),
    "corpus build": ("corpus", "build", "FILE", "--out", "corpus", "--source", "us", "--license", "none"),
    "vectors train": ("vectors", "train", "FILE", "--out", "v"),
}
"""Commands with a place for a file of rows."""
NEEDS = {"annotate": "sqlalchemy", "corpus": "pyarrow", "vectors": "gensim"}

PROBLEMS: dict[str, tuple[bytes | None, str]] = {
    "none.jsonl": (None, ": no such file"),
    "folder.jsonl": (None, ": a folder, not a file"),
    "empty.jsonl": (b"", ": the file holds no rows"),
    "blank.jsonl": (b"\n \n", ": the file holds no rows"),
    "latin.jsonl": (b'\n{"item": "\xe9"}\n', ":2: byte 0xe9 at offset 10 of the line is not UTF-8"),
    "broken.jsonl": (b'{"item": "a"', ":1: the JSON ends too early; is the line cut off?"),
    "list.jsonl": (b"[1, 2]\n", ":1: expected JSON Lines, one object per line, got a JSON array; convert it with: jq"),
    "cut.jsonl.gz": (gzip.compress(GOOD, mtime=0)[:-9], ": the gzip file ends early after line "),
    "plain.jsonl.gz": (GOOD, ": not a gzip file; if it is not compressed, name it .jsonl"),
    "text.parquet": (GOOD, ": not a Parquet file, or a damaged one"),
}


@pytest.fixture
def other_files(postil: Postil) -> Postil:
    """Files that can be read, for the other places."""
    texts = [(f"i{n}", system) for n in range(9) for system in "ab"]
    write("s.jsonl", [Score(item, system, "m", float(n * 7 % 5), "m") for n, (item, system) in enumerate(texts)])
    write("j.jsonl", [Judgement(item, system, "ann", float(n % 3)) for n, (item, system) in enumerate(texts)])
    write("p.jsonl", [Passage("t", str(n), f"word {n}", grade=float(n)) for n in range(3)])
    write("c.jsonl", [Candidate("a", "s", "a cat")])
    write("r.jsonl", [Reference("a", "a dog", grade=3.0)])
    return postil


def refused(postil: Postil, place: str, name: str, code: int = 3) -> str:
    """The one line that a command says of a file, behind its name."""
    command, *rest = (name if word == "FILE" else word for word in PLACES[place])
    pytest.importorskip(NEEDS.get(command, "json"))
    said = refusal(postil, command, *rest, code=code)
    assert said.startswith(f"{name}:")
    return said.removeprefix(name)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("place", PLACES)
def test_a_file_that_cannot_be_read(other_files: Postil, place: str, name: str) -> None:
    data, said = PROBLEMS[name]
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    if data is not None:
        Path(name).write_bytes(data)
    elif name.startswith("folder"):
        Path(name).mkdir()
    assert refused(other_files, place, name).startswith(said)


@pytest.mark.parametrize("place", [place for place in PLACES if place != "corpus build"])
def test_an_unknown_kind_of_file(other_files: Postil, place: str) -> None:
    assert refused(other_files, place, "rows.doc", code=2).startswith(
        ": unknown kind of file; known endings: .jsonl, .ndjson, .json, .csv"
    )


@pytest.mark.parametrize("place", [place for place, words in PLACES.items() if words[1] == "FILE"])
def test_empty_standard_input(other_files: Postil, place: str) -> None:
    command = [*("-" if word == "FILE" else word for word in PLACES[place])]
    pytest.importorskip(NEEDS.get(command[0], "json"))
    outcome = other_files(*command, stdin=b"")
    assert (outcome.code, outcome.out, outcome.err) == (3, "", "postil: stdin: the file holds no rows\n")


@pytest.mark.parametrize(
    ("place", "other"),
    [
        ("compare", ""),
        ("correlate", ""),
        ("correlate", "--judgements"),
        ("correlate", "--candidates"),
        ("estimate", "--judgements"),
        ("budget", "--judgements"),
        ("combine fit", "--judgements"),
        ("score", "-r"),
        ("weights plan", "-r"),
        ("judge", "-r"),
    ],
)
def test_only_one_file_is_standard_input(other_files: Postil, place: str, other: str) -> None:
    words = ["-" if word == "FILE" else word for word in PLACES[place]]
    if other in words:
        at = words.index(other)
        del words[at : at + 2]
    outcome = other_files(*words, *filter(None, [other]), "-")
    assert (outcome.code, outcome.out) == (2, "")
    assert "standard input" in outcome.err


@pytest.mark.parametrize("place", ["score", "judge", "correlate", "estimate", "budget", "combine fit", "passages"])
@pytest.mark.parametrize(
    ("scale", "said"),
    [
        ("high", 'scale "high": expected HIGH or LOW:HIGH, for example 5 or 1:5'),
        ("5:1", "a scale's highest grade is above its lowest, got 5 to 1"),
    ],
)
def test_a_scale_that_is_none(other_files: Postil, place: str, scale: str, said: str) -> None:
    words = (
        {"passages": "p.jsonl", "score": "c.jsonl"}.get(place, "s.jsonl") if w == "FILE" else w for w in PLACES[place]
    )
    outcome = other_files(*words, "--scale", scale)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"postil: {said}\n"


SCORED = ("s.jsonl", "--judgements", "j.jsonl")
FEW = ("--resamples", "20")
TESTED = (*FEW, "--permutations", "20")

ALL = {
    "score": ("score", "c.jsonl", "-r", "r.jsonl", "--scale", "5"),
    "compare": ("compare", "s.jsonl", *TESTED),
    "compare --interleaved": ("compare", "--interleaved", "log.jsonl", *FEW),
    "compare --preferences": ("compare", "--preferences", "pairs.jsonl", *FEW),
    "correlate": ("correlate", *SCORED, *TESTED),
    "correlate --audit": ("correlate", *SCORED, *TESTED, "--audit"),
    "estimate": ("estimate", *SCORED),
    "budget": ("budget", *SCORED, *FEW),
    "combine fit": ("combine", "fit", *SCORED, *FEW, "--folds", "3"),
    "passages": ("passages", "p.jsonl", "-m", "f1-1", *FEW),
    "interesting": ("interesting", "p.jsonl"),
}


@pytest.fixture
def rows_of_all(postil: Postil) -> Postil:
    texts = [(f"i{n}", system) for n in range(12) for system in "ab"]
    write(
        "s.jsonl",
        [Score(*of, m, float((n * 7 + k) % 5), m) for n, of in enumerate(texts) for k, m in enumerate(("x", "y"))],
    )
    write(
        "j.jsonl",
        [Judgement(*of, who, float((n * 3 + k) % 4)) for n, of in enumerate(texts) for k, who in enumerate("12")],
    )
    topics = [(topic, n) for topic in ("ducks", "bread") for n in range(4)]
    write("p.jsonl", [Passage(topic, str(n), f"{topic} word {n}", grade=float(n % 3)) for topic, n in topics])
    write("log.jsonl", [Impression(f"i{n}", f"a{n}", ("base", "new"), (0, 1), (1 + n % 2,)) for n in range(12)])
    write("pairs.jsonl", [PairPreference(str(n), "x", "y", "ann", "ab"[n % 2]) for n in range(12)])  # type: ignore[arg-type]
    return postil


@pytest.fixture
def command_line() -> Iterator[None]:
    before = INTERFACE.set(COMMAND_LINE)
    yield
    INTERFACE.reset(before)


@pytest.mark.usefixtures("command_line")
@pytest.mark.parametrize("name", ALL)
def test_every_format_prints_the_result_of_json(rows_of_all: Postil, name: str) -> None:
    out = {form: rows_of_all(*ALL[name], "--format", form) for form in FORMATS}
    assert {outcome.code for outcome in out.values()} == {0}
    result = Result.from_json(out["json"].out)
    assert result.to_json() == out["json"].out
    for form in FORMATS:
        if form == "table":  # which may have lines more
            assert out[form].out.startswith(show(form, result).splitlines()[0])
            assert out[form].out == rows_of_all(*ALL[name]).out
        else:
            assert out[form].out == str(show(form, result))


@pytest.mark.parametrize("name", ALL)
def test_every_result_is_printed_into_a_workbook_with_the_cells_of_csv(rows_of_all: Postil, name: str) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    printed = rows_of_all(*ALL[name], "--format", "csv")
    into = rows_of_all(*ALL[name], "--format", "table.xlsx")
    assert (into.code, into.out) == (0, "")
    assert sorted(into.err.splitlines()) == sorted([*printed.err.splitlines(), "written: table.xlsx"])
    sheet = openpyxl.load_workbook("table.xlsx").active
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", sheet.dimensions)
    assert all(cell.font.b for cell in sheet[1])
    assert all(8 <= column.width < 61 for column in sheet.column_dimensions.values())
    before = Path("table.xlsx").read_bytes()
    rows_of_all(*ALL[name], "--format", "table.xlsx")
    assert Path("table.xlsx").read_bytes() == before
    head, *rows = sheet.iter_rows()
    expected = list(csv.DictReader(printed.out.splitlines(keepends=True)))
    assert [cell.value for cell in head] == list(expected[0])
    for cells, row in zip(rows, expected, strict=True):
        for cell, text in zip(cells, row.values(), strict=True):
            if cell.data_type == "n" and text:
                assert f"{cell.value:.16g}" == f"{float(text):.16g}"
            elif cell.data_type == "b":
                assert str(cell.value) == text
            else:
                assert (cell.value or "") == without_apostrophe(text)


@pytest.mark.parametrize("ending", FILES)
def test_the_ending_of_a_file_says_how_a_result_is_printed_into_it(rows_of_all: Postil, ending: str) -> None:
    command, path = ALL["compare"], Path(f"Grüße{ending.upper()}")
    path.write_text("old")
    into = rows_of_all(*command, "--format", path)
    assert (into.code, into.out) == (0, ""), into.err
    assert f"written: {path}\n" in into.err
    if ending != ".xlsx":
        printed = rows_of_all(*command, "--format", FILES[ending])
        where = ("--format", path), ("--format", FILES[ending])
        text = path.read_text("ascii" if ending == ".html" else "utf-8")
        assert unescape(text).replace(*(shlex.join(map(str, words)) for words in where)) == unescape(printed.out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--format", "xlsx"), "xlsx is of a file, so name it, as in --format table.xlsx"),
        (("--format", "t.xls"), "unknown format 't.xls'; did you mean "),
        (("--format", "none/t.csv"), "none/t.csv: parent folder "),
        (("--format", "./s.jsonl"), "./s.jsonl: would be written over s.jsonl, which is read; name another output"),
        (("--format=s.jsonl",), "s.jsonl: would be written over s.jsonl, which is read; name another output"),
        (("--format", "t.csv", "--figures", "./t.csv"), "t.csv: named twice; name another file for what is printed"),
        (
            ("--figures", "here", "--format", "here/t.csv"),
            "here/t.csv: lies in here, which is read; name another output",
        ),
    ],
)
def test_a_file_that_no_result_is_printed_into(other_files: Postil, words: tuple[str, ...], said: str) -> None:
    before = Path("s.jsonl").read_bytes()
    Path("here").mkdir()
    assert refusal(other_files, "compare", "s.jsonl", *words, code=2).startswith(said)
    assert Path("s.jsonl").read_bytes() == before


def test_a_file_whose_name_a_short_flag_has_is_not_replaced(other_files: Postil) -> None:
    Path("r.csv").write_text(text := "item,text\n1,Rain.\n")
    words = ("score", "r.csv", "-rr.csv", "-m", "bleu-1", "--format", "r.csv")
    assert refusal(other_files, *words, code=2).startswith("r.csv: would be written over r.csv, which is read")
    assert Path("r.csv").read_text() == text


def test_a_second_document_is_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, texts in (("t.json", ("{}\n", "[]\n")), ("t.md", ("a\n", "b\n"))):
        with click.Context(click.Command("train")):
            print_into(name)
            for text in texts:
                emit(text, "json")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["t-2.json", "t.json", "t.md"]
    assert [Path(name).read_text() for name in ("t.json", "t-2.json", "t.md")] == ["{}\n", "[]\n", "a\nb\n"]


def test_json_lines_that_are_printed_one_by_one_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    for _ in range(2):
        with click.Context(click.Command("comment")):
            print_into(str(path))
            for line in ("a\n", "b\n"):
                emit(line, "jsonl")
        assert path.read_text() == "a\nb\n"


@pytest.mark.parametrize("kind", ["jsonl.gz", "parquet", "-"])
@pytest.mark.parametrize("name", ALL)
def test_every_kind_of_file_says_the_same(rows_of_all: Postil, name: str, kind: str) -> None:
    """Each file of a command in turn, compressed, as Parquet and from standard input."""
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    if (name, kind) == ("interesting", "-"):
        return  # what comes from there is a document
    command = (*ALL[name], "--format", "jsonl")
    straight = rows_of_all(*command)
    for file in filter(lambda word: word.endswith(".jsonl"), command):
        other = kind if kind == "-" else file.replace("jsonl", kind)
        if kind != "-":
            convert(file, other)
        words = [other if word == file else word for word in command]
        assert rows_of_all(*words, stdin=Path(file).read_bytes() if kind == "-" else None) == straight


SAMPLE = files("postil") / "sample"
FIELDS = ("id", "title", "content", "category", "lang", "url", "date", "comments")
AS_JSON = ("--resamples", 50, "--permutations", 50, "--format", "json")


def records(name: str) -> list[Record]:
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


def as_csv(name: str, rows: list[Record], names: dict[str, str], delimiter: str = ";") -> None:
    """A table whose columns have other names, with one more that nobody reads."""
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow([*(names.get(field, field) for field in rows[0]), "remark"])
        writer.writerows([*map(cell, row.values()), "read by nobody"] for row in rows)


def cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, list | dict) else value


def shared_settings(out: str) -> object:
    """A result without the command line."""
    found = json.loads(out)
    found.get("settings", {}).pop("command", None)
    return found


@pytest.fixture
def scores(postil: Postil) -> list[Record]:
    """Item scores of four systems, as `s.jsonl`."""
    articles = [row for row in records("articles.jsonl") if row["lang"] == "en"]
    ids = {row["id"] for row in articles}
    put(
        "refs.jsonl",
        [
            {"item": row["id"], "text": comment["text"], "grade": 3}
            for row in articles
            for comment in row["comments"]  # type: ignore[attr-defined]
        ],
    )
    put("cands.jsonl", [row for row in records("candidates.jsonl") if row["item"] in ids])
    put("judged.jsonl", [row for row in records("judgements.jsonl") if row["item"] in ids])
    done = postil("score", "cands.jsonl", "-r", "refs.jsonl", "-m", "rouge-l", "-m", "bleu-1", "--items", "s.jsonl")
    assert done.code == 0, done.err
    return [json.loads(line) for line in Path("s.jsonl").read_text(encoding="utf-8").splitlines()]


NAMES = {"item": "doc", "system": "model", "metric": "measure", "score": "value"}
NAMED = ("--column", "item=doc", "--column", "system=model")


def test_correlate(postil: Postil, scores: list[Record]) -> None:
    usual = postil("correlate", "s.jsonl", "--judgements", "judged.jsonl", *AS_JSON)
    as_csv("s.csv", [{**row, "statistics": row.get("statistics", [])} for row in scores], NAMES)
    judged = [json.loads(line) for line in Path("judged.jsonl").read_text(encoding="utf-8").splitlines()]
    as_csv("judged.tsv", judged, {"item": "doc", "annotator": "who"}, "\t")
    done = postil(
        "correlate",
        "s.csv",
        "--judgements",
        "judged.tsv",
        *NAMED,
        "--column",
        "metric=measure",
        "--column",
        "score=value",
        "--column",
        "judgements.item=doc",
        "--column",
        "judgements.annotator=who",
        *AS_JSON,
    )
    assert done.code == 0, done.err
    assert shared_settings(done.out) == shared_settings(usual.out)
    assert set(done.err.splitlines()) - set(usual.err.splitlines()) == {
        "s.csv: read with ';' between columns; columns not read: remark",
        "judged.tsv: columns not read: remark",
    }


def test_wide_scores_and_judgements(postil: Postil, scores: list[Record]) -> None:
    """One column per metric and per annotator: the same numbers, but for the signatures."""
    wide: dict[tuple[object, object], Record] = {}
    for row in scores:
        wide.setdefault((row["item"], row["system"]), {"doc": row["item"], "model": row["system"]})[
            str(row["metric"])
        ] = row["score"]
    as_csv("wide.csv", list(wide.values()), {}, ",")
    rated: dict[tuple[object, object], Record] = {}
    everyone = dict.fromkeys(row["annotator"] for row in records("judgements.jsonl"))
    for line in Path("judged.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        of = rated.setdefault((row["item"], row["system"]), {"doc": row["item"], "model": row["system"]})
        of |= {str(name): of.get(str(name), "") for name in everyone}
        of[row["annotator"]] = row["grade"]
    as_csv("wide.tsv", list(rated.values()), {}, "\t")
    people = ",".join(map(str, everyone))
    usual = postil("correlate", "s.jsonl", "--judgements", "judged.jsonl", *AS_JSON)
    done = postil(
        "correlate",
        "wide.csv",
        "--judgements",
        "wide.tsv",
        "--metric-columns",
        "rouge-l,bleu-1",
        "--annotator-columns",
        people,
        *NAMED,
        "--column",
        "judgements.item=doc",
        "--column",
        "judgements.system=model",
        *AS_JSON,
    )
    assert done.code == 0, done.err
    before, after = json.loads(usual.out), json.loads(done.out)
    for part in ("correlations", "differences", "human"):
        assert after[part] == before[part]
    as_means = postil("compare", "s.jsonl", "--item-means", *AS_JSON)
    compared = postil(
        "compare", "wide.csv", "--metric-columns", "rouge-l", "--metric-columns", "bleu-1", *NAMED, *AS_JSON
    )
    assert compared.code == 0, compared.err
    assert json.loads(compared.out)["systems"] == json.loads(as_means.out)["systems"]


def test_a_table_without_a_column_of_metrics_says_what_to_do(postil: Postil) -> None:
    Path("wide.csv").write_text("item,system,bleu\n1,a,0.5\n", encoding="utf-8")
    done = postil("compare", "wide.csv")
    assert done.code == 3
    assert "metric, score: no such columns" in done.err
    assert "--metric-columns" in done.err


def test_names_of_columns_may_have_blanks_around_them_but_none_is_empty(postil: Postil) -> None:
    rows = [f"{item},{system},0.{item},0.{item}5" for item in (1, 2) for system in "ab"]
    Path("wide.csv").write_text("\n".join(["item,system,bleu,own", *rows]), encoding="utf-8")
    assert '"own"' in postil("compare", "wide.csv", "--metric-columns", "bleu, own", *AS_JSON).out
    for names in ("", "bleu,"):
        done = postil("compare", "wide.csv", "--metric-columns", names)
        assert f"expected names of columns with commas between them, got '{names}'" in done.err


def test_passages(postil: Postil) -> None:
    rows = records("passages.jsonl")
    flags = ("-m", "f1-1", "-k", 5, "--resamples", 50, "--stop", "en", "--tokenizer", "words", "--format", "json")
    english = [row for row in rows if str(row["text"]).isascii()] or rows
    put("p.jsonl", english)
    as_csv(
        "p.csv",
        [{field: row.get(field, "") for field in ("topic", "id", "text", "grade")} for row in english],
        {"topic": "subject", "text": "body"},
    )
    usual = postil("passages", "p.jsonl", *flags)
    done = postil("passages", "p.csv", "--column", "topic=subject", "--column", "text=body", *flags)
    assert done.code == 0, done.err
    assert shared_settings(done.out) == shared_settings(usual.out)
    ranked = postil("interesting", "p.csv", "--column", "topic=subject", "--column", "text=body", "--format", "json")
    assert ranked.out == postil("interesting", "p.jsonl", "--format", "json").out
    assert ranked.code == 0, ranked.err


def test_a_campaign_is_planned_from_a_table(postil: Postil) -> None:
    pytest.importorskip("sqlalchemy", reason="needs the web extra")
    rows = [row for row in records("articles.jsonl") if row["lang"] == "en"]
    put("a.jsonl", rows)
    Path("a.json").write_text(
        json.dumps({"data": [{**row, "key": row["id"], "id": 0} for row in rows]}), encoding="utf-8"
    )
    flags = ("--annotators", 4, "--format", "json")
    usual = postil("annotate", "plan", "a.jsonl", "a.db", *flags)
    done = postil("annotate", "plan", "a.json", "b.db", "--column", "id=key", *flags)
    assert done.code == 0, done.err
    assert done.out == usual.out


def test_vectors_are_trained_on_a_table(postil: Postil) -> None:
    pytest.importorskip("gensim")
    rows = [{"text": row["text"]} for row in records("passages.jsonl")]
    put("t.jsonl", rows)
    as_csv("t.csv", rows, {"text": "body"})
    flags = ("--dimensions", 4, "--epochs", 1, "--min-count", 2, "--tokenizer", "characters")
    for out, of, more in (("one", "t.jsonl", ()), ("two", "t.csv", ("--column", "text=body"))):
        done = postil("vectors", "train", of, "--out", out, *flags, *more)
        assert done.code == 0, done.err
    one, two = (sorted((file.name, file.read_bytes()) for file in Path(out).iterdir()) for out in ("one", "two"))
    assert one == two
