"""Trainings: the same seed, the same bytes; broken off, killed, in two processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[neural]'")

import network_work as work
import torch

from postil.comments.nn import models
from postil.comments.nn.training import Progress, train
from postil.comments.options import TrainingOptions
from postil.errors import InvalidInput, MissingExtra, PostilError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


OPTIONS = work.OPTIONS


def same_weights(one: torch.nn.Module, two: torch.nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def checkpoints(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("checkpoint-*"))


def test_it_learns_and_keeps_the_best_weights(tmp_path: Path) -> None:
    task = work.LineTask()
    network, trained = work.line(tmp_path / "run", task, replace(OPTIONS, epochs=30))
    assert trained.best < 0.2
    assert task.dev(network.eval()) == trained.best == min(row.dev for row in trained.history)
    lines = (tmp_path / "run" / "history.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [asdict(row) for row in trained.history]


def test_it_measures_every_so_many_steps_and_at_the_end_of_each_epoch(tmp_path: Path) -> None:
    _, trained = work.line(tmp_path / "run", work.LineTask(), replace(OPTIONS, epochs=2))
    assert [row.step for row in trained.history] == [4, 8, 10, 14, 18, 20]
    assert [row.epoch for row in trained.history] == [0, 0, 0, 1, 1, 1]
    assert len(checkpoints(tmp_path / "run")) == 2


def test_the_loss_of_a_row_is_the_mean_of_its_steps(tmp_path: Path) -> None:
    task = work.LineTask()
    _, trained = work.line(tmp_path / "run", task, replace(OPTIONS, steps=8))
    assert trained.history[1].loss == pytest.approx(np.mean(task.losses[4:8]))


def test_the_same_seed_gives_the_same_bytes_whatever_was_drawn_before(tmp_path: Path) -> None:
    first, _ = work.line(tmp_path / "a", work.LineTask())
    torch.rand(5)
    second, _ = work.line(tmp_path / "b", work.LineTask())
    assert same_weights(first, second)
    assert (tmp_path / "a/history.jsonl").read_bytes() == (tmp_path / "b/history.jsonl").read_bytes()
    other, _ = work.line(tmp_path / "c", work.LineTask(), replace(OPTIONS, seed=2))
    assert not same_weights(first, other)


def test_the_caller_s_random_numbers_go_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    network = work.Line()
    torch.manual_seed(5)
    expected = torch.rand(2)[1]
    torch.manual_seed(5)
    torch.rand(1)
    train(network, work.LineTask(), tmp_path / "run", replace(OPTIONS, steps=1))
    assert torch.rand(1)[0] == expected


@pytest.mark.parametrize("stop", [3, 4, 5, 10, 11, 25, 37])
def test_a_training_that_broke_off_goes_on_to_the_same_bits(tmp_path: Path, stop: int) -> None:
    whole, expected = work.line(tmp_path / "whole", work.LineTask())
    with pytest.raises(PostilError):
        work.line(tmp_path / "cut", work.LineTask(broken=stop))
    task = work.LineTask()
    again, found = work.line(tmp_path / "cut", task)
    assert same_weights(whole, again)
    assert found == expected
    assert (tmp_path / "whole/history.jsonl").read_bytes() == (tmp_path / "cut/history.jsonl").read_bytes()
    if stop > 4:
        assert task.asked < 40


def test_a_training_that_was_killed_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    whole, expected = work.line(tmp_path / "whole", work.LineTask())
    command = [sys.executable, work.__file__, str(tmp_path / "cut"), "19"]
    killed = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False, capture_output=True)  # noqa: S603
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert checkpoints(tmp_path / "cut")[-1] == "checkpoint-000000018.safetensors"
    again, found = work.line(tmp_path / "cut", work.LineTask())
    assert same_weights(whole, again)
    assert found == expected


def test_more_epochs_go_on_from_the_end_and_nothing_is_done_twice(tmp_path: Path) -> None:
    whole, expected = work.line(tmp_path / "whole", work.LineTask())
    work.line(tmp_path / "more", work.LineTask(), replace(OPTIONS, epochs=2))
    task = work.LineTask()
    more, found = work.line(tmp_path / "more", task)
    assert task.asked == 20
    assert same_weights(whole, more)
    assert found == expected
    task = work.LineTask()
    _, found = work.line(tmp_path / "more", task)
    assert (task.asked, found) == (0, expected)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def scribble(path: Path) -> None:
    path.write_bytes(b"\xff" * 100)


def unnote(path: Path) -> None:
    models.write_tensors(path, models.read_tensors(path)[0])


@pytest.mark.parametrize("damage", [cut, empty, scribble, unnote])
def test_a_damaged_checkpoint_is_named_and_the_one_before_used(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    whole, expected = work.line(tmp_path / "whole", work.LineTask())
    work.line(tmp_path / "cut", work.LineTask(), replace(OPTIONS, epochs=3))
    names = checkpoints(tmp_path / "cut")
    damage(tmp_path / "cut" / names[1])
    said: list[str] = []
    network = work.Line()
    found = train(network, work.LineTask(), tmp_path / "cut", OPTIONS, on_message=said.append)
    assert f"{names[1]}: this checkpoint cannot be used" in said[0]
    assert said[1] == "resuming after step 28 (checkpoint-000000028.safetensors)"
    assert same_weights(whole, network)
    assert found == expected


def test_a_loss_that_is_no_number_stops_with_the_batch_kept(tmp_path: Path) -> None:
    with pytest.raises(
        PostilError, match=r"step 7: the loss is nan, .* saved as .*step-7\.npz\. A learning rate below 0\.05"
    ):
        work.line(tmp_path, work.LineTask(broken=7))
    with np.load(tmp_path / "step-7.npz", allow_pickle=False) as file:
        kept = dict(file)
    expected = work.LineTask().batches(0)[6]
    assert all((kept[name] == array).all() for name, array in expected.items())
    assert set(kept) == {"x", "y"}


def test_gradients_that_are_no_numbers_stop_as_well(tmp_path: Path) -> None:
    class Endless(work.LineTask):
        def loss(self, network: torch.nn.Module, _: dict[str, torch.Tensor]) -> tuple[torch.Tensor, int]:
            weight = next(network.parameters())
            return (weight * 0).abs().sqrt().sum(), 1  # the root of 0 has no slope

    with pytest.raises(PostilError, match=r"step 1: the loss is 0\.0, the gradient norm nan"):
        work.line(tmp_path, Endless())


def test_a_dev_value_that_is_no_number_stops(tmp_path: Path) -> None:
    class Dark(work.LineTask):
        def dev(self, _: torch.nn.Module) -> float:
            return float("nan")

    with pytest.raises(PostilError, match="step 4: the value on dev is nan"):
        work.line(tmp_path, Dark())


def test_it_stops_when_dev_gets_no_better(tmp_path: Path) -> None:
    class Worse(work.LineTask):
        def dev(self, _: torch.nn.Module) -> float:
            return float(self.asked)

    _, trained = work.line(tmp_path, Worse(), replace(OPTIONS, patience=2))
    assert (trained.best, trained.best_step, len(trained.history)) == (4.0, 4, 3)


def test_other_options_are_refused_by_name(tmp_path: Path) -> None:
    work.line(tmp_path, work.LineTask())
    with pytest.raises(UsageError, match=r"checkpoints of a training with learning_rate 0\.05, not 0\.1; resume"):
        work.line(tmp_path, work.LineTask(), replace(OPTIONS, learning_rate=0.1))


def test_a_full_disk_keeps_the_last_good_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = work.line(tmp_path / "whole", work.LineTask())
    work.line(tmp_path / "cut", work.LineTask(), replace(OPTIONS, steps=14))

    real = models.write_tensors

    def write(path: Path, *rest: Any) -> None:
        if path.name == "checkpoint-000000018.safetensors":
            raise PostilError(f"{path}: cannot be written: No space left on device")
        real(path, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(models, "write_tensors", write)
        with pytest.raises(PostilError, match="No space left on device"):
            work.line(tmp_path / "cut", work.LineTask())
    names = ["checkpoint-000000010.safetensors", "checkpoint-000000014.safetensors", "history.jsonl"]
    assert sorted(path.name for path in (tmp_path / "cut").iterdir()) == names
    again, _ = work.line(tmp_path / "cut", work.LineTask())
    assert same_weights(whole, again)


def test_gradients_are_clipped(tmp_path: Path) -> None:
    class Steep(work.LineTask):
        def loss(self, network: torch.nn.Module, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, int]:
            loss, size = super().loss(network, batch)
            next(network.parameters()).register_hook(norms.append)
            return loss * 1e6, size

    norms: list[torch.Tensor] = []
    seen: list[float] = []
    real = torch.optim.AdamW.step

    def step(self, *rest):  # type: ignore[no-untyped-def]
        gradients = [weight.grad for group in self.param_groups for weight in group["params"]]
        seen.append(float(torch.cat([gradient.flatten() for gradient in gradients]).norm()))
        return real(self, *rest)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch.optim.AdamW, "step", step)
        work.line(tmp_path / "a", Steep(), replace(OPTIONS, steps=2, clip=0.5))
        work.line(tmp_path / "b", Steep(), replace(OPTIONS, steps=2, clip=0.0))
    assert seen[:2] == pytest.approx([0.5, 0.5], rel=1e-4)
    assert min(seen[2:]) > 1e3


def test_the_learning_rate_rises_during_warmup(tmp_path: Path) -> None:
    rates: list[float] = []
    real = torch.optim.AdamW.step

    def step(self, *rest):  # type: ignore[no-untyped-def]
        rates.append(self.param_groups[0]["lr"])
        return real(self, *rest)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch.optim.AdamW, "step", step)
        work.line(tmp_path / "a", work.LineTask(), replace(OPTIONS, steps=5, warmup=3, learning_rate=0.1))
    assert rates == pytest.approx([0.025, 0.05, 0.075, 0.1, 0.1])


def test_progress_tells_steps_speed_and_the_time_left(tmp_path: Path) -> None:
    told: list[Progress] = []
    train(work.Line(), work.LineTask(), tmp_path / "run", replace(OPTIONS, epochs=2), on_progress=told.append)
    assert [progress.step for progress in told] == list(range(1, 21))
    assert {progress.steps for progress in told} == {20}
    assert told[-1].left == 0
    assert all(progress.rate > 0 and progress.unit == "points" for progress in told)
    assert str(told[0]).startswith("step 1 of 20, epoch 1, loss ")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("options", [{"device": "cuda"}, {"bf16": True}])
def test_a_gpu_that_is_not_there_is_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="GPU"):
        train(work.Line(), work.LineTask(), tmp_path / "run", TrainingOptions(**options))  # type: ignore[arg-type]


def test_a_folder_without_parent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="parent folder"):
        work.line(tmp_path / "no" / "run", work.LineTask())


def test_tensorboard_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtra, match="TensorBoard"):
        work.line(tmp_path / "run", work.LineTask(), replace(OPTIONS, tensorboard=str(tmp_path / "log")))


def test_weights_of_another_network_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"layer\.bias: expected shape \(1,\) of torch\.float32, got none; was"):
        models.load_state(work.Line(), {"layer.weight": torch.zeros(1, 3)}, "w.safetensors")


def test_a_weight_in_two_places_is_kept_once(tmp_path: Path) -> None:
    network = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    network[1].weight = network[0].weight
    models.write_tensors(tmp_path / "w.safetensors", models.state_of(network))
    tensors, _ = models.read_tensors(tmp_path / "w.safetensors")
    assert set(tensors) == {"0.weight", "0.bias", "1.bias"}
    models.load_state(network, {name: tensor + 1 for name, tensor in tensors.items()}, "w")
    assert torch.equal(network[1].weight, tensors["0.weight"] + 1)


@pytest.mark.slow
def test_two_processes_see_all_batches_and_agree(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", work.__file__]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(  # noqa: S603
        [*command, str(tmp_path / "run"), "-1"], env=environment, check=False, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    rows = [json.loads(line) for line in (tmp_path / "run/history.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["step"] for row in rows] == [4, 5, 9, 10, 14, 15, 19, 20]
    assert rows[-1]["dev"] < rows[0]["dev"]
