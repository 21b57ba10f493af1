"""The layers that networks are made of, where torch has none that leave padding out.

A text of words comes as ``words`` float[n, L, d] and ``mask`` bool[n, L]: its words stand in front, and what stands
behind them changes nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Convolutions", "Matching", "masked_max", "masked_mean", "windows"]


def masked_max(values: Tensor, mask: Tensor) -> Tensor:
    """The greatest value over time, among those that stand for words.

    Args:
        values: float[n, L, f].
        mask: bool[n, L], true at words.

    Returns:
        float[n, f]; 0 for a text without words.

    >>> values = torch.tensor([[[1.0], [9.0]], [[-2.0], [9.0]], [[3.0], [4.0]]])
    >>> masked_max(values, torch.tensor([[True, False], [True, False], [False, False]])).tolist()
    [[1.0], [-2.0], [0.0]]
    """
    best = values.masked_fill(~mask[:, :, None], -torch.inf).amax(1)  # [n, f]
    return best.masked_fill(~mask.any(1)[:, None], 0.0)


def masked_mean(values: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
    """The weighted mean over time of the values that stand for words.

    Args:
        values: float[n, L, f].
        weights: float[n, L], at least 0.
        mask: bool[n, L], true at words.

    Returns:
        float[n, f]; 0 for a text without words.

    >>> values = torch.tensor([[[1.0], [4.0], [9.0]]])
    >>> masked_mean(values, torch.tensor([[2.0, 1.0, 5.0]]), torch.tensor([[True, True, False]])).tolist()
    [[2.0]]
    """
    weights = weights.masked_fill(~mask, 0.0)  # [n, L]
    sums = (values.masked_fill(~mask[:, :, None], 0.0) * weights[:, :, None]).sum(1)  # [n, f]
    return sums / weights.sum(1, keepdim=True).clamp_min(1e-9)


def windows(words: Tensor, mask: Tensor, width: int) -> Tensor:
    """The run of words that begins at each word, laid out one behind the other.

    Args:
        words: float[n, L, d].
        mask: bool[n, L], true at words.
        width: How many words a run has, w. What it sees behind the end of the text is 0, so short texts have runs too.

    Returns:
        float[n, L, w * d].

    >>> windows(torch.tensor([[[1.0], [2.0], [3.0]]]), torch.tensor([[True, True, False]]), 2).tolist()
    [[[1.0, 2.0], [2.0, 0.0], [0.0, 0.0]]]
    """
    words = words.masked_fill(~mask[:, :, None], 0.0)
    words = functional.pad(words, (0, 0, 0, width - 1))  # [n, L + w - 1, d]
    return torch.cat([words[:, place : place + mask.shape[1]] for place in range(width)], dim=2)


class Convolutions(nn.Module):
    """Convolutions of several widths over the words of a text, and the maximum of each filter over time.

    (Kim 2014, Convolutional neural networks for sentence classification.) Runs of words are multiplied with a matrix,
    which on a CPU takes two thirds of the time of ``nn.Conv1d``.

    Args:
        size: Length of a word's vector, d.
        filters: How many filters of each width, f.
        widths: The widths.

    >>> layer = Convolutions(size=4, filters=2, widths=(1, 2))
    >>> layer(torch.randn(3, 5, 4), torch.ones(3, 5, dtype=torch.bool)).shape
    torch.Size([3, 4])
    """

    def __init__(self, size: int, filters: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.widths = widths
        self.filters = nn.ModuleList(nn.Linear(width * size, filters) for width in widths)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """The features of texts.

        Args:
            words: float[n, L, d].
            mask: bool[n, L], true at words.

        Returns:
            float[n, widths * f], each at least 0.
        """
        pairs = zip(self.widths, self.filters, strict=True)
        features = [masked_max(filters(windows(words, mask, width)), mask) for width, filters in pairs]  # each [n, f]
        return torch.cat(features, dim=1).relu()


class Matching(nn.Module):
    """How well the runs of words of one text are found in another.

    A run of w words becomes a vector by a convolution, the same for both texts. Between all runs of both stand their
    cosines; of each run of the one text the best over the other is taken, and the weighted mean of these is what a
    width says. (Dai et al. 2018, Convolutional neural networks for soft-matching n-grams in ad-hoc search, with the
    maximum of Khattab and Zaharia 2020 in place of kernels.)

    Args:
        size: Length of a word's vector, d.
        filters: Length of a run's vector, f.
        widths: The widths.
    """

    def __init__(self, size: int, filters: int, widths: tuple[int, ...]) -> None:
        super().__init__()
        self.widths = widths
        self.filters = nn.ModuleList(nn.Linear(width * size, filters) for width in widths)
        self.mix = nn.Parameter(torch.full((len(widths),), 5.0))

    def runs(self, words: Tensor, mask: Tensor) -> list[Tensor]:
        """The vectors of length 1 of all runs, float[n, L, f] for each width.

        Args:
            words: float[n, L, d].
            mask: bool[n, L], true at words.
        """
        pairs = zip(self.widths, self.filters, strict=True)
        return [functional.normalize(filters(windows(words, mask, width)), dim=2) for width, filters in pairs]

    def forward(
        self, one: list[Tensor], one_mask: Tensor, weights: Tensor, other: list[Tensor], other_mask: Tensor
    ) -> Tensor:
        """How well each text of one kind is found in the text beside it.

        Args:
            one: Its `runs`, float[p, L, f] each.
            one_mask: bool[p, L].
            weights: float[p, L], of the runs of the one.
            other: The other's, float[p, M, f] each.
            other_mask: bool[p, M].

        Returns:
            float[p].
        """
        found = []
        for mine, theirs in zip(one, other, strict=True):
            cosines = torch.bmm(theirs, mine.transpose(1, 2))  # [p, M, L]
            best = masked_max(cosines, other_mask)  # [p, L]
            found.append(masked_mean(best[:, :, None], weights, one_mask)[:, 0])  # [p]
        return torch.stack(found, dim=1) @ self.mix
