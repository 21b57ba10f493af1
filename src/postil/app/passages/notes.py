"""What to know of the numbers of `postil passages` before believing them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from postil.app.passages.words import han_in, stop_signature
from postil.metrics.cosine import Cosine
from postil.records.results import FLIPS, smallest_p
from postil.text.tokenizers import tokenizer as named_tokenizer
from postil.text.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from postil.app.passages.files import PassagesOptions, Ranked
    from postil.metrics.measures import Collection, Measure
    from postil.records.rows import Passage

__all__ = ["notes_on_tests", "notes_on_texts", "notes_on_vectors"]

LEVEL: Final = 0.05
FEW: Final = 5
"""A bootstrap over fewer topics or folds says little."""


def notes_on_tests(ranked: Sequence[Ranked], pairs: int, options: PassagesOptions) -> Iterator[str]:
    """Where there is no test, where none can show anything, and where intervals are too narrow.

    Args:
        ranked: The rankings.
        pairs: How many of them are compared with one another at a cut.
        options: What was asked for.
    """
    empty = max(int(np.isnan(each.values).sum()) for each in ranked)
    if empty:
        yield f"passages with nothing left in their reference without themselves, ranked last: {empty}"
    n = len(ranked[0].curve.topics)
    if n < 2:
        if len(ranked) > 1:
            yield "one topic: no intervals and no tests"
        return
    bootstrap = options.pool == "all"
    if n < FEW:
        of = "folds" if bootstrap and options.reference == "others" else "topics"
        stars = ", and its stars mean little" if bootstrap and pairs else ""
        yield f"a bootstrap over {n} {of}: its intervals are too narrow{stars}"
    least = smallest_p(n, options.resamples if bootstrap else None)
    if pairs and least * pairs >= LEVEL:
        test = f"{options.resamples} resamples"
        if not bootstrap:
            test = f"sign flips of {n} topics" if n < FLIPS.bit_length() else f"{FLIPS:,} sign flips"
        fewer = ", or name fewer measures" if least < LEVEL else ""
        lists = ", or rank by --pool topic, which has a test by sign flips" if bootstrap and n > FEW else ""
        yield (
            f"{test} cannot show a difference after Holm's correction for {pairs} pair{'s' * (pairs > 1)}; "
            f"look at the intervals{fewer}{lists}"
        )


def notes_on_texts(passages: Sequence[Passage], options: PassagesOptions) -> Iterator[str]:
    """How many passages the tokenizer could not split.

    Args:
        passages: The passages.
        options: How they were read.
    """
    if remark := han_in(passages, options).remark:
        yield remark


def notes_on_vectors(
    measures: Mapping[str, Measure], collection: Collection, options: PassagesOptions
) -> Iterator[str]:
    """The share of the words without a vector, and whether the vectors were trained on other words than these.

    Args:
        measures: By spec.
        collection: The passages.
        options: How they were read.
    """
    here = {"tokenizer": "anchors"}
    if not options.anchors:
        here = {"tokenizer": named_tokenizer(options.tokenizer).signature, "stop": stop_signature(options.stop)}
    for name, measure in measures.items():
        if isinstance(measure, Cosine):
            model = collection.kept(("vectors", measure.vectors), partial(Vectors.open, str(measure.vectors)))
            said = {key: str(model.metadata.get(key, value)) for key, value in here.items()}
            if not model.bigrams and said.get("stop") == "none":
                said["stop"] = here["stop"]  # each word that is left has the vector that it always had
            other = [key for key in said if said[key] != here[key]]
            trained, used = (" and ".join(f"{key}:{how[key]}" for key in other) for how in (said, here))
            units = "pairs of words" if model.bigrams else "words"
            yield (
                f"{name}: {measure.unknown(collection):.1%} of the {units} have no vector"
                + (f"; trained with {trained}, used with {used}" if other else "")
            )
