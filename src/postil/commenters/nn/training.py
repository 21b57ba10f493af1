"""The one loop that every network is trained with.

What is trained on is a `Task`: it deals out batches, says what the loss is, and measures on dev. The loop does the
rest: AdamW, gradient clipping, early stopping, checkpoints. A training that is cut off goes on from its last
checkpoint, on a CPU to the same numbers, bit for bit: before step n torch is seeded from the seed and n, so the numbers
that are drawn do not depend on those drawn before.

It runs on a CPU, a GPU, or several under ``torchrun --nproc-per-node=8``: each takes its own batches, and gradients are
averaged over them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np
import torch
from accelerate import Accelerator  # type: ignore[import-untyped]
from accelerate.utils import broadcast  # type: ignore[import-untyped]

from postil.commenters.nn import safetensors_io
from postil.commenters.nn.checkpoints import Checkpoints
from postil.commenters.nn.models import check_sizes
from postil.errors import MissingExtra, PostilError, UsageError
from postil.records.atomic_file import Replacement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torch import Tensor, nn

    from postil.commenters.nn.batches import Batch

__all__ = ["SEED", "Progress", "Task", "Trained", "TrainingOptions", "train"]

SEED: Final = 20181
_FREE: Final = ("epochs", "steps", "patience", "device", "log")
"""Options that may change when a training goes on."""


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How to train.

    Args:
        batch: Size of a batch, as the task counts it.
        epochs: How often at most all is gone through.
        steps: How many steps at most; 0 for no limit.
        learning_rate: Of AdamW.
        warmup: Number of steps before the learning rate is reached. It rises in equal parts from
            learning_rate / (warmup + 1) at the first step.
        weight_decay: Of matrices, not of biases (AdamW).
        clip: The norm that gradients are clipped to; 0 for none.
        every: Steps after which dev is measured and a checkpoint kept; so it is at the end of each epoch as well.
        patience: How many measurements without a new best end the training; 0 for none.
        seed: Seed of all that is random.
        device: ``cpu``, ``cuda``, or ``auto``: a GPU where there is one.
        bf16: Mixed precision (autocast to bfloat16; weights and their updates stay in float32), which takes a GPU that
            has it.
        log: A folder for TensorBoard.
    """

    batch: int = 256
    epochs: int = 20
    steps: int = 0
    learning_rate: float = 1e-3
    warmup: int = 0
    weight_decay: float = 0.0
    clip: float = 1.0
    every: int = 1000
    patience: int = 3
    seed: int = SEED
    device: str = "auto"
    bf16: bool = False
    log: str | None = None

    def __post_init__(self) -> None:
        check_sizes(self)
        for name in ("batch", "epochs", "every"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}: expected at least 1, got {getattr(self, name)}")
        for name in ("steps", "warmup", "weight_decay", "clip", "patience", "seed"):
            if not getattr(self, name) >= 0:
                raise UsageError(f"{name}: expected at least 0, got {getattr(self, name)}")
        if not 0 < self.learning_rate < math.inf:
            raise UsageError(f"learning_rate: expected a number above 0, got {self.learning_rate}")
        if self.device not in ("auto", "cpu", "cuda"):
            raise UsageError(f"device: expected auto, cpu or cuda, got {self.device}")


class Task(Protocol):
    """What a network is trained on."""

    @property
    def unit(self) -> str:
        """What its sizes count, in the plural: pairs, words."""

    @property
    def request(self) -> Mapping[str, Any]:
        """What the outcome depends on besides `TrainingOptions`; JSON. A training goes on only with the same."""

    def batches(self, epoch: int) -> Sequence[Batch]:
        """The batches of an epoch, the same each time; each is made when it is asked for.

        Args:
            epoch: Counted from 0.
        """

    def loss(self, network: nn.Module, batch: dict[str, Tensor]) -> tuple[Tensor, int]:
        """The loss of a batch.

        Args:
            network: The network, in training; to be called, not taken apart (several GPUs wrap it).
            batch: One of ``batches`` on the device.

        Returns:
            The mean loss, a scalar, and over how many.
        """

    def dev(self, network: nn.Module) -> float:
        """A measurement on dev; low is good.

        Args:
            network: The network, in evaluation and without gradients.
        """


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a training is; printing it gives a line.

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


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of a training; the network holds the best weights.

    Args:
        best: The lowest dev value.
        step: After which step that was.
        history: A row a dev value: step, epoch, loss (mean since the row before), dev.
        writes: Whether this process is the one, of several, that writes files.
    """

    best: float
    step: int
    history: tuple[Mapping[str, Any], ...]
    writes: bool = True


Say: TypeAlias = Callable[[str], None]
Watch: TypeAlias = Callable[[Progress], None]


def _silent(_: object) -> None:
    pass


def train(
    network: nn.Module,
    task: Task,
    folder: Path,
    options: TrainingOptions,
    *,
    say: Say = _silent,
    watch: Watch = _silent,
) -> Trained:
    """Train a network until dev gets no better.

    If the folder holds a training with the same options, that one goes on.

    Args:
        network: The network; its weights are trained in place and are the best ones at the end.
        task: What it is trained on.
        folder: Where checkpoints and ``history.jsonl`` are kept.
        options: How.
        say: Told what is worth knowing, a line each.
        watch: Told after each step how far it is.

    Raises:
        UsageError: The device is not there, or the folder holds a training with other options.
        PostilError: The loss is not a number, or the system refuses to write.
    """
    accelerator = _accelerator(options)
    if not accelerator.is_main_process:
        say = watch = _silent
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        return _Loop(network, task, folder, options, accelerator=accelerator, say=say, watch=watch).run()


class _Loop:
    """A training; see `train`."""

    def __init__(
        self,
        network: nn.Module,
        task: Task,
        folder: Path,
        options: TrainingOptions,
        *,
        accelerator: Accelerator,
        say: Say,
        watch: Watch,
    ) -> None:
        self.task, self.folder, self.options = task, folder, options
        self.accelerator, self.say, self.watch = accelerator, say, watch
        request = {name: value for name, value in asdict(options).items() if name not in _FREE}
        request |= {"processes": accelerator.num_processes, **task.request}
        self.checkpoints = Checkpoints(folder, request, say)
        self.raw = network.to(accelerator.device)
        self.optimizer = _optimizer(self.raw, options)
        self.state, self.best = self.checkpoints.load(self.raw, self.optimizer)
        self.network, self.prepared = accelerator.prepare(self.raw, self.optimizer)
        self.board = _board(options, self.state.step) if accelerator.is_main_process else None
        self.losses: list[float] = []
        self.sizes, self.first, self.begun = 0, self.state.step, time.perf_counter()

    def run(self) -> Trained:
        state = self.state
        while not self._over():
            batches = self.task.batches(state.epoch)
            processes, process = self.accelerator.num_processes, self.accelerator.process_index
            steps = len(batches) // processes
            if not steps:
                raise UsageError(f"{len(batches)} batches are too few for {processes} processes")
            total = min(self.options.epochs * steps, self.options.steps or math.inf)
            while state.place < steps and not self._over():
                loss = self._step(batches[state.place * processes + process])
                self._progress(loss, int(total))
                if len(self.losses) == self.options.every or state.place == steps or state.step == total:
                    self._measure()
            if state.place >= steps:
                state.epoch, state.place = state.epoch + 1, 0
        if state.best is None:
            raise UsageError("expected at least one step")
        safetensors_io.fill(self.raw, self.best, "best weights")
        if self.board:
            self.board.close()
        return Trained(state.best, state.best_step, tuple(state.history), self.accelerator.is_main_process)

    def _over(self) -> bool:
        state, options = self.state, self.options
        limits = ((state.epoch, options.epochs), (state.step, options.steps), (state.worse, options.patience))
        return any(limit and number >= limit for number, limit in limits)

    def _step(self, batch: Batch) -> float:
        """One step of the optimiser; the loss before it."""
        state, options, accelerator = self.state, self.options, self.accelerator
        torch.manual_seed(_seed(options.seed, state.step, accelerator.process_index))
        self.network.train()
        for group in self.optimizer.param_groups:
            group["lr"] = options.learning_rate * min(1.0, (state.step + 1) / (options.warmup + 1))
        tensors = {name: torch.from_numpy(array).to(accelerator.device) for name, array in batch.items()}
        with accelerator.autocast():
            loss, size = self.task.loss(self.network, tensors)
        self.prepared.zero_grad()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(self.network.parameters(), options.clip or math.inf)
        value = float(loss.detach())
        if not (math.isfinite(value) and math.isfinite(float(norm))):
            self._stop(batch, value, float(norm))
        self.prepared.step()
        state.step += 1
        state.place += 1
        self.losses.append(value)
        self.sizes += size * accelerator.num_processes
        return value

    def _stop(self, batch: Batch, loss: float, norm: float) -> None:
        path = self.folder / f"step-{self.state.step + 1}.npz"
        with Replacement(str(path)) as stream:
            np.savez(stream, **batch)
        raise PostilError(
            f"step {self.state.step + 1:,}: the loss is {loss}, the norm of its gradients {norm}; "
            f"the batch is kept as {path}. A learning rate below {self.options.learning_rate:g} or warmup may help"
        )

    def _progress(self, loss: float, total: int) -> None:
        state, seconds = self.state, time.perf_counter() - self.begun
        left = seconds / (state.step - self.first) * (total - state.step)
        self.watch(Progress(state.step, total, state.epoch, loss, self.sizes / seconds, left, self.task.unit))
        if self.board:
            self.board.add_scalar("loss", loss, state.step)

    def _measure(self) -> None:
        """Measure on dev, and keep a checkpoint."""
        state, main = self.state, self.accelerator.is_main_process
        self.network.eval()
        with torch.inference_mode():
            found = self.task.dev(self.raw) if main else 0.0
        # The processes have to agree about when to stop.
        dev = float(broadcast(torch.tensor(found, dtype=torch.float64, device=self.accelerator.device)))
        if not math.isfinite(dev):
            raise PostilError(f"step {state.step:,}: the value on dev is {dev}")
        state.worse += 1
        if state.best is None or dev < state.best:
            state.best, state.best_step, state.worse = dev, state.step, 0
            self.best = {name: tensor.clone() for name, tensor in safetensors_io.weights(self.raw).items()}
        loss = math.fsum(self.losses) / len(self.losses)
        self.losses = []
        state.history.append({"step": state.step, "epoch": state.epoch, "loss": loss, "dev": dev})
        if main:
            self.checkpoints.save(state, self.raw, self.optimizer, self.best)
        if self.board:
            self.board.add_scalar("dev", dev, state.step)
        better = "the best so far" if not state.worse else f"best {state.best:.4f} at step {state.best_step:,}"
        self.say(f"step {state.step:,}, epoch {state.epoch + 1}: loss {loss:.4f}, dev {dev:.4f}, {better}")


def _seed(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _optimizer(network: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    groups = [
        {"params": [weight for weight in weights if weight.dim() > 1], "weight_decay": options.weight_decay},
        {"params": [weight for weight in weights if weight.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=options.learning_rate, fused=True)


def _accelerator(options: TrainingOptions) -> Accelerator:
    cuda = torch.cuda.is_available() and options.device != "cpu"
    if options.device == "cuda" and not cuda:
        raise UsageError("device: torch finds no GPU here; use cpu")
    if options.bf16 and not (cuda and torch.cuda.is_bf16_supported(including_emulation=False)):
        raise UsageError(
            "bf16: expected a GPU that has it (Ampere or later); on others and on CPUs it is slower, not faster"
        )
    return Accelerator(cpu=not cuda, mixed_precision="bf16" if options.bf16 else "no")


def _board(options: TrainingOptions, step: int) -> Any:
    """What writes for TensorBoard, if that is asked for."""
    if options.log is None:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtra("writing for TensorBoard", "tensorboard") from error
    return SummaryWriter(options.log, purge_step=step)
