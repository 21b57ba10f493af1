"""Pages of a campaign of pairs, without scripts: two texts side by side, the answer by system, leads' pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="needs the web extra")

from postil.campaigns.calls import agreement_of
from postil.campaigns.models import Item
from postil.campaigns.rubric import Rubric
from postil.raters.calls import AgreementOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from campaign_pages import Place, Visitor

SYSTEMS = ("elk", "gnu")


@pytest.fixture
def pairs(place: Callable[..., Place]) -> Callable[..., Place]:
    """Makes a campaign of ten pairs of two systems, for two annotators."""

    def make(lang: str = "en", *, ties: bool = True) -> Place:
        items = [
            Item(item=f"a{n}", title=f"title {n}", system=a, text=f"{n}{a[0]}", other_system=b, other_text=f"{n}{b[0]}")
            for n in range(10)
            for a, b in [SYSTEMS[:: 1 - 2 * (n % 2)]]
        ]
        without = Rubric(name="n", question="Which?", kind="pair", ties=False)
        return place(items=items, rubric=Rubric.default(lang, "pair") if ties else without, annotators=2)

    return make


def shown(page: str) -> tuple[str, str]:
    """Both texts, from left to right."""
    left, right = re.findall(r"<blockquote[^>]*>([^<]*)</blockquote>", page.partition("<template")[0])
    return left, right


def choose(visitor: Visitor, wanted: Callable[[str, str], int]) -> str:
    """Press the button that a function chooses: 0 for the left text, 1 for a tie, 2 for the right one."""
    page = visitor.get("/grade").text
    buttons = re.findall(r'<button name="grade" value="(\d)"', page.partition("<template")[0])
    value = buttons[wanted(*shown(page))]
    assert visitor.client.post("/rate", data=visitor.form() | {"grade": value}).status_code == 303
    return value


def test_both_texts_are_there_and_no_system(pairs: Callable[..., Place]) -> None:
    ann = pairs().visitor("Ann")
    page = ann.get("/grade").text
    assert {text[1:] for text in shown(page)} == {"e", "g"}
    assert "Text A" in page
    assert "Which of the two texts is better?" in page
    assert page.count("Neither is better") >= 1
    assert not any(system in page for system in SYSTEMS)


def test_a_preference_goes_by_the_text_whatever_its_side(pairs: Callable[..., Place]) -> None:
    made = pairs()
    sides = set()
    for name in ("Ann", "Bob"):
        visitor = made.visitor(name)
        for _ in range(10):
            sides.add(shown(visitor.get("/grade").text)[0][1:])
            choose(visitor, lambda left, _: 0 if left.endswith("e") else 2)
        assert "All done" in visitor.get("/grade").text
    assert sides == {"e", "g"}
    ratings = made.store.results.ratings()
    assert len(ratings) == 20
    assert all(one.pair is not None and one.pair[0 if one.grade == 1 else 1] == "elk" for one in ratings)
    for name in ("A1", "A2"):
        assert sum(one.swapped for one in ratings if one.annotator == name) == 5


def test_undo_shows_the_same_sides_with_the_answer(pairs: Callable[..., Place]) -> None:
    ann = pairs().visitor("Ann")
    before = shown(ann.get("/grade").text)
    value = choose(ann, lambda *_: 2)
    after = ann.get("/grade").text
    assert shown(after) != before
    ann.post("/undo")
    assert shown(ann.get("/grade").text) == before
    assert value in {"1", "3"}


def test_no_ties_no_button(pairs: Callable[..., Place]) -> None:
    ann = pairs(ties=False).visitor("Ann")
    page = ann.get("/grade").text
    assert "Neither is better" not in page
    assert ann.client.post("/rate", data=ann.form() | {"grade": "2"}).status_code == 422


def test_leads_see_strengths_conflicts_and_files(pairs: Callable[..., Place]) -> None:
    made = pairs()
    lead = made.visitor("Lee", "lead")
    assert "it needs 8 rated articles, and there are 0" in lead.get("/lead/estimate").text
    for name, wanted in (("Ann", "e"), ("Bob", "g")):
        visitor = made.visitor(name)
        for place in range(10):
            choose(
                visitor,
                lambda left, _, place=place, wanted=wanted: 1 if place < 3 else 0 if left.endswith(wanted) else 2,
            )
    measured = agreement_of(made.store.results.ratings(), made.store.rubric(), AgreementOptions(resamples=20))
    assert measured.agreement is not None
    assert [rater.severity for rater in measured.agreement.raters] == [None, None]
    page = lead.get("/lead/estimate").text
    assert "Strength of each system from 20 preferences for 10 articles" in page
    assert "elk" in page
    conflicts = lead.get("/lead/conflicts").text
    assert len(re.findall("<blockquote", conflicts)) >= 2
    assert "Text B" in conflicts
    assert "elk" not in conflicts
    number = re.search(r'name="number" value="(\d+)"', conflicts)
    assert number
    done = lead.post("/lead/adjudicate", number=number[1], grade="3", reason="", idempotency_key="k")
    assert done.status_code in {200, 303}
    assert lead.get("/lead/files/preferences.jsonl").text.count("\n") == 20
    assert "preferences.jsonl" in lead.get("/lead").text
    assert "−" in page.partition("<svg")[2]
    assert "Each of the two texts was preferred by somebody" in conflicts
    assert "Grades differ" not in conflicts
    assert "<li>A is better</li><li>B is better</li>" in conflicts
    agreement = lead.get("/lead/agreement").text
    assert '<th scope="col">A</th><th scope="col">tie</th><th scope="col">B</th>' in agreement
    quality = lead.get("/lead/quality").text
    assert "where a tie lies in the middle" in quality
    for text in ("lenient", "Drift", "Mean difference", "mean 1"):  # neither side of a pair is the higher grade
        assert text not in agreement + quality, text
    assert "Adjudicated: B is better" in lead.get("/lead/conflicts?show=adjudicated").text
    chinese = lead.client.get("/lead/estimate", headers={"accept-language": "zh"}).text
    assert "各系统的强度" in chinese
    assert "Win rate" not in chinese
