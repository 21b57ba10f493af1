"""Model folders of networks: how one is opened, and the training that makes it."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import torch
from torch import nn

from postil.commenters.nn import files
from postil.commenters.store import Model, ModelWriter
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from postil.commenters.nn.training import Progress, Task, TrainingOptions
    from postil.records.files import FilePath

__all__ = ["load", "save", "train"]

_WEIGHTS: Final = "weights.safetensors"

Options = TypeVar("Options")
Network = TypeVar("Network", bound=nn.Module)


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
        made = network(wanted, int(model.config["vocabulary"]))
    except (KeyError, TypeError, ValueError, UsageError) as error:
        raise InvalidInput(f"not the options of a {kind}: {error}", where=str(folder)) from error
    path = model.file(_WEIGHTS)
    files.fill(made, files.read(path)[0], str(path))
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
        files.write(new.path(_WEIGHTS), files.weights(network))


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
    trained = run(network, task, work, how, say=say, watch=watch)
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
