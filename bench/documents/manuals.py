"""Manuals and papers of Debian's packages as PDFs with their known sentences, for `bench.documents.whole`.

    python -m bench.documents.manuals FOLDER

`manuals.csv` names the packages, the PDFs and their sources. Packages are downloaded by `apt-get download` and unpacked
below FOLDER/packages; nothing is installed. Beside each `NAME.pdf` comes `NAME.txt`, a sentence of its source a line.
Names begin with `a-` where rules of the reader were chosen on them, and with `b-` where they were held out.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.documents import known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["main"]

DOCUMENTS: Final = "usr/share/doc/"
SOURCES: Final[dict[str, Callable[[str], Iterator[str]]]] = {
    "txt": known.of_text,
    "tex": known.of_latex,
    "Rnw": known.of_latex,
    "ms": known.of_roff,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args(arguments).folder
    with Path(__file__).with_name("manuals.csv").open(encoding="utf-8", newline="") as rows:
        manuals = list(csv.DictReader(rows))
    for name in sorted({row[one] or row["package"] for row in manuals for one in ("package", "source_package")}):
        _unpack(name, folder / "packages")
    for row in manuals:
        found = _files(folder / "packages" / row["package"], row["pdf"])
        sources = _files(folder / "packages" / (row["source_package"] or row["package"]), row["source"])
        if not found or not sources:
            print(f"{row['name']}: not in the package")
            continue
        name = f"{row['half']}-{row['name']}"
        (folder / f"{name}.pdf").write_bytes(_data(found[0]))
        sentences = list(known.sentences(text for path in sources for text in _paragraphs(path)))
        (folder / f"{name}.txt").write_text("".join(f"{each}\n" for each in sentences), encoding="utf-8")
        print(f"{name}: {len(sentences):,} sentences", flush=True)
    return 0


def _unpack(name: str, folder: Path) -> None:
    """Download a package and unpack it, unless it is there."""
    target = folder / name
    if not target.is_dir():
        target.mkdir(parents=True)
        subprocess.run(["apt-get", "download", name], cwd=folder, check=True)
        subprocess.run(["dpkg", "-x", *map(str, folder.glob(f"{name}_*.deb")), str(target)], check=True)


def _files(package: Path, pattern: str) -> list[Path]:
    """Files of a package, compressed or not; patterns without a slash in front are below its documents."""
    pattern = pattern[1:] if pattern.startswith("/") else DOCUMENTS + pattern
    return sorted(package.glob(pattern)) or sorted(package.glob(f"{pattern}.gz"))


def _data(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _paragraphs(path: Path) -> Iterator[str]:
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    if kind == "html":
        return known.of_html(_data(path))
    return SOURCES[kind](_data(path).decode("utf-8", "replace"))


if __name__ == "__main__":
    raise SystemExit(main())
