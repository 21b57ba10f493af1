"""Features of a page."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postil.metrics.interest.features import FEATURES, LENGTH, InterestPage
from postil.metrics.measures import FScore
from postil.metrics.passage_collection import PassageCollection
from postil.metrics.pool import one_pool
from postil.text import Vocabulary, tokenizer

PASSAGES = st.lists(
    st.lists(st.sampled_from(["boat", "left", "ely", "rain", "quay"]), max_size=5), min_size=1, max_size=8
)


@given(PASSAGES)
def test_overlap_is_f1_over_pairs_without_the_passage(passages: list[list[str]]) -> None:
    texts = [" ".join(words) for words in passages]
    collection = PassageCollection(Vocabulary().encode(texts, tokenizer("words")))
    every = np.arange(len(texts))
    pools = one_pool(collection.duplicates(), every, np.ones(len(texts)), every)
    expected = FScore(unit="2").values(collection, pools)
    found = InterestPage.of(texts).features.values[:, list(FEATURES).index("overlap")]
    np.testing.assert_allclose(found, np.nan_to_num(expected), rtol=1e-12)


def test_parts_add_up_to_the_values() -> None:
    page = InterestPage.of(
        ["The first boat left Ely for King's Lynn.", "The boat left Ely.", "Nobody left the first boat.", "", "Rain"]
    )
    for row, values in enumerate(page.features.values):
        sums = np.zeros(len(FEATURES))
        for feature, _, amount in page.features.parts(row):
            sums[feature] += amount
        assert sums[:LENGTH] == pytest.approx(values[:LENGTH])
    assert [unit for _, unit, _ in page.features.parts(0)] == [
        "first",
        "name: Ely",
        "name: King's Lynn",
        "shares 'first boat' with the page",
        "shares 'boat left' with the page",
        "shares 'left ely' with the page",
    ]
