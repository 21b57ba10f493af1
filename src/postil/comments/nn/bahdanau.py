"""Recurrence of Bahdanau et al. (2015, appendix A): the context of attention feeds the decoder's next state.

    c_t = sum over j of a_tj h_j,  a_t = softmax over j of v tanh(W s_(t-1) + U h_j)
    s_t = cell([e_(t-1); c_t], s_(t-1))

A step needs the one before it, so the tokens of a text cannot attend at once. Instead of tanh(x) a step computes
r = sigmoid(-2 x), in a fifth of the time: tanh(x) = 1 - 2 r, and the constant does not change the softmax. The backward
pass computes r again, so float[n, L, S, h] is never in memory, and the gradient of a weight is one large product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

    from postil.comments.nn.encoder import Dropout

__all__ = ["Source", "recur"]

_NUMBERS: Final = 2**18
"""Elements of the scores that are computed at once on a CPU: a chunk that fits the processor's cache."""
_NUMBERS_GPU: Final = 2**26
"""The same on a GPU, where a chunk should rather keep it busy."""


class Source(NamedTuple):
    """Texts that are attended over.

    Args:
        states: Encoder states, float[m, S, h].
        keys: U h_j of each, float[m, S, h].
        mask: bool[m, S], True at tokens; at least one per text.
        owner: int64[n], source text of each target text.
    """

    states: Tensor
    keys: Tensor
    mask: Tensor
    owner: Tensor


def recur(
    network: nn.GRU | nn.LSTM,
    attention: tuple[Tensor, Tensor],
    inputs: Tensor,
    start: tuple[Tensor, Tensor | None],
    *,
    source: Source,
    dropout: Dropout,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Run a recurrent network whose first layer reads token embeddings and contexts.

    Args:
        network: The network, with inputs of length d + h.
        attention: W float[h, h] and v float[h].
        inputs: Token embeddings, float[n, L, d].
        start: Hidden state before the first token, float[layers, n, h], and cell state of an LSTM.
        source: Texts that are attended over, by the top layer's state.
        dropout: Dropout between layers.

    Returns:
        The top layer's states float[n, L, h], the contexts float[n, L, h], and hidden state and cell state at the end.
    """
    with torch.autocast(inputs.device.type, enabled=False):  # scores need the precision
        single = torch.promote_types(inputs.dtype, torch.float32)
        query, score, inputs, hidden, states, keys = (
            each.to(single) for each in (*attention, inputs, start[0], source.states, source.keys)
        )
        order = source.owner.argsort(stable=True)  # targets of one text side by side
        owner = source.owner[order]
        n, length, size = len(owner), inputs.shape[1], network.hidden_size
        gates, layers = inputs[order].transpose(0, 1), []
        for layer in range(network.num_layers):
            weight, other, bias, other_bias = (getattr(network, f"{name}_l{layer}") for name in _NAMES)
            if layer:
                gates = bias.expand(length, n, -1)
            else:
                gates, weight = functional.linear(gates, weight[:, :-size], bias), weight[:, -size:]
            layers += [gates, weight, other, other_bias]
        kept = [dropout(inputs.new_ones(length, n, size)) for _ in range(1, network.num_layers)]
        step = _Lstm if isinstance(network, nn.LSTM) else _Gru
        plan = _Plan(step, _parts(owner, keys), ~source.mask[owner], kept)
        cell = hidden.new_empty(len(hidden), n, 0) if start[1] is None else start[1].to(single)
        tops, contexts, *end = _Recurrence.apply(  # type: ignore[no-untyped-call]
            plan, keys, states, query, score, hidden[:, order], cell[:, order], *layers
        )
    back = order.argsort()
    end_hidden, end_cell = (part[:, back] for part in end)
    tops, contexts = (part[:, back].transpose(0, 1) for part in (tops, contexts))
    return tops, contexts, end_hidden, None if start[1] is None else end_cell


_NAMES: Final = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Gru:
    """One step of a GRU layer, and its derivatives; the cell state is empty."""

    def __init__(self, given: Tensor, own: Tensor, hidden: Tensor, cell: Tensor) -> None:
        h = hidden.shape[1]
        self.r, self.z = torch.sigmoid(given[:, : 2 * h] + own[:, : 2 * h]).chunk(2, dim=1)
        self.own, self.old = own[:, 2 * h :], hidden
        self.m = torch.addcmul(given[:, 2 * h :], self.r, self.own).tanh_()
        self.hidden, self.cell = torch.lerp(self.m, hidden, self.z), cell

    def backward(self, grad: Tensor, grad_cell: Tensor) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        """Gradients of given gates, own gates, the hidden state (beside its share in the gates) and the cell state."""
        r, z, m = self.r, self.z, self.m
        grad_m = grad * (1 - z) * (1 - m * m)
        both = [grad_m * self.own * r * (1 - r), grad * (self.old - m) * z * (1 - z)]
        return torch.cat([*both, grad_m], 1), torch.cat([*both, grad_m * r], 1), grad * z, grad_cell


class _Lstm:
    """One step of an LSTM layer, and its derivatives."""

    def __init__(self, given: Tensor, own: Tensor, _hidden: Tensor, cell: Tensor) -> None:
        i, f, g, o = (given + own).chunk(4, dim=1)
        self.i, self.f, self.o, self.g, self.old = i.sigmoid(), f.sigmoid(), o.sigmoid(), g.tanh(), cell
        self.cell = torch.addcmul(self.f * cell, self.i, self.g)
        self.out = self.cell.tanh()
        self.hidden = self.o * self.out

    def backward(self, grad: Tensor, grad_cell: Tensor) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        """See `_Gru.backward`."""
        i, f, g, o, out = self.i, self.f, self.g, self.o, self.out
        total = grad_cell + grad * o * (1 - out * out)
        parts = [total * g * i * (1 - i), total * self.old * f * (1 - f), total * i * (1 - g * g)]
        gates = torch.cat([*parts, grad * out * o * (1 - o)], 1)
        return gates, gates, None, total * f


class _Part(NamedTuple):
    """Some target texts: their rows among n, and the source texts of these rows, or the one that all of them share."""

    rows: slice
    texts: slice | Tensor


class _Plan(NamedTuple):
    """Numbers without gradients: padding bool[n, S], and factors of the dropout between layers, float[L, n, h] each."""

    step: type[_Gru | _Lstm]
    parts: Sequence[_Part]
    padding: Tensor
    kept: Sequence[Tensor]


def _parts(owner: Tensor, keys: Tensor) -> list[_Part]:
    """Parts of the targets, sorted by owner, whose scores fit the cache.

    A source text with enough targets is read where it is; the states of others are copied, side by side.
    """
    most = max(1, (_NUMBERS if keys.device.type == "cpu" else _NUMBERS_GPU) // keys[0].numel())
    found: list[_Part] = []
    waiting: list[int] = []
    end = 0
    for text, count in enumerate(owner.bincount(minlength=len(keys)).tolist()):
        alone = 2 * count > most
        if waiting and (alone or len(waiting) + count > most):
            found.append(_Part(slice(end - len(waiting), end), torch.tensor(waiting, device=owner.device)))
            waiting = []
        if alone:
            cuts = range(end, end + count, most)
            found += [_Part(slice(cut, min(cut + most, end + count)), slice(text, text + 1)) for cut in cuts]
        else:
            waiting += [text] * count
        end += count
    if waiting:
        found.append(_Part(slice(end - len(waiting), end), torch.tensor(waiting, device=owner.device)))
    return found


class _Recurrence(torch.autograd.Function):
    """`recur` for targets sorted by owner; four tensors per layer: input gates float[L, n, g], two matrices, a bias."""

    @staticmethod
    def forward(  # noqa: PLR0917
        ctx: Any,
        plan: _Plan,
        keys: Tensor,
        states: Tensor,
        query: Tensor,
        score: Tensor,
        start: Tensor,
        start_cell: Tensor,
        *layers: Tensor,
    ) -> tuple[Tensor, ...]:
        length, n, h, count = len(layers[0]), *start.shape[1:], len(start)
        attention = _Attention(plan, keys, states, score)
        hidden, cells = start.new_empty(length + 1, count, n, h), start_cell
        hidden[0] = start
        queries, contexts = start.new_empty(2, length, n, h)
        weights = start.new_empty(length, n, states.shape[1])
        steps = []
        for t in range(length):
            torch.mm(hidden[t, -1], query.T, out=queries[t])
            attention.forward(queries[t], weights[t], contexts[t])
            below, new = contexts[t], []
            for layer in range(count):
                gates, weight, other, bias = layers[4 * layer : 4 * layer + 4]
                old = hidden[t, layer]
                given, own = torch.addmm(gates[t], below, weight.T), torch.addmm(bias, old, other.T)
                step = plan.step(given, own, old, cells[layer])
                hidden[t + 1, layer] = step.hidden
                new.append(step)
                if layer + 1 < count:
                    below = step.hidden * plan.kept[layer][t]
            cells = torch.stack([step.cell for step in new])
            steps.append(new)
        ctx.plan, ctx.steps = plan, steps
        ctx.save_for_backward(hidden, queries, contexts, weights, keys, states, query, score, *layers)
        return hidden[1:, -1].clone(), contexts.clone(), hidden[-1].clone(), cells.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        hidden, queries, contexts, weights, keys, states, query, score, *layers = ctx.saved_tensors
        kept, count = ctx.plan.kept, len(layers) // 4
        attention = _Attention(ctx.plan, keys, states, score)
        attention.zero_grad()
        grad_queries = torch.empty_like(queries)
        grad_tops, grad_contexts, state, cell = grads[0], grads[1].clone(), list(grads[2]), list(grads[3])
        grad_gates = [
            [torch.empty_like(gates, memory_format=torch.contiguous_format) for _ in range(2)] for gates in layers[::4]
        ]
        for t in reversed(range(len(queries))):
            state[-1] = state[-1] + grad_tops[t]
            for layer in reversed(range(count)):
                given, own, direct, cell[layer] = ctx.steps[t][layer].backward(state[layer], cell[layer])
                grad_gates[layer][0][t], grad_gates[layer][1][t] = given, own
                state[layer] = own @ layers[4 * layer + 2]
                if direct is not None:
                    state[layer] += direct
                below = given @ layers[4 * layer + 1]
                if layer:
                    state[layer - 1] = torch.addcmul(state[layer - 1], below, kept[layer - 1][t])
                else:
                    grad_contexts[t] += below
            attention.backward(queries[t], weights[t], grad_contexts[t], grad_queries[t])
            state[-1] = state[-1].addmm(grad_queries[t], query)
        rest = []
        for layer, (given, own) in enumerate(grad_gates):
            below = contexts if not layer else hidden[1:, layer - 1] * torch.stack(list(kept[layer - 1]))
            rest += [given, _product(given, below), _product(own, hidden[:-1, layer]), own.sum((0, 1))]
        grad_states = attention.grad_states(weights, grad_contexts)
        grad_query = _product(grad_queries, hidden[:-1, -1])
        start = torch.stack(state), torch.stack(cell)
        return None, attention.grad_keys(), grad_states, grad_query, attention.grad_score, *start, *rest


def _product(grad: Tensor, inputs: Tensor) -> Tensor:
    """Gradient of a matrix that every step multiplies its inputs with."""
    return grad.flatten(0, 1).T @ inputs.flatten(0, 1)


class _Attention:
    """Attention of one step, over parts of the targets; r = sigmoid(-2 q - 2 k), d tanh(q + k) = 4 r (1 - r).

    Args:
        plan: Parts and padding.
        keys: float[m, S, h].
        states: float[m, S, h].
        score: v, float[h].
    """

    def __init__(self, plan: _Plan, keys: Tensor, states: Tensor, score: Tensor) -> None:
        self.plan, self.keys, self.states, self.score = plan, keys, states, score
        scaled = -2 * keys
        self.parts = [(rows, scaled[texts], states[texts]) for rows, texts in plan.parts]
        largest = max(rows.stop - rows.start for rows, _ in plan.parts)
        self.room = keys.new_empty(largest, *keys.shape[1:])  # written anew for each part: an allocation costs more

    def zero_grad(self) -> None:
        """Allocate the gradients that `backward` adds to; those of keys that are read in place are in place too."""
        self.grad = torch.zeros_like(self.keys)
        self.grads = [self.grad[texts] for _, texts in self.plan.parts]
        self.grad_score, self.ones = torch.zeros_like(self.score), torch.ones_like(self.score)

    def _shares(self, queries: Tensor, keys: Tensor) -> Tensor:
        """The numbers r of some targets, float[rows, S, h]; queries and keys are multiplied by -2."""
        return torch.add(keys, queries[:, None], out=self.room[: len(queries)]).sigmoid_()

    def forward(self, queries: Tensor, weights: Tensor, contexts: Tensor) -> None:
        """Attention weights float[n, S] and contexts float[n, h], written into the tensors given."""
        queries = -2 * queries
        for rows, keys, _ in self.parts:
            shares = self._shares(queries[rows], keys)
            weights[rows] = torch.mv(shares.flatten(0, 1), self.score).view(weights[rows].shape)
        torch.softmax(weights.mul_(-2).masked_fill_(self.plan.padding, -torch.inf), 1, out=weights)
        for rows, _, states in self.parts:
            contexts[rows] = _weighted_sum(weights[rows], states)

    def backward(self, queries: Tensor, weights: Tensor, grad_contexts: Tensor, grad_queries: Tensor) -> None:
        """Gradient of the queries, written into the tensor given; those of keys and v are added up."""
        queries = -2 * queries
        grad = torch.empty_like(weights)
        for rows, _, states in self.parts:
            some = grad_contexts[rows]
            if len(states) == 1:
                grad[rows] = some @ states[0].T
            else:  # torch is slow in batches of products with one vector
                products = torch.mul(states, some[:, None], out=self.room[: len(some)])
                grad[rows] = torch.mv(products.flatten(0, 1), self.ones).view(weights[rows].shape)
        grad = weights * (grad - (weights * grad).sum(1, keepdim=True))  # [n, S], through the softmax
        for (rows, keys, _), grad_keys in zip(self.parts, self.grads, strict=True):
            shares, some = self._shares(queries[rows], keys), grad[rows]
            self.grad_score.addmv_(shares.flatten(0, 1).T, some.flatten(), alpha=-2)
            slopes = torch.addcmul(shares, shares, shares, value=-1, out=shares).mul_(some[:, :, None])
            grad_queries[rows] = slopes.sum(1)
            grad_keys.add_(slopes if len(keys) > 1 else slopes.sum(0))
        grad_queries.mul_(4 * self.score)

    def grad_keys(self) -> Tensor:
        """Gradient of the keys after all steps."""
        for (_, texts), grad in zip(self.plan.parts, self.grads, strict=True):
            if isinstance(texts, Tensor):
                self.grad.index_add_(0, texts, grad)
        return self.grad.mul_(4 * self.score)

    def grad_states(self, weights: Tensor, grad_contexts: Tensor) -> Tensor:
        """Gradient of the states by way of the contexts, from those of all steps, float[L, n, ...]."""
        found = torch.zeros_like(self.states)
        for rows, texts in self.plan.parts:
            some, grad = weights[:, rows], grad_contexts[:, rows]
            if isinstance(texts, Tensor):
                found.index_add_(0, texts, torch.bmm(some.permute(1, 2, 0), grad.transpose(0, 1)))
            else:
                found[texts] += some.flatten(0, 1).T @ grad.flatten(0, 1)
        return found


def _weighted_sum(weights: Tensor, states: Tensor) -> Tensor:
    """Contexts float[rows, h] of weights float[rows, S] and states float[rows or 1, S, h]."""
    return weights @ states[0] if len(states) == 1 else torch.bmm(weights[:, None], states)[:, 0]
