"""Cues of interest."""

from __future__ import annotations

import pytest

from postil.interest.features import NO_SUPERLATIVES, cues


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was the FIRST and the Largest.", ["first", "superlative: largest"]),
        ("She never paid, and only he knew.", ["never", "only"]),
        ("The most expensive and the least used.", ["superlative: most", "superlative: least"]),
        ("Most people left; most were poor, and it was most unusual.", ["most", "most", "most"]),
        ("Its most visited hall, the city’s most costly one.", ["superlative: most", "superlative: most"]),
        ("Best of all, worst of all, best again", ["superlative: best", "superlative: worst", "superlative: best"]),
        ("First, cut it. At first it fails; first of all, wait.", []),
        ("At least ten, at most twenty, most of them; not only that, if only.", []),
        ("Guests at rest in the west protest: an honest interest, modestly.", []),
        ("firsthand, lonely, nevertheless, fastened, aesthetics", []),
        ("最大的城市", []),
        ("", []),
    ],
)
def test_cues_of_a_text(text: str, expected: list[str]) -> None:
    assert list(cues(text)) == expected


def test_each_exception_is_needed() -> None:
    assert all(word.endswith("est") for word in NO_SUPERLATIVES)
    assert [found for word in NO_SUPERLATIVES for found in cues(word)] == []
