"""Writing comments with a trained generator: the best by beam search, or drawn.

All articles are written about at once, a row a text in the making; texts that are finished leave the batch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from postil.commenters.nn.batches import BOS, EOS, PAD, UNK
from postil.commenters.nn.decoder import Read, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.commenters.generation import DecodingOptions
    from postil.commenters.nn.generator_network import Network

__all__ = ["Written", "write"]

_NEVER: Final = [PAD, UNK, BOS]


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
    scores, state = network.next(begin, state, read)  # [a, V]
    ahead = _Ahead(scores, state, read)
    if options.how == "nucleus":
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
    """What may come next: scores float[n, V], the state behind the words so far, and what is written about."""

    scores: Tensor
    state: State
    read: Read

    def jobs(self, several: int) -> _Ahead:
        """Each row so many times."""
        rows = torch.arange(len(self.scores), device=self.scores.device).repeat_interleave(several)
        return _Ahead(self.scores[rows], self.state.of(rows), Read(self.read.states[rows], self.read.mask[rows]))


def _allowed(scores: Tensor, words: Tensor, options: DecodingOptions) -> Tensor:
    """Scores float[n, V] behind words int64[n, t], -inf for words that may not come."""
    scores[:, _NEVER] = -torch.inf
    if words.shape[1] < options.shortest:
        scores[:, EOS] = -torch.inf
    size = options.repeats
    if size and words.shape[1] >= size:
        runs = words.unfold(1, size, 1)  # [n, t - size + 1, size]
        again = (runs[:, :, :-1] == words[:, None, words.shape[1] - size + 1 :]).all(2)
        scores.scatter_(1, torch.where(again, runs[:, :, -1], PAD), -torch.inf)
    return scores


def _searched(network: Network, ahead: _Ahead, several: int, options: DecodingOptions) -> list[list[list[Written]]]:
    """Beam search: for each article its jobs, for each job its texts, best first."""
    width, (articles, vocabulary) = options.width, ahead.scores.shape
    total = ahead.scores.logsumexp(1, keepdim=True)  # [a, 1]
    empty = torch.empty((articles, 0), dtype=torch.int64, device=total.device)
    wanted = min(max(several, width), vocabulary)
    first = _allowed(ahead.scores, empty, options).topk(wanted, dim=1)
    words, log_p = first.indices, first.values - total  # [a, wanted]
    jobs = 1 if several == 1 else wanted
    if jobs > 1:  # each first word begins a job, in the first row of its beam
        words = words.flatten()[:, None].expand(-1, width)  # [a * jobs, width]
        log_p = torch.cat([log_p.flatten()[:, None], log_p.new_full((articles * jobs, width - 1), -torch.inf)], dim=1)
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
        scores, state = self.network.next(self.words[:, -1], self.state, self.read)  # [j * width, V]
        total = scores.logsumexp(1, keepdim=True)
        # Of a row no more than `width` words and the end can be among the best of its beam.
        some = _allowed(scores, self.words, self.options).topk(min(width + 1, scores.shape[1]), dim=1)
        each = some.indices.shape[1]
        log_p = (self.log_p.view(-1, 1) + some.values - total).view(jobs, -1)  # [j, width * each]
        best = log_p.topk(min(2 * width, log_p.shape[1]), dim=1)
        row = best.indices // each + torch.arange(jobs, device=best.indices.device)[:, None] * width
        word = some.indices.view(jobs, -1).gather(1, best.indices)  # [j, 2 * width]
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
            self.finished[int(self.jobs[job])].append(self._text(words, float(log_p[job, place]), len(words) + 1))

    def _text(self, words: tuple[int, ...], log_p: float, count: int) -> Written:
        return Written(words, log_p / count**self.options.length)

    def _leave(self) -> None:
        """Let jobs go whose beginnings are worse than `width` finished texts, or as long as they may be."""
        count = self.words.shape[1] + 1
        if count > self.options.longest:
            for job, number in enumerate(self.jobs.tolist()):
                if not self.finished[number]:
                    row = job * self.width + int(self.log_p[job].argmax())
                    words, log_p = tuple(self.words[row].tolist()), float(self.log_p[job].max())
                    if log_p > -math.inf:
                        self.finished[number].append(self._text(words, log_p, len(words)))
            self.jobs = self.jobs[:0]
            return
        stays = []
        for job, (number, log_p) in enumerate(zip(self.jobs.tolist(), self.log_p.amax(1).tolist(), strict=True)):
            found = sorted((text.score for text in self.finished[number]), reverse=True)
            full = len(found) >= self.width and log_p / count**self.options.length <= found[self.width - 1]
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
    ahead = ahead.jobs(several)
    scores, state, read = ahead
    numbers = _numbers(articles.tolist(), several, options)  # [jobs, longest]
    shares = torch.from_numpy(numbers).to(scores.device)
    jobs = torch.arange(len(scores), device=scores.device)  # those that go on
    words = torch.empty((len(scores), 0), dtype=torch.int64, device=scores.device)
    log_p = torch.zeros(len(scores), device=scores.device)
    done: list[list[Written]] = [[] for _ in range(len(scores))]
    while len(jobs):
        total = scores.logsumexp(1)
        next_words = _draw(_allowed(scores.clone(), words, options), shares[jobs, words.shape[1]], options)
        log_p = log_p + scores.gather(1, next_words[:, None])[:, 0] - total
        ends = next_words == EOS
        grown = torch.cat([words, next_words[:, None]], dim=1)  # [j, t + 1]
        over = ends | (grown.shape[1] >= options.longest)
        for row in over.nonzero()[:, 0].tolist():
            text = tuple(grown[row].tolist())
            score = float(log_p[row]) / len(text) ** options.length
            done[int(jobs[row])].append(Written(text[:-1] if text[-1] == EOS else text, score))
        stays = (~over).nonzero()[:, 0]
        jobs, words, log_p, state = jobs[stays], grown[stays], log_p[stays], state.of(stays)
        read = Read(read.states[stays], read.mask[stays])
        if len(jobs):
            scores, state = network.next(words[:, -1], state, read)
    return [done[begin : begin + several] for begin in range(0, len(done), several)]


def _numbers(articles: Sequence[Sequence[int]], several: int, options: DecodingOptions) -> NDArray[np.float32]:
    """Numbers from 0 to 1 for the words of each text, float32[articles * several, longest]."""
    seeds = (
        [options.seed, text, *(word for word in article if word != PAD)]
        for article in articles
        for text in range(several)
    )
    return np.stack([np.random.default_rng(seed).random(options.longest, np.float32) for seed in seeds])


def _draw(scores: Tensor, shares: Tensor, options: DecodingOptions) -> Tensor:
    """A word of each row: of the most probable ones that together have the share ``nucleus``.

    Args:
        scores: float[n, V].
        shares: float[n], from 0 to 1.
        options: Share and temperature.

    Returns:
        int64[n].
    """
    scores = scores / options.temperature
    total = scores.logsumexp(1, keepdim=True)
    size = 256
    while True:
        best = scores.topk(min(size, scores.shape[1]), dim=1)
        mass = (best.values - total).exp().double().cumsum(1)  # [n, size]
        if size >= scores.shape[1] or bool((mass[:, -1] >= options.nucleus).all()):
            break
        size *= 4
    # Words up to the first with which the share is reached.
    last = (mass < options.nucleus).sum(1).clamp_max(mass.shape[1] - 1)  # [n]
    wanted = shares.double() * mass.gather(1, last[:, None])[:, 0]
    place = torch.minimum((mass <= wanted[:, None]).sum(1), last)
    return best.indices.gather(1, place[:, None])[:, 0]
