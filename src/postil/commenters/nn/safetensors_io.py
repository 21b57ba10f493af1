"""State dicts of networks (parameters and buffers), to and from safetensors."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from postil.arrays import WHOLE
from postil.errors import InvalidInput
from postil.records.atomic_file import Replacement, refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor, nn

__all__ = ["check", "fill", "read", "weights", "write"]


def weights(network: nn.Module) -> dict[str, Tensor]:
    """The parameters and buffers of a network by name (its state dict); one that is shared is there once.

    Args:
        network: The network.
    """
    named = chain(network.named_parameters(), network.named_buffers())
    return {name: tensor.detach() for name, tensor in named}


def fill(network: nn.Module, tensors: Mapping[str, Tensor], where: str) -> None:
    """Put parameters and buffers into a network.

    Args:
        network: The network.
        tensors: What `weights` gave.
        where: The file that they come from.

    Raises:
        InvalidInput: They are those of another network.
    """
    expected = weights(network)
    check(expected, tensors, where)
    for name, tensor in expected.items():
        tensor.copy_(tensors[name])


def check(wanted: Mapping[str, Tensor], tensors: Mapping[str, Tensor], where: str) -> None:
    """See that tensors have the names, shapes and types of others, and finite numbers.

    Args:
        wanted: The others; they need no numbers.
        tensors: The tensors.
        where: The file that they come from.

    Raises:
        InvalidInput: They have not.
    """
    expected = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in wanted.items()}
    got = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | got.keys()):
        if expected.get(name) != got.get(name):
            both = expected.get(name), got.get(name)
            one, other = (f"shape {each[0]} of {each[1]}" if each else "none" for each in both)
            raise InvalidInput(f"weights {name}: expected {one}, got {other}; {WHOLE}", where=where)
        if not tensors[name].isfinite().all():
            raise InvalidInput(f"weights {name}: expected finite numbers; {WHOLE}", where=where)


def write(path: Path, tensors: Mapping[str, Tensor], note: str = "") -> None:
    """Write tensors to a file that appears whole or not at all.

    Args:
        path: The file.
        tensors: The tensors by name.
        note: A text to keep with them.

    Raises:
        PostilError: The system refuses to write.

    >>> import pathlib, tempfile, torch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "w.safetensors"
    ...     write(file, {"a": torch.ones(2)}, "made by hand")
    ...     read(file)
    ({'a': tensor([1., 1.])}, 'made by hand')
    """
    data = save({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, {"note": note})
    with Replacement(str(path)) as stream:
        try:
            stream.write(data)
        except OSError as error:
            raise refused(str(path), error) from error


def read(path: Path) -> tuple[dict[str, Tensor], str]:
    """Read what `write` wrote.

    Args:
        path: The file.

    Returns:
        The tensors, and the text kept with them.

    Raises:
        InvalidInput: There is no such file, or it is cut short or damaged.
    """
    try:
        with safe_open(path, "pt") as file:
            note = (file.metadata() or {}).get("note", "")
            return {name: file.get_tensor(name) for name in file.keys()}, note  # noqa: SIM118 - it is no dict
    except (OSError, SafetensorError) as error:
        raise InvalidInput(f"no safetensors, or cut short or damaged: {error}", where=str(path)) from error
