"""The lead's page of quality: sentences, tables and charts, in both languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from postil.campaigns.calls import QualityOptions, quality_of
from postil.campaigns.models import Item
from postil.campaigns.quality import inferred_grades

if TYPE_CHECKING:
    import pytest

Make = Any
ITEMS = 60


def made(place: Make, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Four annotators, of whom Dee always gives 3, in no time, and misses gold and attention."""
    monkeypatch.setattr("postil.campaigns.pages.lead.REST", 0.0)
    items = [
        Item(
            item=f"a{i // 2}",
            system=f"system-{i % 2}",
            text=f"{'long ' * 40}text {i}",
            gold=float(1 + i % 2) if i < 12 else None,
            purpose="attention" if i == 0 else "training" if i == 1 else "",
        )
        for i in range(ITEMS)
    ]
    here = place(items, annotators=4)
    for who, name in enumerate(("Ann", "Bob", "Cai", "Dee")):
        person = here.store.people.accept(here.store.people.invite(name, "annotator")).person
        for n in range(ITEMS):
            task = here.store.grading.task(person, n)
            number = int(task.text.split()[-1])
            truth = 1 + number % 2 if number < 12 else 1 + number * 7 % 5
            grade = 3 if name == "Dee" else min(5, max(1, truth + (number > 11 and number % 7 == who)))
            here.clock.now += 20
            took = 0.4 if name == "Dee" else 8.0
            here.store.grading.rate(person, task.assignment, grade, idempotency_key=f"r{n}", seconds=took)
    return here


def test_the_page_names_who_needs_attention(place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    here = made(place, monkeypatch)
    page = here.visitor("Lee", "lead").get("/lead/quality").text
    store = here.store
    ratings, rubric = store.results.ratings(), store.rubric()
    found = quality_of(ratings, store.results.lengths(), rubric, QualityOptions())
    worst = found.annotators[0]
    person = next(one for one in store.people.everyone() if one.pseudonym == worst.annotator)
    assert person.name == "Dee"
    concerns = re.findall(rf"<li><strong>{worst.annotator} <small><bdi>Dee</bdi></small></strong> ([^<]*)</li>", page)
    assert concerns[0] == "passed 0 of 1 attention checks"
    assert "equals the gold label in 0 % of 10 gold items; the others together in 100 %" in concerns
    assert "takes enough time to read for 0 % of 60 items; the others for 100 %" in concerns
    assert page.count("<li>") == len(concerns)
    assert f">{worst.competence:.2f}</span></td>" in page or f">{worst.competence:.2f}</td>" in page
    assert 'aria-label="Agreement over time"' not in page
    assert page.count("<polyline") == 8  # two lines of each annotator
    assert page.count("<svg") == 3 + 4 + 1  # gold items, time and competence; over time; drift
    assert inferred_grades(ratings, rubric).competence[worst.annotator] == worst.competence


def test_the_page_in_chinese_has_no_english_left(place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    lead = made(place, monkeypatch).visitor("Lee", "lead")
    page = lead.get("/lead/quality?lang=zh").text
    main = re.sub(r"<bdi>\w+</bdi>|\bA\d\b", "", page[page.index("<main") : page.index("</main>")])
    assert re.findall("[A-Za-z]+", re.sub("<[^>]*>", "", main)) == []
    assert all(not re.search("[A-Za-z]", label) for label in re.findall('aria-label="([^"]*)"', main))
    assert "通过了 1 次注意力检查中的 0 次" in main


def test_without_ratings_and_without_concerns(place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.campaigns.pages.lead.REST", 0.0)
    here = place(annotators=1)
    lead = here.visitor("Lee", "lead")
    assert "There are no ratings yet" in lead.get("/lead/quality").text
    person = here.store.people.accept(here.store.people.invite("Ann", "annotator")).person
    here.store.grading.rate(person, here.store.grading.task(person, 0).assignment, 3, idempotency_key="r")
    page = lead.get("/lead/quality").text
    assert "No annotator needs attention: no measure is worse than chance explains." in page
    assert "Competence needs three annotators, as nothing tells which of two is right." in page
