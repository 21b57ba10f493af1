"""Writing comments with a trained generator: the best by beam search, or drawn.

All articles are written about at once, a row a text in the making; texts that are finished leave the batch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from postil.commenters.nn.batches import BOS, EOS, PAD, UNK
from postil.commenters.nn.decoder import Read, State
from postil.kernel import NAME, highest, log_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.commenters.decoding_options import DecodingOptions
    from postil.commenters.nn.seq2seq import Network

__all__ = ["Written", "write"]

_NEVER: Final = [PAD, UNK, BOS]
_WORDS: Final = 2048
_ROWS: Final = 64
"""The scores of so many words, or of all words for so many rows, are in memory together: a piece that stays near the
processor."""


class Written(NamedTuple):
    """A text that was written.

    Args:
        words: Its words as the model numbers them.
        score: log P of the words and of the end, divided by how many these are to the power of ``length``.
    """

    words: tuple[int, ...]
    score: float


@torch.inference_mode()
def write(network: Network, articles: Tensor, several: int, options: DecodingOptions) -> list[list[Written]]:
    """Write texts about articles.

    One text of an article is the best that is found; several would be variants of it. So that they are not, each begins
    with another word: the most probable first words, as many as texts are wanted and not fewer than a beam holds, each
    followed by a beam of its own.

    Args:
        network: The network, in evaluation.
        articles: int64[a, S], padded.
        several: Texts of each article.
        options: How.

    Returns:
        For each article its texts, best first, none twice. Where one is wanted, those that came in second follow.
    """
    read, last = network.read(articles)
    state = network.decoder.begin(last)
    begin = torch.full((len(articles),), BOS, device=articles.device)
    ahead = _Ahead(*network.next(begin, state, read), read)
    if options.strategy == "nucleus":
        jobs = _drawn(network, ahead, articles, several, options)
    else:
        jobs = _searched(network, ahead, several, options)
    found = []
    for mine in jobs:
        texts = {text.words: text for job in mine for text in (job if several == 1 else job[:1])}
        found.append(sorted(texts.values(), key=_best_first))
    return found


def _best_first(text: Written) -> tuple[float, tuple[int, ...]]:
    return -text.score, text.words


class _Ahead(NamedTuple):
    """Where texts are: features float[n, d] of the next word, the state behind the words so far, and what is read."""

    features: Tensor
    state: State
    read: Read

    def jobs(self, several: int) -> _Ahead:
        """Each row so many times."""
        rows = torch.arange(len(self.features), device=self.features.device).repeat_interleave(several)
        return _Ahead(self.features[rows], self.state.of(rows), Read(self.read.states[rows], self.read.mask[rows]))


def _best(
    network: Network, features: Tensor, words: Tensor, options: DecodingOptions, count: int
) -> tuple[Tensor, Tensor]:
    """The most probable next words of each text, some words of the vocabulary after the other.

    Args:
        network: The network.
        features: float[n, d].
        words: int64[n, t], the words so far.
        options: How.
        count: How many words.

    Returns:
        The words int64[n, k], and log P of each, -inf for one that may not come.
    """
    found, totals = [], []
    for begin in range(0, len(network.bias), _WORDS):
        scores = network.scores(features, begin, begin + _WORDS)  # [n, m]
        totals.append(_log_sums(scores))
        _forbid(scores, words, options, begin)
        values, columns = _highest(scores, min(count, scores.shape[1]))
        found.append((values, columns + begin))
    scores, which = (torch.cat(part, dim=1) for part in zip(*found, strict=True))
    scores, place = scores.topk(min(count, scores.shape[1]), dim=1)
    which = which.gather(1, place)
    nothing = scores[:, 0].isneginf()
    if bool(nothing.any()):
        which[nothing, 0], scores[nothing, 0] = EOS, network.scores(features[nothing], EOS, EOS + 1)[:, 0]
    return which, scores - torch.stack(totals, dim=1).logsumexp(1, keepdim=True)


def _log_sums(scores: Tensor) -> Tensor:
    """The logarithm of the sum of e^score over each row of float[n, m]."""
    if _by_kernel(scores):
        return torch.from_numpy(log_sums(scores.numpy()))
    return scores.logsumexp(1)


def _highest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The highest scores of each row of float[n, m] and their columns."""
    if _by_kernel(scores):
        columns, values = map(torch.from_numpy, highest(scores.numpy(), count))
        return values, columns
    best = scores.topk(count, dim=1)
    return best.values, best.indices


def _by_kernel(scores: Tensor) -> bool:
    """Whether the compiled kernel has its use: in a fifth of torch's processor time."""
    return NAME == "compiled" and scores.device.type == "cpu" and scores.dtype == torch.float32


def _forbid(scores: Tensor, words: Tensor, options: DecodingOptions, begin: int = 0) -> None:
    """Make the scores of words -inf that may not come.

    A text that is as long as it may be ends. Where no word is left, it ends too; that is seen to by who asks.

    Args:
        scores: float[n, m], of the words from ``begin`` on.
        words: int64[n, t], the words so far.
        options: How.
        begin: The first word that there is a score of; the special ones are never parted.
    """
    length, size = words.shape[1], options.no_repeat_ngram_size
    if length >= options.max_words:
        scores[:, EOS + 1 if begin == 0 else 0 :] = -torch.inf
    elif size and length >= size:
        runs = words.unfold(1, size, 1)  # [n, t - size + 1, size]
        again = (runs[:, :, :-1] == words[:, None, length - size + 1 :]).all(2)
        here = again & (runs[:, :, -1] >= begin) & (runs[:, :, -1] < begin + scores.shape[1])
        row, place = here.nonzero(as_tuple=True)
        scores[row, runs[row, place, -1] - begin] = -torch.inf
    if begin == 0:
        scores[:, _NEVER] = -torch.inf
        if length < options.min_words:
            scores[:, EOS] = -torch.inf


def _searched(network: Network, ahead: _Ahead, several: int, options: DecodingOptions) -> list[list[list[Written]]]:
    """Beam search: for each article its jobs, for each job its texts, best first."""
    width, articles = options.width, len(ahead.features)
    wanted = min(max(several, width), len(network.bias))
    empty = torch.empty((articles, 0), dtype=torch.int64, device=ahead.features.device)
    words, log_p = _best(network, ahead.features, empty, options, wanted)
    jobs = 1 if several == 1 else wanted
    if jobs > 1:  # each first word begins a job, in the first row of its beam
        words, log_p = words.reshape(-1, 1), log_p.reshape(-1, 1)
    missing = 0, width - words.shape[1]
    words, log_p = pad(words, missing, value=EOS), pad(log_p, missing, value=-torch.inf)  # [a * jobs, width]
    search = _Search(network, ahead.jobs(jobs), words, log_p, options)
    while search.going():
        search.step()
    found = [sorted(texts, key=_best_first) for texts in search.finished]
    return [found[begin : begin + jobs] for begin in range(0, len(found), jobs)]


class _Search:
    """Beams of jobs, ``width`` rows each, side by side.

    Args:
        network: The network.
        ahead: Where each job is.
        words: int64[j, width], the first words of a beam.
        log_p: float[j, width], log P of these.
        options: How.
    """

    def __init__(self, network: Network, ahead: _Ahead, words: Tensor, log_p: Tensor, options: DecodingOptions) -> None:
        self.network, self.options, self.read = network, options, ahead.read
        self.width = words.shape[1]
        self.jobs = torch.arange(len(words), device=words.device)  # [j], those that go on
        self.state = ahead.state.of(self.jobs.repeat_interleave(self.width))
        self.words = words.reshape(-1, 1)  # [j * width, t]
        self.log_p = log_p
        self.finished: list[list[Written]] = [[] for _ in range(len(words))]

    def going(self) -> bool:
        return len(self.jobs) > 0

    def step(self) -> None:
        """One more word for each row."""
        jobs, width = self.log_p.shape
        features, state = self.network.next(self.words[:, -1], self.state, self.read)
        # Of a row no more than `width` words and the end can be among the best of its beam.
        each = min(width + 1, len(self.network.bias))
        some, log_p = _best(self.network, features, self.words, self.options, each)
        best = (self.log_p.view(-1, 1) + log_p).view(jobs, -1).topk(2 * width, dim=1)
        row = best.indices // each + torch.arange(jobs, device=best.indices.device)[:, None] * width
        word = some.view(jobs, -1).gather(1, best.indices)  # [j, 2 * width]
        ends = word == EOS
        self._finish(row, best.values, ends)
        # The best of those that do not end.
        place = torch.where(ends, best.indices.shape[1], 0) + torch.arange(word.shape[1], device=word.device)
        chosen = place.argsort(dim=1)[:, :width]  # [j, width]
        row, word = row.gather(1, chosen).flatten(), word.gather(1, chosen).flatten()
        self.log_p = best.values.gather(1, chosen).masked_fill(ends.gather(1, chosen), -torch.inf)
        self.words = torch.cat([self.words[row], word[:, None]], dim=1)
        self.state = state.of(row)
        self._leave()

    def _finish(self, row: Tensor, log_p: Tensor, ends: Tensor) -> None:
        """Put aside texts that end here and are among the best of their beam."""
        ends = ends[:, : self.width] & log_p[:, : self.width].isfinite()
        for job, place in ends.nonzero().tolist():
            words = tuple(self.words[row[job, place]].tolist())
            score = float(log_p[job, place]) / (len(words) + 1) ** self.options.length_penalty
            self.finished[int(self.jobs[job])].append(Written(words, score))

    def _leave(self) -> None:
        """Let jobs go that have `width` texts, none of their beginnings being better than these.

        A single beginning ends with its text.
        """
        longer = (self.words.shape[1] + 1) ** self.options.length_penalty
        stays = []
        for job, (number, log_p) in enumerate(zip(self.jobs.tolist(), self.log_p.amax(1).tolist(), strict=True)):
            found = sorted((text.score for text in self.finished[number]), reverse=True)
            full = len(found) >= self.width and (self.width == 1 or log_p / longer <= found[self.width - 1])
            if not full and log_p > -math.inf:
                stays.append(job)
        if len(stays) == len(self.jobs):
            return
        kept = torch.tensor(stays, dtype=torch.int64, device=self.jobs.device)
        rows = (kept[:, None] * self.width + torch.arange(self.width, device=kept.device)).flatten()
        self.jobs, self.log_p = self.jobs[kept], self.log_p[kept]
        self.words, self.state = self.words[rows], self.state.of(rows)
        self.read = Read(self.read.states[kept], self.read.mask[kept])


def _drawn(
    network: Network, ahead: _Ahead, articles: Tensor, several: int, options: DecodingOptions
) -> list[list[list[Written]]]:
    """Nucleus sampling. What is drawn depends on the seed and the article alone, not on those beside it."""
    features, state, read = ahead.jobs(several)
    jobs = torch.arange(len(features), device=features.device)  # those that go on
    shares = torch.from_numpy(_numbers(articles.tolist(), several, options)).to(features.device)  # [jobs, longest + 1]
    words = torch.empty((len(jobs), 0), dtype=torch.int64, device=features.device)
    log_p = torch.zeros(len(jobs), device=features.device)
    done: list[list[Written]] = [[] for _ in range(len(jobs))]

    while len(jobs):
        next_words, more = _draw(network, features, words, shares[jobs, words.shape[1]], options)
        log_p = log_p + more
        ends = next_words == EOS
        for row in ends.nonzero()[:, 0].tolist():
            text = tuple(words[row].tolist())
            done[int(jobs[row])].append(Written(text, float(log_p[row]) / (len(text) + 1) ** options.length_penalty))
        stays = (~ends).nonzero()[:, 0]
        jobs, log_p, state = jobs[stays], log_p[stays], state.of(stays)
        words = torch.cat([words[stays], next_words[stays, None]], dim=1)  # [j, t + 1]
        read = Read(read.states[stays], read.mask[stays])
        if len(jobs):
            features, state = network.next(words[:, -1], state, read)
    return [done[begin : begin + several] for begin in range(0, len(done), several)]


def _numbers(articles: Sequence[Sequence[int]], several: int, options: DecodingOptions) -> NDArray[np.float32]:
    """Numbers from 0 to 1 for the words of each text, float32[articles * several, longest + 1]."""
    seeds = (
        [options.seed, text, *(word for word in article if word != PAD)]
        for article in articles
        for text in range(several)
    )
    return np.stack([np.random.default_rng(seed).random(options.max_words + 1, np.float32) for seed in seeds])


def _draw(
    network: Network, features: Tensor, words: Tensor, shares: Tensor, options: DecodingOptions
) -> tuple[Tensor, Tensor]:
    """Draw the next word of each text, some texts after the other.

    Args:
        network: The network.
        features: float[n, d].
        words: int64[n, t], the words so far.
        shares: float[n], from 0 to 1, what decides.
        options: How.

    Returns:
        The words int64[n], and log P of each.
    """
    found = []
    for begin in range(0, len(features), _ROWS):
        rows = slice(begin, begin + _ROWS)
        scores = network.scores(features[rows])  # [m, V]
        total, end = scores.logsumexp(1), scores[:, EOS].clone()
        _forbid(scores, words[rows], options)
        scores[:, EOS] = torch.where(scores.amax(1).isneginf(), end, scores[:, EOS])
        which = _nucleus(scores, shares[rows], options)
        found.append((which, scores.gather(1, which[:, None])[:, 0] - total))
    which, log_p = map(torch.cat, zip(*found, strict=True))
    return which, log_p


def _nucleus(scores: Tensor, shares: Tensor, options: DecodingOptions) -> Tensor:
    """A word of each row: of the most probable ones that together have the share ``nucleus``.

    Args:
        scores: float[n, V].
        shares: float[n], from 0 to 1.
        options: Share and temperature.

    Returns:
        int64[n].
    """
    scores = scores - scores.amax(1, keepdim=True)
    p = (scores / options.temperature).softmax(1)  # [n, V]
    rising = torch.from_numpy(np.sort(p.numpy(), axis=1)) if p.device.type == "cpu" else p.sort(dim=1).values
    falling = rising.flip(1)
    last = (falling.double().cumsum(1) < options.top_p).sum(1, keepdim=True).clamp_max(p.shape[1] - 1)
    mass = p.masked_fill_(p < falling.gather(1, last), 0).double().cumsum(1)  # [n, V]
    place = torch.searchsorted(mass, shares[:, None].double() * mass[:, -1:], right=True)  # [n, 1]
    return place[:, 0].clamp_max(p.shape[1] - 1)
