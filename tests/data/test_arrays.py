"""Tests of the descriptions of arrays and of the errors for others."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from postil.data.arrays import Expected, open_array
from postil.errors import InvalidInput
from refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def kept(folder: Path, array: Any) -> Path:
    np.save(folder / "a.npy", array)
    return folder / "a.npy"


def test_one_that_is_as_expected(tmp_path: Path) -> None:
    for array, expected in (
        (np.arange(6, dtype=np.int32).reshape(2, 3), Expected("int32", (None, 3), low=0, high=5)),
        (np.array([0, 0, 4]), Expected("int64", (3,), end=4)),
        (np.zeros((0, 4), np.float32), Expected("float32", (None, 4), low=0)),
        (np.array([-1.0, np.nan]), Expected("float64")),
        (np.array([0.0, 1e300]), Expected("float64", low=0)),
    ):
        found = open_array(kept(tmp_path, array), expected, remake="postil")
        assert isinstance(found, np.memmap)
        assert not found.flags.writeable
        read = open_array(tmp_path / "a.npy", expected, remake="postil", mapped=False)
        assert not isinstance(read, np.memmap)
        np.testing.assert_array_equal(found, read)
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    ("array", "expected", "got"),
    [
        (np.zeros(3), Expected("float32"), "expected float32[any], got float64[3]"),
        (np.zeros(3), Expected("float64", (4,)), "expected float64[4], got float64[3]"),
        (np.zeros((3, 1)), Expected("float64"), "expected float64[any], got float64[3, 1]"),
        (np.zeros((3, 1)), Expected("float64", (3, 2)), "expected float64[3, 2], got float64[3, 1]"),
        (np.float64(1), Expected("float64"), "expected float64[any], got float64[]"),
        (np.zeros(3, ">i4"), Expected("int32"), "expected int32[any], got int32 of the other byte order[3]"),
        (np.zeros((2, 2), order="F"), Expected("float64", (2, 2)), "got float64[2, 2], column by column"),
        (np.array(["a"]), Expected("uint8"), "expected uint8[any], got str32[1]"),
        (np.array([3, -4]), Expected("int64", low=0), "expected int64[any] from 0, got -4 to 3"),
        (np.array([3, 4]), Expected("int64", low=0, high=3), "expected int64[any] from 0 to 3, got 3 to 4"),
        (np.array([1.0, np.nan]), Expected("float64", low=0), "expected float64[any] from 0, got nan to nan"),
        (np.array([1.0, np.inf]), Expected("float64", low=0), "expected float64[any] from 0, got 1.0 to inf"),
        (np.array([0, 4]), Expected("int64", end=5), "offsets that rise from 0 to 5, got offsets from 0 to 4"),
        (np.array([1, 5]), Expected("int64", end=5), "offsets that rise from 0 to 5, got offsets from 1 to 5"),
        (np.array([], np.int64), Expected("int64", end=0), "offsets that rise from 0 to 0, got none"),
        (np.array([0, 3, 2, 5]), Expected("int64", end=5), "offsets that rise from 0 to 5, got 2 after 3"),
        (np.append(np.arange(70_000), [9, 70_001]), Expected("int64", end=70_001), "got 9 after 69999"),
    ],
)
def test_one_that_is_another(tmp_path: Path, array: Any, expected: Expected, got: str) -> None:
    file = kept(tmp_path, array)
    said = refused(InvalidInput, open_array, file, expected, remake="postil train ir-t")
    assert said.startswith(f"{file}: expected ")
    assert f"{got}; was the folder copied whole? Else make it anew with postil train ir-t" in said


def _archive(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.npy", b"")


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(file.read_bytes().replace(b"(3,)", b"(-3)")),
        lambda file: file.write_bytes(file.read_bytes().replace(b"(3,), ", b"(10**9)")),
        lambda file: file.write_bytes(file.read_bytes().replace(b"{", b"(")),
        lambda file: np.save(file, np.array([{}, None], object), allow_pickle=True),
        _archive,
    ],
)
def test_what_is_no_array(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    file = kept(tmp_path, np.arange(3))
    damage(file)
    with pytest.raises(InvalidInput, match=r"a\.npy: not an array, or one cut short; was the folder copied whole\?"):
        open_array(file, Expected("int64"), remake="postil")
    file.unlink()
    with pytest.raises(InvalidInput, match=r"a\.npy: missing; was the folder copied whole\?"):
        open_array(file, Expected("int64"), remake="postil")


def test_one_that_was_changed_since_is_looked_at_again(tmp_path: Path) -> None:
    expected = Expected("int64", low=0)
    open_array(kept(tmp_path, np.arange(3)), expected, remake="postil")
    (tmp_path / "a.npy").unlink()
    with pytest.raises(InvalidInput, match="expected int64"):
        open_array(kept(tmp_path, np.arange(-3, 2)), expected, remake="postil")
