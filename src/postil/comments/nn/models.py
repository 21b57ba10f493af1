"""Model folders of networks: building, saving and loading."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TypeVar

import torch
from torch import nn

from postil.comments.nn import safetensors_io
from postil.comments.store import Model, ModelWriter
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from postil.data.streams import FilePath

__all__ = ["build", "load", "save"]

_WEIGHTS: Final = "weights.safetensors"
_COPIES: Final = 4
"""Copies of the parameters in training: the parameters, their gradients and the two moments of AdamW."""
_UNKNOWN: Final = 2**40
"""Bytes of memory that are assumed where the operating system does not tell."""

Options = TypeVar("Options")
Network = TypeVar("Network", bound=nn.Module)


def build(network: Callable[[Options, int], Network], options: Options, vocab_size: int, seed: int) -> Network:
    """Build a network if this machine has the memory to train it.

    Args:
        network: Constructor of the network.
        options: Options of the network.
        vocab_size: Number of token ids.
        seed: Seed of its parameters.

    Raises:
        UsageError: The machine has too little memory.
    """
    size = sum(tensor.nbytes for tensor in _outline(network, options, vocab_size).values())
    if size * _COPIES > (there := _memory()):
        needed = f"training takes {size * _COPIES / 1e9:,.0f} GB of memory, and this machine has {there / 1e9:,.0f}"
        problem = f"the network has {size // 4:,} parameters; {needed}"
        raise UsageError(f"{problem}; choose smaller sizes or a smaller vocabulary")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return network(options, vocab_size)


def _outline(network: Callable[[Options, int], Network], options: Options, vocab_size: int) -> dict[str, Tensor]:
    """State of a network without numbers, which takes no memory and no random numbers."""
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        return safetensors_io.state_of(network(options, vocab_size))


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _UNKNOWN


def load(
    folder: FilePath,
    kind: str,
    options: type[Options],
    network: Callable[[Options, int], Network],
    device: str = "cpu",
) -> tuple[Network, Options]:
    """Load a network from its model folder.

    Args:
        folder: The folder that `save` made.
        kind: Expected kind of model.
        options: Type of its options.
        network: Constructor of the network, called with options and vocabulary size.
        device: ``cpu`` or ``cuda``.

    Returns:
        The network in evaluation mode, and its options.

    Raises:
        InvalidInput: It is another kind of model, or files are missing, truncated or do not fit together.
    """
    model = Model.open(folder, {kind})
    try:
        wanted = options(**model.config["options"])
        vocab_size = int(model.config["vocab_size"])
        outline = _outline(network, wanted, vocab_size)
    except (IndexError, KeyError, MemoryError, OverflowError, RuntimeError, TypeError, ValueError, UsageError) as error:
        problem = f"not the options of a {kind}: {str(error).partition(chr(10))[0]}"
        raise InvalidInput(f"{problem}; was config.json changed?", where=str(folder)) from error
    path = model.file(_WEIGHTS)
    tensors = safetensors_io.read_tensors(path)[0]
    safetensors_io.check_state(outline, tensors, str(path))  # before memory is allocated
    loaded = network(wanted, vocab_size)
    safetensors_io.load_state(loaded, tensors, str(path))
    return loaded.to(device).eval(), wanted


def save(
    folder: FilePath, kind: str, network: nn.Module, config: Mapping[str, object], metadata: Mapping[str, object]
) -> None:
    """Write the model folder of a network.

    Args:
        folder: A folder that does not exist yet.
        kind: Kind of model.
        network: The network.
        config: Its ``vocab_size`` and ``options``, for `load`.
        metadata: Record of its training; JSON.

    Raises:
        UsageError: The folder exists, or its parent does not.
        PostilError: The operating system reports an error.
    """
    with ModelWriter(folder, kind, config, metadata) as new:
        safetensors_io.write_tensors(new.path(_WEIGHTS), safetensors_io.state_of(network))
