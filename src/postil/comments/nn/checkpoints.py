"""Checkpoints: network, optimizer and training state in one file that is written atomically.

The newest two are kept. If the newest cannot be read, the one before is used; a resumed training gives the same
parameters as an uninterrupted one, so nothing but time is lost.

No random state is saved: batches follow from the seed and the epoch, and before each step torch is seeded from the seed
and the step.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from postil.comments.nn import safetensors_io
from postil.data.atomic_file import AtomicFile, write_error
from postil.errors import InvalidInput, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import torch
    from torch import Tensor, nn

__all__ = ["Checkpoints", "Evaluated", "TrainingState"]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A dev evaluation during training.

    Args:
        step: Number of optimizer steps.
        epoch: The epoch, from 0.
        loss: Mean training loss since the evaluation before.
        dev: Value on dev; lower is better.
    """

    step: int
    epoch: int
    loss: float
    dev: float


@dataclass(slots=True)
class TrainingState:
    """Progress of a training.

    Args:
        step: Number of optimizer steps.
        epoch: The epoch, from 0.
        epoch_step: Number of steps within the epoch.
        best: Lowest dev value.
        best_step: Step with that value.
        not_improved: Number of dev evaluations since then.
        history: All dev evaluations.
    """

    step: int = 0
    epoch: int = 0
    epoch_step: int = 0
    best: float | None = None
    best_step: int = 0
    not_improved: int = 0
    history: list[Evaluated] = field(default_factory=list)


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints of a training in its folder.

    Args:
        folder: The folder; it is made if its parent exists.
        request: Everything that the outcome depends on; JSON.
        on_message: Callback for status messages.
    """

    folder: Path
    request: Mapping[str, object]
    on_message: Callable[[str], None]

    def __post_init__(self) -> None:
        if not self.folder.parent.is_dir():
            raise UsageError(f"{self.folder}: parent folder {self.folder.parent} does not exist")
        try:
            self.folder.mkdir(exist_ok=True)
            for part in self.folder.glob(".*.part"):  # of a training that was killed
                part.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(str(self.folder), error) from error

    def save(
        self, state: TrainingState, network: nn.Module, optimizer: torch.optim.Optimizer, best: Mapping[str, Tensor]
    ) -> None:
        """Write a checkpoint and the history, and remove the checkpoint before the last.

        Args:
            state: Progress of the training.
            network: The network.
            optimizer: The optimizer.
            best: State of the network with the lowest dev value.

        Raises:
            PostilError: The operating system reports an error; earlier checkpoints stay.
        """
        tensors = {f"network.{name}": tensor for name, tensor in safetensors_io.state_of(network).items()}
        if state.best_step != state.step:
            tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
        for number, values in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": tensor for name, tensor in values.items()}
        note = json.dumps({"request": self.request, "state": asdict(state)})
        safetensors_io.write(self.folder / f"checkpoint-{state.step:09d}.safetensors", tensors, note)
        for old in self._newest_first()[2:]:
            old.unlink(missing_ok=True)
        lines = "".join(json.dumps(asdict(row)) + "\n" for row in state.history)
        with AtomicFile(str(self.folder / "history.jsonl")) as stream:
            stream.write(lines.encode())

    def load(self, network: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[TrainingState, dict[str, Tensor]]:
        """Restore network and optimizer from the newest readable checkpoint, if there is one.

        Args:
            network: The network.
            optimizer: The optimizer.

        Returns:
            Progress of the training, and the state of the network with the lowest dev value.

        Raises:
            UsageError: The checkpoint belongs to a training with other options or data.
        """
        for path in self._newest_first():
            try:
                tensors, note = safetensors_io.read(path)
                noted = json.loads(note)
                history = [Evaluated(**row) for row in noted["state"].pop("history")]
                state = TrainingState(**noted["state"], history=history)
            except (InvalidInput, ValueError, KeyError, TypeError, AttributeError) as error:
                self.on_message(f"{path}: this checkpoint cannot be used ({error}); trying the one before")
                continue
            self._check(noted["request"])
            parts: dict[str, dict[str, Tensor]] = {"network": {}, "best": {}, "optimizer": {}}
            for name, tensor in tensors.items():
                part, _, rest = name.partition(".")
                parts[part][rest] = tensor
            safetensors_io.load_state(network, parts["network"], str(path))
            optimizer.load_state_dict({**optimizer.state_dict(), "state": _by_parameter(parts["optimizer"])})
            self.on_message(f"resuming after step {state.step:,} ({path.name})")
            return state, parts["best"] or parts["network"]
        return TrainingState(), {}

    def _newest_first(self) -> list[Path]:
        return sorted(self.folder.glob("checkpoint-*.safetensors"), reverse=True)

    def _check(self, noted: Mapping[str, object]) -> None:
        mine = json.loads(json.dumps(self.request))
        other = [
            f"{name} {noted.get(name)}, not {mine.get(name)}"
            for name in sorted(noted.keys() | mine.keys())
            if noted.get(name) != mine.get(name)
        ]
        if other:
            raise UsageError(
                f"{self.folder}: holds checkpoints of a training with {'; '.join(other)}; "
                "resume it with the same options, or remove the folder to start anew"
            )


def _by_parameter(tensors: Mapping[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    """``{"3.step": …}`` to ``{3: {"step": …}}``."""
    nested: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        number, _, rest = name.partition(".")
        nested.setdefault(int(number), {})[rest] = tensor
    return nested
