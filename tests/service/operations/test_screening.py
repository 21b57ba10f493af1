"""Screening of readers' comments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from postil.errors import InvalidInput, PostilError, UnknownName
from postil.service.operations import ServiceModels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from postil.service.options import ServiceConfig

    Ask = Callable[..., Any]

THREAD = {
    "title": "Rain today",
    "comments": [{"id": "c1", "text": "Rain today and rain tomorrow."}, {"id": "c2", "text": "Thanks!"}],
}


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "@ana I agree with you, thanks for the answer!",
        "> it rains\n\nNo, it does not. Are you sure?",
        "Edit: I was wrong.",
        "What the OP said: «it will rain» and nothing else.",
        "In 2018-2019 we had 3.14159 inches.",
    ],
)
def test_what_a_reader_may_say_to_others_is_accepted(ask: Ask, text: str) -> None:
    assert ask("screen", text=text) == {"decision": "accept", "reasons": [], "quality": None}


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("What a shitty idea", ["profanity or an insult: shitty"]),
        ("sh<b>i</b>tty", ["profanity or an insult: shitty"]),
        ("> you idiot\n\nHe said so.", ["profanity or an insult: idiot"]),
        ("Buy at www.web.org now", ["holds a web address"]),
        ("Buy [here](https://web.org/x) now", ["holds a web address"]),
        ("Buy at http&#58;//spam now", ["holds a web address"]),
        ("Write to ana@web.org", ["holds an e-mail address", "holds a web address"]),
        ("Call me: +49 170 1234567", ["holds what may be a telephone number"]),
        (" \0\n", ["no text"]),
        ("", ["no text"]),
        ("<img src='x'>", ["no text"]),
        ("{};<>()=[]{};<>()=[]", ["code"]),
    ],
)
def test_what_is_held(ask: Ask, text: str, reasons: list[str]) -> None:
    found = ask("screen", text=text)
    assert found["decision"] == "hold"
    assert [one for one in found["reasons"] if one in reasons] == reasons
    assert found.get("empty", False) == ("no text" in reasons)
    assert found.get("profanity", False) == reasons[0].startswith("profanity")


def test_a_near_copy_of_another_comment_is_held(ask: Ask) -> None:
    found = ask("screen", text="rain TODAY and rain tomorrow", article=THREAD)
    assert found["reasons"] == ["a near copy of comment c1 under the article"]
    # Two readers may thank somebody in the same words.
    assert ask("screen", text="Thanks!", article=THREAD)["decision"] == "accept"


def test_the_quality_is_compared_with_the_thread(ask: Ask) -> None:
    short, long = (
        ask("screen", text=text, article=THREAD, quality="good")["quality"]
        for text in ("No.", "No, since the wind turned to the south in the night, as it often does here in May.")
    )
    assert short < 0.5 < long


def test_what_the_service_allows_is_accepted(config: ServiceConfig, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("umbrella\n")
    changed = msgspec.structs.replace(config, allow=("profanity", "addresses"), blocklist=str(tmp_path / "words"))
    service = ServiceModels.open(changed)
    assert b'"accept"' in service.call("screen", b'{"text": "Shitty, see www.web.org or call 0170 1234567"}')
    found = msgspec.json.decode(service.call("screen", b'{"text": "My [umbrella](x)!"}'))
    assert found["reasons"] == ["on the block list: umbrella"]


def test_profanity_by_a_model(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "profanity_check.py").write_text("def predict_prob(texts):\n    return [0.75 for _ in texts]\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "profanity_check", raising=False)
    found = ask("screen", text="You are all the same.", profanity="model")
    monkeypatch.delitem(sys.modules, "profanity_check")
    assert found["reasons"] == ["profanity or an insult (probability .75)"]
    assert ask("screen", text="You are all the same.")["decision"] == "accept"


@pytest.mark.parametrize(
    ("request_", "error", "problem"),
    [
        ({}, InvalidInput, "text: missing; a screen request needs text; this request has: no fields"),
        ({"text": "a", "profanity": "none"}, InvalidInput, 'profanity: expected list or model, got "none"'),
        ({"text": "a", "quality": "x"}, UnknownName, "unknown quality 'x'. Known: good"),
        ({"text": "a", "quality": "good"}, InvalidInput, "quality: expected an article with comments"),
        ({"text": "a", "article": {"title": "a", "comments": [{"text": "b"}] * 2001}}, InvalidInput, "article.commen"),
    ],
)
def test_what_is_refused(ask: Ask, request_: dict[str, Any], error: type[PostilError], problem: str) -> None:
    with pytest.raises(error) as found:
        ask("screen", **request_)
    assert str(found.value).startswith(problem)
