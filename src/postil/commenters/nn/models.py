"""Model folders of networks: how one is opened, and the training that makes it."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import torch
from torch import nn

from postil.commenters.nn import safetensors_io
from postil.commenters.store import Model, ModelWriter
from postil.errors import InvalidInput, PostilError, UsageError
from postil.records.arguments import check_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import DataclassInstance
    from torch import Tensor

    from postil.commenters.nn.training import Progress, Task, TrainingOptions
    from postil.records.row_files import FilePath

__all__ = ["build", "check_sizes", "load", "save", "train"]

_WEIGHTS: Final = "weights.safetensors"
_MOST: Final = {
    **dict.fromkeys(("size", "word_size", "filters", "output"), 2**16),
    **dict.fromkeys(("vocabulary", "sampled", "negatives"), 2**24),
    "layers": 64,
    "widths": 1024,
    "seed": 2**63 - 1,
}
"""The largest number that an option may be, where that is not `_HIGHEST`."""
_HIGHEST: Final = 2**31 - 1
_COPIES: Final = 4
"""A network in training: weights, gradients and the two moments of AdamW."""
_UNKNOWN: Final = 2**40
"""Bytes of memory where the system does not say how many it has."""

Options = TypeVar("Options")
Network = TypeVar("Network", bound=nn.Module)


def check_sizes(options: DataclassInstance) -> None:
    """See that options are of the kinds that they are declared as, and no number of them is absurd.

    Args:
        options: Of a network or a training, fresh.

    Raises:
        UsageError: One is of another kind, or too large.
    """
    check_fields(options)
    for name in options.__dataclass_fields__:
        value = getattr(options, name)
        most = _MOST.get(name, _HIGHEST)
        for number in value if isinstance(value, tuple | list) else (value,):
            if isinstance(number, int) and number > most:
                raise UsageError(f"{name}: expected at most {most:,}, got {number:,}")


def build(network: Callable[[Options, int], Network], options: Options, vocabulary: int) -> Network:
    """Make a network, if this machine can hold it in training.

    Args:
        network: What makes it.
        options: What it is.
        vocabulary: How many words it knows.

    Raises:
        UsageError: The memory of the machine is too small.
    """
    size = sum(tensor.nbytes for tensor in _outline(network, options, vocabulary).values())
    if size * _COPIES > (there := _memory()):
        needed = f"training it takes {size * _COPIES / 1e9:,.0f} GB of memory, and this machine has {there / 1e9:,.0f}"
        raise UsageError(f"the network has {size // 4:,} weights; {needed}; take smaller sizes or a smaller vocabulary")
    return network(options, vocabulary)


def _outline(network: Callable[[Options, int], Network], options: Options, vocabulary: int) -> dict[str, Tensor]:
    """The weights of a network without their numbers, which takes no memory."""
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        return safetensors_io.weights(network(options, vocabulary))


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
    """Open the folder of a network.

    Args:
        folder: The folder that `save` or `train` made.
        kind: What it has to hold.
        options: The type of its options.
        network: What makes the network, of options and the size of the vocabulary.
        device: Where to calculate: ``cpu`` or ``cuda``.

    Returns:
        The network, in evaluation, and its options.

    Raises:
        InvalidInput: It holds something else, or files are missing, cut short or do not fit together.
    """
    model = Model.open(folder, {kind})
    try:
        wanted = options(**model.config["options"])
        words = int(model.config["vocabulary"])
        outline = _outline(network, wanted, words)
    except (IndexError, KeyError, MemoryError, OverflowError, RuntimeError, TypeError, ValueError, UsageError) as error:
        problem = f"not the options of a {kind}: {str(error).partition(chr(10))[0]}"
        raise InvalidInput(f"{problem}; was config.json changed?", where=str(folder)) from error
    path = model.file(_WEIGHTS)
    tensors = safetensors_io.read(path)[0]
    safetensors_io.check(outline, tensors, str(path))  # before memory is asked for
    made = network(wanted, words)
    safetensors_io.fill(made, tensors, str(path))
    return made.to(device).eval(), wanted


def save(folder: FilePath, kind: str, network: nn.Module, config: Mapping[str, Any], made: Mapping[str, Any]) -> None:
    """Make the folder of a network.

    Args:
        folder: A folder that is not there yet.
        kind: What it holds.
        network: The network.
        config: Its ``vocabulary`` and ``options``, for `load`.
        made: How it was made; JSON.

    Raises:
        UsageError: The folder is there, or its parent is not.
        PostilError: The system refuses to write.
    """
    with ModelWriter(folder, kind, config, made) as new:
        safetensors_io.write(new.path(_WEIGHTS), safetensors_io.weights(network))


def train(
    folder: FilePath,
    kind: str,
    network: nn.Module,
    task: Task,
    how: TrainingOptions,
    *,
    config: Mapping[str, Any],
    dev: Callable[[float], Mapping[str, float]],
    made: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda _: None,
    watch: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Train a network and make its folder.

    A training that was cut off goes on from ``.FOLDER.training``, beside the folder to make.

    Args:
        folder: The model folder to make.
        kind: What it is to hold.
        network: The network. It ends on the CPU, in evaluation, with its best weights.
        task: What it is trained on.
        how: How.
        config: Its ``vocabulary`` and ``options``, for `load`.
        dev: The best value on dev, and under which name to note it.
        made: What else to note of how it was made.
        say: Told what is worth knowing.
        watch: Told after each step how far it is.

    Raises:
        UsageError: The folder beside it holds a training with other options or data.
        PostilError: The loss is not a number, or the system refuses to write.
    """
    from postil.commenters.nn.training import train as run  # noqa: PLC0415 - accelerate is slow to load

    work = Path(folder).resolve()
    work = work.with_name(f".{work.name}.training")
    try:
        trained = run(network, task, work, how, say=say, watch=watch)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):  # so torch says it of CPUs and GPUs
            raise
        raise PostilError(
            "not enough memory for a step of training; take a smaller batch, or a smaller network"
        ) from error
    network.cpu().eval()
    if not trained.writes:
        return
    note = {
        "options": config["options"],
        "training": {name: value for name, value in asdict(how).items() if name not in ("device", "log")},
        "data": task.request["data"],
        "dev": {**dev(trained.best), "step": trained.step},
        "history": list(trained.history),
        "versions": {"torch": torch.__version__, "numpy": np.__version__},
        **(made or {}),
    }
    save(folder, kind, network, config, note)
    shutil.rmtree(work)
