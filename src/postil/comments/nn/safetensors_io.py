"""Model state (parameters and buffers) in safetensors files."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from postil.data.arrays import WHOLE
from postil.data.atomic_file import AtomicFile, write_error
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor, nn

__all__ = ["check_state", "load_state", "read_tensors", "state_of", "write_tensors"]


def state_of(network: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers of a network by name; a shared one occurs once, which safetensors asks for.

    Args:
        network: The network.
    """
    named = chain(network.named_parameters(), network.named_buffers())
    return {name: tensor.detach() for name, tensor in named}


def load_state(network: nn.Module, tensors: Mapping[str, Tensor], where: str) -> None:
    """Copy parameters and buffers into a network.

    Args:
        network: The network.
        tensors: Tensors by name, as `state_of` returns them.
        where: The file that they were read from.

    Raises:
        InvalidInput: They are those of another network.
    """
    expected = state_of(network)
    check_state(expected, tensors, where)
    for name, tensor in expected.items():
        tensor.copy_(tensors[name])


def check_state(wanted: Mapping[str, Tensor], tensors: Mapping[str, Tensor], where: str) -> None:
    """Check that tensors have the expected names, shapes and dtypes, and finite numbers.

    Args:
        wanted: Expected tensors; they may be on the meta device.
        tensors: Tensors to check.
        where: The file that they were read from.

    Raises:
        InvalidInput: One differs or is not finite.
    """
    expected = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in wanted.items()}
    found = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            both = expected.get(name), found.get(name)
            one, other = (f"shape {each[0]} of {each[1]}" if each else "none" for each in both)
            raise InvalidInput(f"tensor {name}: expected {one}, got {other}; {WHOLE}", where=where)
        if not tensors[name].isfinite().all():
            raise InvalidInput(f"tensor {name}: expected finite numbers; {WHOLE}", where=where)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], note: str = "") -> None:
    """Write tensors to a file, atomically.

    Args:
        path: The file.
        tensors: Tensors by name.
        note: Text for the file's metadata.

    Raises:
        PostilError: The operating system reports an error.

    >>> import pathlib, tempfile, torch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "w.safetensors"
    ...     write_tensors(file, {"a": torch.ones(2)}, "made by hand")
    ...     read_tensors(file)
    ({'a': tensor([1., 1.])}, 'made by hand')
    """
    data = save({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, {"note": note})
    with AtomicFile(str(path)) as stream:
        try:
            stream.write(data)
        except OSError as error:
            raise write_error(str(path), error) from error


def read_tensors(path: Path) -> tuple[dict[str, Tensor], str]:
    """Read a file that `write_tensors` wrote.

    Args:
        path: The file.

    Returns:
        Tensors by name, and the note.

    Raises:
        InvalidInput: There is no such file, or it is truncated or damaged.
    """
    try:
        with safe_open(path, "pt") as file:
            note = (file.metadata() or {}).get("note", "")
            return {name: file.get_tensor(name) for name in file.keys()}, note  # noqa: SIM118 - it is no dict
    except (OSError, SafetensorError) as error:
        raise InvalidInput(f"no safetensors, or cut short or damaged: {error}", where=str(path)) from error
