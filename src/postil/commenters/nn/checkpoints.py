"""What a training needs to go on: weights, optimiser, and where it stands, in one file that appears whole.

The newest two are kept. If the newest cannot be read, the one before it is used; as a training is the same whether it
was cut off or not, nothing but time is lost.

Random numbers need no place in the file. Batches are drawn from the seed and the epoch, and before each step torch is
seeded from the seed and the step.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from postil.commenters.nn import safetensors_io
from postil.errors import InvalidInput, UsageError
from postil.records.atomic_file import Replacement, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import torch
    from torch import Tensor, nn

__all__ = ["Checkpoints", "State"]


@dataclass(slots=True)
class State:
    """Where a training stands.

    Args:
        step: Steps done.
        epoch: The epoch, from 0.
        place: Steps of it that are done.
        best: The lowest dev value.
        best_step: After which step that was.
        worse: Dev values since then.
        history: A row a dev value: step, epoch, loss (mean since the row before), dev.
    """

    step: int = 0
    epoch: int = 0
    place: int = 0
    best: float | None = None
    best_step: int = 0
    worse: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a training in its folder.

    Args:
        folder: The folder, which is made if its parent is there.
        request: All that the outcome depends on; JSON.
        say: Told what is worth knowing.
    """

    folder: Path
    request: Mapping[str, Any]
    say: Callable[[str], None]

    def __post_init__(self) -> None:
        if not self.folder.parent.is_dir():
            raise UsageError(f"{self.folder}: parent folder {self.folder.parent} does not exist")
        try:
            self.folder.mkdir(exist_ok=True)
            for part in self.folder.glob(".*.part"):  # of a training that was killed
                part.unlink(missing_ok=True)
        except OSError as error:
            raise refused(str(self.folder), error) from error

    def save(
        self, state: State, network: nn.Module, optimizer: torch.optim.Optimizer, best: Mapping[str, Tensor]
    ) -> None:
        """Write a checkpoint and the history, and remove the checkpoint before the last.

        Args:
            state: Where the training stands.
            network: The network.
            optimizer: The optimiser.
            best: The weights with the lowest dev value.

        Raises:
            PostilError: The system refuses to write; earlier checkpoints stay.
        """
        tensors = {f"network.{name}": tensor for name, tensor in safetensors_io.weights(network).items()}
        if state.best_step != state.step:
            tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
        for number, values in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": tensor for name, tensor in values.items()}
        note = json.dumps({"request": self.request, "state": asdict(state)})
        safetensors_io.write(self.folder / f"checkpoint-{state.step:09d}.safetensors", tensors, note)
        for old in self._found()[2:]:
            old.unlink(missing_ok=True)
        lines = "".join(json.dumps(row) + "\n" for row in state.history)
        with Replacement(str(self.folder / "history.jsonl")) as stream:
            stream.write(lines.encode())

    def load(self, network: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[State, dict[str, Tensor]]:
        """Put network and optimiser in the state of the newest checkpoint that can be read, if there is one.

        Args:
            network: The network.
            optimizer: The optimiser.

        Returns:
            Where the training stands, and the best weights so far.

        Raises:
            UsageError: The checkpoint is of a training with other options or data.
        """
        for path in self._found():
            try:
                tensors, note = safetensors_io.read(path)
                noted = json.loads(note)
                state = State(**noted["state"])
            except (InvalidInput, ValueError, KeyError, TypeError) as error:
                self.say(f"{path}: this checkpoint cannot be used ({error}); trying the one before")
                continue
            self._check(noted["request"])
            parts: dict[str, dict[str, Tensor]] = {"network": {}, "best": {}, "optimizer": {}}
            for name, tensor in tensors.items():
                part, _, rest = name.partition(".")
                parts[part][rest] = tensor
            safetensors_io.fill(network, parts["network"], str(path))
            optimizer.load_state_dict({**optimizer.state_dict(), "state": _nested(parts["optimizer"])})
            self.say(f"going on after step {state.step:,} ({path.name})")
            return state, parts["best"] or parts["network"]
        return State(), {}

    def _found(self) -> list[Path]:
        """The newest first."""
        return sorted(self.folder.glob("checkpoint-*.safetensors"), reverse=True)

    def _check(self, noted: Mapping[str, Any]) -> None:
        mine = json.loads(json.dumps(self.request))
        other = [
            f"{name} {noted.get(name)}, not {mine.get(name)}"
            for name in sorted(noted.keys() | mine.keys())
            if noted.get(name) != mine.get(name)
        ]
        if other:
            raise UsageError(
                f"{self.folder}: a training with {'; '.join(other)} was begun here; "
                "go on with the same options, or remove the folder to begin anew"
            )


def _nested(tensors: Mapping[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    """``{"3.step": …}`` to ``{3: {"step": …}}``."""
    nested: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        number, _, rest = name.partition(".")
        nested.setdefault(int(number), {})[rest] = tensor
    return nested
