"""Recurrent encoder, and decoder without attention or with it after or before a step.

torch multiplies the gradient of a GRU's weights anew at each time step. Here a step takes one product in the backward
pass, the gradient of the weights is one large product over many steps, and networks that run side by side (the two
directions of an encoder) share each step. Forward and backward over 400 tokens take about half the time on a CPU.

Attention before a step is the recurrence of Bahdanau et al. (2015, appendix A), whose context feeds the next state:

    c_t = sum over j of a_tj h_j,  a_t = softmax over j of v tanh(W s_(t-1) + U h_j)
    s_t = cell([e_(t-1); c_t], s_(t-1))

A step needs the one before it, so the tokens of a text cannot attend at once. Instead of tanh(x) a step computes
r = sigmoid(-2 x), in a fifth of the time: tanh(x) = 1 - 2 r, and the constant does not change the softmax. The backward
pass computes r again, so float[n, L, S, h] is never in memory, and the gradient of a weight is one large product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Attending",
    "Attention",
    "Cell",
    "Decoder",
    "DecoderState",
    "Dropout",
    "Encoder",
    "EncoderOutput",
    "Scoring",
    "gru",
    "recur",
    "recurrent",
]

_GATES: Final = 2**18
"""Elements of the gate gradients that are computed at once: a chunk that fits the processor's cache."""


def gru(networks: Sequence[nn.GRU], layer: int, inputs: Sequence[Tensor], start: Tensor) -> Tensor:
    """Hidden states of one layer of several networks, each over its own inputs.

        r, z = sigmoid(input gates + hidden gates)
        m    = tanh(input gate + r * hidden gate)
        new  = (1 - z) * m + z * hidden

    Args:
        networks: k networks of one hidden size.
        layer: Index of the layer.
        inputs: Inputs of each network, float[n, L, d].
        start: Initial hidden states, float[k, n, h].

    Returns:
        float[k, L, n, h].

    >>> network = nn.GRU(3, 4, batch_first=True)
    >>> inputs = torch.randn(2, 5, 3)
    >>> torch.allclose(gru([network], 0, [inputs], torch.zeros(1, 2, 4))[0].mT, network(inputs)[0].permute(1, 2, 0))
    True
    """
    weights = [[getattr(network, f"{name}_l{layer}") for network in networks] for name in _NAMES]
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    gates = [functional.linear(x.transpose(0, 1), *both) for x, *both in zip(inputs, weight_ih, bias_ih, strict=True)]
    states: Tensor = _Scan.apply(*map(torch.stack, (gates, weight_hh, bias_hh)), start)  # type: ignore[no-untyped-call]
    return states


_NAMES: Final = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Scan(torch.autograd.Function):
    """Hidden states from input gates float[k, L, n, 3 h], hidden weights float[k, 3 h, h] and bias float[k, 3 h]."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, weight: Tensor, bias: Tensor, start: Tensor) -> Tensor:
        k, length, n, h = *gates.shape[:3], start.shape[2]
        states = gates.new_empty(k, length + 1, n, h)
        states[:, 0] = start
        both, middle, other = (gates.new_empty(k, length, n, size) for size in (2 * h, h, h))
        weight_t, bias = weight.mT, bias[:, None].expand(k, n, 3 * h).contiguous()
        hidden = torch.empty_like(bias)  # the hidden gates of one step, written anew in each
        hidden_rz, hidden_m = hidden[:, :, : 2 * h], hidden[:, :, 2 * h :]
        steps = (gates[..., : 2 * h], gates[..., 2 * h :], both, both[..., :h], both[..., h:], middle, other)
        before, after = states[:, :-1], states[:, 1:]
        # Every operation writes into memory that was allocated once: a step is too small to pay for allocations.
        for input_rz, input_m, rz, r, z, m, kept, old, new in zip(
            *(part.unbind(1) for part in (*steps, before, after)), strict=True
        ):
            torch.baddbmm(bias, old, weight_t, out=hidden)
            torch.add(input_rz, hidden_rz, out=rz).sigmoid_()
            kept.copy_(hidden_m)
            torch.addcmul(input_m, r, hidden_m, out=m).tanh_()
            torch.lerp(m, old, z, out=new)
        ctx.save_for_backward(both, middle, other, states, weight)
        return after

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        both, middle, other, states, weight = ctx.saved_tensors
        k, length, n, h = middle.shape
        grad_gates = middle.new_empty(k, length, n, 3, h)
        grad_weight, grad_bias = torch.zeros_like(weight), weight.new_zeros(k, 3 * h)
        grad_state = torch.zeros_like(states[:, 0])  # what the steps after contribute
        chunk = max(1, min(length, _GATES // (3 * k * n * h)))
        totals = middle.new_empty(k, chunk, n, h)
        for end in range(length, 0, -chunk):
            begin = max(0, end - chunk)
            r, z = both[:, begin:end, :, :h], both[:, begin:end, :, h:]
            m, old, here = middle[:, begin:end], states[:, begin:end], totals[:, : end - begin]
            # The derivatives of a step depend on forward values alone, so those of a chunk are computed at once and
            # only the recurrence remains in the loop.
            grad_m = (1 - z) * (1 - m * m)
            factors = torch.stack(
                [grad_m * other[:, begin:end] * r * (1 - r), (old - m) * z * (1 - z), grad_m * r], dim=3
            )
            piece = grad_gates[:, begin:end]
            parts = (grad[:, begin:end], here, factors, piece, piece.flatten(3), z)
            for given, total, factor, out, flat, keep in reversed(
                list(zip(*(part.unbind(1) for part in parts), strict=True))
            ):
                torch.add(given, grad_state, out=total)
                torch.mul(total[:, :, None], factor, out=out)
                torch.mul(total, keep, out=grad_state).baddbmm_(flat, weight)
            rows = piece.reshape(k, -1, 3 * h)
            grad_weight.baddbmm_(rows.mT, old.reshape(k, -1, h))
            grad_bias += rows.sum(1)
            torch.mul(here, grad_m, out=piece[:, :, :, 2])  # the input gate of m is not multiplied with r
        return grad_gates.flatten(3), grad_weight, grad_bias, grad_state


_STEPS: Final = 2**16
Cell: TypeAlias = Literal["gru", "lstm"]


class Dropout(nn.Dropout):
    """``nn.Dropout`` in a third of its CPU time: 16 random bits per element instead of 64.

    The dropout probability is rounded to a multiple of 2^-16.

    >>> Dropout(0.5).eval()(torch.ones(3)).tolist()
    [1.0, 1.0, 1.0]
    >>> set(Dropout(0.5)(torch.ones(100)).tolist()) == {0.0, 2.0}
    True
    """

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - torch's name
        """Zero elements at random in training.

        Args:
            input: float[...].
        """
        if not self.training or not self.p or input.device.type != "cpu":
            return super().forward(input)
        dropped, count = min(round(self.p * _STEPS), _STEPS - 1), input.numel()
        # One random int64 makes four int16, uniform over -2^15 … 2^15 - 1; the lowest `dropped` of these are zeroed.
        bits = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None)
        kept = bits.view(torch.int16)[:count].view(input.shape) >= dropped - _STEPS // 2
        return input * kept.to(input.dtype).mul_(_STEPS / (_STEPS - dropped))


def recurrent(
    cell: Cell, input_size: int, hidden_size: int, num_layers: int = 1, dropout: float = 0.0
) -> nn.GRU | nn.LSTM:
    """Unidirectional recurrent network over float[n, L, input_size].

    Args:
        cell: ``gru`` or ``lstm``.
        input_size: Length of an input vector.
        hidden_size: Length of a state.
        num_layers: Number of stacked layers.
        dropout: Dropout probability between layers.
    """
    kind = nn.GRU if cell == "gru" else nn.LSTM
    return kind(input_size, hidden_size, num_layers, batch_first=True, dropout=dropout if num_layers > 1 else 0.0)


class Encoder(nn.Module):
    """Bidirectional encoder: one state per token, and one final state per layer (Bahdanau et al. 2015, section 3.2).

    The backward network starts at the last token of each text, so padding changes nothing and texts need neither
    sorting nor packing.

    Args:
        embedding_dim: Length of a token embedding, d.
        hidden_size: Length of a state, h: half for each direction.
        num_layers: Number of stacked layers.
        cell: ``gru`` or ``lstm``.
        dropout: Dropout probability between layers.

    >>> encoder = Encoder(embedding_dim=4, hidden_size=6)
    >>> states, final = encoder(torch.randn(3, 5, 4), torch.ones(3, 5, dtype=torch.bool))
    >>> states.shape, final.shape
    (torch.Size([3, 5, 6]), torch.Size([1, 3, 6]))
    """

    def __init__(
        self, embedding_dim: int, hidden_size: int, num_layers: int = 1, cell: Cell = "gru", *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        sizes = [embedding_dim, *[hidden_size] * (num_layers - 1)]
        self.forwards = nn.ModuleList(recurrent(cell, size, hidden_size - hidden_size // 2) for size in sizes)
        self.backwards = nn.ModuleList(recurrent(cell, size, hidden_size // 2) for size in sizes)
        self.dropout = Dropout(dropout)

    def forward(self, embeddings: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Encode texts.

        Args:
            embeddings: float[n, L, d].
            mask: bool[n, L], True at tokens, right-padded. An empty text is encoded as one token.

        Returns:
            States float[n, L, h], and the final state of each layer, float[num_layers, n, h].
        """
        lengths = mask.sum(1).clamp_min(1)  # [n]
        positions = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)  # [n, L]
        inside = positions < lengths[:, None]  # [n, L]
        # Reverses each text within its own length and leaves padding where it is; its own inverse.
        reverse = torch.where(inside, lengths[:, None] - 1 - positions, positions)  # [n, L]
        rows = torch.arange(len(mask), device=mask.device)
        states, final = embeddings, []
        for layer, (ahead, back) in enumerate(zip(self.forwards, self.backwards, strict=True)):
            if layer:
                states = self.dropout(states)
            left, right = _both_directions(ahead, back, states, _take(states, reverse))  # each [n, L, h / 2]
            ends = [part[rows, lengths - 1] for part in (left, right)]  # each [n, h / 2]
            final.append(torch.cat(ends, dim=1))  # [n, h]
            states = torch.cat([left, _take(right, reverse)], dim=2)  # [n, L, h]
        return states, torch.stack(final)


def _both_directions(ahead: nn.Module, back: nn.Module, states: Tensor, reversed_: Tensor) -> tuple[Tensor, Tensor]:
    """States of both networks, the second over reversed texts."""
    networks = [network for network in (ahead, back) if isinstance(network, nn.GRU)]
    if len({network.hidden_size for network in networks}) == 1 and states.device.type == "cpu":
        start = states.new_zeros(2, len(states), networks[0].hidden_size)
        left, right = gru(networks, 0, [states, reversed_], start).transpose(1, 2)
        return left, right
    return ahead(states)[0], back(reversed_)[0]


def _take(values: Tensor, positions: Tensor) -> Tensor:
    """``out[i, j] = values[i, positions[i, j]]`` for float[n, L, d] and int64[n, L]."""
    return values.gather(1, positions[:, :, None].expand(-1, -1, values.shape[2]))


_SCORES: Final = 2**18
"""Elements of the scores that are computed at once on a CPU: a chunk that fits the processor's cache."""
_SCORES_GPU: Final = 2**26
"""The same on a GPU, where a chunk should rather keep it busy."""


def recur(
    network: nn.GRU | nn.LSTM,
    attention: tuple[Tensor, Tensor],
    inputs: Tensor,
    start: tuple[Tensor, Tensor | None],
    *,
    states: Tensor,
    keys: Tensor,
    mask: Tensor,
    owner: Tensor,
    dropout: Dropout,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Run a recurrent network whose first layer reads token embeddings and contexts.

    Args:
        network: The network, with inputs of length d + h.
        attention: W float[h, h] and v float[h].
        inputs: Token embeddings, float[n, L, d].
        start: Hidden state before the first token, float[layers, n, h], and cell state of an LSTM.
        states: States of the m texts that the top layer's state attends over, float[m, S, h].
        keys: U h_j of each, float[m, S, h].
        mask: bool[m, S], True at their tokens; at least one per text.
        owner: int64[n], source text of each target text.
        dropout: Dropout between layers.

    Returns:
        The top layer's states float[n, L, h], the contexts float[n, L, h], and hidden state and cell state at the end.
    """
    with torch.autocast(inputs.device.type, enabled=False):  # scores need the precision
        single = torch.promote_types(inputs.dtype, torch.float32)
        query, score, inputs, hidden, states, keys = (
            each.to(single) for each in (*attention, inputs, start[0], states, keys)
        )
        order = owner.argsort(stable=True)  # targets of one text side by side
        owner = owner[order]
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
        plan = _Plan(step, _parts(owner, keys), ~mask[owner], kept)
        cell = hidden.new_empty(len(hidden), n, 0) if start[1] is None else start[1].to(single)
        tops, contexts, *end = _Recurrence.apply(  # type: ignore[no-untyped-call]
            plan, keys, states, query, score, hidden[:, order], cell[:, order], *layers
        )
    back = order.argsort()
    end_hidden, end_cell = (part[:, back] for part in end)
    tops, contexts = (part[:, back].transpose(0, 1) for part in (tops, contexts))
    return tops, contexts, end_hidden, None if start[1] is None else end_cell


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
    most = max(1, (_SCORES if keys.device.type == "cpu" else _SCORES_GPU) // keys[0].numel())
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
            some = weights[rows]
            contexts[rows] = some @ states[0] if len(states) == 1 else torch.bmm(some[:, None], states)[:, 0]

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


Scoring: TypeAlias = Literal["general", "additive"]
"""Scoring functions of a decoder that attends after its recurrent network."""
Attending: TypeAlias = Scoring | Literal["bahdanau"]
"""Forms of attention: a scoring function after the recurrent network, or the recurrence of Bahdanau et al. (2015)."""


class Attention(nn.Module):
    """Context vectors: means of encoder states, weighted by the softmax of their attention scores.

    For a query q and a state s, ``general`` has the score q W s with a learned matrix W (Luong et al. 2015; their
    *dot*, without W, is not offered). ``additive`` has the score v tanh(W q + U s) of Bahdanau et al. (2015), which
    takes many times the memory.

    Args:
        hidden_size: Length of states and queries, h.
        scoring: Scoring function.

    >>> attention = Attention(hidden_size=4)
    >>> context, weights = attention(torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool))
    >>> context.shape, weights.shape
    (torch.Size([2, 3, 4]), torch.Size([2, 3, 5]))
    """

    def __init__(self, hidden_size: int, scoring: Scoring = "general") -> None:
        super().__init__()
        additive = scoring == "additive"
        self.query = nn.Linear(hidden_size, hidden_size, bias=False)
        self.key = nn.Linear(hidden_size, hidden_size) if additive else None
        self.score = nn.Linear(hidden_size, 1, bias=False) if additive else None

    def forward(self, queries: Tensor, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Compute context vectors and attention weights for each query.

        Args:
            queries: float[n, T, h].
            states: float[n, S, h].
            mask: bool[n, S], True at tokens; at least one per text.

        Returns:
            Context vectors float[n, T, h] and attention weights float[n, T, S], which are 0 at padding.
        """
        projected = self.query(queries)  # [n, T, h]
        if self.key is None or self.score is None:
            scores = torch.bmm(projected, states.transpose(1, 2))  # [n, T, S]
        else:
            keys = self.key(states)  # [n, S, h]
            # One query position at a time: all at once would take float[n, T, S, h].
            scores = torch.cat([self.score((query[:, None] + keys).tanh()).mT for query in projected.unbind(1)], dim=1)
        weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(2)  # [n, T, S]
        return torch.bmm(weights, states), weights


class EncoderOutput(NamedTuple):
    """Encoder states that the decoder attends over; each source text has the same number of slots for target texts.

    Args:
        states: float[m, S, h].
        mask: bool[m, S], True at tokens; at least one per text.
        slots: int64[n], slot of each target text, among m * c; None where target i attends over source i.
        slots_per_text: Number of slots per source text, c; unused without ``slots``.
        keys: Keys of additive scores where a step needs them, float[m, S, h], computed once for all steps.
        owner: int64[n], source text of each target text, where there are keys; None where target i attends over source
            i * m // n.
    """

    states: Tensor
    mask: Tensor
    slots: Tensor | None = None
    slots_per_text: int = 0
    keys: Tensor | None = None
    owner: Tensor | None = None

    @classmethod
    def shared(cls, states: Tensor, mask: Tensor, owner: Tensor) -> EncoderOutput:
        """Encoder output for target texts that share source texts, without one copy of the states per target.

        Args:
            states: float[a, S, h].
            mask: bool[a, S].
            owner: int64[n], source text of each target text.
        """
        # Each source gets as many slots as a source has targets on average, and is repeated for targets beyond that:
        # at most twice as many rows as sources, however uneven the counts are.
        slots_per_text = -(-len(owner) // len(states))
        order = owner.argsort(stable=True)  # [n]
        counts = owner.bincount(minlength=len(states))  # [a]
        copies = -(-counts // slots_per_text)  # [a]
        rank = torch.arange(len(owner), device=owner.device) - (counts.cumsum(0) - counts)[owner[order]]
        slots = torch.empty_like(owner)
        slots[order] = ((copies.cumsum(0) - copies) * slots_per_text)[owner[order]] + rank
        rows = torch.arange(len(states), device=owner.device).repeat_interleave(copies)  # [m]
        return cls(states.index_select(0, rows), mask[rows], slots, slots_per_text)


class DecoderState(NamedTuple):
    """State of the recurrent network.

    Args:
        hidden: Hidden state, float[num_layers, n, h].
        cell: Cell state of an LSTM, float[num_layers, n, h]; None for a GRU.
    """

    hidden: Tensor
    cell: Tensor | None

    def select(self, rows: Tensor) -> DecoderState:
        """State of the given texts, in the given order.

        Args:
            rows: int64[m].
        """
        cell = None if self.cell is None else self.cell.index_select(1, rows)
        return DecoderState(self.hidden.index_select(1, rows), cell)


class Decoder(nn.Module):
    """Target prefixes to the features from which logits of the next token are computed.

    ``general`` and ``additive`` attention follows the recurrent network (Luong et al. 2015, without input feeding), so
    that training runs that network over all target tokens at once. With ``bahdanau`` the context of the state before
    feeds the network beside the token, and a maxout layer reads state, token and context (Bahdanau et al. 2015,
    appendix A).

    Args:
        embedding_dim: Length of a token embedding, d.
        hidden_size: Length of a state, h.
        num_layers: Number of stacked layers.
        cell: ``gru`` or ``lstm``.
        attention: Form of attention, or None: only the encoder's final state is seen.
        dropout: Dropout probability between layers and before the output.
    """

    def __init__(
        self,
        embedding_dim: int,
        hidden_size: int,
        num_layers: int = 1,
        cell: Cell = "gru",
        *,
        attention: Attending | None = "general",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.feeds_context = attention == "bahdanau"
        scoring = "additive" if attention == "bahdanau" else attention
        self.first = nn.Linear(hidden_size, hidden_size)
        self.first_memory = nn.Linear(hidden_size, hidden_size) if cell == "lstm" else None
        input_size = embedding_dim + hidden_size if self.feeds_context else embedding_dim
        self.network = recurrent(cell, input_size, hidden_size, num_layers, dropout)
        self.attention = Attention(hidden_size, scoring) if scoring else None
        self.between, self.dropout = Dropout(dropout), Dropout(dropout)
        if self.feeds_context:
            self.out = nn.Linear(2 * hidden_size + embedding_dim, 2 * embedding_dim)
        else:
            self.out = nn.Linear(2 * hidden_size if attention else hidden_size, embedding_dim)

    def initial_state(self, final: Tensor) -> DecoderState:
        """State before the first token.

        Args:
            final: Final state of the encoder, float[num_layers, n, h].
        """
        cell = None if self.first_memory is None else self.first_memory(final).tanh()
        return DecoderState(self.first(final).tanh(), cell)

    def read(self, states: Tensor, mask: Tensor, owner: Tensor | None = None) -> EncoderOutput:
        """Encoder output as this decoder attends over it.

        Args:
            states: float[m, S, h].
            mask: bool[m, S], True at tokens; at least one per text.
            owner: int64[n], source text of each target text; None where target i attends over source i * m // n.
        """
        if self.feeds_context and self.attention is not None and self.attention.key is not None:
            return EncoderOutput(states, mask, keys=self.attention.key(states), owner=owner)
        if self.attention is None or owner is None:
            return EncoderOutput(states, mask)
        return EncoderOutput.shared(states, mask, owner)

    def forward(
        self, embeddings: Tensor, state: DecoderState, encoded: EncoderOutput | None
    ) -> tuple[Tensor, DecoderState]:
        """Run the decoder over target tokens (teacher forcing).

        Args:
            embeddings: Embeddings of the target tokens, float[n, L, d].
            state: State before them.
            encoded: Encoder output, from `read`; ignored without attention.

        Returns:
            Features float[n, L, d], whose products with the embeddings are the logits; the state after the tokens.
        """
        if self.feeds_context:
            return self._feed_context(embeddings, state, encoded)
        hidden, end = self._recur(embeddings, state)  # [n, L, h]
        if self.attention is not None and encoded is not None:
            queries, m = hidden, len(encoded.states)
            if encoded.slots is not None:
                queries = hidden.new_zeros(m * encoded.slots_per_text, *hidden.shape[1:])
                queries = queries.index_copy(0, encoded.slots, hidden)
            # All targets of a source text become queries of one batch row: [m, c * L, h].
            context, _ = self.attention(queries.reshape(m, -1, hidden.shape[2]), encoded.states, encoded.mask)
            context = context.view(queries.shape)  # [m * c, L, h]
            if encoded.slots is not None:
                context = context[encoded.slots]
            hidden = torch.cat([hidden, context], dim=2)  # [n, L, 2 h]
        features: Tensor = self.out(self.dropout(hidden)).tanh()  # [n, L, d]
        return features, end

    def _feed_context(
        self, embeddings: Tensor, state: DecoderState, encoded: EncoderOutput | None
    ) -> tuple[Tensor, DecoderState]:
        """Features and state of `forward`, with the recurrence of Bahdanau et al. (2015)."""
        attention = self.attention
        assert encoded is not None and encoded.keys is not None  # noqa: PT018, S101 - for the type checker
        assert attention is not None and attention.score is not None  # noqa: PT018, S101
        owner, n, m = encoded.owner, len(embeddings), len(encoded.states)
        if owner is None:
            owner = torch.arange(m, device=embeddings.device).repeat_interleave(n // m)
        weights = attention.query.weight, attention.score.weight[0]
        hidden, context, end, end_cell = recur(
            self.network,
            weights,
            embeddings,
            state,
            states=encoded.states,
            keys=encoded.keys,
            mask=encoded.mask,
            owner=owner,
            dropout=self.between,
        )
        read = torch.cat([hidden, embeddings, context], dim=2)  # [n, L, 2 h + d]
        return torch.maximum(*self.out(self.dropout(read)).chunk(2, dim=2)), DecoderState(end, end_cell)

    def _recur(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Top layer's hidden states float[n, L, h], and the state after the inputs."""
        network = self.network
        if not isinstance(network, nn.GRU) or inputs.device.type != "cpu":
            hidden, end = network(inputs, state.hidden if state.cell is None else (state.hidden, state.cell))
            return hidden, DecoderState(*end) if isinstance(end, tuple) else DecoderState(end, None)
        ends = []
        for layer, start in enumerate(state.hidden[:, None]):
            inputs = gru([network], layer, [self.between(inputs) if layer else inputs], start)[0].transpose(0, 1)
            ends.append(inputs[:, -1])
        return inputs, DecoderState(torch.stack(ends), None)
