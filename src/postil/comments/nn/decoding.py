"""Decoding of comments with a trained generator: beam search, greedy, or top-p sampling.

All articles are decoded at once, one row per partial hypothesis; finished hypotheses leave the batch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from postil.comments.nn.recurrent import DecoderState, EncoderOutput
from postil.comments.nn.token_ids import BOS, EOS, PAD, UNK
from postil.kernel import NAME, highest, log_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.comments.nn.seq2seq import Seq2SeqNetwork
    from postil.comments.options import DecodingOptions

__all__ = ["Hypothesis", "generate"]

_NEVER: Final = [PAD, UNK, BOS]
_TOKENS: Final = 2048
_ROWS: Final = 64
"""Size of a chunk of logits: tokens, or rows with all tokens; it fits the processor's cache."""


class Hypothesis(NamedTuple):
    """A finished text.

    Args:
        tokens: Token ids of the model, without the end token.
        score: Log-probability of the tokens and the end token, divided by their number to the power of the length
            penalty exponent.
    """

    tokens: tuple[int, ...]
    score: float


@torch.inference_mode()
def generate(
    network: Seq2SeqNetwork, articles: Tensor, n_best: int, options: DecodingOptions
) -> list[list[Hypothesis]]:
    """Generate texts for articles.

    The n best hypotheses of one beam would be variants of one text. So that they are not, each text starts with another
    token: the most probable first tokens, as many as texts are asked for and at least the beam size, each continued by
    an independent beam.

    Args:
        network: The network in evaluation mode.
        articles: Padded batch, int64[a, S].
        n_best: Number of texts per article.
        options: Decoding strategy.

    Returns:
        Distinct hypotheses of each article, best first. Where one text is asked for, the rest of its beam follows.
    """
    encoded, final = network.encode(articles)
    state = network.decoder.initial_state(final)
    begin = torch.full((len(articles),), BOS, device=articles.device)
    prefix = _Prefix(*network.step(begin, state, encoded), encoded)
    if options.strategy == "nucleus":
        beams = _sample(network, prefix, articles, n_best, options)
    else:
        beams = _beam_search(network, prefix, n_best, options)
    found = []
    for of_article in beams:
        texts = {text.tokens: text for beam in of_article for text in (beam if n_best == 1 else beam[:1])}
        found.append(sorted(texts.values(), key=_best_first))
    return found


def _best_first(text: Hypothesis) -> tuple[float, tuple[int, ...]]:
    return -text.score, text.tokens


class _Prefix(NamedTuple):
    """Partial hypotheses: features of the next token float[n, d], the decoder state, and the encoder output."""

    features: Tensor
    state: DecoderState
    encoded: EncoderOutput

    def repeat(self, times: int) -> _Prefix:
        """Repeat each row."""
        rows = torch.arange(len(self.features), device=self.features.device).repeat_interleave(times)
        return _Prefix(self.features[rows], self.state.select(rows), _rows_of(self.encoded, rows))


def _rows_of(encoded: EncoderOutput, rows: Tensor) -> EncoderOutput:
    keys = None if encoded.keys is None else encoded.keys[rows]
    return EncoderOutput(encoded.states[rows], encoded.mask[rows], keys=keys)


def _top_tokens(
    network: Seq2SeqNetwork, features: Tensor, tokens: Tensor, options: DecodingOptions, count: int
) -> tuple[Tensor, Tensor]:
    """Find the most probable next tokens of each hypothesis, one chunk of the vocabulary at a time.

    Args:
        network: The network.
        features: float[n, d].
        tokens: Tokens so far, int64[n, t].
        options: Decoding strategy.
        count: Number of tokens.

    Returns:
        Token ids int64[n, k], and their log-probabilities, -inf where masked.
    """
    found, totals = [], []
    for begin in range(0, len(network.bias), _TOKENS):
        logits = network.logits(features, begin, begin + _TOKENS)  # [n, m]
        totals.append(_logsumexp(logits))  # before masking: probabilities are those of the whole vocabulary
        _mask(logits, tokens, options, begin)
        values, columns = _top_k(logits, min(count, logits.shape[1]))
        found.append((values, columns + begin))
    logits, ids = (torch.cat(part, dim=1) for part in zip(*found, strict=True))
    logits, columns = logits.topk(min(count, logits.shape[1]), dim=1)
    ids = ids.gather(1, columns)
    stuck = logits[:, 0].isneginf()  # every token is masked: the text ends
    if bool(stuck.any()):
        ids[stuck, 0], logits[stuck, 0] = EOS, network.logits(features[stuck], EOS, EOS + 1)[:, 0]
    return ids, logits - torch.stack(totals, dim=1).logsumexp(1, keepdim=True)


def _logsumexp(logits: Tensor) -> Tensor:
    """Log-sum-exp of each row of float[n, m]."""
    if _kernel_applies(logits):
        return torch.from_numpy(log_sums(logits.numpy()))
    return logits.logsumexp(1)


def _top_k(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Highest logits of each row of float[n, m], and their columns."""
    if _kernel_applies(logits):
        columns, values = map(torch.from_numpy, highest(logits.numpy(), count))
        return values, columns
    best = logits.topk(count, dim=1)
    return best.values, best.indices


def _kernel_applies(logits: Tensor) -> bool:
    """True if the compiled kernel can be used, which takes a fifth of torch's processor time."""
    return NAME == "compiled" and logits.device.type == "cpu" and logits.dtype == torch.float32


def _mask(logits: Tensor, tokens: Tensor, options: DecodingOptions, begin: int = 0) -> None:
    """Mask the logits of tokens that must not follow, in place.

    A text of maximum length can only end. All logits may be masked; callers end the text then.

    Args:
        logits: Logits of the token ids from ``begin``, float[n, m].
        tokens: Tokens so far, int64[n, t].
        options: Decoding strategy.
        begin: First token id; all special tokens are in the first chunk.
    """
    length, size = tokens.shape[1], options.no_repeat_ngram_size
    if length >= options.max_words:
        logits[:, EOS + 1 if begin == 0 else 0 :] = -torch.inf
    elif size and length >= size:
        ngrams = tokens.unfold(1, size, 1)  # [n, t - size + 1, size]
        # An n-gram whose first tokens are the last ones of the text would be repeated by its own last token.
        repeated = (ngrams[:, :, :-1] == tokens[:, None, length - size + 1 :]).all(2)
        here = repeated & (ngrams[:, :, -1] >= begin) & (ngrams[:, :, -1] < begin + logits.shape[1])
        row, position = here.nonzero(as_tuple=True)
        logits[row, ngrams[row, position, -1] - begin] = -torch.inf
    if begin == 0:
        logits[:, _NEVER] = -torch.inf
        if length < options.min_words:
            logits[:, EOS] = -torch.inf


def _beam_search(
    network: Seq2SeqNetwork, prefix: _Prefix, n_best: int, options: DecodingOptions
) -> list[list[list[Hypothesis]]]:
    """Search with one beam per article, or with independent beams; hypotheses of each beam of each article."""
    width, articles = options.width, len(prefix.features)
    wanted = min(max(n_best, width), len(network.bias))
    empty = torch.empty((articles, 0), dtype=torch.int64, device=prefix.features.device)
    tokens, log_p = _top_tokens(network, prefix.features, empty, options, wanted)
    beams = 1 if n_best == 1 else wanted
    if beams > 1:  # each first token is the first row of a beam of its own
        tokens, log_p = tokens.reshape(-1, 1), log_p.reshape(-1, 1)
    missing = 0, width - tokens.shape[1]
    tokens, log_p = pad(tokens, missing, value=EOS), pad(log_p, missing, value=-torch.inf)  # [a * beams, width]
    search = _Beams(network, prefix.repeat(beams), tokens, log_p, options)
    while len(search.active):
        search.step()
    found = [sorted(texts, key=_best_first) for texts in search.finished]
    return [found[begin : begin + beams] for begin in range(0, len(found), beams)]


class _Beams:
    """Independent beams of ``width`` rows each, in one batch.

    Args:
        network: The network.
        prefix: Decoder state of each beam.
        tokens: First tokens of each beam's rows, int64[b, width].
        log_p: Their log-probabilities, float[b, width].
        options: Decoding strategy.
    """

    def __init__(
        self, network: Seq2SeqNetwork, prefix: _Prefix, tokens: Tensor, log_p: Tensor, options: DecodingOptions
    ) -> None:
        self.network, self.options, self.encoded = network, options, prefix.encoded
        self.width = tokens.shape[1]
        self.active = torch.arange(len(tokens), device=tokens.device)  # [b], unfinished beams
        self.state = prefix.state.select(self.active.repeat_interleave(self.width))
        self.tokens = tokens.reshape(-1, 1)  # [b * width, t]
        self.log_p = log_p
        self.finished: list[list[Hypothesis]] = [[] for _ in range(len(tokens))]

    def step(self) -> None:
        """Extend each row by one token."""
        beams, width = self.log_p.shape
        features, state = self.network.step(self.tokens[:, -1], self.state, self.encoded)
        # Of one row at most `width` tokens and the end can be among its beam's best.
        per_row = min(width + 1, len(self.network.bias))
        ids, log_p = _top_tokens(self.network, features, self.tokens, self.options, per_row)
        # Twice the width: even if a whole width of them ends, as many that continue are left to fill the beam.
        best = (self.log_p.view(-1, 1) + log_p).view(beams, -1).topk(2 * width, dim=1)
        row = best.indices // per_row + torch.arange(beams, device=best.indices.device)[:, None] * width
        token = ids.view(beams, -1).gather(1, best.indices)  # [b, 2 * width]
        ends = token == EOS
        self._finish(row, best.values, ends)
        # The best that continue: adding the number of columns to the rank of those that end moves these to the back.
        rank = torch.where(ends, best.indices.shape[1], 0) + torch.arange(token.shape[1], device=token.device)
        chosen = rank.argsort(dim=1)[:, :width]  # [b, width]
        row, token = row.gather(1, chosen).flatten(), token.gather(1, chosen).flatten()
        # Rows that end may be chosen where too few continue; with log P = -inf nothing comes of them.
        self.log_p = best.values.gather(1, chosen).masked_fill(ends.gather(1, chosen), -torch.inf)
        self.tokens = torch.cat([self.tokens[row], token[:, None]], dim=1)
        self.state = state.select(row)
        self._drop_finished()

    def _finish(self, row: Tensor, log_p: Tensor, ends: Tensor) -> None:
        """Store hypotheses that end and are among the ``width`` best of their beam."""
        ends = ends[:, : self.width] & log_p[:, : self.width].isfinite()
        for beam, column in ends.nonzero().tolist():
            tokens = tuple(self.tokens[row[beam, column]].tolist())
            score = float(log_p[beam, column]) / (len(tokens) + 1) ** self.options.length_penalty
            self.finished[int(self.active[beam])].append(Hypothesis(tokens, score))

    def _drop_finished(self) -> None:
        """Drop beams with ``width`` hypotheses that no partial hypothesis beats, had it ended now.

        A beam of one ends with its first hypothesis.
        """
        longer = (self.tokens.shape[1] + 1) ** self.options.length_penalty
        stays = []
        for beam, (number, log_p) in enumerate(zip(self.active.tolist(), self.log_p.amax(1).tolist(), strict=True)):
            found = sorted((text.score for text in self.finished[number]), reverse=True)
            full = len(found) >= self.width and (self.width == 1 or log_p / longer <= found[self.width - 1])
            if not full and log_p > -math.inf:
                stays.append(beam)
        if len(stays) == len(self.active):
            return
        kept = torch.tensor(stays, dtype=torch.int64, device=self.active.device)
        rows = (kept[:, None] * self.width + torch.arange(self.width, device=kept.device)).flatten()
        self.active, self.log_p = self.active[kept], self.log_p[kept]
        self.tokens, self.state = self.tokens[rows], self.state.select(rows)
        self.encoded = _rows_of(self.encoded, kept)


def _sample(
    network: Seq2SeqNetwork, prefix: _Prefix, articles: Tensor, n_best: int, options: DecodingOptions
) -> list[list[list[Hypothesis]]]:
    """Sample texts by top-p; a text depends on the seed and its article alone, not on the rest of the batch."""
    features, state, encoded = prefix.repeat(n_best)
    active = torch.arange(len(features), device=features.device)  # unfinished texts
    uniform = torch.from_numpy(_uniform(articles.tolist(), n_best, options)).to(
        features.device
    )  # [texts, max_words + 1]
    tokens = torch.empty((len(active), 0), dtype=torch.int64, device=features.device)
    log_p = torch.zeros(len(active), device=features.device)
    done: list[list[Hypothesis]] = [[] for _ in range(len(active))]

    while len(active):
        following, more = _sample_tokens(network, features, tokens, uniform[active, tokens.shape[1]], options)
        log_p = log_p + more
        ends = following == EOS
        for row in ends.nonzero()[:, 0].tolist():
            text = tuple(tokens[row].tolist())
            score = float(log_p[row]) / (len(text) + 1) ** options.length_penalty
            done[int(active[row])].append(Hypothesis(text, score))
        stays = (~ends).nonzero()[:, 0]
        active, log_p, state = active[stays], log_p[stays], state.select(stays)
        tokens = torch.cat([tokens[stays], following[stays, None]], dim=1)  # [n, t + 1]
        encoded = _rows_of(encoded, stays)
        if len(active):
            features, state = network.step(tokens[:, -1], state, encoded)
    return [done[begin : begin + n_best] for begin in range(0, len(done), n_best)]


def _uniform(articles: Sequence[Sequence[int]], n_best: int, options: DecodingOptions) -> NDArray[np.float32]:
    """Uniform random numbers for the tokens of each text, float32[articles * n_best, max_words + 1]."""
    seeds = (
        [options.seed, text, *(token for token in article if token != PAD)]
        for article in articles
        for text in range(n_best)
    )
    return np.stack([np.random.default_rng(seed).random(options.max_words + 1, np.float32) for seed in seeds])


def _sample_tokens(
    network: Seq2SeqNetwork, features: Tensor, tokens: Tensor, uniform: Tensor, options: DecodingOptions
) -> tuple[Tensor, Tensor]:
    """Sample the next token of each text, some texts at a time.

    Args:
        network: The network.
        features: float[n, d].
        tokens: Tokens so far, int64[n, t].
        uniform: Uniform random numbers, float[n].
        options: Decoding strategy.

    Returns:
        Token ids int64[n], and their log-probabilities.
    """
    found = []
    for begin in range(0, len(features), _ROWS):
        rows = slice(begin, begin + _ROWS)
        logits = network.logits(features[rows])  # [m, V]
        total, end = logits.logsumexp(1), logits[:, EOS].clone()
        _mask(logits, tokens[rows], options)
        logits[:, EOS] = torch.where(logits.amax(1).isneginf(), end, logits[:, EOS])  # all masked: the text ends
        ids = _top_p(logits, uniform[rows], options)
        found.append((ids, logits.gather(1, ids[:, None])[:, 0] - total))
    ids, log_p = map(torch.cat, zip(*found, strict=True))
    return ids, log_p


def _top_p(logits: Tensor, uniform: Tensor, options: DecodingOptions) -> Tensor:
    """Sample one token per row from the most probable ones, whose probabilities sum to at least top-p.

    Args:
        logits: float[n, V].
        uniform: Uniform random numbers, float[n].
        options: Top-p threshold and temperature.

    Returns:
        int64[n].
    """
    logits = logits - logits.amax(1, keepdim=True)  # a tiny temperature must not overflow
    p = (logits / options.temperature).softmax(1)  # [n, V]
    # numpy sorts rows in a quarter of torch's CPU time.
    ascending = torch.from_numpy(np.sort(p.numpy(), axis=1)) if p.device.type == "cpu" else p.sort(dim=1).values
    descending = ascending.flip(1)
    last = (descending.double().cumsum(1) < options.top_p).sum(1, keepdim=True).clamp_max(p.shape[1] - 1)
    # Inverse transform sampling over the tokens that are left, in order of their ids; cumulated in double precision, as
    # 30,000 additions of float32 would lose the small ones.
    mass = p.masked_fill_(p < descending.gather(1, last), 0).double().cumsum(1)  # [n, V]
    column = torch.searchsorted(mass, uniform[:, None].double() * mass[:, -1:], right=True)  # [n, 1]
    return column[:, 0].clamp_max(p.shape[1] - 1)
