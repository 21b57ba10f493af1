"""Compare what two versions of the package answer, as ``record_results.py`` recorded them, byte for byte.

JSON may have gained fields, which are listed. LaTeX and HTML must have the same cells in the same order; where cells
are equal and only the markup differs, this is counted. What changes from run to run is masked: times, ports, folders::

    python tools/compare_results.py before after
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MASKS: Final = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), "TIME"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"\b\d+(\.\d+)? (s|seconds|ms|minutes)\b"), "DURATION"),
)
"""Texts that differ between two runs of one version."""

BINARY: Final = (".db", ".db-shm", ".db-wal", ".png", ".parquet", ".xlsx", ".zst")
"""Endings of files that are not compared: they hold times."""

HASH: Final = "sha256:"
"""Beginning of a file that holds the hash of a large one."""

SHOWN: Final = 12
"""Largest number of lines shown of one difference."""


@dataclass
class Tally:
    """The number of things of each outcome.

    Args:
        folders: The recordings, whose names are masked.
        same: Number of answers and files that are equal to the byte.
        markup: Number of those in LaTeX and HTML with equal cells and other markup.
        added: Fields of JSON that are new, with the number of places.
        differ: Number of others.
    """

    folders: Sequence[Path]
    same: int = 0
    markup: int = 0
    added: Counter[str] = field(default_factory=Counter)
    differ: int = 0

    def compare(self, name: str, before: str, after: str) -> None:
        """Compare two texts and print how they differ.

        Args:
            name: What the texts are.
            before: The text of the version before.
            after: That of the version after.
        """
        before, after = (
            masked(text).replace(str(folder), "FOLDER")
            for text, folder in zip((before, after), self.folders, strict=True)
        )
        if before == after:
            self.same += 1
            return
        added: Counter[str] = Counter()
        if grown(before, after, added):
            self.added += added
            self.same += 1
            return
        form = next((reader for start, reader in MARKUPS.items() if start in before and start in after), None)
        old, new = (form(before), form(after)) if form else (before.splitlines(), after.splitlines())
        if form and old == new:
            self.markup += 1
            return
        self.differ += 1
        print(f"DIFFERS {name}")
        lines = [line for line in difflib.unified_diff(old, new, lineterm="", n=0) if line[:3] not in {"---", "+++"}]
        for line in lines[:SHOWN]:
            print(f"    {line[:200]}")
        if len(lines) > SHOWN:
            print(f"    … and {len(lines) - SHOWN} lines more")


def masked(text: str) -> str:
    """A text without what differs between two runs of one version."""
    for pattern, name in MASKS:
        text = pattern.sub(name, text)
    return text


def grown(before: str, after: str, added: Counter[str]) -> bool:
    """True if both are JSON, or lines of it, and the second has all of the first in its order; count what it adds."""
    try:
        old, new = json.loads(before), json.loads(after)
    except ValueError:
        lines = before.splitlines(), after.splitlines()
        if len(lines[0]) != len(lines[1]) or not before.startswith("{"):
            return False
        return all(old == new or (old[:1] == "{" and grown(old, new, added)) for old, new in zip(*lines, strict=True))
    return _contains(new, old, "", added)


def _contains(new: object, old: object, path: str, added: Counter[str]) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        kept = [name for name in new if name in old]
        added.update(f"{path}.{name}" for name in new if name not in old)
        return kept == list(old) and all(_contains(new[name], old[name], f"{path}.{name}", added) for name in kept)
    if isinstance(old, list) and isinstance(new, list):
        same = len(old) == len(new)
        return same and all(_contains(b, a, f"{path}[]", added) for a, b in zip(old, new, strict=True))
    return type(old) is type(new) and old == new


class Cells(HTMLParser):
    """The texts of a page in their order: of each cell, paragraph, heading or other element."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        if data.strip():
            self.found.append(" ".join(data.split()))


def html_cells(text: str) -> list[str]:
    """The texts of HTML."""
    cells = Cells()
    cells.feed(text)
    return cells.found


def latex_cells(text: str) -> list[str]:
    """The cells of LaTeX tables, without rules, alignment and commands around them."""
    rows = re.split(r"\\\\|\n", text)
    plain = (re.sub(r"\\[a-zA-Z]+\*?(\[[^\]]*\])?|[{}$~]", " ", row) for row in rows)
    return [" ".join(cell.split()) for row in plain for cell in row.split("&") if cell.strip()]


MARKUPS: Final = {"\\begin{tab": latex_cells, "<table": html_cells, "<html": html_cells, "</p>": html_cells}
"""A text by which a markup is known, and what reads the cells of it."""


def whole(path: Path) -> bool:
    """True unless a recording has the hash of a file in its place."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(len(HASH)) != HASH


def answers(path: Path) -> Iterator[tuple[str, str]]:
    """The answers of commands: a name, and a text with everything."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        each = json.loads(line)
        name = masked(f"{path.parent.name} {number}: postil {' '.join(each['args'])}")
        yield f"{name} (exit code)", f"{each['code']} {each['crash']}"
        yield f"{name} (standard output)", each["stdout"]
        yield f"{name} (standard error)", each["stderr"]


def texts(path: Path) -> str:
    """A file as text; what is not UTF-8 is shown by its bytes."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return data.decode("utf-8", errors="backslashreplace")


def files(folder: Path) -> dict[str, Path]:
    """The files below a folder that are compared, by their names in it."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in BINARY)
    return {path.relative_to(folder).as_posix(): path for path in found if "__pycache__" not in path.parts}


def compare_answers(before: Path, after: Path, tally: Tally) -> None:
    """Compare two files of answers."""
    old, new = (list(answers(path)) for path in (before, after))
    names = [name for name, _ in old]
    if names != [name for name, _ in new]:
        print(f"DIFFERS {before.parent.name}: {len(old)} answers became {len(new)}, or others were asked")
        tally.differ += 1
    said = dict(new)
    for name, text in old:
        if name in said:
            tally.compare(name, text, said[name])


def main(args: Sequence[str] | None = None) -> None:
    """Compare, print each difference and a summary; exit 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("before", type=Path, help="recording of the version before")
    parser.add_argument("after", type=Path, help="recording of the version after")
    given = parser.parse_args(args)
    tally = Tally((given.before.resolve(), given.after.resolve()))
    old, new = (files(folder) for folder in (given.before, given.after))
    for name in sorted(old.keys() ^ new.keys()):
        if not name.startswith("questions/"):
            print(f"DIFFERS {name}: {'gone' if name in old else 'new'}")
            tally.differ += 1
    for name in sorted(old.keys() & new.keys()):
        if Path(name).match("pages/*/answers.jsonl") and all(map(whole, (old[name], new[name]))):
            compare_answers(old[name], new[name], tally)
        elif not name.startswith("questions/"):
            tally.compare(name, texts(old[name]), texts(new[name]))
    for path, count in sorted(tally.added.items()):
        print(f"new field {path}: {count} times")
    print(f"{tally.same} the same, {tally.markup} with other markup of the same cells, {tally.differ} differ")
    raise SystemExit(1 if tally.differ else 0)


if __name__ == "__main__":
    main()
