"""Labels at the desk: by key, with and without a connection, taken back, trained on."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="needs the web extra")

from desk_stub import ARTICLES, POINTS, STORY, SUGGESTIONS, suggestion
from desk_window import READY, DeskWindow
from postil.data.suggestions import REASONS

if TYPE_CHECKING:
    from conftest import Chromium

Start = Any
WAITING = """(() => { const fetched = window.fetch;
  window.fetch = (path, ...rest) => !String(path).startsWith('%s') ? fetched(path, ...rest)
    : new Promise((done) => { window.let = () => { delete window.let; done(fetched(path, ...rest)); }; }); })()"""
"""Makes each request for a path wait until `let` is called."""


def test_an_article_is_found_opened_and_labeled_without_a_mouse(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow(chromium)
    window.go(stub.url)
    window.until("document.querySelectorAll('#found li').length === 3")
    window.key("/")
    for letter in "closes":
        window.key(letter)
    window.until("document.querySelectorAll('#found li').length === 1")
    window.key("Enter")
    window.until(READY)
    assert (window.text("#title"), window("location.search")) == (ARTICLES[0].title, "?article=0")
    assert window.text(".card .label").startswith("Machine-generated suggestion")
    assert "likely worth showing 62 %" in window.text(".card")
    assert "Readers of “Ice on the road” wrote this · Dec 1, 2023 · 65 votes" in window.text(".card .cited")
    assert "probability" not in window.text(".card:nth-child(2)")
    assert "%" not in window.text(".card:nth-child(2)")

    window.keys(*"sd")
    window.shoot("desk-refused")
    window.keys(*"d5")  # the card before was refused without a reason, this one is as unkind
    window.stored()
    assert window.text("#count") == "3 labels"
    first, second, third = stub.labels()
    assert (first.text, first.show, first.rank, first.annotator) == (SUGGESTIONS[0]["text"], True, 1, "editor")
    assert (first.source_article, first.source_comment, first.model_hash) == ("t1", "9", "8d0c")
    assert (first.title, first.content, first.lang) == (ARTICLES[0].title, STORY, "en")
    assert (second.text, second.show, second.reason) == (SUGGESTIONS[1]["text"], False, None)
    assert (third.show, third.reason, third.source_article) == (False, "unkind", None)
    window.shoot("desk-labeled")

    window.key("u")
    window.key("u")
    window.stored()
    assert [(one.show, one.rank) for one in stub.labels()] == [(True, 1)]
    window.keys("d", "k", "s")  # the second one again, as undo went there; then one's mind changed
    window.stored()
    assert [(one.show, one.rank) for one in stub.labels()] == [(True, 1), (True, 2)]
    assert window("document.activeElement.dataset.at") == "2"
    window.key("k")
    window.key("u")
    window.stored()
    assert [(one.show, one.rank) for one in stub.labels()] == [(True, 1), (False, 2)]
    assert (window.complaints(), window.asked()) == ([], {stub.url[7:]})


def test_each_key_stores_the_answer_to_the_card_it_was_for(start: Start, chromium: Chromium) -> None:
    stub = start()
    stub.suggestions = [suggestion(n, f"Card {n}.") for n in range(1, 6)]
    window = DeskWindow.opened(chromium, stub)
    window.keys(*"sdsds")
    window.stored()
    assert [(one.rank, one.show) for one in stub.labels()] == [(n, n % 2 == 1) for n in range(1, 6)]
    assert window("document.activeElement.innerText") == "That was the last suggestion."
    window.keys(*"dsd5j")  # there is no card to be answered
    window.stored()
    assert [(one.rank, one.show) for one in stub.labels()] == [(n, n % 2 == 1) for n in range(1, 6)]
    window.keys(*"kd7")  # back to the last one, whose reason is asked for although no card follows
    window.stored()
    assert [(one.rank, one.reason) for one in stub.labels()][-1] == (5, REASONS[7])
    window.keys(*"uukkkdk3")  # after another key a digit is for nothing
    window.stored()
    assert [(one.rank, one.show, one.reason) for one in stub.labels()] == [
        (1, True, None),
        (3, True, None),
        (4, False, None),
        (2, False, None),
    ]


def meant(keys: str, cards: int) -> dict[int, tuple[bool, str | None]]:
    """The answers to cards that keys mean: what was answered last counts, unless it was taken back."""
    answers: dict[int, tuple[bool, str | None]] = {}
    before: list[tuple[int, tuple[bool, str | None] | None]] = []
    at, refused = 1, 0
    for key in keys:
        if key in "sd" and at <= cards:
            before.append((at, answers.get(at)))
            answers[at] = (key == "s", None)
            at, refused = at + 1, at if key == "d" else 0
        elif key in "jk":
            at, refused = max(1, at - 1) if key == "k" else at + (at < cards), 0
        elif key == "u" and before:
            at, old = before.pop()
            answers, refused = {n: one for n, one in (answers | {at: old}).items() if one}, 0
        elif key.isdigit() and refused and int(key) < len(REASONS):
            answers[refused], refused = (False, REASONS[int(key)]), 0
    return answers


@pytest.mark.parametrize("seed", range(3))
def test_two_hundred_mixed_keys_store_what_they_mean(start: Start, chromium: Chromium, seed: int) -> None:
    stub = start()
    stub.suggestions = [suggestion(n, f"Card {n}.") for n in range(1, 21)]
    window = DeskWindow.opened(chromium, stub)
    window.put("#k", 20)
    window.until("document.querySelectorAll('.card').length === 20")
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    keys = "".join(draw.choices("sdjku0123456789", (7, 7, 1, 4, 4, *[1] * 10), k=200))
    expected = meant(keys, 20)
    assert len({show for show, _ in expected.values()}) == 2
    window.keys(*keys)
    window.stored()
    assert {one.rank: (one.show, one.reason) for one in stub.labels()} == expected
    assert len(stub.labels()) == len(expected)
    shown = window.all(".card", "one.classList.contains('yes') ? true : one.classList.contains('no') ? false : null")
    assert shown == [expected.get(n, (None,))[0] for n in range(1, 21)]
    assert window.complaints() == []


def test_a_reason_is_given_by_mouse_to_the_card_it_stands_on(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow.opened(chromium, stub)
    for selector in (".card:nth-child(2) .hide", ".card:nth-child(2) .reasons [value='5']", ".card.current .show"):
        window.drag(window.middle(selector), window.middle(selector))
    window.stored()
    assert [(one.rank, one.show, one.reason) for one in stub.labels()] == [(2, False, "unkind"), (3, True, None)]


def test_no_key_answers_a_card_of_the_article_before(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow.opened(chromium, stub)
    window.keys("s", "d")
    window(WAITING % "/desk/articles/")
    window.keys("n", "5", "s", "d", "u")  # the answer before is taken back, as the list of answers goes on
    window.focus(".card")
    window("window.let()")
    window.until("document.querySelector('#title').innerText.startsWith('A title')")
    window.until("document.querySelector('.card.current')")
    window.key("s")
    window.stored()
    assert [(one.article, one.rank, one.show) for one in stub.labels()] == [("a1", 1, True), ("a2", 1, True)]
    assert window.complaints() == []


def test_keys_can_be_turned_off_and_do_nothing_in_fields(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow.opened(chromium, stub)
    window.key("?")
    assert window("document.querySelector('#keys').open")
    window("document.querySelector('#shortcuts').click()")
    window.key("Escape")
    for key in "sdun":
        window.key(key)
    assert window.text("#count") == "0 labels"
    window.key("?")
    window("document.querySelector('#shortcuts').click()")
    window.key("?")
    window.focus("#k")
    window.key("s")
    window.focus(".card")
    window.key("s", repeat=True)  # held down before it got here
    assert window.text("#count") == "0 labels"
    window.key("s")
    window.stored()
    assert len(stub.labels()) == 1


def test_answers_are_there_again_when_the_article_is_opened_again(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow.opened(chromium, stub)
    window.key("s")
    window.key("d")
    window.key("1")
    window.stored()
    for again in (window, DeskWindow(chromium)):
        again.go(f"{stub.url}/?article=0")
        again.until("document.querySelectorAll('.card.yes, .card.no').length === 2")
        assert "off the matter · stored" in again.text(".card.no")
    again.focus(".card.no")
    again.key("s")
    again.stored()
    assert [(one.show, one.rank) for one in stub.labels()] == [(True, 1), (True, 2)]  # in place of the earlier answer


def test_an_answer_that_was_not_known_yet_is_replaced(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow.opened(chromium, stub)
    window.keys("s", "d", "1")
    window.stored()
    late = DeskWindow(chromium)
    late.call("Page.addScriptToEvaluateOnNewDocument", source=WAITING % "/desk/labels")
    late.open(stub, 0)
    late.key("d")
    late.until("document.querySelector('.card.no .answer').innerText === 'stored'")
    late("window.let()")
    late.until("window.let")  # it is asked again, as the answer may be of before the label
    late("window.let()")
    late.until("document.querySelector('.card:nth-child(2).no')")
    late.stored()
    assert late.text("#count") == "2 labels"
    assert [(one.rank, one.show, one.reason) for one in stub.labels()] == [
        (2, False, "off the matter"),
        (1, False, None),
    ]
    late.key("u")
    late.stored()
    assert [(one.rank, one.show) for one in stub.labels()] == [(2, False), (1, True)]


def test_answers_of_earlier_visits_that_come_late_change_nothing(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow(chromium)
    hold = """const fetched = window.fetch; window.fetch = async (path, ...rest) => {
        const answer = await fetched(path, ...rest);
        if (String(path).startsWith('/desk/labels')) await new Promise((done) => {
          window.let = () => { delete window.let; done(); };
        });
        return answer; };"""
    window.call("Page.addScriptToEvaluateOnNewDocument", source=hold)
    window.open(stub, 0)
    for key, labels, count in (("d", 1, "One label"), ("u", 0, "0 labels")):  # the server answered before the key
        window.until("window.let")
        window.key(key)
        window.stored()
        window("window.let()")
        window.until("window.let")
        assert (window.count(".card.no"), window.text("#count")) == (labels, count)
        assert len(stub.labels()) == labels


def test_a_label_waits_for_the_connection_and_is_stored_once(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow.opened(chromium, stub)
    window.key("s")
    window.stored()
    stub.stop()
    window.key("d")
    window.key("2")
    window.until("document.querySelector('#state').innerText.includes('labels are kept in this browser')")
    window.shoot("desk-offline")
    window.key("s")
    window.key("u")  # is kept like a label
    assert "not sent yet" in window.text(".card.no")
    stub.start()
    window.stored()
    labels = [(one.rank, one.show, one.reason) for one in stub.labels()]
    assert labels == [(1, True, None), (2, False, "fragment or joke")]


def test_what_an_earlier_visit_left_is_sent(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow.opened(chromium, stub)
    stub.stop()
    window.key("s")
    window.until("document.querySelector('#state').innerText.includes('One label is kept')")
    window.go("about:blank")
    stub.start()
    window.go(stub.url)
    window.stored()
    assert [one.show for one in stub.labels()] == [True]


def test_a_label_whose_acknowledgement_was_lost_is_stored_once(start: Start, chromium: Chromium) -> None:
    stub = start()
    window = DeskWindow.opened(chromium, stub)
    lose = """(async () => {
      const fetched = window.fetch;
      window.fetch = async (...given) => {
        const answer = await fetched(...given);
        if (!String(given[0]).includes('/v1/labels')) return answer;
        window.fetch = fetched;
        throw new TypeError('lost');
      };
    })()"""
    window(lose)
    window.key("s")
    window.until("document.querySelector('#state').classList.contains('kept')")
    window.stored()
    assert len(stub.labels()) == 1


def test_a_label_that_the_server_refuses_does_not_hold_up_others(start: Start, chromium: Chromium) -> None:
    stub = start()
    stub.suggestions = [suggestion(1, "Good."), suggestion(2, " \n"), suggestion(3, "Better.")]
    window = DeskWindow.opened(chromium, stub)
    stub.stop()
    for key in "sss":
        window.key(key)
    stub.start()
    window.stored()
    assert [one.text for one in stub.labels()] == ["Good.", "Better."]
    assert "expected the text of a suggestion" in window.text(".card.refused .answer")


def test_training_shows_precision_against_coverage(start: Start, chromium: Chromium) -> None:
    stub = start()
    stub.calibration = {"labels": 1, "articles": 1, "shown": 1, "reason": "too few labels: expected at least 20"}
    window = DeskWindow.opened(chromium, stub)
    window.key("s")
    window.stored()
    window.click("[data-does=train]")
    assert "One label is stored." in window.text("#train-body")
    window.click("#train-go")
    window.until("document.querySelector('#train h3')")
    assert "the model is as it was" in window.text("#train h3")
    assert "Too few labels: expected at least 20." in window.text("#train-body")
    window.key("Escape")

    stub.calibration = {"labels": 200, "articles": 40, "shown": 90, "reason": "", "points": POINTS, "notes": ["a note"]}
    stub.calibration |= {"first_rate": {"value": 0.45, "low": 0.3, "high": 0.6}}
    expected = {"coverage": 0.3, "precision": 0.8, "low": 0.6, "high": 0.9}
    stub.calibrated = {"labels": 200, "depth": 10, "precision": 0.8, "expected": expected}
    stub.calibration["further"] = {"labels": 100, "gain": {"value": -0.014, "low": -0.05, "high": 0.02}, "width": 0.8}
    window.click("[data-does=train]")
    window.click("#train-go")
    window.until("document.querySelector('#train h3')")
    assert "80 % are worth showing where 60 % of the articles" in window.text("#train h3")
    assert "It may be from 60 % to 90 %, as these are 24 articles." in window.text("#train-body")
    assert "Without the filter 45 % are." in window.text("#train-body")
    assert "100 more labels are expected to change the share worth showing" in window.text("#train-body")
    assert "by −1 points" in window.text("#train-body")
    assert window.count("#train .picture .point") == 3
    window("document.querySelector('#train details').open = true")
    assert "60 %\t80 %\t60 % to 90 %\t24" in window.text("#train table")
    window.shoot("desk-train")
    window.key("Escape")
    window.until("document.querySelector('#precision').checkVisibility()")
    assert window.text("#expected") == (
        "By 200 labels, for the surest 30 % of articles the first suggestion is worth showing in 80 % of cases. "
        "It may be from 60 % to 90 %."
    )
    assert window.all("#precision option", "one.value") == ["", "0.5", "0.6", "0.7", "0.8"]
    window.put("#precision", "0.7")
    window.until("document.querySelector('.card')")
    assert stub.sent("suggest")[-1]["precision"] == 0.7
    assert stub.sent("calibrate") == [{"model": "forum"}] * 2


def test_the_desk_asks_for_the_labels_that_teach(start: Start, chromium: Chromium) -> None:
    stub = start()
    stub.suggestions = [suggestion(n, f"Text {n}.", probability=p) for n, p in enumerate((0.9, 0.1, 0.55, 0.4), 1)]
    window = DeskWindow(chromium)
    window.go(stub.url)
    window.until("document.querySelector('#found li')")
    assert window.text("#way-list [data-does=draw]") == "Draw an article to label"
    window.click("#way-list [data-does=draw]")
    window.until(READY)
    first = window.text("#title")
    assert window.text(".card:has(.teaches:not([hidden])) blockquote") == "Text 3."
    window.click(".card[data-at='2'] .show")
    window.until("!document.querySelector(\".card[data-at='3'] .teaches\").hidden")
    assert window.count(".teaches:not([hidden])") == 1
    window.key("d")
    window.stored()
    window.shoot("desk-teaches")
    assert not window("document.querySelector('.last').hidden")
    seen = {first}
    for _ in range(2):
        window.click("#suggestions-list [data-does=draw]")
        window.until(f"!{json.dumps(sorted(seen))}.includes(document.querySelector('#title').innerText)")
        window.until(READY)
        seen.add(window.text("#title"))
    assert {one.article for one in stub.labels()} == {article.id for article in ARTICLES if article.title == first}
    window.click("#suggestions-list [data-does=draw]")
    window.until("!document.querySelector('#notice').hidden")
    assert "you have seen them" in window.text("#notice")
