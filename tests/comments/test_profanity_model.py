"""The model of profanity: a stand-in for the package, and the package itself as an integration test."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from postil.comments import profanity_model
from postil.comments.filtering import Accepted, CandidateFilter
from postil.errors import MissingExtra, UnknownName

if TYPE_CHECKING:
    from pathlib import Path

STAND_IN = """
import numpy as np

calls = []

def predict_prob(texts):
    calls.append(list(texts))
    return np.array([1.0 if "ugly" in text else 0.5 if "mean" in text else 0.496 for text in texts])
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Texts that the stand-in was asked for."""
    (tmp_path / "profanity_check.py").write_text(STAND_IN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "profanity_check", raising=False)
    import profanity_check  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "profanity_check", profanity_check)  # and out again
    return profanity_check.calls  # type: ignore[no-any-return]


def texts_of(*words: str) -> list[str]:
    return [f"{word} weather in town number {number}" for number, word in enumerate(words)]


def test_probabilities_filter_beside_the_lists(calls: list[list[str]]) -> None:
    texts = texts_of("ugly", "fine", "stupid", "mean")
    found = CandidateFilter(profanity="model", dedup_threshold=None).apply(texts, [4, 3, 2, 1])
    assert found.accepted == (Accepted(1),)
    assert found.filtered == (
        (0, "profanity or an insult (probability 1.00)"),
        (2, "profanity or an insult: stupid"),
        (3, "profanity or an insult (probability .50)"),
    )
    assert calls == [texts]


def test_only_the_best_candidates_are_scored_and_in_batches(
    calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profanity_model, "_BATCH", 3)
    texts = texts_of("ugly", "fine", "ugly", "mean", "fine", "fine", "ugly", "fine")
    scores = [float(-number) for number in range(8)]
    found = CandidateFilter(profanity="model", dedup_threshold=None).apply(texts, scores, k=2)
    assert [one.position for one in found.accepted] == [1, 4]
    assert calls == [texts[:3], texts[3:6]]


@pytest.mark.parametrize("allow", ["profanity", "all"])
def test_the_model_is_not_asked_where_profanity_is_allowed(calls: list[list[str]], allow: str) -> None:
    found = CandidateFilter(profanity="model", allow=[allow]).apply(texts_of("ugly"), [1.0])
    assert found.accepted == (Accepted(0),)
    assert calls == []


def test_by_default_the_package_is_not_imported(calls: list[list[str]]) -> None:
    assert CandidateFilter().apply(texts_of("ugly"), [1.0]).accepted == (Accepted(0),)
    assert calls == []


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="unknown filter of profanity 'modle'; did you mean 'model'"):
        CandidateFilter(profanity="modle")  # type: ignore[arg-type]
    monkeypatch.setattr(profanity_model, "find_spec", lambda _: None)
    message = r"the profanity model needs an optional package: pip install 'postil\[profanity\]'"
    with pytest.raises(MissingExtra, match=message):
        CandidateFilter(profanity="model")


@pytest.mark.integration
@pytest.mark.skipif(find_spec("profanity_check") is None, reason="needs the extra profanity")
def test_the_package_itself() -> None:
    texts = ["What a lovely weather we have", "Nobody likes you, you ugly fat loser", "今天的天气真的很好很好"]
    found = CandidateFilter(profanity="model").apply(texts, [1.0, 2.0, 3.0])
    assert [one.position for one in found.accepted] == [2, 0]
    assert [reason.partition(" (probability ")[0] for _, reason in found.filtered] == ["profanity or an insult"]
