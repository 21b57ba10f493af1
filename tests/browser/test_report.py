"""The page in a browser: silent, alone, narrow and dark where it should be, whatever users call their things."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from postil.correlation.calls import correlate
from postil.correlation.options import CorrelateOptions
from postil.data.rows import Passage
from postil.passages.calls import find_gains
from postil.passages.options import PassagesOptions
from postil.results.base import Result
from postil.results.page.report import write_report

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Chromium

ACTS = "<script>document.title='acted'</script><img src=x onerror=\"document.title='acted'\">"
HOSTILE = {
    "markup": f"</svg></title></style>{ACTS}",
    "quotes": f"\"'`> onmouseover=alert(1) {{{{7*7}}}} ${{1}} &lt;b&gt; {ACTS}",
    "turned": "\u202eevil \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u2067x",
    "endless": "w" * 300,
}


def results(names: dict[str, str]) -> list[dict[str, Any]]:
    """Real results in which everything that users name has these names."""
    n = 40
    metric, other, system, rater = names.values()
    grades = [[1 + i % 5, 1 + (i * 3 + i % 2) % 5] for i in range(n)]
    metrics = {
        metric: [g[0] + (i * 7) % 4 for i, g in enumerate(grades)],
        f"w-{metric}": [g[0] + (i * 5) % 2 for i, g in enumerate(grades)],
        f"control:top(w-{metric})": [g[1] + (i * 5) % 3 for i, g in enumerate(grades)],
        other: [(i * 11) % 7 for i in range(n)],
        f"flat {other}": [1] * n,
        "control:length": [(i * 13) % 9 for i in range(n)],
    }
    found = correlate(
        metrics,
        grades,
        items=[f"{other}{i // 2}" for i in range(n)],
        systems=[f"{system}{i % 2}" for i in range(n)],
        signatures=dict.fromkeys(metrics, rater),
        options=CorrelateOptions(resamples=50, permutations=50),
    )
    made = found.to_dict()
    for each in made["agreement"]["raters"]:  # type: ignore[index]  # it is a dictionary of lists
        each["name"] += rater
    for each in made["disagreements"]:  # type: ignore[attr-defined]
        for text in each["texts"]:
            text["text"] = f"{metric}\n{rater}" * 5
    scores = [{"system": system, "metric": metric, "score": 0.5, "n": 3, "signature": rater}]
    return [made | {"name": other}, {"schema": 1, "scores": scores, "name": metric}, gains(names) | {"name": system}]


def gains(names: dict[str, str]) -> dict[str, Any]:
    """The same of passages."""
    metric, other, system, rater = names.values()
    rows = [
        Passage(
            f"{system}{t}", f"{other}{p}", " ".join(str((t + p * i) % 7) for i in range(p)), grade=float((t + p) % 3)
        )
        for t in range(5)
        for p in range(6)
    ]
    options = PassagesOptions(resamples=20, pool="topic", leave_one_out=True, k=(1, 2, 3, 4, 5))
    result, _ = find_gains(rows, options, command=rater)

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: renamed(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [renamed(each) for each in value]
        return value.replace("f1-1", metric) if isinstance(value, str) else value

    return dict(renamed(result.to_dict()))


@pytest.fixture(scope="module")
def tame(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = {"metric": "meteor", "other": "bleu-1", "system": "seq2seq", "rater": "ann"}
    return write_report(list(map(Result.from_dict, results(names)[:1])), tmp_path_factory.mktemp("tame") / "r.html")[0]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(list(map(Result.from_dict, results(HOSTILE))), tmp_path_factory.mktemp("hostile") / "r.html")[0]


@pytest.fixture(scope="module")
def passages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = {"metric": "f1-1", "other": "p", "system": "ducks", "rater": "postil passages"}
    return write_report(
        list(map(Result.from_dict, [gains(names) | {"name": "x"}])), tmp_path_factory.mktemp("passages") / "r.html"
    )[0]


def study(names: dict[str, str]) -> dict[str, Any]:
    """A study with all kinds of rows, and all kinds of pictures."""
    metric, other, system, rater = names.values()
    head = ["", *(f"{system} {n}" for n in range(8))]
    rows = [
        {"name": metric, "cells": [[0.5, 0.25, 0.75], 0.25, 1000, None, rater, -0.5, [1.0, None, None], 0.0]},
        {"name": "in the paper", "cells": [0.5] * 8, "kind": "control"},
        {"name": other, "cells": [3] * 8, "kind": "people"},
        {"name": rater, "kind": "group"},
    ]
    tables = [{"key": "table-7", "caption": f"Table 7: {rater}", "head": head, "rows": rows}]
    line = {"measure": metric, "k": [1, 10, 100], "ncg": [0.25, 0.5, 1.0]}
    pictures = [
        {"title": other, "caption": rater, "curves": [line], "xlabel": "k", "ylabel": "nCG"},
        {"title": system, "caption": rater, "names": [metric, other], "counts": [3, 1]},
        {
            "title": system,
            "caption": rater,
            "points": {"grades": [1, 2, 4], "scores": {metric: [0.1, 0.3, 0.2], other: [0.5, 0.25, 0.75]}},
            "notes": [rater, other],
        },
    ]
    part = {"key": "systems", "title": system, "words": [rater], "tables": tables, "pictures": pictures}
    said = {"data": rater, "conclusion": [other], "settings": [[metric, rater]]}
    return {"schema": 1, "kind": "study", "name": other, "title": "A study", "parts": [part], **said}


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    passage = {"rank": 1, "index": 0, "text": ACTS, "score": 2.5, "reasons": []}
    results = [study(HOSTILE), {"schema": 1, "kind": "interesting", "measure": ACTS, "passages": [passage]}]
    return write_report(list(map(Result.from_dict, results)), tmp_path_factory.mktemp("papers") / "r.html")[0]


@pytest.fixture(params=["tame", "hostile", "passages", "papers"])
def page(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


@pytest.mark.parametrize("width", [400, 1200])
def test_silent_alone_and_not_too_wide(chromium: Chromium, page: Path, width: int) -> None:
    tab = chromium.open(page, width)
    tab("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab("document.documentElement.scrollWidth") <= width
    assert tab.events("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown") == []
    asked = {event["request"]["url"] for event in tab.events("Network.requestWillBeSent")}
    assert {url for url in asked if not url.startswith("data:")} == {page.as_uri()}
    assert tab("document.scripts.length") == 0
    title = tab("document.title")
    several = "Metrics against human ratings, Scores of systems and Informativeness of passages"
    assert title in {"Metrics against human ratings", "Informativeness of passages", several} or title.startswith(
        "A study: "
    )


@pytest.mark.parametrize("bad", ["hostile", "papers"])
def test_text_of_users_is_inert(
    chromium: Chromium, bad: str, tame: Path, passages: Path, request: pytest.FixtureRequest
) -> None:
    tags = "[...new Set([...document.querySelectorAll('*')].map(each => each.localName))].sort()"
    tab = chromium.open(request.getfixturevalue(bad), 800)
    harmless = {tag for page in (tame, passages) for tag in chromium.open(page, 800)(tags)}
    assert set(tab(tags)) - harmless <= {"article", "h4"}  # it has several chapters
    handlers = "[...document.querySelectorAll('*')].some(e => [...e.attributes].some(a => /^on|^style$/.test(a.name)))"
    assert not tab(handlers)
    text = tab("document.body.textContent")
    for name in HOSTILE.values():
        assert name.replace("\u2067", "") in text.replace("\u2067", "")


def test_nothing_is_hidden_that_stands_on_the_page(chromium: Chromium, tame: Path, passages: Path) -> None:
    # Wide things scroll inside boxes of their own, which the keyboard reaches.
    for page in (tame, passages):
        tab = chromium.open(page, 400)
        boxes = "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth)"
        assert tab(f"{boxes}.length") > 0
        assert tab(f"{boxes}.every(e => e.tabIndex === 0 && getComputedStyle(e).overflowX === 'auto' && e.ariaLabel)")


def test_light_and_dark(chromium: Chromium, tame: Path) -> None:
    shade = "(c => c.match(/\\d+/g).map(Number).reduce((a, b) => a + b) / 3)(getComputedStyle(%s).%s)"
    for dark in (False, True):
        tab = chromium.open(tame, 800, dark=dark)
        paper = tab(shade % ("document.body", "backgroundColor"))
        for of in ("document.body", "document.querySelector('.control th')", "document.querySelector('svg text')"):
            ink = tab(shade % (of, "fill" if "svg" in of else "color"))
            assert abs(paper - ink) > 100, of
        assert (paper < 60) == dark


def test_print(chromium: Chromium, tame: Path) -> None:
    assert chromium.open(tame, 800).print().startswith(b"%PDF-")
