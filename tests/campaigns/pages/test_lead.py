"""The lead's pages: numbers, conflicts, people, files, quality, in two languages."""

from __future__ import annotations

import csv
import re
import threading
import time
from html import unescape
from itertools import chain
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest
from msgspec.structs import replace

from campaign_work import join, rate, rate_all
from postil.campaigns.calls import agreement_of, estimate_so_far, quality_of, write_rows
from postil.campaigns.export import judgements
from postil.campaigns.models import Context, Item
from postil.campaigns.options import QualityOptions
from postil.campaigns.pages.lead import TABS, DashboardCache, DashboardSnapshot
from postil.campaigns.planning import rubric_for
from postil.campaigns.quality import inferred_grades
from postil.campaigns.rubric import Rubric
from postil.data.parts import Excluded
from postil.data.row_files import read
from postil.data.rows import Judgement
from postil.errors import PostilError
from postil.estimation.calls import estimate_rated
from postil.estimation.options import EstimateOptions
from postil.messages import Message
from postil.meta.parts import STATISTICS, Severity, severity_remarks
from postil.meta.rated import Rated
from postil.raters.calls import AgreementOptions
from postil.web.pages import page_in

if TYPE_CHECKING:
    from pathlib import Path

    from postil.campaigns.models import ItemType


Make = Any
GRADES = {"Ann": (5, 4, 1, 3, 2, 1), "Bob": (5, 2, 2, 5, 2, 1)}


def graded(here: Any) -> None:
    """A campaign that two annotators have graded; texts 1 and 3 are in conflict."""
    for name, grades in GRADES.items():
        person = join(here.store, name)
        for n in range(len(here.store.items())):
            grade = grades[int(here.store.grading.task(person, n).text.split()[1]) % 6]
            rate(here.store, person, n, grade, seconds=2.0 + n)


def plain(page: str) -> str:
    """A page without what its tables need to fold."""
    return re.sub(r' (role="(table|row|rowgroup|cell|rowheader|columnheader)"|data-label="[^"]*")', "", page)


def test_before_the_first_grade_the_pages_say_so(place: Make) -> None:
    lead = place().visitor("Lee", "lead")
    assert "there are none" in lead.get("/lead").text
    assert "There are no statistics yet" in lead.get("/lead/agreement").text
    assert "There are no conflicts" in lead.get("/lead/conflicts").text
    assert lead.get("/").headers["location"] == "/lead"
    assert lead.get("/grade").headers["location"] == "/lead"


def test_progress_shows_everyone_and_the_numbers_are_those_of_the_package(place: Make) -> None:
    here = place()
    graded(here)
    page = plain(here.visitor("Lee", "lead").get("/lead").text)
    for name in GRADES:
        assert f"<bdi>{name}</bdi>" in page
    assert page.count("6 <small>of 6</small>") == 2
    assert page.count("<td>4.5</td>") == 2  # the median of 2 to 7 seconds
    assert "Conflicts (2)" in page


@pytest.mark.parametrize("texts", [1, 9, 10])
def test_agreement_beyond_chance_is_shown_of_ten_texts_or_more(place: Make, texts: int) -> None:
    here = place(outputs(texts + 1)[1:])  # of the first text both say 5
    graded(here)
    lead = here.visitor("Lee", "lead")
    page, table = (plain(lead.get(f"/lead{path}?lang=en").text) for path in ("", "/agreement"))
    found = agreement_of(here.store.results.ratings(), here.store.rubric(), AgreementOptions()).agreement
    assert found
    chance = [name for name in STATISTICS if name.startswith(("kappa", "alpha"))]
    if texts < 10:
        why = f"too few texts with two grades to tell agreement from chance: {texts}, and it takes 10"
        assert [found.absent[name] for name in chance] == [why] * len(chance)
        assert page.count(f"<dd>–<small>{why}</small></dd>") == 2
        assert table.count(why) == len(chance)
        assert f"too few shared texts to tell agreement from chance: {texts}, and it takes 10" in table
        assert "−1.00" not in page
        chinese = lead.get("/lead/agreement?lang=zh").text
        assert f"有两次打分的文本太少，无法区分一致与偶然：现有 {texts} 个，至少需要 10 个" in chinese
        assert f"共有的文本太少，无法区分一致与偶然：现有 {texts} 个，至少需要 10 个" in chinese
    else:
        for name in ("kappa-quadratic-pooled", "alpha-ordinal"):
            assert f"<dd>{found.estimates[name].value:.2f}<small>" in page
        assert "too few" not in page + table
        assert found.pairs[0].quadratic is not None


def test_agreement_shows_every_statistic_pair_and_rater(place: Make) -> None:
    here = place()
    graded(here)
    page = here.visitor("Lee", "lead").get("/lead/agreement").text
    found = agreement_of(here.store.results.ratings(), here.store.rubric(), AgreementOptions()).agreement
    assert found
    assert found.confusion is not None
    assert page.count("</tr>") == 12 + 2 + 6  # statistics, one pair, five grades, each with a head
    cells = [int(cell) for cell in re.findall(r'<td class="s\d+">(\d+)</td>', page)]
    assert cells == [count for row in found.confusion for count in row]
    assert page.count("<svg") == 3  # severities, and a histogram of each
    for rater in found.raters:
        assert rater.severity
        assert f"{rater.severity.value:+.2f}".replace("-", "−") in page
        assert f"<bdi>{rater.name}</bdi>: 6 ratings" in page
    assert "Bob" not in page  # pseudonyms only


def test_texts_shown_twice_and_known_ones_have_tables(place: Make) -> None:
    items = [Item(item=f"a{n}", system="s", text=f"text {n}", gold=3.0 if n == 0 else None) for n in range(4)]
    here = place(items)
    graded_by = join(here.store, "Ann")
    for n in range(4):
        rate(here.store, graded_by, n, 3)
    page = here.visitor("Lee", "lead").get("/lead/agreement").text
    assert "Gold items" in page
    assert "100 %" in page


def outputs(n: int) -> list[Item]:
    """Texts of two systems."""
    return [Item(item=f"a{i // 2}", system=f"system-{i % 2}", text=f"text {i}", title="Rain") for i in range(n)]


def estimated(here: Any, articles: int, grade: Any) -> str:
    """The page of estimates after an annotator has graded the texts of so many articles."""
    rate_articles(here, articles, grade, "Ann")
    return plain(here.visitor("Lee", "lead").get("/lead/estimate").text)


def rate_articles(here: Any, articles: int, grade: Any, name: str) -> None:
    """An annotator grades the texts of so many articles."""
    person = join(here.store, name)
    for n in range(len(here.store.items())):
        number = int(here.store.grading.task(person, n).text.split()[1])
        if number // 2 < articles:
            rate(here.store, person, n, grade(number))


def test_estimates_are_those_of_the_package(place: Make, tmp_path: Path) -> None:
    here = place(outputs(24), annotators=1)
    page = estimated(here, 10, lambda number: 1 + (number // 2) % 3 + (number % 2) * (2 - number % 5 // 4))
    write_rows(str(tmp_path / "judgements.jsonl"), list(judgements(here.store.results.ratings())))
    found = estimate_rated(Rated.files([], str(tmp_path / "judgements.jsonl")), EstimateOptions())
    for row in found.systems:
        line = f"<bdi>{row.system}</bdi></th><td>10</td><td>10</td><td><strong>{row.mean:.2f}</strong></td>"
        assert f"{line}<td>{row.low:.2f} to {row.high:.2f}</td><td>{row.rank_low}</td>" in page.replace("−", "-")
        assert f'<td class="left">{row.letters}</td>' in page
    assert "Groups are rough below 20 graded items, and there are 10." in page
    assert page.count("<svg") == 1
    ahead = estimate_so_far(here.store.results.ratings(), here.store.campaign(), 12).prospects
    assert ahead
    assert ahead.planned
    narrower = f"±{ahead.now.difference:.2f} to ±{ahead.more.difference:.2f}"
    assert f"With 20 more rated articles the interval of a difference would shrink from {narrower}." in page
    assert "No output has two ratings" in page
    assert f"all planned articles</bdi></th><td>12</td><td>±{ahead.planned.mean:.2f}</td>" in page
    assert "optional stopping (peeking): it makes intervals too narrow" in page
    assert "Ann" not in page.split("<main")[1].replace("Annotator", "")


def test_second_ratings_say_what_another_one_would_bring(place: Make) -> None:
    here = place(outputs(16))
    estimated(here, 8, lambda number: 1 + number % 5)
    person = join(here.store, "Bob")
    rate(here.store, person, 0, 5 - int(here.store.grading.task(person, 0).text.split()[1]) % 5)
    page = plain(here.visitor("Mo", "lead").get("/lead/estimate").text)
    assert "; with one more rating of each output instead, to ±" in page
    assert "one more of each output</bdi></th><td>8</td>" in page
    assert "No output has two ratings" not in page


def test_annotators_who_use_the_scale_differently(place: Make) -> None:
    here = place(outputs(24))
    rate_articles(here, 12, lambda number: 3 + number * 7 % 3, "Bob")  # before the page, which is kept for a while
    page = estimated(here, 12, lambda number: 1 + number * 7 % 3)
    said = [  # pseudonyms are given at random
        f"Annotators use the scale differently: {one} grades 1.00 below their mean, {other} 1.00 above; removed."
        for one, other in (("A1", "A2"), ("A2", "A1"))
    ]
    assert sum(each in page for each in said) == 1
    found = estimate_so_far(here.store.results.ratings(), here.store.campaign(), 12)
    assert found.result
    assert (found.result.rater_variance, found.result.severity.removed) == (0, True)
    assert found.prospects
    assert found.prospects.twice
    assert found.prospects.twice.difference == pytest.approx(found.prospects.now.difference)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("rated", [7, 12])
@pytest.mark.parametrize(("item_type", "context"), [("text", ()), ("comment", None)])
def test_pages_of_texts_without_articles_speak_of_none(
    place: Make, lang: str, rated: int, item_type: ItemType, context: tuple[str, ...] | None
) -> None:
    items = [Item(item=f"a{n // 2}", system=f"s{n % 2}", text=f"text {n}", lang=lang) for n in range(24)]
    here = place(items, rubric_for(None, items, "comment"), annotators=3, item_type=item_type, context=context)
    for number, name in enumerate(("Ann", "Bob")):
        rate_articles(here, rated, lambda n, more=number: 1 + (7 * n + more * n // 2) % 5, name)
    cid, lead = here.visitor("Cid"), here.visitor("Lee", "lead")
    lead.client.headers["accept-language"] = lang
    tabs = ("", "/agreement", "/conflicts", "/estimate", "/quality", "/texts")
    pages = [cid.get("/grade"), *(lead.get(f"/lead{tab}") for tab in tabs)]
    assert [page.status_code for page in pages] == [200] * len(pages)
    assert [word for page in pages for word in ("article", "文章") if word in page.text.lower()] == []
    assert cid.get("/grade").text.count('data-does="reason"') == 3
    if lang == "en" and item_type == "text":
        said = "from 12 rated items" if rated == 12 else "it needs 8 rated items, and there are 7."
        assert said in plain(lead.get("/lead/estimate").text)


def test_of_a_context_without_articles_annotators_say_that_it_tells_too_little(place: Make) -> None:
    items = [Item(item="q", system="s", text="Paris.", context=(Context(name="hint", text="a city"),))]
    page = place(items, item_type="answer", context=("hint",)).visitor("Ann").get("/grade").text
    assert "The context does not give enough information" in page
    assert "The article does not give enough information" not in page
    assert "scroll the text" in page


def test_an_estimate_that_cannot_be_says_what_is_missing(place: Make) -> None:
    few = estimated(place(outputs(16), annotators=1), 7, lambda number: 1 + number % 5)
    assert "it needs 8 rated articles, and there are 7." in few
    alone = [Item(item=f"a{n}", system="s", text=f"text {2 * n}") for n in range(9)]
    assert "it needs two systems" in estimated(place(alone, annotators=1), 9, lambda _: 3)
    passages = place([Item(item="t", system=f"p{n}", text="abcd") for n in range(2)], Rubric.default("en", "spans"))
    page = passages.visitor("Lee", "lead").get("/lead/estimate").text
    assert "it compares systems, and the items of this campaign are passages." in page


def test_equal_grades_have_no_interval_and_names_are_shown_as_text(place: Make) -> None:
    act = "<script>x</script>"
    items = [Item(item=f"a{n // 2}", system=f"{act}{n % 2}", text=f"text {n}") for n in range(16)]
    page = estimated(place(items, annotators=1), 8, lambda _: 3)
    assert act not in page
    assert "&lt;script&gt;x&lt;/script&gt;0" in page
    assert "all grades of all systems are 3." in page
    assert "NaN" not in page
    assert "±" not in page


def test_a_conflict_is_decided_beside_the_grades(place: Make) -> None:
    here = place()
    graded(here)
    before = here.store.results.ratings()
    lead = here.visitor("Lee", "lead")
    page = lead.get("/lead/conflicts").text
    assert [int(number) for number in re.findall(r'id="case(\d+)"', page)] == [1, 3]
    assert "system-" not in page
    assert "annotator" not in re.sub(r"<small>.*?</small>", "", page.split("<main")[1])
    fields = {"number": "1", "grade": "3", "reason": "between the two", "idempotency_key": "k"}
    card = lead.client.post("/lead/adjudicate", data=fields | {"csrf": lead.csrf}, headers={"hx-request": "true"})
    assert "<html" not in card.text
    assert "Adjudicated: 3" in card.text
    assert lead.post("/lead/adjudicate", **fields).headers["location"] == "/lead/conflicts"  # sent twice
    (decided,) = here.store.results.adjudications()
    assert (decided.number, decided.grade, decided.reason) == (1, 3.0, "between the two")
    assert here.store.results.ratings() == before
    assert re.findall(r'id="case(\d+)"', lead.get("/lead/conflicts").text) == ["3"]
    assert re.findall(r'id="case(\d+)"', lead.get("/lead/conflicts?show=adjudicated").text) == ["1"]


def test_conflicts_come_in_pages(place: Make) -> None:
    items = [Item(item=f"a{n}", system="s", text=f"text {n}") for n in range(23)]
    here = place(items)
    for name, grade in (("Ann", 1), ("Bob", 5)):
        rate_all(here.store, join(here.store, name), grade)
    lead = here.visitor("Lee", "lead")
    counts = {page: lead.get(f"/lead/conflicts?page={page}").text.count('class="conflict"') for page in (1, 2, 3, 4)}
    assert counts == {1: 10, 2: 10, 3: 3, 4: 0}
    for strange in ("0", "-1", "x", "9" * 30, "²", ""):
        assert lead.client.get("/lead/conflicts", params={"page": strange}).text.count('class="conflict"') == 10


def test_a_decision_that_cannot_be_is_refused(place: Make) -> None:
    here = place()
    graded(here)
    lead = here.visitor("Lee", "lead")
    for fields in ({"grade": "9"}, {"number": "99"}, {"grade": ""}, {"idempotency_key": ""}):
        whole = {"number": "1", "grade": "3", "reason": "", "idempotency_key": "k"} | fields
        assert lead.post("/lead/adjudicate", **whole).status_code in {404, 422}
    assert here.store.results.adjudications() == []


def test_a_new_link_signs_others_out_and_not_the_lead_who_asks(place: Make) -> None:
    here = place()
    lead, ann = here.visitor("Lee", "lead"), here.visitor("Ann")
    for name, role in (("Ann", "annotator"), ("Lee", "lead")):
        page = lead.post("/lead/invite", name=name, role=role)
        assert (page.status_code, "<code>http://localhost/join/" in page.text) == (200, True)
    assert lead.get("/lead").status_code == 200
    assert ann.get("/grade").status_code == 401


def test_a_lead_invites_and_lets_go(place: Make) -> None:
    here = place()
    lead = here.visitor("Lee", "lead")
    page = lead.post("/lead/invite", name="Ann").text
    link = re.search(r"<code>(http://localhost/join/([^<]+))</code>", page)
    assert link
    assert "Only this machine can open it." in page
    assert "<code>--base-url</code>" in page
    ann = here.visitor()
    assert ann.join(link[2]).status_code == 303
    assert ann.get("/grade").status_code == 200
    assert link[2] not in lead.get("/lead").text  # shown once
    again = re.search(r"/join/([^<]+)</code>", lead.post("/lead/invite", name="Ann").text)
    assert again
    assert here.visitor().join(again[1]).status_code == 303
    assert lead.post("/lead/invite", name="Bob").status_code == 200
    full = lead.post("/lead/invite", name="Cat")
    assert (full.status_code, "no free slot" in full.text.lower()) == (409, True)
    assert lead.post("/lead/invite", name=" ").status_code == 422
    second = lead.post("/lead/invite", name="Mo", role="lead")
    assert second.status_code == 200
    people = {person.name: person for person in here.store.people.everyone()}
    assert people["Mo"].role == "lead"
    assert lead.post("/lead/remove", person=str(people["Ann"].id)).status_code == 303
    assert ann.get("/grade").status_code == 401
    assert "<small>removed</small>" in lead.get("/lead").text
    assert lead.post("/lead/remove", person=str(people["Bob"].id), then="reserve").status_code == 303
    assert lead.post("/lead/invite", name="Cat").status_code == 200  # a place is free now
    for strange in (people["Lee"].id, 999, "x"):
        assert lead.post("/lead/remove", person=str(strange)).status_code in {404, 422}


def test_marks_have_conflicts_of_half_a_text(place: Make) -> None:
    items = [Item(item="t", system=f"p{n}", text="abcd") for n in range(2)]
    here = place(items, Rubric.default("en", "spans"))
    for name, end in (("Ann", 1), ("Bob", 4)):
        person = join(here.store, name)
        for n in range(2):
            rate(here.store, person, n, [(0, end)] if n else [])
    lead = here.visitor("Lee", "lead")
    page = lead.get("/lead/conflicts").text
    assert 'type="number"' in page
    (number,) = re.findall(r'id="case(\d+)"', page)
    decision = {"number": number, "grade": "0.5", "reason": "", "idempotency_key": "k"}
    assert lead.post("/lead/adjudicate", **decision).status_code == 303


def test_numbers_are_worked_out_once_for_each_state(place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    here = place()
    graded(here)
    calls = []
    of = DashboardSnapshot.of
    monkeypatch.setattr(DashboardSnapshot, "of", classmethod(lambda _, *words: calls.append(1) or of(*words)))  # type: ignore[func-returns-value]
    monkeypatch.setattr("postil.campaigns.pages.lead.REST", 0.0)
    cache = DashboardCache(here.store, 2.0, 30)
    first, fresh = cache.latest()
    assert first
    assert (first.ratings, fresh) == (12, True)
    assert cache.latest()[0] is first
    assert len(calls) == 1
    lead = join(here.store, "Lee", "lead")
    here.store.results.adjudicate(lead, 1, 3, "", idempotency_key="k")
    second, fresh = cache.latest()
    assert second
    assert (second.adjudicated, fresh, len(calls)) == ((1,), True, 2)


def test_a_page_does_not_wait_for_numbers(place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    here = place()
    graded(here)
    go, of = threading.Event(), DashboardSnapshot.of
    go.set()
    monkeypatch.setattr(DashboardSnapshot, "of", classmethod(lambda _, *words: (go.wait(30), of(*words))[1]))
    monkeypatch.setattr("postil.campaigns.pages.lead.REST", 0.0)
    cache = DashboardCache(here.store, 2.0, 30)
    old, _ = cache.latest()
    go.clear()
    cache._took = 31.0  # longer than anyone waits
    person = join(here.store, "Ann")
    here.store.grading.undo(person, idempotency_key="u")
    began = time.monotonic()
    assert cache.latest() == (old, False)
    assert time.monotonic() - began < 10
    go.set()
    while not cache.latest()[1]:
        time.sleep(0.01)
    assert cache.latest()[0] is not old


def test_numbers_that_cannot_be_had_are_said_to_be(place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    here = place()

    def fail(_cls: object, *_words: object) -> DashboardSnapshot:
        raise PostilError("the disk is gone")

    monkeypatch.setattr(DashboardSnapshot, "of", classmethod(fail))
    with pytest.raises(PostilError, match="the disk is gone"):
        DashboardCache(here.store, 2.0, 30).latest()
    page = here.visitor("Lee", "lead").get("/lead")
    assert (page.status_code, "Try again in a moment" in page.text) == (503, True)


def test_the_files_are_those_that_other_commands_read(place: Make, tmp_path: Path) -> None:
    here = place()
    lead = here.visitor("Lee", "lead")
    early = lead.get("/lead/files/ratings.csv")
    assert (early.status_code, "There are no ratings yet" in early.text) == (404, True)
    graded(here)
    lead.post("/lead/adjudicate", number="1", grade="3", reason="", idempotency_key="k")
    links = re.findall(r'href="/lead/files/([^"]+)"', lead.get("/lead").text)
    assert len(links) == 14
    for link in links:
        answer = lead.get(f"/lead/files/{link}")
        assert answer.status_code == 200
        assert answer.headers["content-disposition"] == f'attachment; filename="{link}"'
        assert b"Ann" not in answer.content.replace(b"Annotator", b"")
        (tmp_path / link).write_bytes(answer.content)
    judgements = list(read(tmp_path / "judgements.jsonl", Judgement))
    assert sorted(row.grade for row in judgements) == sorted(GRADES["Ann"] + GRADES["Bob"])
    with (tmp_path / "resolved.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert sorted(row["text"] for row in rows) == [f"text {n}" for n in range(6)]
    assert rows[0]["context"].endswith("\n\nFirst.\nSecond.")
    assert (tmp_path / "ratings.jsonl").read_text(encoding="utf-8").count("\n") == 12
    assert (tmp_path / "ratings.parquet").read_bytes()[:4] == b"PAR1"
    head, *cells = openpyxl.load_workbook(tmp_path / "resolved.xlsx").active.values
    for cell, text in zip(chain(*cells), (row[name] for row in rows for name in head), strict=True):
        is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
        assert float(text) == cell if is_number else text == ("" if cell is None else str(cell))


def test_a_link_does_not_wait_for_numbers(place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown once: a server that was just started has none to show it beside."""
    monkeypatch.setattr("postil.campaigns.pages.lead.DashboardCache.latest", lambda _: (None, False))
    lee = place().visitor("Lee", "lead")
    page = lee.post("/lead/invite", name="Ann").text
    assert "Computing the numbers" in page
    assert "<code>http://localhost/join/" in page
    assert "/join/" not in lee.get("/lead/agreement").text


ITEMS = 60


def made(place: Make, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Four annotators, of whom Dee always gives 3, in no time, and misses gold and attention."""
    monkeypatch.setattr("postil.campaigns.pages.lead.REST", 0.0)
    items = [replace(one, text=f"{'long ' * 40}{one.text}") for one in outputs(ITEMS)]
    items[:12] = [replace(one, gold=float(1 + i % 2)) for i, one in enumerate(items[:12])]
    items[:2] = [replace(items[0], purpose="attention"), replace(items[1], purpose="training")]
    here = place(items, annotators=4)
    for who, name in enumerate(("Ann", "Bob", "Cai", "Dee")):
        person = join(here.store, name)
        for n in range(ITEMS):
            number = int(here.store.grading.task(person, n).text.split()[-1])
            truth = 1 + number % 2 if number < 12 else 1 + number * 7 % 5
            grade = 3 if name == "Dee" else min(5, max(1, truth + (number > 11 and number % 7 == who)))
            here.clock.now += 20
            rate(here.store, person, n, grade, seconds=0.4 if name == "Dee" else 8.0)
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
    person = join(here.store, "Ann")
    rate(here.store, person, 0, 3)
    page = lead.get("/lead/quality").text
    assert "No annotator needs attention: no measure is worse than chance explains." in page
    assert "Competence needs three annotators, as nothing tells which of two is right." in page


NAMES = (
    # What stays as it is in Chinese: file formats, commands, letters of statistics, names of people.
    r"postil (correlate --judgements|score --references|passages)|ratings|resolved|annotators|judgements|codebook"
    r"|references"
    r"|CSV|XLSX|JSONL?|Parquet|Kappa|kappa|Scott|pi|Alpha|alpha|Cohen|Krippendorff|Holm|p|ASCII|English|A|B"
    r"|UTC|Autumn|Ann|Bob|Lee|annotator \d+|lead \d+|system-\d|title \d|text \d+|a\d+|[a-z]"
)


def english(page: str) -> list[str]:
    """Words in Latin letters on a page: of its texts, and of those that screen readers read."""
    body = re.split("<body[^>]*>", page, maxsplit=1)[1]
    read = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', page)
    body = re.sub(r"<(blockquote|code|small lang|div class=\"text\").*?</", "</", body, flags=re.DOTALL)
    texts = [*re.sub(r"<[^>]*>", "\n", body).splitlines(), *read]
    left = [re.sub(rf"(?<![A-Za-z-])(?:{NAMES})(?![A-Za-z-])", "", unescape(text)) for text in texts]
    return [text.strip() for text in left if re.search("[A-Za-z]", text)]


def rated(here: Any, name: str, grade: Any, share: float = 1.0) -> None:
    person = join(here.store, name)
    number = len(here.store.items())
    for n in range(int(number * share)):
        rate(here.store, person, n, grade(int(here.store.grading.task(person, n).text.split()[1])), seconds=2.0)


def chinese(here: Any) -> Any:
    lead = here.visitor("Lee", "lead")
    lead.client.headers["accept-language"] = "zh-CN,zh;q=0.9,en;q=0.8"
    return lead


PATHS = (*(path for path, _ in TABS.values()), "/lead/conflicts?show=adjudicated", "/lead/texts")


def test_a_page_in_chinese_has_no_english_left(place: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.campaigns.pages.lead.REST", 0.0)
    items = [
        Item(item=f"a{i // 2}", system=f"system-{i % 2}", text=f"text {i}", title=f"title {i // 2}", content="…")
        for i in range(24)
    ]
    here = place(items)
    lead = chinese(here)
    for path in PATHS:  # before the first rating
        assert english(lead.get(path).text) == [], path
    rated(here, "Ann", lambda number: 1 + number * 7 % 5, share=0.6)
    assert english(lead.get("/lead/agreement").text) == []
    rated(here, "Bob", lambda number: 1 + number * 7 % 5 if number % 3 else 1 + number % 5)
    lead.post("/lead/adjudicate", number="10", grade="3", reason="", idempotency_key="k")
    deadline = {"action": "deadline", "when": "2033-05-18T05:33", "zone": "+00:00"}
    for fields in (deadline, {"action": "pause"}, {"action": "close"}):
        assert english(lead.get("/lead").text) == []
        lead.post("/lead/state", **fields)
    for path in PATHS:
        page = lead.get(path).text
        assert '<html lang="zh">' in page
        assert english(page) == [], path
    invited = lead.post("/lead/invite", name="Lee", role="lead").text
    assert "Lee 的链接" in invited
    assert english(invited) == []


def test_notes_and_reasons_are_translated_too(place: Make) -> None:
    here = place([Item(item=f"a{n // 2}", system=f"system-{n % 2}", text=f"text {n}") for n in range(18)])
    rated(here, "Ann", lambda _: 3)
    rated(here, "Bob", lambda _: 3, share=0.5)
    lead = chinese(here)
    for path in PATHS:
        assert english(lead.get(path).text) == [], path
    assert "所有系统的所有分数都是 3" in lead.get("/lead/estimate").text


@pytest.mark.parametrize(
    ("groups", "english_words", "chinese_words"),
    [
        (("A1", "A2", "A3", "A4"), "whose severity is unknown: A1, A2, A3 and A4", "宽严未知的标注员：A1, A2, A3、A4"),
        (("A1", "A2", "A3", "A4", "A5"), "unknown: A1, A2, A3 and 2 more", "：A1, A2, A3，另有 2 人"),
        (("A1 A2", "A3 A4"), "of another: A1 and A2; A3 and A4", "无法相互比较：A1、A2; A3、A4"),
        (("A1 A2", "A3 A4", "A5"), "A1 and A2; A3 and A4; and 1 who share none", "A1、A2; A3、A4；另有 1 人没有"),
    ],
)
def test_groups_of_annotators_are_listed(groups: tuple[str, ...], english_words: str, chinese_words: str) -> None:
    named = tuple(tuple(each.split()) for each in groups)
    found = Severity(rule="auto", removed=False, F=1, df1=1, df2=8, p=0.5, groups=named, annotators=())
    (said,) = severity_remarks(found)
    assert said.endswith(english_words)
    assert page_in("zh").words(said).endswith(chinese_words)


@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        ("/lead/invite", {"name": " "}, "至少要有一个字符"),
        ("/lead/invite", {"name": "x" * 300}, "最多 200 个字符"),
        ("/lead/invite", {"name": "Ann", "role": "lead"}, "已在本次标注中，角色是标注员"),
        ("/lead/remove", {"person": "999"}, "没有这位标注员"),
        ("/lead/remove", {"person": "x"}, "应为整数"),
        ("/lead/state", {"action": "deadline", "when": "tomorrow"}, "应为带时区的日期和时间"),
        ("/lead/state", {"action": "deadline", "when": "1999-01-01T00:00Z"}, "1999-01-01 00:00 UTC 已过"),
        ("/lead/adjudicate", {"number": "99", "grade": "3", "idempotency_key": "k"}, "没有第 99 条"),
        ("/lead/adjudicate", {"number": "1", "grade": "9", "idempotency_key": "k"}, "应为 1 到 5 的整数"),
    ],
)
def test_a_refusal_is_in_the_language_of_the_lead(place: Make, path: str, fields: dict[str, str], said: str) -> None:
    here = place()
    here.visitor("Ann")
    answer = chinese(here).post(path, **fields)
    assert answer.status_code >= 400
    assert said in answer.text
    assert '<html lang="zh">' in answer.text


def test_the_language_is_that_of_the_browser_or_what_the_lead_chose(place: Make) -> None:
    lead = place().visitor("Lee", "lead")

    def lang(path: str = "/lead", wanted: str = "") -> str:
        lead.client.headers["accept-language"] = wanted
        found = re.search(r'<html lang="(\w+)">', lead.get(path).text)
        assert found
        return found[1]

    assert [lang(wanted=each) for each in ("", "fr", "en-GB,zh", "zh-Hant", "fr;q=1, zh;q=0.5", "?,;")] == [
        *("en", "en", "en", "zh", "zh", "en")
    ]
    page = lead.client.get("/lead/agreement", headers={"accept-language": "zh"}).text
    assert 'href="/lead/agreement?lang=en" hreflang="en" lang="en">English</a>' in page
    assert lang("/lead/agreement?lang=en", "zh") == "en"
    assert lang("/lead/conflicts", "zh") == "en"  # it was chosen, so it stays
    assert lang("/lead?lang=zh", "en") == "zh"
    assert lang("/lead?lang=xx", "en") == "zh"
    cookie = next(each for each in lead.client.cookies.jar if each.name == "postil-lang")
    assert cookie.value == "zh"


def test_what_is_not_known_stays_english() -> None:
    assert page_in("zh").gettext("A sentence that nobody has translated.") == "A sentence that nobody has translated."
    assert page_in("fr").gettext("Back") == "Back"
    pairs = [Message("{first} and {second}", first=first, second="b") for first in "acdefgh"]
    left = Excluded.of(Message("no kappa, so not in the mean over pairs"), pairs)
    assert str(left).endswith("pairs: 7 (a and b, c and b, d and b, e and b, f and b and 2 more)")
    assert page_in("zh").words(left.message).endswith("两两平均：7 (a 与 b, c 与 b, d 与 b, e 与 b, f 与 b，另有 2 个)")
