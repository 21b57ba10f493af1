"""The training loop of all networks.

A `TrainingTask` deals out batches, computes the loss and evaluates on dev. The loop does the rest: AdamW, gradient
clipping, early stopping, checkpoints. An interrupted training resumes from its last checkpoint, on a CPU with the same
numbers bit for bit: before step n torch is seeded from the seed and n, so random numbers do not depend on those before.

It runs on a CPU, a GPU, or several under ``torchrun --nproc-per-node=8``: each takes its own batches, and gradients are
averaged over them.

A checkpoint has network, optimizer and training state in one file that is written atomically. The newest two are kept;
if the newest cannot be read, the one before is used, and nothing but time is lost. No random state is saved: batches
follow from the seed and the epoch.
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import numpy as np
import torch
from accelerate import Accelerator  # type: ignore[import-untyped]
from accelerate.utils import broadcast  # type: ignore[import-untyped]
from numpy.typing import NDArray

from postil.comments.nn import models
from postil.comments.nn.distributed import is_main_process
from postil.data.atomic_file import AtomicFile, write_file, writing
from postil.data.model_folders import training_folder
from postil.errors import InvalidInput, PostilError, UsageError, needs

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor, nn
    from torch.utils.tensorboard import SummaryWriter

    from postil.comments.options import TrainingOptions
    from postil.data.streams import FilePath

__all__ = [
    "Arrays",
    "Checkpoints",
    "Evaluated",
    "Progress",
    "TrainingState",
    "TrainingTask",
    "train",
    "train_model",
]


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
        best: Lowest dev value; infinite before the first evaluation.
        best_step: Step with that value.
        not_improved: Number of dev evaluations since then.
        history: All dev evaluations.
    """

    step: int = 0
    epoch: int = 0
    epoch_step: int = 0
    best: float = math.inf
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
        with writing(self.folder):
            self.folder.mkdir(exist_ok=True)
            for part in self.folder.glob(".*.part"):  # of a training that was killed
                part.unlink(missing_ok=True)

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
        tensors = {f"network.{name}": tensor for name, tensor in models.state_of(network).items()}
        if state.best_step != state.step:
            tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
        for number, values in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": tensor for name, tensor in values.items()}
        note = json.dumps({"request": self.request, "state": asdict(state)})
        models.write_tensors(self.folder / f"checkpoint-{state.step:09d}.safetensors", tensors, note)
        for old in self._newest_first()[2:]:
            old.unlink(missing_ok=True)
        lines = "".join(json.dumps(asdict(row)) + "\n" for row in state.history)
        write_file(self.folder / "history.jsonl", lines.encode())

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
                tensors, note = models.read_tensors(path)
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
            models.load_state(network, parts["network"], str(path))
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


_FREE: Final = ("epochs", "steps", "patience", "device", "tensorboard")
"""Options that may change when a training resumes."""

Arrays: TypeAlias = Mapping[str, NDArray[np.generic]]
"""Arrays of a batch by name."""


class TrainingTask(Protocol):
    """Data, loss and dev evaluation of a training."""

    @property
    def unit(self) -> str:
        """Unit of batch sizes, in the plural: pairs, words."""

    @property
    def request(self) -> Mapping[str, object]:
        """Everything besides `TrainingOptions` the outcome depends on, as JSON; a resumed training has the same."""

    def batches(self, epoch: int) -> Sequence[Arrays]:
        """Batches of an epoch, the same at each call; each is made when it is indexed.

        Args:
            epoch: The epoch, from 0.
        """

    def loss(self, network: nn.Module, batch: dict[str, Tensor]) -> tuple[Tensor, int]:
        """Training loss of a batch.

        Args:
            network: The network in training mode; to be called, not taken apart (several GPUs wrap it).
            batch: One of ``batches``, on the device.

        Returns:
            Mean loss, a scalar, and the number of units that it is the mean over.
        """

    def dev(self, network: nn.Module) -> float:
        """Dev evaluation; lower is better.

        Args:
            network: The network in evaluation mode and without gradients.
        """


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a training; its text is one line.

    Args:
        step: Number of steps done.
        steps: Maximum number of steps.
        epoch: The epoch, from 0.
        loss: Loss of the last step.
        rate: Units per second.
        left: Estimated time left, in seconds.
        unit: Unit of batch sizes, in the plural.

    >>> print(Progress(step=40, steps=200, epoch=0, loss=2.5, rate=1234.4, left=75.0, unit="pairs"))
    step 40 of 200, epoch 1, loss 2.500, 1,234 pairs/s, 0:01:15 left
    """

    step: int
    steps: int
    epoch: int
    loss: float
    rate: float
    left: float
    unit: str

    def __str__(self) -> str:
        minutes, seconds = divmod(round(self.left), 60)
        left = f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        where = f"step {self.step:,} of {self.steps:,}, epoch {self.epoch + 1}"
        return f"{where}, loss {self.loss:.3f}, {self.rate:,.0f} {self.unit}/s, {left} left"


OnMessage: TypeAlias = Callable[[str], None]
OnProgress: TypeAlias = Callable[[Progress], None]


def _ignore(_: object) -> None:
    pass


def train(
    network: nn.Module,
    task: TrainingTask,
    folder: Path,
    options: TrainingOptions,
    *,
    on_message: OnMessage = _ignore,
    on_progress: OnProgress = _ignore,
) -> TrainingState:
    """Train a network with early stopping on dev.

    A training with the same options in the folder is resumed.

    Args:
        network: The network; it is trained in place and has the best parameters at the end.
        task: Data, loss and dev evaluation.
        folder: Folder of the checkpoints and ``history.jsonl``.
        options: Options of the training.
        on_message: Callback for status messages.
        on_progress: Callback after each step.

    Raises:
        UsageError: There is no such device, or the folder holds a training with other options.
        PostilError: The loss is not finite, or the operating system reports an error.
    """
    accelerator = _accelerator(options)
    if not accelerator.is_main_process:
        on_message = on_progress = _ignore
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        loop = _Loop(
            network, task, folder, options, accelerator=accelerator, on_message=on_message, on_progress=on_progress
        )
        return loop.run()


def train_model(
    folder: FilePath,
    kind: str,
    network: nn.Module,
    task: TrainingTask,
    training: TrainingOptions,
    *,
    config: Mapping[str, object],
    dev: Callable[[float], Mapping[str, float]],
    metadata: Mapping[str, object] | None = None,
    on_message: OnMessage = _ignore,
    on_progress: OnProgress = _ignore,
) -> None:
    """Train a network and write its model folder.

    An interrupted training resumes from ``.FOLDER.training``, next to the folder.

    Args:
        folder: The model folder to write.
        kind: Kind of model.
        network: The network. It ends on the CPU, in evaluation mode, with its best parameters.
        task: Data, loss and dev evaluation.
        training: Options of the training.
        config: Its ``vocab_size`` and ``options``, for `models.load`.
        dev: The best dev value by the name that the model records it under.
        metadata: Further metadata of the model.
        on_message: Callback for status messages.
        on_progress: Callback after each step.

    Raises:
        UsageError: ``.FOLDER.training`` holds a training with other options or data.
        PostilError: The loss is not finite, or the operating system reports an error.
    """
    work = training_folder(folder)
    try:
        trained = train(network, task, work, training, on_message=on_message, on_progress=on_progress)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):  # torch says so for CPUs and GPUs
            raise
        raise PostilError(
            "not enough memory for a training step; choose a smaller batch or a smaller network"
        ) from error
    network.cpu().eval()
    if not is_main_process():
        return
    note = {
        "options": config["options"],
        "training": training.portable(),
        "data": task.request["data"],
        "dev": {**dev(trained.best), "step": trained.best_step},
        "history": [asdict(row) for row in trained.history],
        "versions": {"torch": torch.__version__, "numpy": np.__version__},
        **(metadata or {}),
    }
    models.save(folder, kind, network, config, note)
    shutil.rmtree(work)


class _Loop:
    """State of one `train` call."""

    def __init__(
        self,
        network: nn.Module,
        task: TrainingTask,
        folder: Path,
        options: TrainingOptions,
        *,
        accelerator: Accelerator,
        on_message: OnMessage,
        on_progress: OnProgress,
    ) -> None:
        self.task, self.folder, self.options = task, folder, options
        self.accelerator, self.on_message, self.on_progress = accelerator, on_message, on_progress
        request = {name: value for name, value in asdict(options).items() if name not in _FREE}
        request |= {"processes": accelerator.num_processes, **task.request}
        self.checkpoints = Checkpoints(folder, request, on_message)
        self.raw = network.to(accelerator.device)
        self.optimizer = _optimizer(self.raw, options)
        # Restored before `prepare` wraps them, so that checkpoints name parameters alike for any number of processes.
        self.state, self.best = self.checkpoints.load(self.raw, self.optimizer)
        self.network, self.prepared = accelerator.prepare(self.raw, self.optimizer)
        self.board = _summary_writer(options, self.state.step) if accelerator.is_main_process else None
        self.losses: list[float] = []
        self.units, self.first, self.begun = 0, self.state.step, time.perf_counter()

    def run(self) -> TrainingState:
        state = self.state
        while not self._over():
            batches = self.task.batches(state.epoch)
            processes, rank = self.accelerator.num_processes, self.accelerator.process_index
            steps = len(batches) // processes
            if not steps:
                raise UsageError(f"{len(batches)} batches are too few for {processes} processes")
            total = min(self.options.epochs * steps, self.options.steps or math.inf)
            while state.epoch_step < steps and not self._over():
                loss = self._step(batches[state.epoch_step * processes + rank])
                self._report(loss, int(total))
                if len(self.losses) == self.options.eval_every or state.epoch_step == steps or state.step == total:
                    self._evaluate()
            if state.epoch_step >= steps:
                state.epoch, state.epoch_step = state.epoch + 1, 0
        if not state.history:
            raise UsageError("expected at least one step")
        models.load_state(self.raw, self.best, "best parameters")
        if self.board:
            self.board.close()
        return state

    def _over(self) -> bool:
        state, options = self.state, self.options
        limits = ((state.epoch, options.epochs), (state.step, options.steps), (state.not_improved, options.patience))
        return any(limit and number >= limit for number, limit in limits)

    def _step(self, batch: Arrays) -> float:
        """Take one optimizer step and return the loss before it."""
        state, options, accelerator = self.state, self.options, self.accelerator
        torch.manual_seed(_seed(options.seed, state.step, accelerator.process_index))
        self.network.train()
        for group in self.optimizer.param_groups:
            group["lr"] = options.learning_rate * min(1.0, (state.step + 1) / (options.warmup + 1))
        tensors = {name: torch.from_numpy(array).to(accelerator.device) for name, array in batch.items()}
        with accelerator.autocast():
            loss, units = self.task.loss(self.network, tensors)
        self.prepared.zero_grad()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(self.network.parameters(), options.clip or math.inf)
        value = float(loss.detach())
        if not (math.isfinite(value) and math.isfinite(float(norm))):
            self._abort(batch, value, float(norm))
        self.prepared.step()
        state.step += 1
        state.epoch_step += 1
        self.losses.append(value)
        self.units += units * accelerator.num_processes
        return value

    def _abort(self, batch: Arrays, loss: float, norm: float) -> None:
        path = self.folder / f"step-{self.state.step + 1}.npz"
        with AtomicFile(str(path)) as stream:
            np.savez(stream, allow_pickle=False, **batch)
        raise PostilError(
            f"step {self.state.step + 1:,}: the loss is {loss}, the gradient norm {norm}; "
            f"the batch is saved as {path}. A learning rate below {self.options.learning_rate:g} or warm-up may help"
        )

    def _report(self, loss: float, total: int) -> None:
        state, seconds = self.state, time.perf_counter() - self.begun
        left = seconds / (state.step - self.first) * (total - state.step)
        self.on_progress(Progress(state.step, total, state.epoch, loss, self.units / seconds, left, self.task.unit))
        if self.board:
            self.board.add_scalar("loss", loss, state.step)

    def _evaluate(self) -> None:
        """Evaluate on dev and write a checkpoint."""
        state, main = self.state, self.accelerator.is_main_process
        self.network.eval()
        with torch.inference_mode():
            found = self.task.dev(self.raw) if main else 0.0
        # All processes must stop after the same step, or the next gradient average would wait forever.
        dev = float(broadcast(torch.tensor(found, dtype=torch.float64, device=self.accelerator.device)))
        if not math.isfinite(dev):
            raise PostilError(f"step {state.step:,}: the value on dev is {dev}")
        state.not_improved += 1
        if dev < state.best:
            state.best, state.best_step, state.not_improved = dev, state.step, 0
            self.best = {name: tensor.clone() for name, tensor in models.state_of(self.raw).items()}
        loss = math.fsum(self.losses) / len(self.losses)
        self.losses = []
        state.history.append(Evaluated(state.step, state.epoch, loss, dev))
        if main:
            self.checkpoints.save(state, self.raw, self.optimizer, self.best)
        if self.board:
            self.board.add_scalar("dev", dev, state.step)
        better = "the best so far" if not state.not_improved else f"best {state.best:.4f} at step {state.best_step:,}"
        self.on_message(f"step {state.step:,}, epoch {state.epoch + 1}: loss {loss:.4f}, dev {dev:.4f}, {better}")


def _seed(*numbers: int) -> int:
    # A hash of all numbers, so that neighboring steps and processes have unrelated random numbers; torch takes 63 bits.
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _optimizer(network: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
    groups = [
        {"params": [each for each in parameters if each.dim() > 1], "weight_decay": options.weight_decay},
        {"params": [each for each in parameters if each.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=options.learning_rate, fused=True)


def _accelerator(options: TrainingOptions) -> Accelerator:
    cuda = torch.cuda.is_available() and options.device != "cpu"
    if options.device == "cuda" and not cuda:
        raise UsageError("device: torch finds no GPU here; use cpu")
    if options.bf16 and not (cuda and torch.cuda.is_bf16_supported(including_emulation=False)):
        raise UsageError(
            "bf16: expected a GPU that supports it (Ampere or later); on others and on CPUs it is slower, not faster"
        )
    return Accelerator(cpu=not cuda, mixed_precision="bf16" if options.bf16 else "no")


def _summary_writer(options: TrainingOptions, step: int) -> SummaryWriter | None:
    if options.tensorboard is None:
        return None
    with needs("logging for TensorBoard", "neural"):
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - optional
    return SummaryWriter(options.tensorboard, purge_step=step)
