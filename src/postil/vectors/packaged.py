"""`postil vectors import`: static vectors that an installed package ships, as a folder."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from postil.data.atomic_file import AtomicFile
from postil.encoders.static import MATRIX, TOKENIZER, read_subwords
from postil.errors import InvalidInput, MissingExtra, UnknownName, UsageError
from postil.text.vector_store import METADATA
from postil.version import VERSION

if TYPE_CHECKING:
    from postil.data.progress import OnMessage
    from postil.encoders.static import SubwordEncoder

__all__ = ["PACKAGES", "ShippedVectors", "import_package", "installed_vectors", "shipped_vectors"]


class _Shipped(NamedTuple):
    """Files of a package, and its release with which the import was tested."""

    model: str
    matrix: str
    tokenizer: str
    release: str


PACKAGES: Final = {
    "wordllama": _Shipped(
        model="l2_supercat_256",
        matrix="weights/l2_supercat_256.safetensors",
        tokenizer="tokenizers/l2_supercat_tokenizer_config.json",
        release="0.4.0.post1",
    )
}
"""Packages that ship static vectors."""


class ShippedVectors(NamedTuple):
    """Vectors of an installed package.

    Args:
        model: Name of the vectors.
        matrix: File with the vectors.
        tokenizer: File with their tokenizer.
        version: Installed version of the package.
    """

    model: str
    matrix: Path
    tokenizer: Path
    version: str


def import_package(package: str, out: str, on_message: OnMessage) -> None:
    """Copy the subword vectors that an installed package ships to a folder; no code of the package runs.

    Args:
        package: Name of the package: wordllama.
        out: The folder to create; older subword vectors there are replaced. The same package gives the same bytes.
        on_message: Callback for status messages.

    Raises:
        UnknownName: No vectors of such a package are known.
        UsageError: The package is not installed, or the folder cannot be created or replaced.
        MissingExtra: The packages that read subword vectors are not installed.
        InvalidInput: The package ships other files.
        PostilError: The operating system reports an error.
    """
    target = _target(out)
    shipped = shipped_vectors(package)
    encoder = read_subwords(shipped.matrix, shipped.tokenizer)
    tokens, dimensions = encoder.vectors.shape
    metadata = {
        "spec": f"{package}({shipped.model})",
        "versions": {package: shipped.version, "postil": VERSION},
        "tokens": tokens,
        "dimensions": dimensions,
        "hash": encoder.hash,
    }
    content = {
        MATRIX: shipped.matrix.read_bytes(),
        TOKENIZER: shipped.tokenizer.read_bytes(),
        METADATA: (json.dumps(metadata, indent=2) + "\n").encode(),
    }
    target.mkdir(exist_ok=True)
    for name, data in content.items():
        with AtomicFile(str(target / name)) as stream:
            stream.write(data)
    on_message(f"written: {out}: {tokens:,} subwords, {dimensions:,} dimensions")


def shipped_vectors(package: str) -> ShippedVectors:
    """Find the vectors that an installed package ships.

    Args:
        package: Name of the package: wordllama.

    Raises:
        UnknownName: No vectors of such a package are known.
        UsageError: The package is not installed.
        InvalidInput: The package ships other files.
    """
    UnknownName.check("package with vectors", package, PACKAGES)
    shipped = PACKAGES[package]
    found = find_spec(package)
    if found is None or found.origin is None:
        command = f"pip install {package}=={shipped.release}"
        raise UsageError(
            f"{package} is not installed: {command}; its vectors come with it, nothing is downloaded later"
        )
    home, installed = Path(found.origin).parent, version(package)
    for name in (shipped.matrix, shipped.tokenizer):
        if not (home / name).is_file():
            problem = f"{package} {installed} has no {name}; install {package}=={shipped.release}"
            raise InvalidInput(problem, where=str(home))
    return ShippedVectors(shipped.model, home / shipped.matrix, home / shipped.tokenizer, installed)


@cache
def installed_vectors() -> SubwordEncoder | None:
    """Open the vectors of the first package of `PACKAGES` that is installed, once.

    Returns:
        The vectors; None without such a package, or without the packages that read its files.
    """
    for package in PACKAGES:
        if find_spec(package) is not None:
            shipped = shipped_vectors(package)
            try:
                return read_subwords(shipped.matrix, shipped.tokenizer)
            except MissingExtra:
                return None
    return None


def _target(out: str) -> Path:
    """The folder, if it can be made or replaced."""
    target = Path(out)
    if not target.absolute().parent.is_dir():
        raise UsageError(f"{out}: parent folder {target.absolute().parent} does not exist")
    if target.exists() and not (
        target.is_dir() and {each.name for each in target.iterdir()} <= {MATRIX, TOKENIZER, METADATA}
    ):
        raise UsageError(f"{out}: already exists and holds more than subword vectors; choose another folder")
    return target
