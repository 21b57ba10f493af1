"""The published figures of the two papers, as they are bundled with the sample."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

import msgspec

__all__ = ["Claim", "CommentsPaper", "PassagesPaper", "comments_paper", "passages_paper"]

Values = dict[str, dict[str, int | float]]


class _Paper(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    of: str


class Kappa(msgspec.Struct, frozen=True, kw_only=True):
    """Published inter-annotator agreement: Cohen's kappa, and the pairs that it is over."""

    what: str
    kappa: float


class CommentsPaper(_Paper, frozen=True, kw_only=True):
    """Figures of Automatic Article Commenting (Qin et al. 2018).

    Args:
        source: The publication.
        of: Description of its data.
        statistics: Table 2: by statistic, then by split.
        agreement: Inter-annotator agreement.
        correlations: Table 3: by metric, then by coefficient.
        systems: Table 7: by metric, then by system.
    """

    statistics: Values
    agreement: Kappa
    correlations: Values
    systems: Values


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """Published word vectors: the model with its unit, and the number of vectors."""

    model: str
    vectors: int


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A published comparison of two measures.

    Args:
        figure: Number of the figure.
        reference: The protocol: ``topic`` or ``others``.
        first: A measure, or ``w2v`` for word vectors.
        second: Another.
        claim: Claim of the paper, as a sentence.
    """

    figure: int
    reference: Literal["topic", "others"]
    first: str
    second: str
    claim: str


class PassagesPaper(_Paper, frozen=True, kw_only=True):
    """Figures of the paper on passage interestingness.

    Args:
        source: The publication.
        of: Description of its data.
        vectors: Table 2.
        claims: Comparisons that the text makes.
    """

    vectors: tuple[Vectors, ...]
    claims: tuple[Claim, ...]


def comments_paper() -> CommentsPaper:
    """Read the figures of the paper on comments.

    >>> comments_paper().correlations["w-meteor"]["pearson"]
    0.5747
    """
    return msgspec.json.decode(_file("comments"), type=CommentsPaper)


def passages_paper() -> PassagesPaper:
    """Read the figures of the paper on passages.

    >>> passages_paper().vectors[1].vectors
    30000
    """
    return msgspec.json.decode(_file("passages"), type=PassagesPaper)


def _file(name: str) -> bytes:
    return (files("postil.sample") / f"paper-{name}.json").read_bytes()
