"""The journey of `postil.score`: texts and weighted references in, item and corpus scores with signatures out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.columns import as_list
from postil.app.scoring.sets import Sets
from postil.errors import InvalidInput, UsageError
from postil.metrics.controls import Controls
from postil.metrics.metric_set import Panel, Total, parse_all
from postil.metrics.near import NearSigns
from postil.metrics.references import References
from postil.records.arguments import check_arguments
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

__all__ = ["CHUNK", "DEFAULT_METRICS", "Scores", "encode", "han_remark", "refuser", "score"]

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

    Warns:
        UserWarning: Some texts are Han text and meet the ``words`` tokenizer, or the data show a sign against
            ``over=near``; see `postil.metrics.near`.

    Raises:
        UnknownName: A metric or tokenizer does not exist; the message offers the nearest.
        UsageError: An argument is of another kind.
        InvalidInput: Shapes do not fit, a candidate has no references, a weight is out of range, or more than a tenth
            of the candidates or references are Han text and meet the ``words`` tokenizer (of fewer a warning tells).
            ``line`` counts candidates from 1.
        Undefined: CIDEr of a single item without a background.

    >>> result = score(["a b c"], [["a b c d", "x"]], weights=[[0.5, 1.0]], metrics=["rouge-l", "w-rouge-l"])
    >>> result.corpus["w-rouge-l"] == result.corpus["rouge-l"] / 2
    True
    """
    check_arguments(score, locals())
    chosen = parse_all([metrics] if isinstance(metrics, str) else metrics)
    if any(metric.needs_weights for metric in chosen.values()) and weights is None:
        raise InvalidInput("missing; a w- metric needs a weight for every reference", where="weights")
    cut = named_tokenizer(tokenizer)
    texts = as_list(candidates, "candidates")
    if not texts:
        raise InvalidInput("expected at least one candidate, got none", where="candidates")
    lowest = max((metric.lowest_weight for metric in chosen.values() if metric.needs_weights), default=-1.0)
    sets = Sets.gather(len(texts), references, weights, items, lowest)

    vocabulary = Vocabulary()
    of_references = refuser("references", sets.rows)
    bound = References(encode(sets.texts, cut, vocabulary, jobs, of_references), sets.offsets, sets.weights, sets.items)
    remarks = [han_remark(sets.texts, cut, "references", of_references)]
    if background is not None and background.tokenizer != cut.signature:
        raise UsageError(f"the background was counted with the tokenizer {background.tokenizer}, not {cut.signature}")
    given = _are_split(texts) and _are_split(sets.texts)
    panel = Panel(chosen, bound, background=background, tokenizer="given" if given else cut.signature)

    checks = Controls(panel, bound, controls) if controls else None
    near = NearSigns(chosen, bound)
    totals = {spec: Total() for spec in chosen}
    values: dict[str, list[NDArray[np.float64]]] = {}
    for begin in range(0, len(texts), CHUNK):
        part = texts[begin : begin + CHUNK]
        refuse = refuser("candidates", range(begin, begin + len(part)))
        tokens = encode(part, cut, vocabulary.branch(), jobs, refuse)
        of_row = sets.of_row[begin : begin + CHUNK]
        for spec, stats in panel.measure(tokens, of_row, jobs).items():
            totals[spec].add(stats)
            values.setdefault(spec, []).append(panel.items(spec, stats))
        for name, scores in checks.scores(tokens, of_row, jobs) if checks else ():
            values.setdefault(name, []).append(scores)
        near.see(tokens, of_row)
    remarks.append(han_remark(texts, cut, "candidates", refuser("candidates", range(len(texts)))))
    for remark in filter(None, [*remarks, *near.remarks()]):
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


def refuser(where: str, rows: Sequence[int] | NDArray[np.int64]) -> Callable[[int, str], InvalidInput]:
    """What makes the error for a text of a column.

    Args:
        where: The column.
        rows: For each text the row that it stands in, from 0.
    """
    return lambda i, problem: InvalidInput(problem, where=where, line=int(rows[i]) + 1)
