"""The journey of `postil interesting` and `postil.rank_passages`: a page in, its best passages out, with reasons."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.columns import as_list
from postil.app.passages.files import PassagesOptions
from postil.app.passages.words import collect
from postil.errors import InvalidInput, UsageError
from postil.escaping import one_line
from postil.metrics.measures import Overlap
from postil.metrics.pool import one_pool
from postil.metrics.spec import parse_measure
from postil.metrics.unit_contributions import Reason, reasons
from postil.records.arguments import check_arguments
from postil.records.checks import is_number
from postil.records.explain import shown
from postil.records.ranking import best_first
from postil.records.results import SCHEMA, to_json
from postil.records.row_locations import Places
from postil.records.rows import Passage
from postil.render.formats import Format, grid_as, rows_as_csv, rows_as_jsonl
from postil.text.han import HanTexts
from postil.text.tokenizers import tokenizer as named_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from postil.app.columns import Column

__all__ = [
    "MEASURE",
    "REASONS",
    "RankedPassage",
    "doubts",
    "rank_passages",
    "ranked_as",
]

MEASURE: Final = "logsim-1"
"""The measure where none is named; the paper's best."""

REASONS: Final = 5
"""How many reasons are given for a passage."""

SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage and why it stands where it stands.

    Args:
        place: Its number on the page, from 0.
        text: What it says.
        score: The measure; high is good (of divergences the negative). Minus infinity for a passage without units, or
            with nothing left to be held against.
        reasons: The units that it shares with its reference and that add most to the score.
    """

    place: int
    text: str
    score: float
    reasons: tuple[Reason, ...]


def rank_passages(
    passages: Column,
    reference: Column | None = None,
    *,
    weights: Column | None = None,
    k: int | None = None,
    measure: str = MEASURE,
    tokenizer: str = "words",
    stem: str = "none",
    stop: str = "none",
    jobs: int = 1,
) -> list[RankedPassage]:
    """The passages of a page that come closest to what is known to be interesting.

    Args:
        passages: n texts.
        reference: Passages that people found interesting. Without them each passage is held against the other
            passages of the page, which finds the ones that say most of what the page is about. A passage leaves its
            reference where it is one itself (a text with the same words).
        weights: How interesting each reference is, in [0, 1]; for measures with ``w-``.
        k: How many to give; by default all.
        measure: A spec of a measure over units, such as ``logsim-2``, ``f1-1`` or ``w-f1-2``.
        tokenizer: A name in `postil.text.TOKENIZERS`.
        stem: A name in `postil.text.STEMMERS`, or ``none``.
        stop: A name in `postil.text.STOP_LISTS`, or ``none``.
        jobs: Threads.

    Returns:
        The best first; of equal ones the earlier. Passages without a unit are last, without reasons.

    Raises:
        InvalidInput: A passage is no text, more than a tenth of all passages are Han text and meet the ``words``
            tokenizer, or the reference is empty.
        UnknownName, UsageError: A name does not exist, the measure has no units, or weights are missing or wrong.

    >>> page = ["Coffee was first roasted in Yemen.", "Prices rose.", "A goat herd found coffee in Yemen first."]
    >>> best, *others = rank_passages(page, stop="en")
    >>> best.text, [str(reason) for reason in best.reasons]
    ('A goat herd found coffee in Yemen first.', ['coffee', 'yemen', 'first'])
    """
    check_arguments(rank_passages, locals())
    chosen = parse_measure(measure)
    if not isinstance(chosen, Overlap) or chosen.family == "js":
        raise UsageError(f"{measure} has no units that give reasons; take f1, kl, logsim, rouge or tf-idf")
    texts = _texts(passages, "passages")
    known = texts if reference is None else _texts(reference, "reference")
    weight = _weights(weights, len(known), needed=chosen.weighted)
    if not texts:
        return []
    if not known:
        raise InvalidInput("expected at least one passage, got none", where="reference")
    every = texts if reference is None else [*texts, *known]
    places = Places("passages")
    options = PassagesOptions(tokenizer=tokenizer, stem=stem, stop=stop, jobs=jobs)
    collection = collect([Passage("page", str(i), text) for i, text in enumerate(every)], options, places)

    words = collection.words
    first: dict[bytes, int] = {}
    same = [
        first.setdefault(words.ids[words.offsets[i] : words.offsets[i + 1]].tobytes(), i) for i in range(len(every))
    ]
    pools = one_pool(same, np.arange(len(every) - len(known), len(every)), weight, np.arange(len(texts)))
    scores = chosen.ranked(chosen.values(collection, pools, jobs))

    @cache  # a text that stands there again has the same
    def why(place: int) -> tuple[Reason, ...]:
        return tuple(reasons(chosen, collection, pools, place, REASONS))

    return [
        RankedPassage(place, texts[place], float(scores[place]), why(same[place]))
        for place in best_first(scores, k=k).tolist()
    ]


def doubts(found: Sequence[RankedPassage], measure: str, *, referenced: bool, tokenizer: str = "words") -> list[str]:
    """What to know before believing a ranking; docs/findings/passages.md has the numbers.

    Args:
        found: The ranking.
        measure: A spec.
        referenced: Whether interesting passages were given, and not the page itself.
        tokenizer: What cut the passages into words.

    Raises:
        UnknownName, UsageError: There is no such measure or tokenizer.
    """
    han = HanTexts(named_tokenizer(tokenizer), "passages shown")
    han.see(each.text for each in found)
    told = [han.remark] if han.remark else []
    if not referenced and getattr(parse_measure(measure), "family", "") == "kl":
        told.append(
            "on a page that is its own reference kl puts short passages first; name a --reference, or take logsim"
        )
    return told


def ranked_as(form: Format, found: Sequence[RankedPassage], measure: str) -> str:
    """Lay out ranked passages.

    Args:
        form: ``json``, ``jsonl`` and ``csv`` have whole texts, the others their beginnings. A passage without units, or
            with nothing left to be held against, has no score.
        found: The passages.
        measure: What scored them.
    """
    rows: list[dict[str, object]] = [
        {
            "rank": rank,
            **asdict(each),
            "score": each.score if np.isfinite(each.score) else None,
            "reasons": [{"unit": str(why), "part": why.part} for why in each.reasons],
        }
        for rank, each in enumerate(found, start=1)
    ]
    if form == "json":
        return to_json({"schema": SCHEMA, "kind": "interesting", "measure": measure, "passages": rows})
    if form == "jsonl":
        return rows_as_jsonl(rows)
    if form == "csv":
        return rows_as_csv(
            [row | {"reasons": "; ".join(map(str, each.reasons))} for row, each in zip(rows, found, strict=True)]
        )
    grid = [["passage", measure, "because of"]]
    for rank, each in enumerate(found, start=1):
        text = f"{rank}. {one_line(each.text)}"
        short = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
        score = f"{each.score:.4f}" if np.isfinite(each.score) else "-"
        grid.append([short, score, ", ".join(map(str, each.reasons))])
    return grid_as(form, grid)


def _texts(column: Column, where: str) -> list[str]:
    texts = []
    for line, text in enumerate(as_list(column, where), start=1):
        if not isinstance(text, str):
            raise InvalidInput(f"expected text, got {shown(text)}", where=where, line=line)
        texts.append(text)
    return texts


def _weights(weights: Column | None, n: int, *, needed: bool) -> NDArray[np.float64]:
    if weights is None:
        if needed:
            raise UsageError("a measure with w- needs weights of the reference; give weights, or leave w- out")
        return np.ones(n)
    given = as_list(weights, "weights")
    if len(given) != n:
        raise InvalidInput(f"expected a weight for each of {n} references, got {len(given)}", where="weights")
    for line, weight in enumerate(given, start=1):
        if not is_number(weight) or not 0 <= weight <= 1:
            raise InvalidInput(f"expected a number from 0 to 1, got {shown(weight)}", where="weights", line=line)
    return np.array(given, np.float64)
