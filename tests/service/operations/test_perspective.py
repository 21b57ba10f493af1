"""Perspective's form without HTTP: scores by attribute, their spans, and what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))  # for small_screens

import small_screens
from small_screens import MAPPED, made_screen

from postil.errors import UnknownName
from postil.service import screens
from postil.service.config import ServiceConfig
from postil.service.operations import OpenModels
from postil.service.options import ServiceOptions
from postil.service.perspective import LONGEST, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., Any]

RUDE = "Du dummer Depp, halt einfach deinen Mund!"
KIND = "Danke für diesen schönen und ausführlichen Artikel."


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., OpenModels]:
    """Opens a service of the small screens that are named, with options."""
    monkeypatch.setattr(screens, "Screen", small_screens.SmallScreen)

    def opened(*folders: Path, **options: Any) -> OpenModels:
        chosen = folders or (made_screen(tmp_path / "site"),)
        return OpenModels.open(ServiceConfig.of_folders((), ServiceOptions(screens=tuple(map(str, chosen)), **options)))

    return opened


@pytest.fixture
def ask(opened: Callable[..., OpenModels]) -> Ask:
    return asking(opened())


def asking(models: OpenModels) -> Ask:
    def asked(name: str, **request: object) -> Any:
        return msgspec.json.decode(models.call(name, json.dumps(request).encode()))

    return asked


def analyze(text: str, *attributes: str, **more: object) -> dict[str, Any]:
    asked = {attribute: {} for attribute in attributes or ("TOXICITY",)}
    return {"comment": {"text": text}, "requestedAttributes": asked, "languages": ["de"], **more}


def probability(value: float) -> dict[str, Any]:
    return {"value": value, "type": "PROBABILITY"}


def test_attributes_are_scored_as_the_screen_maps_them(ask: Ask) -> None:
    found = ask("analyze", **analyze(RUDE, "SPAM", "TOXICITY", "INSULT", clientToken="c-1"))
    whole = {"begin": 0, "end": len(RUDE)}
    assert found == {
        "attributeScores": {
            "SPAM": {
                "spanScores": [{**whole, "score": probability(0.125)}],
                "summaryScore": probability(0.125),
            },
            "TOXICITY": {"spanScores": [{**whole, "score": probability(0.9)}], "summaryScore": probability(0.9)},
            "INSULT": {"spanScores": [{**whole, "score": probability(0.9)}], "summaryScore": probability(0.9)},
        },
        "languages": ["de"],
        "clientToken": "c-1",
    }
    assert list(found["attributeScores"]) == ["SPAM", "TOXICITY", "INSULT"]


def test_spans_are_sentences_in_utf_16_code_units(ask: Ask) -> None:
    text = "Schöner Tag 😀🌞!  Du Depp 😡.\n\nBis morgen."
    found = ask("analyze", **analyze(text, spanAnnotations=True))["attributeScores"]["TOXICITY"]
    units = text.encode("utf-16-le")
    spans = [
        (units[2 * one["begin"] : 2 * one["end"]].decode("utf-16-le"), one["score"]["value"])
        for one in found["spanScores"]
    ]
    assert spans == [("Schöner Tag 😀🌞!", 0.125), ("Du Depp 😡.", 0.9), ("Bis morgen.", 0.125)]
    assert found["summaryScore"] == probability(0.9)
    (whole,) = ask("analyze", **analyze(text))["attributeScores"]["TOXICITY"]["spanScores"]
    assert (whole["begin"], whole["end"]) == (0, len(units) // 2)


def test_of_html_the_text_is_read(ask: Ask) -> None:
    html = "<p>Du De<b>pp</b>.</p>"
    request = analyze(html, "INSULT", spanAnnotations=True)
    plain = ask("analyze", **request)
    assert plain["attributeScores"]["INSULT"]["summaryScore"]["value"] == 0.125
    request["comment"]["type"] = "HTML"
    found = ask("analyze", **request)["attributeScores"]["INSULT"]
    assert found["summaryScore"]["value"] == 0.9
    assert [(one["begin"], one["end"]) for one in found["spanScores"]] == [(0, len(html))]


def test_scores_below_a_threshold_are_left_out(ask: Ask) -> None:
    text = f"{KIND} {RUDE}"
    request = analyze(text, "TOXICITY", "SPAM", spanAnnotations=True)
    request["requestedAttributes"] = {"TOXICITY": {"scoreThreshold": 0.9}, "SPAM": {"scoreThreshold": 0.2}}
    found = ask("analyze", **request)["attributeScores"]
    assert list(found) == ["TOXICITY"]
    assert [one["begin"] for one in found["TOXICITY"]["spanScores"]] == [len(KIND) + 1]
    request["requestedAttributes"] = {"TOXICITY": None, "SPAM": {"scoreType": "PROBABILITY", "scoreThreshold": 0.125}}
    assert len(ask("analyze", **request)["attributeScores"]["SPAM"]["spanScores"]) == 2


def test_a_language_is_detected_where_none_is_sent(ask: Ask) -> None:
    request = analyze(KIND)
    del request["languages"]
    found = ask("analyze", **request)
    assert (found["languages"], found["detectedLanguages"]) == (["de"], ["de"])
    request["comment"] = {"text": "😂😂😂"}
    found = ask("analyze", **request)
    assert (found["languages"], "detectedLanguages" in found) == ([], False)
    assert found["attributeScores"]["TOXICITY"]["summaryScore"]["value"] == 0.125


def test_the_first_screen_that_knows_attribute_and_language_answers(
    opened: Callable[..., OpenModels], tmp_path: Path
) -> None:
    german = made_screen(tmp_path / "german", attributes={"TOXICITY": "hold"})
    english = made_screen(tmp_path / "english", {"rude": ["twit"]}, {"TOXICITY": "rude", "INSULT": "rude"}, ["en"])
    ask = asking(opened(german, english))
    english_text = analyze("You twit!", languages=["en-US"])
    assert ask("analyze", **english_text)["attributeScores"]["TOXICITY"]["summaryScore"]["value"] == 0.9
    assert ask("analyze", **analyze("You twit!"))["attributeScores"]["TOXICITY"]["summaryScore"]["value"] == 0.125
    with pytest.raises(Refused, match=r"INSULT does not support request languages: de; the screens .* from de, en"):
        ask("analyze", **analyze(RUDE, "INSULT"))
    both = asking(opened(german, english, any_language=True))
    assert (
        both("analyze", **analyze("You twit!", "INSULT"))["attributeScores"]["INSULT"]["summaryScore"]["value"] == 0.9
    )
    assert both("analyze", **analyze("Tak!", languages=["da"]))["languages"] == ["da"]


def refused(ask: Ask, name: str, request: dict[str, Any]) -> Refused:
    with pytest.raises(Refused) as found:
        ask(name, **request)
    return found.value


@pytest.mark.parametrize(
    ("change", "problem", "kind"),
    [
        ({"comment": {"text": " \n\t"}}, "Comment must be non-empty", "COMMENT_EMPTY"),
        ({"comment": {"text": ""}}, "Comment must be non-empty", "COMMENT_EMPTY"),
        ({"comment": {}}, "Comment must be non-empty", "COMMENT_EMPTY"),
        ({"comment": None}, "Comment must be non-empty", "COMMENT_EMPTY"),
        ({"comment": {"text": "<p> </p>", "type": "HTML"}}, "Comment must be non-empty", "COMMENT_EMPTY"),
        ({"comment": {"text": "ä" * 10_241}}, "Comment text too long: expected at most 20,480", "COMMENT_TOO_LONG"),
        ({"comment": {"text": "a" * 1_000_000}}, "Comment text too long", "COMMENT_TOO_LONG"),
        ({"comment": {"text": "a", "type": "PDF"}}, "Unknown text type: PDF; expected PLAIN_TEXT or HTML", None),
        ({"requestedAttributes": {}}, "Missing requested_attributes: expected one of INSULT, SPAM, TOXICITY", None),
        ({"requestedAttributes": None}, "Missing requested_attributes", None),
        ({"requestedAttributes": {"TOXCITY": {}}}, "Unknown requested attribute: TOXCITY; this service answers", None),
        (
            {"requestedAttributes": {"TOXICITY": {"scoreType": "RAW"}}},
            "Requested score type RAW is not supported by attribute TOXICITY",
            None,
        ),
        (
            {"context": {"entries": [{"text": "a"}], "articleAndParentComment": {}}},
            "Context can have either entries or articleAndParentComment, got both",
            None,
        ),
    ],
)
def test_what_is_not_as_expected_is_refused(ask: Ask, change: dict[str, Any], problem: str, kind: str | None) -> None:
    found = refused(ask, "analyze", analyze(RUDE) | change)
    assert str(found).startswith(problem)
    assert [one["errorType"] for one in found.details] == ([kind] if kind else [])
    assert found.code == 400


def test_the_longest_text_is_answered(ask: Ask) -> None:
    request = analyze("Regen fällt. " * (LONGEST // 14), spanAnnotations=True)
    assert len(ask("analyze", **request)["attributeScores"]["TOXICITY"]["spanScores"]) == LONGEST // 14


def test_attributes_that_no_screen_answers_are_refused_by_name_or_dropped(ask: Ask) -> None:
    asked = ("TOXICITY", "SEVERE_TOXICITY", "THREAT")
    found = refused(ask, "analyze", analyze(RUDE, *asked))
    assert str(found).startswith("Attribute SEVERE_TOXICITY does not support request languages: de; this service ans")
    assert [(one["errorType"], one["languageNotSupportedByAttributeError"]) for one in found.details] == [
        ("LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE", {"requestedLanguages": ["de"], "attribute": each}) for each in asked[1:]
    ]
    dropped = ask("analyze", **analyze(RUDE, *asked, "NONE_SUCH", dropUnsupportedAttributes=True))
    assert list(dropped["attributeScores"]) == ["TOXICITY"]
    assert ask("analyze", **analyze(RUDE, languages=["ja"], dropUnsupportedAttributes=True))["attributeScores"] == {}


def test_a_language_that_no_screen_learned_from_is_refused(ask: Ask) -> None:
    found = refused(ask, "analyze", analyze("Hello", languages=["en", "de"]))
    assert str(found) == (
        "Attribute TOXICITY does not support request languages: en, de; the screens of this service learned from de"
    )
    request = analyze("Thank you very much for this thoughtful article, I enjoyed it.")
    del request["languages"]
    (details,) = refused(ask, "analyze", request).details
    assert details["languageNotSupportedByAttributeError"] == {"detectedLanguages": ["en"], "attribute": "TOXICITY"}
    assert ask("analyze", **analyze("Hallo", languages=["DE-at"]))["languages"] == ["DE-at"]


def test_a_service_without_a_screen_says_so() -> None:
    found = refused(asking(OpenModels({}, {}, ServiceConfig().candidate_filter(), 1, ())), "analyze", analyze(RUDE))
    assert (found.code, "postil serve --screen" in str(found)) == (501, True)


def suggest(text: str, scores: dict[str, float], **more: object) -> dict[str, Any]:
    sent = {name: {"summaryScore": {"value": value}} for name, value in scores.items()}
    return {"comment": {"text": text}, "attributeScores": sent, **more}


@pytest.mark.parametrize(
    ("scores", "decision", "reason"),
    [
        ({"APPROVED": 1}, "keep", None),
        ({"DELETED": 1}, "hold", None),
        ({"HIGHLIGHTED": 1}, "keep", None),
        ({"APPROVED": 0}, "hold", None),
        ({"DELETED": 1, "SPAM": 1}, "hold", "spam"),
        ({"APPROVED": 1, "SPAM": 1}, "keep", None),
        ({"TOXICITY": 1}, "hold", None),
        ({"TOXICITY": 0}, "keep", None),
        ({"TOXICITY": 0.9, "INSULT": 0.5}, "hold", "insult"),
        ({"SPAM": 0.8, "INSULT": 0.7}, "hold", "spam"),
        ({"SPAM": 0.49, "INSULT": 0.2, "FLIRTATION": 0.9}, "keep", None),
    ],
)
def test_a_suggested_score_is_a_decision(ask: Ask, scores: dict[str, float], decision: str, reason: str | None) -> None:
    row = ask("suggestscore", **suggest(KIND, scores))["decision"]
    assert (row["text"], row["decision"], row.get("reason"), row["lang"]) == (KIND, decision, reason, "de")


def test_scores_of_parts_count_where_the_whole_has_none(ask: Ask) -> None:
    parts = [{"begin": 0, "end": 4, "score": {"value": value}} for value in (0.1, 0.6)]
    row = ask("suggestscore", comment={"text": RUDE}, attributeScores={"INSULT": {"spanScores": parts}})["decision"]
    assert (row["decision"], row["reason"]) == ("hold", "insult")


@pytest.mark.parametrize(
    ("entry", "article", "comment"),
    [
        ('{"article": "a7", "id": 3}', "a7", "3"),
        (
            '{"url": "https://n.example/rain?p=1&commentID=c9", "Coral_comment_id": "c9"}',
            "https://n.example/rain?p=1",
            "c9",
        ),
        ('{"url": "https://n.example/rain?a=%C3%A4#top"}', "https://n.example/rain?a=%C3%A4#top", None),
        ('{"url": "http://[", "Coral_comment_id": "c9"}', "http://[", "c9"),
        ('{"article": {}, "id": null}', None, None),
        ("[" * 100_000, None, None),
        ("the parent comment", None, None),
        ("[1]", None, None),
    ],
)
def test_the_context_tells_the_comment(ask: Ask, entry: str, article: str | None, comment: str | None) -> None:
    row = ask("suggestscore", **suggest(RUDE, {"DELETED": 1}, context={"entries": [{"text": entry}]}))["decision"]
    assert (row.get("article"), row.get("id")) == (article, comment)


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (suggest("", {"APPROVED": 1}), "Comment must be non-empty"),
        (suggest(RUDE, {}), "Missing attribute_scores"),
        ({"comment": {"text": RUDE}, "attributeScores": {"TOXICITY": {}}}, "attributeScores.TOXICITY: expected a summ"),
        ({"comment": {"text": RUDE}, "attributeScores": {"TOXICITY": None}}, "attributeScores.TOXICITY: expected a s"),
        (suggest(RUDE, {"TOXICITY": 1.5}), "attributeScores.TOXICITY: expected a value from 0 to 1, got 1.5"),
        (suggest(RUDE, {"TOXCITY": 1}), "Unknown requested attribute: TOXCITY"),
        (suggest(RUDE, {"FLIRTATION": 1}), "Attribute FLIRTATION does not support request languages: und"),
    ],
)
def test_scores_that_are_no_decision_are_refused(ask: Ask, request_: dict[str, Any], problem: str) -> None:
    assert str(refused(ask, "suggestscore", request_)).startswith(problem)


def test_nothing_is_kept_where_that_is_asked_for(ask: Ask) -> None:
    found = ask("suggestscore", **suggest(RUDE, {"DELETED": 1}, doNotStore=True, clientToken="t", languages=["de"]))
    assert found == {
        "decision": None,
        "response": {"clientToken": "t", "requestedLanguages": ["de"], "detectedLanguages": ["de"]},
    }


def test_decisions_can_be_taken_before_there_is_a_screen() -> None:
    ask = asking(OpenModels({}, {}, ServiceConfig().candidate_filter(), 1, ()))
    assert ask("suggestscore", **suggest(RUDE, {"TOXICITY": 1}))["decision"]["decision"] == "hold"
    assert ask("suggestscore", **suggest(RUDE, {"APPROVED": 1}))["decision"]["decision"] == "keep"


def test_a_screen_adds_to_the_reasons_to_hold(opened: Callable[..., OpenModels]) -> None:
    models = opened()
    ask = asking(models)
    found = ask("screen", text="Du <b>Depp</b>, schau auf die Straße!")
    assert found == {
        "decision": "hold",
        "reasons": ["moderators would probably hold it: 90%"],
        "quality": None,
        "probability": 0.9,
        "screened": "hold",
        "screen_reasons": {"insult": 0.9, "spam": 0.125},
        "model_hash": models.screens.known["site"].screen.hash,
    }
    kept = ask("screen", text=KIND)
    assert (kept["decision"], kept["reasons"], kept["probability"], kept["screened"]) == ("accept", [], 0.125, "keep")
    quoted = ask("screen", text="<blockquote>Du Depp!</blockquote> Das stimmt.")
    assert (quoted["decision"], quoted["screened"]) == ("hold", "hold")
    assert ask("screen", text="Schau www.uhren.example an!")["decision"] == "hold"  # by the rules
    assert ask("screen", text=" ") == {"decision": "hold", "reasons": ["no text"], "quality": None, "empty": True}
    english = "Thank you very much for this thoughtful article, I enjoyed it."
    assert ask("screen", text=english) == {"decision": "accept", "reasons": [], "quality": None}
    assert "probability" not in ask("screen", text="Depp", article={"title": "Rain", "lang": "en"})
    assert ask("screen", text=english, screen="site")["screened"] == "keep"
    with pytest.raises(UnknownName, match=r"unknown screen 'none'\. Known: site"):
        ask("screen", text="Depp", screen="none")


@pytest.mark.parametrize(("threshold", "decision"), [(None, "accept"), (0.1, "hold"), (0.126, "accept")])
def test_a_service_holds_from_another_threshold(
    opened: Callable[..., OpenModels], threshold: float | None, decision: str
) -> None:
    models = opened(threshold=threshold)
    found = asking(models)("screen", text=KIND, lang="de")
    assert (found["decision"], found["probability"]) == (decision, 0.125)
    (listed,) = asking(models)("models")["models"]
    assert listed["threshold"] == (0.5 if threshold is None else threshold)


def test_screens_are_listed_without_their_folders(opened: Callable[..., OpenModels]) -> None:
    models = opened()
    (listed,) = asking(models)("models")["models"]
    assert listed == {
        "name": "site",
        "kind": "screen",
        "hash": models.screens.known["site"].screen.hash,
        "operations": ["screen", "analyze"],
        "default": True,
        "calibrated": None,
        "attributes": [*MAPPED],
        "languages": ["de"],
        "threshold": 0.5,
        "reasons": ["insult", "spam"],
    }
