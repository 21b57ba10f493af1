"""The journey of `postil.score`: texts and weighted references in, item and corpus scores with signatures out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.columns import as_list
from postil.errors import InvalidInput, UsageError
from postil.metrics.controls import Controls
from postil.metrics.panel import Panel, Total, parse_all
from postil.metrics.references import References
from postil.text.han import HanTexts
from postil.text.tokenizers import Tokenizer
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.tokens import Tokens, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from postil.app.columns import Column
    from postil.metrics.background import Background
    from postil.metrics.controls import ControlOptions

__all__ = ["CHUNK", "DEFAULT_METRICS", "Scores", "encode", "han_remark", "score"]

CHUNK: Final = 8192
DEFAULT_METRICS: Final = ("bleu-4", "meteor", "rouge-l", "cider-d")


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """What some metrics say of n candidates.

    Args:
        corpus: For each spec, as it was asked for, the corpus score.
        items: For each spec the item scores, float64[n], in the order of the candidates.
        signatures: For each spec all that its numbers depend on.
    """

    corpus: Mapping[str, float]
    items: Mapping[str, NDArray[np.float64]] = field(repr=False)
    signatures: Mapping[str, str] = field(repr=False)


def score(
    candidates: Column,
    references: Column,
    *,
    weights: Column | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    tokenizer: str = "words",
    items: Column | None = None,
    background: Background | None = None,
    controls: ControlOptions | None = None,
    jobs: int = 1,
) -> Scores:
    """Score candidates against weighted references.

    Args:
        candidates: n texts, or n lists of tokens. Lists, NumPy, Arrow, Polars and pandas columns are taken as they are.
        references: For each candidate its references, as many as there are: n lists of texts, or of lists of tokens.
            A list that stands at several places (the same object) is digested once.
        weights: The shape of ``references``, numbers in [0, 1] (for delta-bleu in [-1, 1]);
            ``postil.Scale(1, 5).weights(grades)`` makes them from grades. Metrics with ``w-`` need them.
        metrics: Specs such as ``"meteor"`` or ``"w-rouge-l(reading=union)"``; see `postil.metrics.spec`.
        tokenizer: A name in `postil.text.TOKENIZERS`. Lists of tokens are taken as they are.
        items: For each candidate which item it answers, so that the references of one item count once for CIDEr's
            document frequencies, whether several systems answer it or its references differ (leave-one-out). By default
            candidates with the same list of references share an item.
        background: Saved document frequencies in place of those of ``references``.
        controls: Which controls of the ``w-`` metrics to add to the item scores, under names such as
            ``control:nearest(w-meteor)``; see `postil.metrics.controls.Controls`.
        jobs: Threads. The numbers do not depend on it.

    Returns:
        Corpus scores, item scores and signatures.

    Raises:
        UnknownName: A metric or tokenizer does not exist; the message offers the nearest.
        InvalidInput: Shapes do not fit, a candidate has no references, a weight is out of range, or more than a tenth
            of the candidates or references are Han text and meet the ``words`` tokenizer (of fewer a warning tells).
            ``line`` counts candidates from 1.
        Undefined: CIDEr of a single item without a background.

    >>> result = score(["a b c"], [["a b c d", "x"]], weights=[[0.5, 1.0]], metrics=["rouge-l", "w-rouge-l"])
    >>> result.corpus["w-rouge-l"] == result.corpus["rouge-l"] / 2
    True
    """
    chosen = parse_all([metrics] if isinstance(metrics, str) else metrics)
    if any(metric.needs_weights for metric in chosen.values()) and weights is None:
        raise InvalidInput("missing; a w- metric needs a weight for every reference", where="weights")
    cut = named_tokenizer(tokenizer)
    texts = as_list(candidates, "candidates")
    if not texts:
        raise InvalidInput("expected at least one candidate, got none", where="candidates")
    lowest = max((metric.lowest_weight for metric in chosen.values() if metric.needs_weights), default=-1.0)
    sets = _Sets.gather(len(texts), references, weights, items, lowest)

    vocabulary = Vocabulary()
    of_references = _refuser("references", sets.rows)
    bound = References(encode(sets.texts, cut, vocabulary, jobs, of_references), sets.offsets, sets.weights, sets.items)
    remarks = [han_remark(sets.texts, cut, "references", of_references)]
    if background is not None and background.tokenizer != cut.signature:
        raise UsageError(f"the background was counted with the tokenizer {background.tokenizer}, not {cut.signature}")
    given = _are_split(texts) and _are_split(sets.texts)
    panel = Panel(chosen, bound, background=background, tokenizer="given" if given else cut.signature)

    checks = Controls(panel, bound, controls) if controls else None
    totals = {spec: Total() for spec in chosen}
    values: dict[str, list[NDArray[np.float64]]] = {}
    for begin in range(0, len(texts), CHUNK):
        part = texts[begin : begin + CHUNK]
        refuse = _refuser("candidates", range(begin, begin + len(part)))
        tokens = encode(part, cut, vocabulary.branch(), jobs, refuse)
        of_row = sets.of_row[begin : begin + CHUNK]
        for spec, stats in panel.measure(tokens, of_row, jobs).items():
            totals[spec].add(stats)
            values.setdefault(spec, []).append(panel.items(spec, stats))
        for name, scores in checks.scores(tokens, of_row, jobs) if checks else ():
            values.setdefault(name, []).append(scores)
    remarks.append(han_remark(texts, cut, "candidates", _refuser("candidates", range(len(texts)))))
    for remark in filter(None, remarks):
        warnings.warn(remark, stacklevel=2)
    return Scores(
        corpus={spec: panel.corpus(spec, total.sum()) for spec, total in totals.items()},
        items={spec: np.concatenate(parts) for spec, parts in values.items()},
        signatures=panel.signatures | (checks.signatures if checks else {}),
    )


def encode(
    texts: Sequence[object],
    cut: Tokenizer,
    vocabulary: Vocabulary,
    jobs: int,
    refuse: Callable[[int, str], InvalidInput],
) -> Tokens:
    """Number texts, or lists of tokens where the first is one; whether Han texts are too many is for `han_remark`.

    Args:
        texts: n texts or n lists of tokens.
        cut: How texts are split.
        vocabulary: Takes new words.
        jobs: Threads.
        refuse: Makes the error for text i, which knows where the text stands.

    Raises:
        InvalidInput: Texts and lists of tokens are mixed, or something is neither.
    """
    if _are_split(texts):
        _check_token_lists(texts, refuse)
        return vocabulary.encode_tokens(texts)  # type: ignore[arg-type]  # checked
    try:
        return vocabulary.encode(texts, cut, jobs, allow_han=True)  # type: ignore[arg-type]  # the kernel checks each
    except TypeError:
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise refuse(i, f"expected a text, as the first is one, got {type(text).__name__}") from None
        raise


def han_remark(texts: Sequence[object], cut: Tokenizer, what: str, refuse: Callable[[int, str], InvalidInput]) -> str:
    """What to know of Han texts that ``words`` has cut; empty where there are none.

    Args:
        texts: n texts, or n lists of tokens.
        cut: How texts are split.
        what: What they are, in the plural.
        refuse: Makes the error for text i.

    Raises:
        InvalidInput: They are more than a tenth of the texts.
    """
    han = HanTexts(cut, what)
    han.see(texts)
    han.check(refuse)
    return han.remark


def _are_split(texts: Sequence[object]) -> bool:
    """Whether the texts are lists of tokens, by the first."""
    return bool(texts) and not isinstance(texts[0], str)


def _check_token_lists(texts: Sequence[object], refuse: Callable[[int, str], InvalidInput]) -> None:
    for i, tokens in enumerate(texts):
        if not isinstance(tokens, list | tuple | np.ndarray):
            wanted = "a list of tokens, as the first is one" if i else "a text or a list of tokens"
            raise refuse(i, f"expected {wanted}, got {type(tokens).__name__}")
        for token in tokens:
            if not isinstance(token, str):
                raise refuse(i, f"expected tokens of type str, got {type(token).__name__}")


def _refuser(where: str, rows: Sequence[int] | NDArray[np.int64]) -> Callable[[int, str], InvalidInput]:
    return lambda i, problem: InvalidInput(problem, where=where, line=int(rows[i]) + 1)


@dataclass(frozen=True, eq=False, slots=True)
class _Sets:
    """The distinct sets of references and which one each candidate meets."""

    texts: list[object]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    items: NDArray[np.int32]
    of_row: NDArray[np.int32]
    rows: NDArray[np.int64]
    """The first candidate that meets each text, for messages."""

    @classmethod
    def gather(cls, n: int, references: Column, weights: Column | None, items: Column | None, lowest: float) -> _Sets:
        rows = _rows(references, n, "references")
        weight_rows = [None] * n if weights is None else _rows(weights, n, "weights")
        if items is None and len(set(map(id, rows))) == n:  # the usual case: every candidate has a list of its own
            firsts, of_item, of_row = list(range(n)), [1] * n, np.arange(n, dtype=np.int32)
        else:
            firsts, of_item, of_row = _shared(rows, weight_rows, items)
        lists = [_texts(rows[row], row) for row in firsts]
        sizes = [len(texts) for texts in lists]
        return cls(
            texts=list(chain.from_iterable(lists)),
            offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            weights=np.ones(sum(sizes)) if weights is None else _weights(firsts, sizes, weight_rows, lowest),
            items=np.repeat(np.arange(len(of_item), dtype=np.int32), of_item),
            of_row=of_row,
            rows=np.repeat(np.array(firsts, dtype=np.int64), sizes),
        )


def _shared(
    rows: Sequence[object], weight_rows: Sequence[object], items: Column | None
) -> tuple[list[int], list[int], NDArray[np.int32]]:
    """Sets that several candidates share.

    Returns:
        The first candidate of each set, how many sets each item has, and the set of each candidate, int32[n].
    """
    n = len(rows)
    names = list(map(id, rows)) if items is None else [_item(i, row) for row, i in enumerate(_rows(items, n, "items"))]
    # Sets of one item stand behind one another; a list that was seen with the same weights is the same set.
    keys = list(zip(names, map(id, rows), map(id, weight_rows), strict=True))
    known = {key: row for row, key in zip(reversed(range(n)), reversed(keys), strict=True)}
    members: dict[object, list[int]] = {}
    for row in sorted(known.values()):
        members.setdefault(names[row], []).append(row)
    firsts = list(chain.from_iterable(members.values()))
    number = {row: s for s, row in enumerate(firsts)}
    of_row = np.array([number[known[key]] for key in keys], dtype=np.int32)
    return firsts, [len(sets) for sets in members.values()], of_row


def _rows(column: Column, n: int, where: str) -> list[object]:
    rows = as_list(column, where)
    if len(rows) != n:
        raise InvalidInput(f"expected one entry for each of {n} candidates, got {len(rows)}", where=where)
    return rows


def _item(item: object, row: int) -> object:
    """An item's name, checked."""
    try:
        hash(item)
    except TypeError:
        problem = f"expected a name or a number for each candidate, got {type(item).__name__}"
        raise InvalidInput(problem, where="items", line=row + 1) from None
    return item


def _texts(references: object, row: int) -> list[object]:
    """One row's references, at least one."""
    if type(references) is list and references:
        return references
    texts = as_list(references, f"references:{row + 1}")
    if not texts:
        raise InvalidInput("expected at least one reference, got none", where="references", line=row + 1)
    return texts


def _weights(firsts: list[int], sizes: list[int], weight_rows: Sequence[object], lowest: float) -> NDArray[np.float64]:
    """The weights of all sets, float64[m]; row by row only to say what is wrong."""
    rows = [as_list(weight_rows[row], f"weights:{row + 1}") for row in firsts]
    try:
        weights = np.array(list(chain.from_iterable(rows)), dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.zeros((0, 0))
    if weights.ndim == 1 and [len(row) for row in rows] == sizes and ((weights >= lowest) & (weights <= 1.0)).all():
        return weights
    for row, size, values in zip(firsts, sizes, rows, strict=True):
        _check_weights(values, size, lowest, row)
    return weights


def _check_weights(values: list[object], size: int, lowest: float, row: int) -> None:
    """Raise what is wrong with one row's weights, if anything."""
    try:
        part = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"expected numbers: {error}", where="weights", line=row + 1) from None
    if part.shape != (size,):
        got = str(part.size) if part.ndim == 1 else f"lists of shape {part.shape}"
        raise InvalidInput(f"expected a weight for each of {size} references, got {got}", where="weights", line=row + 1)
    wrong = np.flatnonzero(~((part >= lowest) & (part <= 1.0)))
    if wrong.size:
        problem = f"expected a number from {lowest:g} to 1, got {part[wrong[0]]}"
        raise InvalidInput(problem, where="weights", line=row + 1)
