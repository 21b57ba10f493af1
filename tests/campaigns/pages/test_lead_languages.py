"""The lead's pages in two languages: no English is left on a Chinese page, and the browser or the lead chooses."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from campaign_work import join, rate
from postil.campaigns.models import Item
from postil.campaigns.pages.lead import TABS
from postil.data.parts import Excluded
from postil.messages import Message
from postil.meta.parts import Severity, severity_remarks
from postil.web.pages import page_in

Make = Any
NAMES = (
    # What stays as it is in Chinese: file formats, commands, letters of statistics, names of people.
    r"postil (correlate --judgements|score --references|passages)|ratings|resolved|annotators|judgements|codebook"
    r"|references"
    r"|CSV|JSONL?|Parquet|Kappa|kappa|Scott|pi|Alpha|alpha|Cohen|Krippendorff|Holm|p|ASCII|English|A|B"
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
