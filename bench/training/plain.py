"""The generator as one would write it by hand with torch's own layers: the peer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from postil.comments.nn.token_ids import BOS, EOS, PAD

if TYPE_CHECKING:
    from postil.comments.nn.seq2seq import Seq2SeqNetwork

__all__ = ["Plain"]


class Plain(nn.Module):
    """Att: a packed bidirectional GRU, a GRU, attention, and `cross_entropy` over the real words of a batch.

    It has the weights of the network that it is compared with, and gives the same loss.
    """

    def __init__(self, network: Seq2SeqNetwork) -> None:
        super().__init__()
        size, (words, word_size) = network.decoder.network.hidden_size, network.words.weight.shape
        self.words = nn.Embedding(words, word_size, padding_idx=PAD)
        self.bias = nn.Parameter(torch.empty(words))
        self.encoder = nn.GRU(word_size, size // 2, batch_first=True, bidirectional=True)
        self.first = nn.Linear(size, size)
        self.decoder = nn.GRU(word_size, size, batch_first=True)
        self.query = nn.Linear(size, size, bias=False)
        self.out = nn.Linear(2 * size, word_size)
        self.dropout = nn.Dropout(network.dropout.p)
        self._take(network)

    @torch.no_grad()
    def _take(self, network: Seq2SeqNetwork) -> None:
        given = network.state_dict()
        names = {"decoder.first": "first", "decoder.network": "decoder", "decoder.out": "out"}
        names |= {"decoder.attention.query": "query", "encoder.forwards.0": "encoder"}
        taken = {}
        for name, tensor in given.items():
            module, _, last = name.rpartition(".")
            if module == "encoder.backwards.0":
                taken[f"encoder.{last}_reverse"] = tensor
            else:
                taken[".".join(filter(None, (names.get(module, module), last)))] = tensor
        self.load_state_dict(taken)

    def forward(self, article: Tensor, comment: Tensor, owner: Tensor) -> tuple[Tensor, Tensor]:
        """The mean loss of a batch, and over how many words."""
        mask = article != PAD
        packed = pack_padded_sequence(
            self.dropout(self.words(article)), mask.sum(1), batch_first=True, enforce_sorted=False
        )
        found, last = self.encoder(packed)
        states, _ = pad_packed_sequence(found, batch_first=True, total_length=article.shape[1])
        first = self.first(last.transpose(0, 1).flatten(1)).tanh()[owner]

        begin = comment.new_full((len(comment), 1), BOS)
        before = torch.cat([begin, comment], dim=1)
        hidden, _ = self.decoder(self.dropout(self.words(before)), first[None])
        scores = torch.bmm(self.query(hidden), states[owner].transpose(1, 2))
        weights = scores.masked_fill(~mask[owner][:, None], -torch.inf).softmax(2)
        hidden = torch.cat([hidden, torch.bmm(weights, states[owner])], dim=2)
        features = self.out(self.dropout(hidden)).tanh()

        inside = before != PAD
        targets = torch.cat([comment, torch.full_like(begin, PAD)], dim=1)
        targets = torch.where(targets == PAD, EOS, targets)[inside]
        loss = functional.cross_entropy(functional.linear(features[inside], self.words.weight, self.bias), targets)
        return loss, inside.sum()
