"""Scores and interesting passages over the service."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec
import pytest

import postil
from postil.errors import InvalidInput, PostilError, Undefined, UnknownName, UsageError
from postil.metrics.spec import METRICS
from postil.service.operations import FILE_PARAMETERS, OpenModels
from postil.service.options import ServiceOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from postil.service.config import ServiceConfig

    Ask = Callable[..., Any]

TEXTS = [
    {"item": 1, "system": "a", "text": "bring a coat"},
    {"item": 1, "system": "b", "text": "stay at home"},
    {"item": 2, "system": "a", "text": "what a game"},
]
GOLD = [
    {"item": 1, "text": "bring a warm coat", "grade": 5},
    {"item": 1, "text": "stay in bed", "grade": 2},
    {"item": 2, "text": "what a dull game", "grade": 4},
]


def test_the_scores_are_those_of_postil_score(ask: Ask) -> None:
    metrics = ["w-rouge-l", "bleu-1"]
    found = ask("score", candidates=TEXTS, references=GOLD, metrics=metrics, scale="1:5", items=True)
    with pytest.warns(UserWarning, match="no candidate"):
        wanted = postil.score(TEXTS, GOLD, metrics=metrics, scale=postil.Scale(1, 5))
    assert found["schema"] == 1
    assert [msgspec.convert(one, type(wanted.scores[0])) for one in found["scores"]] == list(wanted.scores)
    assert [(one["item"], one["system"]) for one in found["items"]] == [("1", "a"), ("1", "b"), ("2", "a")]
    for metric in metrics:
        assert [one["scores"][metric] for one in found["items"]] == wanted.items[metric].tolist()
    assert found["remarks"] == ["b: no candidate for 1 of 2 items; its scores are over the others"]


def test_ids_in_two_unicode_forms_are_one_and_come_back_as_they_were_sent(ask: Ask) -> None:
    found = ask(
        "score",
        candidates=[{"item": "cafe\u0301", "system": "a", "text": "bring a coat"}],
        references=[{"item": "caf\u00e9", "text": "bring a warm coat"}],
        metrics=["rouge-l"],
        items=True,
    )
    assert [one["item"] for one in found["items"]] == ["cafe\u0301"]


def test_the_usual_metrics_are_the_default(ask: Ask) -> None:
    texts = [{key: value for key, value in one.items() if key != "system"} for one in TEXTS[::2]]
    found = ask("score", candidates=texts, references=GOLD)
    assert {one["metric"] for one in found["scores"]} == {"bleu-4", "meteor", "rouge-l", "cider-d"}
    assert {one["system"] for one in found["scores"]} == {"candidates"}
    assert found["items"] is None


def test_references_that_are_sent_twice_count_once(ask: Ask) -> None:
    asked = {"candidates": TEXTS[::2], "metrics": ["rouge-l(over=mean)"], "scale": "1:5"}
    once = ask("score", references=GOLD, **asked)
    again = ask("score", references=[{**row, "system": system} for row in GOLD for system in "ab"], **asked)
    assert again["scores"] == once["scores"]
    advice = 'taken once each; where they are several, name the column that tells them apart: "id"'
    assert again["remarks"] == [f"references: 3 references that several rows of an item repeat, {advice}"]
    several = ask("score", references=[{**row, "id": number} for row in GOLD for number in (1, 2)], **asked)
    assert "|references:2-4|" in several["scores"][0]["signature"]


@pytest.mark.parametrize(
    ("more", "error", "problem"),
    [
        ({"metrics": ["metor"]}, UnknownName, "unknown metric 'metor'; did you mean 'meteor'?"),
        ({"metrics": [1]}, InvalidInput, "metrics[0]: expected text, got 1"),
        ({"metrics": []}, UsageError, "no metric: expected at least one"),
        ({"metrics": ["rouge-l(beta=x)"]}, UsageError, "metric 'rouge-l(beta=x)': beta: expected a number, got 'x'"),
        ({"metrics": ["w-rouge-l"]}, UsageError, "references: the grades need a scale (weights 'score'): \"scale\":"),
        ({"tokenizer": "word"}, UnknownName, "unknown tokenizer 'word'"),
        ({"weights": "best"}, UnknownName, "unknown weights method 'best'"),
        ({"scale": "x"}, UsageError, 'scale "x": expected HIGH or LOW:HIGH'),
        ({"scale": "1:3"}, InvalidInput, "references[0].grade: expected a number from 1 to 3, got 5"),
        ({"candidates": []}, InvalidInput, "candidates: expected at least one, got none"),
        ({"references": []}, InvalidInput, "references: expected at least one, got none"),
        ({"candidates": [{"item": 3, "text": "a"}]}, InvalidInput, "candidates[0].item: expected an item that has"),
        ({"candidates": [TEXTS[0]] * 2}, InvalidInput, "candidates[1].item: expected one candidate for each item"),
        ({"candidates": [{"item": 3}]}, InvalidInput, "candidates[0].text: missing; a sent candidate needs item, text"),
        ({"items": 1}, InvalidInput, "items: expected true or false, got 1"),
    ],
)
def test_what_is_refused(ask: Ask, more: dict[str, Any], error: type[PostilError], problem: str) -> None:
    with pytest.raises(error) as found:
        ask("score", **{"candidates": TEXTS, "references": GOLD, **more})
    assert type(found.value) is error
    assert str(found.value).startswith(problem)


@pytest.mark.parametrize(
    "more",
    [
        {"metrics": ["vector-f1(vectors=/etc)"]},
        {"metrics": ["w-bertscore( model = /etc)"]},
        {"metrics": ["meteor(wordnet=/etc)"]},
        {"weights": "consensus(vector-f1(vectors=/etc))"},
    ],
)
def test_a_request_names_no_file_of_the_server(ask: Ask, more: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="one that reads no file of the server"):
        ask("score", candidates=TEXTS, references=GOLD, **more)


def test_metrics_that_the_configuration_names_may_read_files(config: ServiceConfig) -> None:
    spec = "vector-f1(vectors=/nowhere)"
    service = OpenModels.open(dataclasses.replace(config, models={}, options=ServiceOptions(metrics=(spec,))))
    body = {"candidates": TEXTS, "references": GOLD, "metrics": [f"w-{spec}"], "scale": "5"}
    with pytest.raises(UsageError, match="/nowhere"):  # it is looked for now
        service.call("score", msgspec.json.encode(body))
    body["metrics"] = ["vector-f1(vectors=/etc)"]
    with pytest.raises(InvalidInput, match=r"expected a metric without model or vectors or .* or one of vector-f1"):
        service.call("score", msgspec.json.encode(body))


def test_the_parameters_that_name_files_are_known() -> None:
    """Texts without a choice, apart from those that are no files."""
    found = set()
    for make in METRICS.values():
        kind = getattr(make, "func", make)
        hints = get_type_hints(kind)
        found |= {each.name for each in dataclasses.fields(kind) if hints[each.name] == str | None}
    assert found - {"baseline", "prefix"} == set(FILE_PARAMETERS)


def test_messages_name_fields_of_the_request(ask: Ask) -> None:
    with pytest.raises(Undefined, match="references: CIDEr needs document frequencies") as error:
        ask("score", references=GOLD[2:], candidates=TEXTS[2:], metrics=["cider"])
    assert str(error.value).endswith("score more items together")
    found = ask("score", references=GOLD[2:], candidates=TEXTS[2:])
    assert found["remarks"][1] == "cider-d is excluded: one item alone has no document frequencies"


def test_ungraded_references_can_be_dropped(ask: Ask) -> None:
    gold = [*GOLD[:2], {"item": 2, "text": "what a dull game"}]
    request = {"candidates": TEXTS, "references": gold, "scale": "1:5", "metrics": ["w-rouge-l"]}
    with pytest.raises(InvalidInput, match=r'references\[2\].grade: .*"ungraded": "drop"'):
        ask("score", **request)
    found = ask("score", **request, ungraded="drop")
    assert [one["n"] for one in found["scores"]] == [1, 1]


PAGE = "Coffee came from Yemen.\r\n\r\n  Prices \n rose 😀. \n\nA goat herd found coffee in Yemen first.\n"


def test_passages_have_their_place_in_the_text(ask: Ask) -> None:
    found = ask("interesting", text=PAGE, lang="en-GB", split="paragraphs", measure="logsim-1")
    wanted = postil.rank_passages([" ".join(one.split()) for one in PAGE.replace("\r", "").split("\n\n")], stop="en")
    assert (found["measure"], found["goal"], found["lang"]) == ("logsim-1", None, "en")
    assert [one["text"] for one in found["passages"]] == [one.text for one in wanted]
    assert [one["score"] for one in found["passages"]] == [one.score for one in wanted]
    assert [each["unit"] for each in found["passages"][0]["reasons"]] == [str(each) for each in wanted[0].reasons]
    for one in found["passages"]:
        assert " ".join(PAGE[one["start"] : one["end"]].split()) == one["text"]


def test_goals_are_chosen_by_language(ask: Ask) -> None:
    text = "Rain fell. The oldest lock in England opens at nine, and it never froze. Boats wait here."
    found = ask("interesting", text=text, k=1)
    assert (found["goal"], found["lang"], found["notes"]) == ("interest", "en", [])
    assert found["passages"][0]["text"].startswith("The oldest lock")
    assert "superlative: oldest" in [each["unit"] for each in found["passages"][0]["reasons"]]
    german = ask("interesting", text=text, lang="de", k=1)
    assert german["goal"] == "topic"
    assert german["notes"] == ["goal topic, since goal interest knows en and not the language de"]
    assert ask("interesting", text=text, goal="topic")["measure"].startswith("topic(logsim-1")


def test_sentences_lines_and_measures_are_chosen(ask: Ask) -> None:
    found = ask("interesting", text=PAGE, split="lines", measure="f1-1", k=2)
    assert found["measure"] == "f1-1"
    assert len(found["passages"]) == 2
    assert ask("interesting", text="One rain. Two rain.", split="sentences")["passages"][0]["end"] in {9, 19}


@pytest.mark.parametrize(
    ("request_", "error", "problem"),
    [
        ({"text": " \n"}, InvalidInput, "text: expected a text with passages, got an empty one"),
        ({"text": "a", "k": 0}, InvalidInput, "k: expected an integer from 1 to 100, got 0"),
        ({"text": "a", "split": "words"}, InvalidInput, 'split: expected lines or paragraphs or sentences, got "word'),
        ({"text": "a", "measure": "logsim"}, UnknownName, "unknown measure 'logsim'"),
        ({"text": "a", "measure": "cosine"}, UsageError, "cosine does not decompose"),
        ({"text": "a", "measure": "w-f1-1"}, UsageError, "a measure with w- needs weights"),
        ({"text": "a", "tokenizer": "x", "goal": "topic"}, UnknownName, "unknown tokenizer 'x'"),
        ({"text": "a", "goal": "fun"}, InvalidInput, 'goal: expected interest or topic, got "fun"'),
        ({"text": "a", "goal": "topic", "measure": "f1-1"}, UsageError, "a goal excludes a measure"),
    ],
)
def test_texts_that_are_refused(ask: Ask, request_: dict[str, Any], error: type[PostilError], problem: str) -> None:
    with pytest.raises(error) as found:
        ask("interesting", **request_)
    assert str(found.value).startswith(problem)
