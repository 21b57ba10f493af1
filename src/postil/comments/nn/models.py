"""Model folders of networks, and their state (parameters and buffers) in safetensors files."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as as_bytes
from torch import Tensor, nn

from postil.comments.nn.token_ids import SPECIAL
from postil.data.arrays import WHOLE
from postil.data.atomic_file import AtomicFile
from postil.data.model_folders import Model, ModelWriter
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from postil.data.streams import FilePath

__all__ = [
    "build",
    "check_state",
    "load",
    "load_state",
    "read_tensors",
    "save",
    "set_embeddings",
    "state_of",
    "write_tensors",
]


def state_of(network: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers of a network by name; a shared one occurs once, which safetensors asks for.

    Args:
        network: The network.
    """
    named = chain(network.named_parameters(), network.named_buffers())
    return {name: tensor.detach() for name, tensor in named}


@torch.no_grad()
def set_embeddings(words: nn.Embedding, embeddings: NDArray[np.float32] | None) -> None:
    """Set pretrained embeddings, scaled to a mean norm of 1, about that of random ones.

    Args:
        words: Embeddings of a network, special tokens included.
        embeddings: Embeddings in the order of the corpus's vocabulary, float32[words, d]; zeros for a word without
            one. None for none.

    Raises:
        UsageError: They have another dimension.
    """
    if embeddings is None:
        return
    size, known = words.embedding_dim, words.num_embeddings - SPECIAL
    if embeddings.ndim != 2 or embeddings.shape[1] != size:
        raise UsageError(f"embeddings: expected float32[words, {size}], got an array of shape {embeddings.shape}")
    norms = np.linalg.norm(embeddings[:known], axis=1)
    given = np.flatnonzero(norms)
    if len(given):
        words.weight[SPECIAL + given] = torch.from_numpy(embeddings[given] / norms[given].mean()).float()


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
    data = as_bytes({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, {"note": note})
    with AtomicFile(str(path)) as stream:
        stream.write(data)


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
        return state_of(network(options, vocab_size))


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
    tensors = read_tensors(path)[0]
    check_state(outline, tensors, str(path))  # before memory is allocated
    loaded = network(wanted, vocab_size)
    load_state(loaded, tensors, str(path))
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
        write_tensors(new.path(_WEIGHTS), state_of(network))
