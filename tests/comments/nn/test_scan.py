from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="networks need torch: pip install 'postil[nn]'")

import torch
from torch import nn

from postil.comments.nn import scan
from postil.comments.nn.encoder import Dropout

if TYPE_CHECKING:
    from torch import Tensor


@pytest.mark.parametrize("numbers", [1, 100, 2**18])
def test_gradients_are_those_of_finite_differences(monkeypatch: pytest.MonkeyPatch, numbers: int) -> None:
    monkeypatch.setattr(scan, "_NUMBERS", numbers)  # a word, some, or all at once
    torch.manual_seed(0)
    shapes = [(2, 4, 3, 12), (2, 12, 4), (2, 12), (2, 3, 4)]
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(scan._Scan.apply, inputs)


@pytest.mark.parametrize(("length", "texts"), [(1, 1), (7, 3), (90, 64)])
@pytest.mark.parametrize("networks", [1, 2])
def test_states_and_gradients_are_those_of_torch_s_own_network(networks: int, length: int, texts: int) -> None:
    torch.manual_seed(0)
    made = [nn.GRU(5, 16, num_layers=2, batch_first=True) for _ in range(networks)]
    words = torch.randn(networks, texts, length, 5)
    start = torch.randn(networks, 2, texts, 16)
    weight = torch.randn(networks, length, texts, 16)

    def gradients(states: Tensor) -> list[Tensor]:
        parameters = [weight for network in made for weight in network.parameters()]
        return [states, *torch.autograd.grad((states * weight).sum(), parameters)]

    first = scan.gru(made, 0, list(words), start[:, 0]).transpose(1, 2)
    found = gradients(scan.gru(made, 1, list(first), start[:, 1]))
    expected = gradients(
        torch.stack(
            [network(some, at)[0].transpose(0, 1) for network, some, at in zip(made, words, start, strict=True)]
        )
    )
    for one, two in zip(found, expected, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-3, atol=2e-4 * (length * texts) ** 0.5)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.999999])
def test_dropout_drops_its_share_and_keeps_the_mean(share: float) -> None:
    torch.manual_seed(0)
    numbers = torch.ones(401, 499, requires_grad=True)
    found = Dropout(share)(numbers)
    kept = (found != 0).double()
    assert kept.mean().item() == pytest.approx(1 - share, abs=0.004)
    # Neighbours, which may be drawn together, are dropped independently.
    both = (kept[:, 1:] * kept[:, :-1]).mean().item()
    assert both == pytest.approx((1 - share) ** 2, abs=0.005)
    if share < 0.9:
        assert found.mean().item() == pytest.approx(1, abs=0.01)
    assert torch.equal(torch.autograd.grad(found.sum(), numbers)[0], found.detach())
    assert torch.equal(Dropout(share).eval()(numbers), numbers)
    assert torch.equal(Dropout(0.0)(numbers), numbers)
