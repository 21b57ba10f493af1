"""Reading and writing by the name of the file: kinds, standard streams, whole files or none."""

from __future__ import annotations

import io
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.data.row_files import Writer, read, write
from postil.data.rows import Article, Candidate, Comment, Judgement, Passage, Rating, Reference, Row, Score
from postil.errors import InvalidInput, MissingExtra, PostilError, UsageError
from refusals import refused

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDINGS = ("jsonl", "jsonl.gz", "parquet")
ROWS = [Candidate("a1", "echo", "Regen? Ja."), Candidate("a2", "echo", "明天下雨")]

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
number = st.floats(allow_nan=False, allow_infinity=False)
votes = st.none() | st.integers(-(2**63), 2**63 - 1)
ratings = st.lists(st.builds(Rating, text, number), max_size=3).map(tuple)
grade = st.none() | number
comment = st.builds(Comment, text, text, votes, grade, ratings)
word = st.none() | text
ONE_TYPE = st.one_of(
    st.lists(
        st.builds(Article, text, text, st.lists(comment, max_size=2).map(tuple), word, word, word, word), min_size=1
    ),
    st.lists(st.builds(Candidate, text, text, text), min_size=1),
    st.lists(st.builds(Reference, text, text, grade, grade, ratings, votes), min_size=1),
    st.lists(st.builds(Judgement, text, text, text, number, word), min_size=1),
    st.lists(st.builds(Passage, text, text, text, st.lists(text, max_size=2).map(tuple), grade), min_size=1),
    st.lists(st.builds(Score, word, text, text, number, text | st.just("external")), min_size=1),
)


class Streams:
    """Stand-ins for standard input and output."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, given: bytes = b"") -> None:
        self.out = io.BytesIO()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(self.out))


@pytest.mark.parametrize("ending", ENDINGS)
@given(rows=ONE_TYPE)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, ending: str, rows: list[Row]) -> None:
    path = tmp_path_factory.getbasetemp() / f"rows.{ending}"
    write(path, rows)
    assert list(read(path, type(rows[0]))) == rows


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_rows_give_the_same_bytes_in_a_file_that_is_whole(tmp_path: Path, ending: str) -> None:
    one, other = tmp_path / f"one.{ending}", tmp_path / f"other.{ending}"
    write(one, ROWS)
    with Writer(str(other), Candidate) as out:
        for row in ROWS:
            out.write(row)
        assert not other.exists()
    assert sorted(tmp_path.iterdir()) == [one, other]
    data = one.read_bytes()
    assert data == other.read_bytes()
    assert not ending.endswith("gz") or data[3:8] == bytes(5)  # no flags, so no file name, and no time


def test_files_longer_than_a_batch(tmp_path: Path) -> None:
    rows = [Reference(str(n), "x" * (n % 50), grade=float(n)) for n in range(20_000)]
    for ending in ENDINGS:
        write(tmp_path / f"r.{ending}", rows)
        assert list(read(tmp_path / f"r.{ending}", Reference)) == rows


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    Streams(monkeypatch, '\n{"item":1,"system":"s","text":"明天"}\n{"item":2}\n'.encode())
    rows = read("-", Candidate)
    assert next(rows) == Candidate("1", "s", "明天")
    assert rows.places.where == "stdin"
    assert rows.places.line(0) == 2
    assert rows.places.fields(0) is None
    with pytest.raises(InvalidInput, match=r"^stdin:3: system, text: missing; a candidate needs item, system, text; "):
        next(rows)


def test_standard_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    streams = Streams(monkeypatch)
    write("-", ROWS)
    assert streams.out.getvalue().decode() == (
        '{"item":"a1","system":"echo","text":"Regen? Ja."}\n{"item":"a2","system":"echo","text":"明天下雨"}\n'
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["refs", "refs.jsonl.bz2", "refs.gz", "refs.parquet.gz", "refs.xls", ""])
def test_an_unknown_kind_of_file(name: str) -> None:
    written = ".jsonl, .jsonl.gz, .jsonl.zst, .parquet, .csv, .csv.gz, .csv.zst, .xlsx, or - for standard output"
    for act in (lambda: write(name, ROWS), lambda: Writer(name, Candidate)):
        assert refused(UsageError, act) == f"{name}: unknown kind of file; known endings: {written}"
    assert refused(UsageError, read, name, Candidate) == (
        f"{name}: unknown kind of file; known endings: .jsonl, .ndjson, .json, .csv, .tsv, .tab, .txt, .xlsx, .xlsm, "
        ".ods, .parquet, .arrow, .feather (text also .gz, .zst), a dataset folder, or - for standard input; "
        "name the format with list(postil.data.row_files.read(PATH, ROW, Reading(format=NAME)))"
        + "; save an old workbook as .xlsx"
        * name.endswith(".xls")
    )


HARD = ["=1+1", "007", "1,5", 'ä <b> & "c"', "a\r\nb\tc ", "_x000D_", "\x07", "\N{BEETLE}", "明天"]


def test_a_workbook_holds_texts_as_texts_and_numbers_as_numbers(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "s.xlsx"
    rows = [Score(text, "a", "m", 0.1 + n, "m") for n, text in enumerate(HARD)]
    write(path, rows)
    assert list(read(path, Score)) == rows
    head, *cells = openpyxl.load_workbook(path).active.iter_rows()
    assert [cell.value for cell in head][:5] == ["item", "system", "metric", "score", "signature"]
    assert [(row[0].data_type, row[3].value) for row in cells] == [("s", row.score) for row in rows]
    write(tmp_path / "again.xlsx", rows)
    assert (tmp_path / "again.xlsx").read_bytes() == path.read_bytes()


def test_columns_of_a_workbook_are_as_wide_as_what_is_in_them(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    texts = ["明天" * 10, "a" * 58, "b c " * 15, "d\ne", "f " * 1000]
    write(tmp_path / "c.xlsx", [Candidate("i", "a system", text) for text in texts])
    sheet = openpyxl.load_workbook(tmp_path / "c.xlsx").active
    assert [cell.value for cell in sheet[1]] == ["item", "system", "text"]
    widths = [round(sheet.column_dimensions[letter].width) for letter in "ABC"]
    assert widths == [9, 11, 61]  # with the padding of Excel
    wrapped = [cell.alignment.wrap_text or False for cell in sheet["C"]]
    assert wrapped == [False, False, False, True, True, False]  # no row is high enough for the last one
    assert (sheet.freeze_panes, sheet["C1"].font.b, sheet["C2"].font.b) == ("A2", True, False)


def test_lists_of_a_workbook_are_read_again(tmp_path: Path) -> None:
    rows = [Reference("a1", "Rain", ratings=(Rating("ann", 4.0), Rating("bob", 5.0)))]
    write(tmp_path / "r.xlsx", rows)
    assert list(read(tmp_path / "r.xlsx", Reference)) == rows


def test_what_a_workbook_cannot_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.xlsx"
    assert refused(UsageError, write, path, [Candidate("a", "s", "\N{BEETLE}" * 16384)]) == (
        f"{path}: a cell of a workbook holds at most 32,767 characters, and C2 has 32,768; CSV holds longer ones"
    )
    monkeypatch.setattr("postil.data.workbooks._MOST_ROWS", 2)
    assert refused(UsageError, write, path, ROWS).startswith(f"{path}: a workbook holds at most 2 rows; ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_missing_file_and_a_folder(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"r.{ending}"
    assert refused(InvalidInput, read, path, Candidate) == f"{path}: no such file"
    path.mkdir()
    assert refused(InvalidInput, read, path, Candidate) == f"{path}: a folder, not a file"
    assert refused(UsageError, write, path, ROWS) == f"{path}: not a file that can be replaced"


def test_a_file_that_may_not_be_read_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.jsonl"
    write(path, ROWS)

    def refuse(*_args: Any, **_options: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert refused(InvalidInput, read, path, Candidate) == f"{path}: cannot be read: Permission denied"
    assert refused(PostilError, write, path, ROWS) == f"{path}: cannot be written: Permission denied"


def _write_each(path: Path, rows: Iterator[Candidate]) -> None:
    with Writer(path, Candidate) as out:
        for row in rows:
            out.write(row)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("before", [0, 1, 20_000])
def test_an_error_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, ending: str, error: type[BaseException], before: int
) -> None:
    path = tmp_path / f"r.{ending}"
    write(path, ROWS)
    old = path.read_bytes()

    def rows() -> Iterator[Candidate]:
        yield from ROWS[:1] * before
        raise error

    with pytest.raises(error):
        _write_each(path, rows())
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_follows_the_umask_and_an_old_one_keeps_its_mode_and_link(tmp_path: Path) -> None:
    path, link = tmp_path / "r.jsonl", tmp_path / "link.jsonl"
    write(path, ROWS)
    (tmp_path / "plain").touch()
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    path.chmod(0o640)
    link.symlink_to(path)
    write(link, ROWS[:1])
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(read(path, Candidate)) == ROWS[:1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("rows", [1, 20_000])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, rows: int) -> None:
    opened = Path.open

    def full(path: Path, *args: Any, **options: Any) -> Any:
        if path.suffix == ".part":
            path.touch()
            return opened(Path("/dev/full"), "wb")
        return opened(path, *args, **options)

    monkeypatch.setattr(Path, "open", full)
    path = tmp_path / f"r.{ending}"
    assert refused(PostilError, write, path, ROWS * rows) == f"{path}: cannot be written: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    assert refused(InvalidInput, write, path, []) == f"{path}: there are no rows to write"
    expected = "a file holds rows of one type; expected Candidate, got Reference"
    assert refused(UsageError, write, path, [ROWS[0], Reference("a", "b")]) == f"{path}: {expected}"
    assert refused(UsageError, Writer(path, Candidate).write, ROWS[0]) == "a Writer writes inside its with block"
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(
        MissingExtra, match=r"^a \.parquet file needs an optional package: pip install 'postil\[tables\]'$"
    ):
        list(read(tmp_path / "r.parquet", Candidate))
    with pytest.raises(MissingExtra):
        write(tmp_path / "s.parquet", ROWS)
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]
