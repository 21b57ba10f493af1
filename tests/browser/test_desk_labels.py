"""Labels at the desk: by key, with and without a connection, taken back, trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the web extra")

from desk_stub import ARTICLES, POINTS, STORY, SUGGESTIONS, suggestion
from desk_window import READY, DeskWindow

if TYPE_CHECKING:
    from conftest import Chromium

Start = Any


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

    for key in "sdjd5":  # show; do not show, without a reason; do not show as unkind
        window.key(key)
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
    window.key("d")  # the second one again, as undo went there
    window.key("s")  # changed one's mind
    window.stored()
    assert [(one.show, one.rank) for one in stub.labels()] == [(True, 1), (True, 2)]
    assert window("document.activeElement.dataset.at") == "2"
    window.key("k")
    window.key("u")
    window.stored()
    assert [(one.show, one.rank) for one in stub.labels()] == [(True, 1), (False, 2)]
    assert (window.complaints(), window.asked()) == ([], {stub.url[7:]})


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
    slow = """const fetched = window.fetch;
      window.fetch = (path, ...rest) => !String(path).startsWith('/desk/labels') ? fetched(path, ...rest)
        : new Promise((done) => { window.let = () => done(fetched(path, ...rest)); });"""
    late.call("Page.addScriptToEvaluateOnNewDocument", source=slow)
    late.open(stub, 0)
    late.key("d")
    late.until("document.querySelector('.card.no .answer').innerText === 'stored'")
    late("window.let()")
    late.until("document.querySelector('.card:nth-child(2).no')")
    late.stored()
    assert late.text("#count") == "2 labels"
    assert [(one.rank, one.show, one.reason) for one in stub.labels()] == [
        (2, False, "off the matter"),
        (1, False, None),
    ]


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
    stub.calibrated = {"labels": 200, "depth": 10, "precision": 0.8}
    window.click("[data-does=train]")
    window.click("#train-go")
    window.until("document.querySelector('#train h3')")
    assert "80 % are worth showing where 60 % of the articles" in window.text("#train h3")
    assert "It may be from 60 % to 90 %, as these are 24 articles." in window.text("#train-body")
    assert "Without the filter 45 % are." in window.text("#train-body")
    assert window.count("#train .picture .point") == 3
    window("document.querySelector('#train details').open = true")
    assert "60 %\t80 %\t60 % to 90 %\t24" in window.text("#train table")
    window.shoot("desk-train")
    window.key("Escape")
    window.until("document.querySelector('#precision').checkVisibility()")
    assert window.all("#precision option", "one.value") == ["", "0.5", "0.6", "0.7", "0.8"]
    window.put("#precision", "0.7")
    window.until("document.querySelector('.card')")
    assert stub.sent("suggest")[-1]["precision"] == 0.7
    assert stub.sent("calibrate") == [{"model": "forum"}] * 2
