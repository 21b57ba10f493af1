"""The annotator's pages: what is shown, what is stored, and where one goes on."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from postil.campaigns.models import Context, Item
from postil.campaigns.rubric import Aspect, Rubric

if TYPE_CHECKING:
    from postil.campaigns.models import ItemType

Make = Any


def places(text: str) -> list[int]:
    """The texts that a page has, in order."""
    return [int(place) for place in re.findall(r'data-position="(\d+)"', text)]


def test_the_page_has_a_text_the_rubric_and_the_next_two(place: Make) -> None:
    here = place()
    ann = here.visitor("Ann")
    page = ann.get("/grade")
    assert places(page.text) == [0, 1, 2]
    for words in Rubric.default().words:
        assert words in page.text
    assert page.headers["cache-control"] == "no-store"
    assert "0 of 6" in page.text


@pytest.mark.parametrize(
    "optional",
    [
        *({}, {"low": 0, "high": 2, "words": ("a", "b", "c")}, {"low": 0, "high": 2, "examples": (("x",), (), ())}),
        *({"kind": "spans"}, {"kind": "spans", "words": ("never shown",), "examples": (("x",),)}),
    ],
)
def test_every_page_works_with_few_fields_in_the_rubric(place: Make, optional: dict[str, Any]) -> None:
    rubric = Rubric(name="n", question="Is it good?", **optional)
    here = place([Item(item="a", system="s", text="text")], rubric)
    lead = here.visitor("Lee", "lead")
    for name, grade in (("Ann", rubric.low), ("Bob", rubric.high)):
        who = here.visitor()
        token = here.store.people.invite(name, "annotator")
        assert rubric.question in who.get(f"/join/{token}").text
        assert who.join(token).status_code == 303
        page = who.get("/grade")
        assert (page.status_code, rubric.question in page.text) == (200, True)
        found = re.search(r'data-assignment="(\d+)" data-position="0" data-revision="(\d+)"', page.text)
        assert found
        fields = {"assignment": found[1], "revision": found[2], "idempotency_key": "r"}
        marks = [[0, 4]] if name == "Bob" else []
        answer = {"spans": json.dumps(marks)} if rubric.kind == "spans" else {"grade": str(grade)}
        assert who.ask("/rate", **fields, **answer).status_code == 200
        assert {who.get(path).status_code for path in ("/grade", "/task")} == {200}
    case = lead.get("/lead/conflicts").text
    assert 'id="case0"' in case
    assert "never shown" not in case
    decided = {"number": "0", "grade": "1", "reason": "", "idempotency_key": "k", "csrf": lead.csrf}
    card = lead.client.post("/lead/adjudicate", data=decided, headers={"hx-request": "true"})
    assert (card.status_code, "Adjudicated: 1" in card.text) == (200, True)
    pages = ["/lead", "/lead/agreement", "/lead/conflicts?show=adjudicated"]
    pages += [f"/lead/files/{link}" for link in re.findall(r'href="/lead/files/([^"]+)"', lead.get("/lead").text)]
    assert {lead.get(path).status_code for path in pages} == {200}


def test_a_text_is_blind(place: Make) -> None:
    here = place()
    ann, bob = here.visitor("Ann"), here.visitor("Bob")
    assert bob.ask("/rate", **bob.form(), grade="5").status_code == 200
    for page in (ann.get("/grade").text, ann.get("/task").text):
        assert "system-" not in page
        assert "Bob" not in page
        assert not re.search(r"class=.?\"given", page)  # nobody else's grade is shown


def test_a_script_gets_the_texts_that_come_next(place: Make) -> None:
    here = place()
    ann = here.visitor("Ann")
    said = ann.ask("/rate", **ann.form(), grade="4", seconds="3.25", after="2", want="1").json()
    assert said["progress"] == {"done": 1, "total": 6, "skipped": 0}
    assert [places(text) for text in said["ahead"]] == [[3]]
    assert here.store.results.events()[0].seconds == 3.25
    said = ann.ask("/rate", **ann.form(), grade="4", after="5", want="2").json()
    assert said["ahead"] == []
    for after, wanted in ((10**8, 2), (-(10**8), 2), (2, -1), (2, 10**8)):
        said = ann.ask("/rate", **ann.form(), grade="4", after=str(after), want=str(wanted))
        assert (said.status_code, len(said.json()["ahead"])) == (200, 2 if after == 2 and wanted > 0 else 0)
        ann.ask("/undo")
    said = ann.client.get("/task").json()
    assert (places(said["task"]), [places(text) for text in said["ahead"]]) == ([2], [[3], [4]])


def test_the_end_says_so_and_one_can_still_go_back(place: Make) -> None:
    here = place()
    ann = here.visitor("Ann")
    for n in range(6):
        assert "All done" not in ann.get("/grade").text
        ann.ask("/skip" if n == 5 else "/rate", **ann.form(), grade="3", reason="why")
    page = ann.get("/grade").text
    assert "All done. Thank you!" in page
    assert "You have rated 5 items. You have skipped 1." in page
    assert places(ann.ask("/undo").json()["task"]) == [5]


def test_a_stale_page_changes_nothing_and_says_what_to_do(place: Make) -> None:
    here = place()
    ann = here.visitor("Ann")
    old = ann.form()
    ann.ask("/rate", **ann.form(), grade="4")
    for answer in (
        ann.client.post("/rate", data=old | {"grade": "2"}),
        ann.client.post("/rate", data=old | {"grade": "2"}, headers={"accept": "application/json"}),
        ann.client.post("/skip", data=old | {"reason": "why", "idempotency_key": "other"}),
    ):
        assert answer.status_code == 409
        assert "The earlier rating was kept" in answer.text
        assert "go back" in answer.text
    assert [rating.grade for rating in here.store.results.ratings()] == [4.0]
    assert ann.client.post("/rate", data=old | {"grade": "2"}).text.count('href="/"') == 1  # the way on


def test_passages_are_marked(place: Make) -> None:
    text = "Cats 😀 sleep. 狗不睡。"
    here = place([Item(item="t", system="p", text=text, title="Animals", lang="en")], Rubric.default("en", "spans"))
    ann = here.visitor("Ann")
    page = ann.get("/grade").text
    assert 'id="passage"' in page
    found = re.search(r'data-assignment="(\d+)" data-position="0" data-revision="(\d+)"', page)
    assert found
    fields = {"assignment": found[1], "revision": found[2]}
    for spans in ("", "[1]", "[[1,2,3]]", '[["a","b"]]', "[[0,999]]", "[[-1,4]]", "null"):
        assert ann.ask("/rate", **fields, idempotency_key="x", spans=spans).status_code == 422
    assert here.store.results.events() == []
    assert ann.ask("/rate", **fields, idempotency_key="x", spans="[[0,6],[4,13]]").status_code == 200
    assert here.store.results.ratings()[0].spans == ((0, 13),)
    assert json.loads(re.search(r'data-spans="([^"]*)"', ann.ask("/undo").json()["task"])[1]) == []


def test_pages_are_in_the_language_of_the_rubric(place: Make) -> None:
    item = Item(item="a", system="s", text="好看", title="标题", content="正文", lang="zh-CN")
    ann = place([item, item.__class__(item="b", system="s", text="Fine", title="T", lang="x y")], Rubric.default("zh"))
    page = ann.visitor("Ann").get("/grade").text
    assert '<html lang="zh">' in page
    assert '<blockquote dir="auto" lang="zh-CN"' in page
    assert 'lang="x y"' not in page
    assert "跳过" in page
    assert ">Skip<" not in page


@pytest.mark.parametrize(
    ("item_type", "lang", "shown"),
    [
        ("answer", "en", ("Answer", "Question", "Thread")),
        ("summary", "en", ("Summary", "Source", "Thread")),
        ("translation", "zh", ("译文", "原文", "对话")),
        ("text", "en", ("Text", "Source", "Thread")),
    ],
)
def test_each_item_type_has_its_own_words(
    place: Make, item_type: ItemType, lang: str, shown: tuple[str, str, str]
) -> None:
    names = (("source", "Why?"), ("thread", "Hello."), ("thread", "Well?"), ("a <b>", "hint"))
    context = tuple(Context(name=name, text=text) for name, text in names)
    item = Item(item="q", system="s", text="So.", context=context)
    rubric = Rubric.default(lang, item_type=item_type)
    here = place([item], rubric, annotators=1, item_type=item_type)
    ann = here.visitor("Ann")
    page = ann.get("/grade").text
    own, source, thread = shown
    assert f'tabindex="-1">{own}</h2>' in page
    headings = [re.sub(r"\s+|</?bdi>", "", text) for text in re.findall(r'<h2 class="where">(.*?)</h2>', page, re.S)]
    assert headings == [source, thread, "a&lt;b&gt;"], "the two texts of the thread have one heading"
    assert page.count('<div class="text"') == 4
    assert rubric.question in page
    assert ann.post("/rate", **{**ann.form(), "grade": "4"}).status_code == 303
    lead = here.visitor("Lee", "lead")
    here.store.results.adjudicate(here.store.people.named("Lee"), 0, 3.0, "", idempotency_key="k")
    lead.get("/lead")
    assert "Hello." in lead.get("/lead/conflicts?show=adjudicated").text


def test_a_text_without_context_stands_alone(place: Make) -> None:
    here = place([Item(item="q", system="s", text="So.")], annotators=1, item_type="text")
    page = here.visitor("Ann").get("/grade").text
    assert 'class="grade alone"' in page
    assert 'id="article"' not in page


ASPECTS = Rubric(
    name="both",
    question="Judge it.",
    aspects=(
        Aspect(name="fluency", question="Does it read well?", high=3, words=("badly", "so-so", "well")),
        Aspect(name="truth", question="Is it true?", low=0, high=1),
    ),
)


def test_several_aspects_are_graded_at_once_without_scripts(place: Make) -> None:
    here = place(rubric=ASPECTS, annotators=2)
    ann, bob = here.visitor("Ann"), here.visitor("Bob")
    page = ann.get("/grade").text
    main = page[: page.index("<template")]
    assert re.findall(r'type="radio" name="(grade\d)" value="(\d)" required>', main) == [
        *(("grade1", str(grade)) for grade in (1, 2, 3)),
        *(("grade2", str(grade)) for grade in (0, 1)),
    ]
    assert "<small>so-so</small>" in main
    for who, change in ((ann, 0), (bob, 1)):
        for n in range(6):
            fields = who.form() | {"grade1": str(1 + (n + change) % 3), "grade2": str(n % 2)}
            assert who.post("/rate", **fields).status_code == 303
    grades = [one.grades for one in here.store.results.ratings() if one.annotator == "A1"]
    assert sorted(grades) == list(product((1, 2, 3), (0, 1)))
    lead = here.visitor("Lee", "lead")
    first = lead.get("/lead/agreement").text
    assert '<option value="fluency" selected>' in first
    chosen = lead.get("/lead/agreement?aspect=truth").text
    assert '<option value="truth" selected>' in chosen
    assert '<option value="fluency" selected>' in lead.get("/lead/agreement?aspect=none").text
    assert first != chosen


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "Fluency: this aspect has no grade yet."),
        ({"grade1": "2", "grade": "2"}, "Truth: this aspect has no grade yet."),
        ({"grade1": "2", "grade2": "2"}, "Truth: expected a whole number from 0 to 1, got 2.0."),
        ({"grade1": "x", "grade2": "1"}, "Grade1: expected a number."),
    ],
)
def test_an_aspect_without_a_grade_is_refused(place: Make, fields: dict[str, str], problem: str) -> None:
    here = place(rubric=ASPECTS)
    ann = here.visitor("Ann")
    answer = ann.ask("/rate", **ann.form(), **fields)
    assert (answer.status_code, answer.json()["problem"]) == (422, problem)
    assert here.store.results.events() == []


def test_what_is_no_grade_is_refused_in_words(place: Make) -> None:
    here = place()
    ann = here.visitor("Ann")
    form = ann.form()
    wrong = {
        "grade": ("6", "0", "2.5", "nan", "1e3", ""),
        "assignment": ("x", "9" * 30),
        "revision": ("-",),
        "idempotency_key": ("", "k" * 101, "\u202e"),
        "seconds": ("inf",),
    }
    for name, value in ((name, value) for name, values in wrong.items() for value in values):
        answer = ann.ask("/rate", **{**form, "grade": "4", name: value})
        assert answer.status_code == 422, (name, value)
        assert len(answer.json()["problem"]) > 10
    assert here.store.results.events() == []
