"""What a page says, that it is well made, and that nothing in it can act."""

from __future__ import annotations

import copy
import csv
import html
import io
import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

import pytest
from msgspec import structs

from postil.app.correlate import CorrelateOptions
from postil.app.correlate_columns import correlate
from postil.app.passages import PassagesOptions, find_gains
from postil.app.report import check_report
from postil.app.report import write_report as write_results
from postil.errors import InvalidInput, MissingExtra, PostilError, UsageError
from postil.records import Passage
from postil.records.result_files import decoded, read_results
from postil.records.results import Comparison, CorrelationResult, NcgResult, Result, ScoreResult
from postil.render.page.gains import Gains, gains_paragraph, leads, use_of_weights
from postil.render.page.lookup import Lookup
from postil.render.page.summary import compared, paragraph, scored, weights
from postil.render.page.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from postil.metaeval.replicates import By

NASTY = "<script>alert(1)</script></svg></title>\"'&amp;{{ 7*7 }}$x^2$ \u202eשלום\u2069 \x00\x1b[31m"
QUICK = CorrelateOptions(resamples=50, permutations=50)
VOID = {"meta", "link", "br", "img", "input", "hr"}


def write_report(results: Sequence[dict[str, Any] | Result], out: Path) -> list[Path]:
    """The report of results that are decoded, or still JSON."""
    return write_results([each if isinstance(each, Result) else decoded(each) for each in results], out)


Kind = TypeVar("Kind", bound=Result)


def typed(value: dict[str, Any], kind: type[Kind]) -> Kind:
    found = decoded(value)
    assert isinstance(found, kind)
    return found


def row(metric: str, value: float, coefficient: str = "pearson", **more: Any) -> dict[str, Any]:
    """A correlation with an interval of .1 to each side."""
    return {
        "metric": metric,
        "coefficient": coefficient,
        "by": "pool",
        "value": value,
        "low": value - 0.1,
        "high": value + 0.1,
        "p": 0.01,
        "n": 40,
        "dropped": 0,
        **more,
    }


def difference(first: str, second: str, value: float, p: float | None, coefficient: str = "pearson") -> dict[str, Any]:
    """A difference with an interval of .05 to each side."""
    return {
        "first": first,
        "second": second,
        "coefficient": coefficient,
        "by": "pool",
        "value": value,
        "low": value - 0.05,
        "high": value + 0.05,
        "n": 40,
        "p_bootstrap": 0.02,
        "p_williams": None,
        "p_permutation": p,
        "p": p,
        "p_holm": p,
    }


def correlated(**changes: Any) -> dict[str, Any]:
    """A plain and a weighted metric with two controls, the length of the text, and two annotators."""
    return {
        "schema": 1,
        "kind": "correlate",
        "correlations": [
            row("meteor", 0.4),
            row("w-meteor", 0.5),
            row("control:top(w-meteor)", 0.55),
            row("control:shuffled(w-meteor)", 0.42, sd=0.01),
            row("control:length", 0.1),
        ],
        "absent": [{"metric": "flat", "coefficient": "pearson", "by": "pool", "reason": "all 40 scores are 1"}],
        "human": {
            "rows": [row("human:halves", 0.8), row("human:one", 0.7)],
            "reliability": 0.6,
            "rule": "annotators",
            "pairs": 1,
            "k": 2.0,
            "ceiling": 0.866,
            "n": 40,
            "left_out": 0,
        },
        "differences": [
            difference("meteor", "w-meteor", -0.1, 0.001),
            difference("w-meteor", "control:top(w-meteor)", -0.05, 0.4),
            difference("w-meteor", "control:shuffled(w-meteor)", 0.08, 0.02),
            difference("meteor", "control:length", 0.3, 0.001),
            difference("w-meteor", "control:length", 0.4, 0.001),
        ],
        "notes": [],
        "agreement": {
            "texts": 40,
            "ratings": 80,
            "labels": [1.0, 2.0],
            "estimates": {"agreement": {"value": 0.75, "low": 0.6, "high": 0.9}},
            "absent": {"kappa-linear-pairs": "one label only"},
            "confusion": [[20, 10], [10, 40]],
            "pairs": [],
            "raters": [
                {"name": "ann", "n": 40, "mean": 1.5, "severity": None, "histogram": [20, 20], "note": "seldom here"},
                {"name": "bob", "n": 40, "mean": 1.75, "severity": None, "histogram": [10, 30], "note": ""},
            ],
            "notes": ["ann gave one label only"],
        },
        "systems": [
            {
                "system": name,
                "n": 20,
                "grade": 3.0 - rank,
                "rank": rank,
                "means": {"meteor": 0.3 / rank, "w-meteor": 0.2},
                "ranks": {"meteor": rank, "w-meteor": 1},
            }
            for name, rank in (("tfidf", 2), ("seq2seq", 1))
        ],
        "orders": {"meteor": 1.0, "w-meteor": None},
        "disagreements": [
            {
                "first": "w-meteor",
                "second": "meteor",
                "texts": [
                    {
                        "row": 0,
                        "item": item,
                        "system": "tfidf",
                        "grade": 1.0,
                        "scores": [0.1, 0.9],
                        "normalised": [1.2, 4.5],
                        "difference": -3.3,
                        "text": text,
                    }
                    for item, text in (("a", "lol"), ("b", "lol"), ("c", "x" * 2000))
                ],
            }
        ],
        "data": {
            "texts": 40,
            "items": 20,
            "systems": 2,
            "annotators": 2,
            "ratings": 80,
            "aspect": None,
            "scale": "1:5",
            "mean": 1.625,
            "sd": 0.4,
            "left_out": [
                {"why": "scored but not judged", "n": 7, "examples": ["9 by tfidf"]},
                {"why": "graded more than once by one annotator, the mean taken", "n": 1, "examples": ["8 by tfidf"]},
            ],
        },
        "signatures": {"meteor": "meteor|postil:0", "w-meteor": "w-meteor|postil:0", "flat": "flat|postil:0"},
        "settings": {
            "by": "pool",
            "coefficients": ["pearson"],
            "lower_is_better": [],
            "resamples": 100,
            "permutations": 200,
            "seed": 7,
            "postil": "0.0",
            "command": "postil correlate s.jsonl",
        },
        "points": {"grades": [1.0, 2.0, 1.5], "scores": {"meteor": [0.1, 0.2, 0.3], "w-meteor": [0.1, 0.3, 0.2]}},
        **changes,
    }


def comparison() -> dict[str, Any]:
    def system(name: str, metric: str, mean: float, apart: float | None, p: float) -> dict[str, Any]:
        tests = dict.fromkeys(("p_bootstrap", "p_randomisation", "p_holm"), None if apart is None else p)
        ends = (None, None) if apart is None else (apart - 0.1, apart + 0.1)
        around = {"low": mean - 0.1, "high": mean + 0.1, "difference_low": ends[0], "difference_high": ends[1]}
        return {"metric": metric, "system": name, "n": 9, "mean": mean, "difference": apart, **around, **tests}

    return {
        "schema": 1,
        "kind": "compare",
        "aggregation": "item mean",
        "baseline": "tfidf",
        "items": 9,
        "systems": [
            system("tfidf", "meteor", 0.3, None, 1),
            system("seq2seq", "meteor", 0.6, 0.3, 0.01),
            system("att", "meteor", 0.35, 0.05, 0.5),
            system("copy", "meteor", 0.1, -0.2, 0.04),
            system("tfidf", "control:length", 3, None, 1),
            system("copy", "control:length", 1e50, 1e50, 0.04),
        ],
        "lower_is_better": [],
        "left_out": [],
        "notes": [],
        "settings": {"resamples": 100, "permutations": 200, "seed": 7, "postil": "0.0"},
    }


def scores() -> dict[str, Any]:
    values = {("a", "bleu-1"): 0.25, ("b", "bleu-1"): 0.5, ("a", "meteor"): 0.75}
    rows = [
        {"system": system, "metric": metric, "score": value, "n": 3, "signature": f"{metric}|x"}
        for (system, metric), value in values.items()
    ]
    return {"schema": 1, "scores": rows}


ITSELF = ", without itself"
NCG = {
    # inside their references f1-2 is first at 5 and kl-1 at 10, without themselves w-f1-2 is
    "f1-2": (0.7, 0.8),
    "kl-1": (0.6, 0.9),
    "length": (0.1, 0.2),
    f"f1-2{ITSELF}": (0.5, 0.7),
    f"kl-1{ITSELF}": (0.55, 0.65),
    f"w-f1-2{ITSELF}": (0.65, 0.75),
}
CUTS = (5, 10)


def gained(ncg: dict[str, tuple[float, ...]] | None = None, **changes: Any) -> dict[str, Any]:
    """Two plain measures, inside their references and without, a weighted one and a baseline.

    Differences from .1 are tested and found: f1-2 and kl-1 differ at both cuts, w-f1-2 from f1-2 at 5 only.
    """
    ncg = ncg or NCG
    settings = {"reference": "topic", "pool": "topic", "leave_one_out": True, "folds": 12, "folds_by": "seed"}
    gains = [
        {
            "measure": name.removesuffix(ITSELF),
            "k": k,
            "ncg": value,
            "low": value - 0.04,
            "high": value + 0.04,
            "reference": "topic",
            "pool": "topic",
            "leave_one_out": name.endswith(ITSELF),
            "signature": f"{name}|sig",
        }
        for name, values in ncg.items()
        for k, value in zip(CUTS, values, strict=True)
    ]
    protocols = [
        [name for name in ncg if name == "length" or name.endswith(ITSELF) is leave] for leave in (False, True)
    ]
    pairs = {(a, b) for names in protocols for a in names for b in names if names.index(a) < names.index(b)}
    differences = [
        {
            "first": a,
            "second": b,
            "k": k,
            "value": ncg[a][place] - ncg[b][place],
            "low": ncg[a][place] - ncg[b][place] - 0.04,
            "high": ncg[a][place] - ncg[b][place] + 0.04,
            "p": 0.001,
            "p_holm": 0.01 if abs(ncg[a][place] - ncg[b][place]) > 0.099 else 0.3,
            "test": "sign-flip",
        }
        for a, b in sorted(pairs)
        for place, k in enumerate(CUTS)
    ]
    lines = [
        {"measure": name, "k": [1, 5, 20], "ncg": [0.1, *values], "low": [0.0, 0.1, 0.2], "high": [0.2, 0.9, 1.0]}
        for name, values in ncg.items()
    ]
    return {
        "schema": 1,
        "kind": "passages",
        "gains": gains,
        "differences": differences,
        "lines": lines,
        "data": {
            "passages": 1200,
            "topics": 20,
            "informative": 300,
            "scale": "0:3",
            "left_out": [{"why": "passages without a unit of sk, ranked last", "n": 2, "examples": ["p1 of ducks"]}],
        },
        "notes": ["passages with nothing left: 3"],
        "settings": {
            **settings,
            "anchors": False,
            "resamples": 1000,
            "line_resamples": 200,
            "seed": 7,
            "tokenizer": "words",
            "stop": "en",
            "stem": "none",
            "postil": "0.0",
            "command": "postil passages p.jsonl",
        },
        **changes,
    }


class Document(HTMLParser):
    """A page, taken apart."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.folder = page.with_name("r_files")
        self.source = page.read_text(encoding="utf-8")
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self._cells: list[str] | None = None
        self.rows: list[list[str]] = []
        self.feed(self.source)
        self.close()
        assert self._open == [], "unclosed elements"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"{tag} closed out of turn"

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def all(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for name, attributes in self.tags if name == tag)

    @property
    def title(self) -> str:
        """What the tab is called."""
        return html.unescape(self.source.partition("<title>")[2].partition("</title>")[0])

    def line(self, name: str) -> list[str]:
        """The first row of a table that begins so."""
        return next(row[1:] for row in self.rows if row[0] == name)


Page = Document


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Page:
    page, _ = write_report([correlated()], tmp_path_factory.mktemp("standard") / "r.html")
    return Document(page)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Page]:
    def make(*results: dict[str, Any]) -> Page:
        page, folder = write_report(list(results), tmp_path / "r.html")
        assert (page, folder) == (tmp_path / "r.html", tmp_path / "r_files")
        return Document(page)

    return make


def test_the_conclusion_comes_first_then_the_table(standard: Page) -> None:
    page = standard
    order = [
        "w-meteor has the highest correlation",
        "“Significantly” means",
        "Correlation with human ratings",
        "Settings",
    ]
    assert [page.text.index(part) for part in order] == sorted(page.text.index(part) for part in order)
    assert page.line("w-meteor") == [".500 [.400, .600]"]
    assert page.line("human: split-half correlation") == [".800 [.700, .900]"]
    assert page.line("human: reliability ceiling") == [".866"]
    names = [row[0] for row in page.rows[1 : page.rows.index(["human: split-half correlation", ".800 [.700, .900]"])]]
    assert names == ["meteor", "w-meteor", "shuffled weights", "top references", "flat", "length of the text"]


def test_all_that_was_promised_is_there(standard: Page) -> None:
    page = standard
    for said in (
        "40 texts (20 items, 2 systems), 80 ratings by 2 annotators",
        "No Pearson of flat: all 40 scores are 1.",
        "scored but not judged: 7 (9 by tfidf and 6 more)",
        "Pearson correlation of two single ratings of a text .600; with 2 ratings per text",
        "No kappa-linear-pairs: one label only.",
        "Ann gave one label only.",
        "postil correlate s.jsonl",
        "200 permutations of the items",
        "w-meteor|postil:0",
        "a and b, tfidf",
        "x" * 1500 + "…",
    ):
        assert said in page.text, said
    assert "x" * 1501 not in page.text
    assert page.line("w-meteor − meteor") == ["+.100* [.050, .150]", ".0010"]
    assert page.line("w-meteor − top references") == ["−.050 [−.100, .000]", ".4000"]
    assert page.line("seq2seq") == ["20", "2.00 (1)", ".300 (1)", ".200 (1)", "–"]
    assert page.line("τ-b with human ratings") == ["", "", "1.000", "–", "–"]
    assert page.line("ann") == ["40", "1.50", "–", "seldom here"]
    assert sum(1 for _ in page.all("svg")) == 6  # correlations, differences, matrix, scatter, confusion, histograms


def test_chapters(made: Callable[..., Page]) -> None:
    page = made(correlated(), comparison(), scores(), gained())
    headings = [tag for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert headings.count("h1") == 1
    assert headings.count("h2") == 4
    assert (
        page.title
        == "Metrics against human ratings, Systems against tfidf, Scores of systems and Informativeness of passages"
    )
    for title in (
        "Metrics against human ratings: correlate",
        "Systems against tfidf: compare",
        "Scores of systems: score",
        "Informativeness of passages: passages",
    ):
        assert title in page.text
    assert page.line("copy") == ["meteor", ".100 [.000, .200]", "−.200* [−.300, −.100]", *[".0400"] * 3]
    assert "1e+50" in page.text  # a huge number neither fills the page nor breaks the picture
    assert page.line("b") == ["3", ".5000", "–"]


def study(name: str) -> dict[str, Any]:
    table = {"key": "t", "caption": "t", "head": ["", "a"], "rows": [{"name": "x", "cells": [1]}]}
    parts = [{"key": "p", "title": "Part", "tables": [table]}]
    return {"schema": 1, "kind": "study", "name": name, "title": "A paper, table by table", "parts": parts}


def test_the_title_says_what_the_page_holds(made: Callable[..., Page]) -> None:
    five = [scores() | {"name": name} for name in "abcde"]
    training = {"schema": 1, **TRAINING}
    for results, title in (
        ([study("forum")], "A paper, table by table"),
        ([study("forum"), comparison()], "A paper, table by table: forum"),
        ([scores(), study("forum"), study("news")], "A paper, table by table: forum and A paper, table by table: news"),
        ([training, scores()], "A training and Scores of systems"),
        (five, "Scores of systems: a, b, c and 2 more"),
        ([*five[:1] * 2, comparison() | {"name": "<b>"}], "Scores of systems and Systems against tfidf"),
        ([scores() | {"name": "<b>"}] * 2, "Scores of systems: <b> and <b> (2)"),
    ):
        page = made(*results)
        assert page.title == title
        assert page.text.count(title) >= 2  # in the tab and at the head
        assert "\u2068" not in page.source


def test_well_made(made: Callable[..., Page]) -> None:
    page = made(correlated(), correlated(), comparison(), scores(), gained(), gained())
    ids = [str(attributes["id"]) for _, attributes in page.tags if "id" in attributes]
    ids = [name for name in ids if not re.match("p[0-9a-f]{8}-", name)]  # two pictures that are the same share theirs
    assert len(ids) == len(set(ids))
    for _, attributes in page.tags:
        href = attributes.get("href") or "#"
        if href.startswith("#"):
            assert href == "#" or href[1:] in ids or re.match("#p[0-9a-f]{8}-", href), href
        assert attributes.get("aria-labelledby", ids[0]) in ids
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes)
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("caption") == tags.count("table")
    assert tags.count("figcaption") == tags.count("figure") == tags.count("svg")
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in page.all("svg"))
    assert all(th["scope"] in {"row", "col", "rowgroup"} for th in page.all("th"))


def test_links_lead_to_files(made: Callable[..., Page], tmp_path: Path) -> None:
    page = made(correlated(), scores(), gained())
    links = [str(a["href"]) for a in page.all("a") if not str(a["href"]).startswith("#")]
    assert links
    assert all((tmp_path / unquote(link)).is_file() for link in links)


def test_nothing_is_fetched_and_nothing_runs(standard: Page) -> None:
    page = standard
    assert not {"script", "img", "iframe", "object", "embed", "form", "base", "video"} & {tag for tag, _ in page.tags}
    (policy,) = (meta["content"] for meta in page.all("meta") if meta.get("http-equiv"))
    (style,) = re.findall(r"<style>(.*?)</style>", page.source, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert set(re.findall(r"\w+://[^\"' <)]*", page.source)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in style
    assert "@import" not in style


def spoilt(value: Any, names: re.Pattern[str]) -> Any:
    """The same with something nasty behind each of these names."""
    if isinstance(value, dict):
        return {
            names.sub(spoil, key) if names.fullmatch(key) else key: spoilt(each, names) for key, each in value.items()
        }
    if isinstance(value, list):
        return [spoilt(each, names) for each in value]
    return names.sub(spoil, value) if isinstance(value, str) else value


def spoil(match: re.Match[str]) -> str:
    return match[0] + NASTY


def test_hostile_names(made: Callable[..., Page], standard: Page) -> None:
    users = re.compile("w-meteor|meteor|flat|ann|bob|tfidf|seq2seq|lol|seldom here|s.jsonl|1:5|one label|not judged")
    page = made(spoilt(correlated(name="me"), users) | {"name": NASTY})
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in standard.tags}
    assert "<script>alert(1)</script></svg></title>\"'&amp;{{ 7*7 }}$x^2$" in page.text
    assert "49" not in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", page.source)
    # What can turn other letters round is inside an element that holds it.
    outside = re.sub(r"<(bdi|blockquote|dd|p|td|text|title)\b[^>]*>[^<]*", "", page.source)
    outside = re.sub(r"\"[^\"]*\"", "", outside)
    assert "\u202e" not in outside


def test_hostile_names_of_systems_and_results(made: Callable[..., Page]) -> None:
    results = spoilt([comparison(), scores()], re.compile("tfidf|copy|bleu-1"))
    page = made(*(each | {"name": NASTY} for each in results))
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.text.count("<script>alert(1)</script>") > 10


def test_same_bytes_twice_and_from_its_own_results(tmp_path: Path) -> None:
    def made(results: Sequence[dict[str, Any] | Result], name: str) -> dict[str, bytes]:
        page, folder = write_report(results, tmp_path / name / "r.html")
        return {path.name: path.read_bytes() for path in (page, *folder.iterdir())}

    for name in "abc":
        (tmp_path / name).mkdir()
    results = [correlated(), comparison(), scores(), correlated(), gained()]
    first = made(results, "a")
    assert made(copy.deepcopy(results), "b") == first
    assert made(read_results([tmp_path / "a" / "r_files" / "results.json"]), "c") == first


def test_same_bytes_from_another_process(tmp_path: Path) -> None:
    result = tmp_path / "c.json"
    result.write_text(json.dumps(correlated()), encoding="utf-8")
    code = "import sys; from pathlib import Path; from postil.app.report import *; "
    code += "from postil.records.result_files import *; "
    code += "write_report(read_results([Path(sys.argv[1])]), sys.argv[2])"
    pages = []
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        command = [sys.executable, "-c", code, str(result), str(tmp_path / seed / "r.html")]
        env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
        subprocess.run(command, check=True, timeout=120, env=env)  # noqa: S603 - our own code
        pages.append((tmp_path / seed / "r.html").read_bytes())
    assert pages[0] == pages[1]


def test_tables_beside_the_page(standard: Page) -> None:
    folder = standard.folder
    stems = ("agreement", "annotators", "correlations", "differences", "systems")
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [
            *(f"{stem}.{end}" for stem in stems for end in ("csv", "tex")),
            *("confusion.csv", "disagreements.csv", "signatures.csv", "results.json"),
        ]
    )

    def rows(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text(encoding="utf-8"))))

    correlations = rows("correlations")
    assert [each["metric"] for each in correlations][-2:] == ["human:halves", "human:one"]
    assert float(correlations[1]["low"]) == 0.4
    assert len(rows("differences")) == 5
    assert rows("systems")[0] == {"system": "tfidf", "n": "20", "metric": "people", "mean": "1.0", "rank": "2"}
    assert rows("annotators")[1]["grade 2"] == "30"
    assert rows("confusion")[1] == {"grade": "1.0", "other": "2.0", "n": "10"}
    assert rows("disagreements")[2]["text"] == "x" * 2000
    tex = (folder / "differences.tex").read_text(encoding="utf-8")
    assert r"w-meteor $-$ meteor & +.100 [.050, .150]* & .0010 \\" in tex
    assert (folder / "systems.tex").read_text(encoding="utf-8").isascii()


# What is said


def told(**changes: Any) -> str:
    found = typed(correlated(**changes), CorrelationResult)
    return plain(paragraph(Lookup(found))).replace("\N{NO-BREAK SPACE}", " ")


def test_paragraph() -> None:
    assert told() == (
        "w-meteor has the highest correlation with human ratings: Pearson .500 [.400, .600]. "
        "By Pearson w-meteor is significantly higher than every other metric. "
        "The split-half correlation of the human ratings is .800 [.700, .900] (Pearson); w-meteor lies .300 below, a "
        "difference without a test. "
        "The reliability ceiling, the expected upper bound of Pearson’s coefficient with these mean ratings, is .866; "
        "w-meteor reaches .500. "
        "The length of the text alone reaches .100 [.000, .200] (Pearson); every metric is significantly higher."
    )


def test_an_interval_without_zero_is_not_enough_where_there_is_a_test() -> None:
    said = told(differences=[difference("w-meteor", "meteor", 0.1, 0.06)])
    assert "By Pearson w-meteor is not significantly higher than any other metric." in said


def test_a_small_p_is_not_enough_where_the_interval_holds_zero() -> None:
    assert "not significantly higher than any" in told(differences=[difference("w-meteor", "meteor", 0.04, 0.001)])


def test_best_by_one_coefficient_each() -> None:
    both = [*correlated()["correlations"], row("meteor", 0.45, "spearman"), row("w-meteor", 0.44, "spearman")]
    settings = correlated()["settings"] | {"coefficients": ["pearson", "spearman"]}
    said = told(correlations=both, settings=settings)
    assert said.startswith(
        "w-meteor correlates best with human ratings by Pearson .500 [.400, .600], meteor by Spearman .450 [.350, "
        ".550]."
    )


def test_without_people_or_metrics() -> None:
    assert "There are no human reference points: no text has two ratings." in told(
        human={"reason": "no text has two ratings"}
    )
    said = told(correlations=[], differences=[], signatures={}, human={"reason": "x"})
    assert said.startswith("No metric has a correlation with human ratings.")


def test_weights() -> None:
    ((name, said),) = weights(Lookup(typed(correlated(), CorrelationResult)))
    assert (name, plain(said)) == (
        "w-meteor",
        (
            "By Pearson significantly higher than unweighted meteor and shuffled weights; not significantly different "
            "from top references."
        ),
    )


def test_systems() -> None:
    ((name, said),) = compared(typed(comparison(), Comparison))
    assert name == "meteor"
    assert plain(said) == (
        "Significantly higher than tfidf: seq2seq (+.300); significantly lower than tfidf: copy (−.200); "
        "not significantly different from tfidf: att (+.050)."
    )
    said = plain(scored(typed(scores(), ScoreResult)))
    assert said == "Of 2 systems b has the highest bleu-1 (.500); a has the highest meteor (.750)."


def test_little_is_enough(made: Callable[..., Page]) -> None:
    people = {"rows": [], "reason": "no text has two ratings"}
    bare = {"human": people, "agreement": None, "differences": [], "disagreements": [], "absent": [], "orders": {}}
    page = made(correlated(**bare, correlations=[], systems=[], signatures={}, points=None))
    assert "No metric has a correlation with human ratings." in page.text
    assert next(page.all("svg"), None) is None
    made(comparison() | {"systems": []}, {"schema": 1, "scores": []})
    page = made(gained(gains=[], differences=[], lines=[], notes=[]))
    assert "0:3" in page.text
    assert next(page.all("svg"), None) is None


def test_much_is_cut_on_the_page_and_whole_in_the_files(made: Callable[..., Page]) -> None:
    systems = [f"system {i}" for i in range(1500)]
    below = comparison()["systems"][3]
    many = comparison() | {"systems": [below | {"system": name} for name in systems]}
    metrics = [f"metric {i}" for i in range(45)]
    pairs = [(a, b) for place, a in enumerate(metrics) for b in metrics[place + 1 :]]
    wide = correlated(
        correlations=[row(name, place / 100) for place, name in enumerate(metrics)],
        differences=[difference(a, b, 0.1, 0.01) for a, b in pairs],
        signatures=dict.fromkeys(metrics, "x"),
        points={"grades": [1.0, 2.0], "scores": {name: [0.0, 1.0] for name in metrics}},
    )
    page = made(many, wide)
    assert "95 % confidence intervals, the first 60 of 1,500 systems" in page.text
    assert "(the first 1,000 rows of 1,500)" in page.text
    assert "system 19 (−.200) and 1,480 more." in page.text
    assert "All 990 differences of correlations" in page.text
    assert "between the 40 metrics with the strongest correlations" in page.text
    assert "The 12 of 45 metrics with the strongest correlations." in page.text
    assert (page.folder / "1-comparison.csv").read_text(encoding="utf-8").count("\n") == 1501


# Passages


def gains_told(result: dict[str, Any]) -> tuple[str, Gains]:
    look = Gains(typed(result, NcgResult))
    return plain(gains_paragraph(look)).replace("\N{NO-BREAK SPACE}", " "), look


def test_gains_in_words() -> None:
    said, look = gains_told(gained())
    assert said == (
        "With each passage in its own reference the highest nCG is that of f1-2 at k = 5 (.700) and kl-1 at k = 10 "
        "(.900). That is significantly higher than every other measure. "
        "Leaving each passage out of its own reference costs .050 (kl-1) to .200 (f1-2) at k = 5 and .100 (f1-2) to "
        ".250 (kl-1) at k = 10, differences without a test. "
        "Then the highest nCG is that of w-f1-2 at every cutoff (.650 and .750). Only at k = 5 is that significantly "
        "higher than every other measure; each of the others is significantly lower at some cutoff. "
        "Every measure is significantly higher than length at every cutoff."
    )
    ((name, weighted),) = use_of_weights(look)
    assert name == "w-f1-2"
    assert plain(weighted).replace("\N{NO-BREAK SPACE}", " ") == (
        "Significantly higher than unweighted f1-2 at k = 5; not significantly different from it at k = 10."
    )
    assert [(cut, plain(each)) for cut, each in leads(look, look.groups[1])] == [
        (
            "nCG@5",
            "w-f1-2 .650\N{NO-BREAK SPACE}[.610,\N{NO-BREAK SPACE}.690], significantly higher than f1-2 and kl-1.",
        ),
        (
            "nCG@10",
            (
                "w-f1-2 .750\N{NO-BREAK SPACE}[.710,\N{NO-BREAK SPACE}.790], significantly higher than kl-1; "
                "not significantly higher than f1-2."
            ),
        ),
    ]


@pytest.mark.parametrize(
    ("ncg", "lead"),
    [
        (
            {"a-1": (0.5, 0.5), "b-1": (0.45, 0.48), "c-1": (0.46, 0.47)},
            "no measure is significantly lower at any cutoff.",
        ),
        ({"a-1": (0.5, 0.5), "b-1": (0.45, 0.48), "c-1": (0.3, 0.4)}, "b-1 is never significantly lower."),
        (
            {"a-1": (0.5, 0.5), "b-1": (0.45, 0.48), "c-1": (0.3, 0.49), "d-1": (0.49, 0.49)},
            "only c-1 is significantly lower at some cutoff.",
        ),
    ],
)
def test_a_lead_that_is_not_clear(ncg: dict[str, tuple[float, ...]], lead: str) -> None:
    said, _ = gains_told(gained(ncg))
    assert said.endswith(f"(.500 and .500). That is nowhere significantly higher than every other measure; {lead}")


def test_equal_measures_are_first_together(made: Callable[..., Page]) -> None:
    page = made(gained({"a-1": (0.5, 0.5), "b-1": (0.5 + 1e-15, 0.5), "c-1": (0.3, 0.6)}))
    assert "The highest nCG is that of a-1 and b-1 at k = 5 (.500) and c-1 at k = 10 (.600)." in page.text.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert re.findall(r"<strong>(\.\d+)</strong>", page.source) == [".500", ".500", ".600"]


def test_baselines_that_are_not_beaten() -> None:
    said, _ = gains_told(gained({"f1-1": (0.7, 0.5), "kl-1": (0.3, 0.3), "length": (0.4, 0.4), "random": (0.1, 0.29)}))
    assert "F1-1" not in said
    assert said.endswith(
        "f1-1 is significantly higher than length at every cutoff; kl-1 is significantly lower at some. "
        "f1-1 is significantly higher than random at every cutoff."
    )


def test_only_baselines_are_held_against_one_another() -> None:
    said, _ = gains_told(gained({"length": (0.4, 0.4), "random": (0.1, 0.2)}))
    assert (
        said
        == "The highest nCG is that of length at every cutoff (.400 and .400). That is significantly higher than every "
        "other measure."
    )


def test_weighted_measures_are_not_held_against_others() -> None:
    said, look = gains_told(gained({"f1-1": (0.7, 0.7), f"w-f1-1{ITSELF}": (0.6, 0.6)}))
    assert "That is" not in said
    assert (
        "they are not comparable with those above, which --leave-one-out scores in that way too. Of them the nCG is"
        in said
    )
    assert list(use_of_weights(look)) == []


@pytest.mark.parametrize(
    ("topics", "resamples", "test", "few"),
    [(3, 1000, "sign-flip", "3 topics"), (20, 100, "bootstrap", "100 resamples")],
)
def test_where_nothing_can_be_clear(topics: int, resamples: int, test: str, few: str) -> None:
    result = gained()
    result["data"]["topics"], result["settings"]["resamples"] = topics, resamples
    result["differences"] = [each | {"test": test, "p_holm": 0.4} for each in result["differences"]]
    said, look = gains_told(result)
    assert said.endswith(
        f"With {few} no difference can be significant after Holm’s correction for 6 pairs; only the confidence "
        "intervals can be interpreted."
    )
    assert "ignificant" not in said.replace("can be significant", "")
    assert [*leads(look, look.groups[0]), *use_of_weights(look)] == []


def test_as_many_topics_or_resamples_as_it_takes() -> None:
    result = gained({"a-1": (0.5, 0.5), "b-1": (0.3, 0.3)})
    for topics, enough in ((5, False), (6, True), (13, True), (14, True), (10**9, True)):  # 2 / 2^6 is .03
        result["data"]["topics"] = topics
        assert ("significantly higher" in gains_told(result)[0]) == enough
    result["differences"] = [each | {"test": "bootstrap"} for each in result["differences"]]
    for resamples, enough in ((39, False), (40, True)):  # 2 / 41 is .0488
        result["settings"]["resamples"] = resamples
        assert ("significantly higher" in gains_told(result)[0]) == enough


def test_a_chapter_of_gains(made: Callable[..., Page]) -> None:
    page = made(gained())
    order = [
        "Informativeness of passages",
        "1,200 passages of 20 topics, 300 with a grade above 0; one list per topic, and their mean",
        "With each passage in its own reference the highest",
        "“Significantly” means",
        "nCG at each rank cutoff, 95 % confidence intervals over topics in brackets; bold: the highest of each group",
        "Passages with nothing left: 3.",
        "Change of nCG when each passage is left out of its own reference",
        "Highest nCG with each passage in its own reference:",
        "Weighted measures compared with their unweighted form:",
        "All 9 pairs",
        "The family kl",
        "passages without a unit of sk, ranked last: 2 (p1 of ducks and 1 more)",
        "postil passages p.jsonl",
        "tokenizer words; stop words: en; stems: none",
        "95 % percentile bootstrap, 1,000 resamples of the topics; for the bands of curves 200 of them",
        "sign flips of topics; Holm’s correction for all pairs at a cutoff",
    ]
    assert [page.text.index(part) for part in order] == sorted(page.text.index(part) for part in order)
    assert [row for row in page.rows if row[0] in {"f1-2", "With each passage left out of its own reference"}] == [
        ["f1-2", ".700 [.660, .740]", ".800 [.760, .840]"],
        ["With each passage left out of its own reference"],
        ["f1-2", ".500 [.460, .540]", ".700 [.660, .740]"],
        ["f1-2", "−.200", "−.100"],
        ["f1-2", "+.150* [.110, .190]", "+.050 [.010, .090]"],
        ["f1-2", "f1-2|sig"],
    ]
    assert ["f1-2 minus", "nCG@5", "nCG@10"] in page.rows
    assert ["kl-1", "+.100* [.060, .140]", "−.100* [−.140, −.060]"] in page.rows
    assert [f"w-f1-2{ITSELF}", f"w-f1-2{ITSELF}|sig"] in page.rows
    bold = re.findall(r"<strong>(\.\d+)</strong>", page.source)
    assert bold == [".700", ".900", ".650", ".750"]
    labels = [str(each["aria-label"]) for each in page.all("svg")]
    assert [label.removesuffix("; the numbers are in the table above") for label in labels] == [
        f"nCG over k: f1-2; kl-1; length; f1-2{ITSELF}; kl-1{ITSELF}; w-f1-2{ITSELF}",
        f"nCG over k: f1-2; length; f1-2{ITSELF}",
        f"nCG over k: kl-1; length; kl-1{ITSELF}",
        "nCG over k: length",
        f"nCG over k: length; w-f1-2{ITSELF}",
    ]


def test_interestingness_and_informativeness_on_one_page(made: Callable[..., Page]) -> None:
    outside = {name: values for name, values in NCG.items() if name.endswith(ITSELF)}
    others = gained(outside, name="others")
    others["settings"] |= {"reference": "others", "pool": "all"}
    page = made(gained() | {"name": "topics"}, others)
    assert "Informativeness of passages: topics" in page.text
    assert "Interestingness of passages: others" in page.text
    chapter = page.text[page.text.rindex("Interestingness of passages: others") :]
    assert "all in one list" in chapter
    assert "95 % confidence intervals over folds in brackets; bold: the highest" in chapter
    assert "informative passages of other topics, in 12 folds by seed" in chapter
    # every passage is left out, so nothing needs to say so but the signatures
    assert chapter.index(ITSELF) > chapter.index("All 3 pairs")
    assert "The family kl" in chapter
    files = {path.name for path in page.folder.iterdir()}
    assert {"1-gains.csv", "1-differences-without-itself.tex", "2-gains.tex", "2-curves.csv"} <= files
    assert "2-itself.tex" not in files


def test_tables_of_gains_beside_the_page(made: Callable[..., Page]) -> None:
    folder = made(gained()).folder
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [
            *(f"{name}.csv" for name in ("curves", "differences", "gains", "signatures")),
            *(f"{name}.tex" for name in ("differences", "differences-without-itself", "gains", "itself")),
            "results.json",
        ]
    )

    def rows(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text(encoding="utf-8"))))

    assert [each["measure"] for each in rows("gains")] == [name.removesuffix(ITSELF) for name in NCG for _ in CUTS]
    assert {each["leave_one_out"] for each in rows("gains")[-6:]} == {"True"}
    assert rows("curves")[4] == {"measure": "kl-1", "k": "5", "ncg": "0.6", "low": "0.1", "high": "0.9"}
    assert len(rows("differences")) == 18
    assert rows("signatures")[3] == {"measure": f"f1-2{ITSELF}", "signature": f"f1-2{ITSELF}|sig"}
    tex = (folder / "gains.tex").read_text(encoding="utf-8")
    assert "f1-2 & .700 [.660, .740] & .800 [.760, .840] \\\\\n" in tex
    assert "f1-2, without itself & .500 [.460, .540]" in tex
    assert "own reference" not in tex
    assert r"f1-2, without itself & +.150 [.110, .190]* & +.050" in (
        folder / "differences-without-itself.tex"
    ).read_text(encoding="utf-8")


def test_hostile_measures(made: Callable[..., Page]) -> None:
    page = made(
        spoilt(gained(), re.compile("f1-2|kl-1|p1 of ducks|words|stop words|p.jsonl|0:3|\ben\b|none|sig|nothing"))
    )
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.text.count("<script>alert(1)</script>") > 30
    assert "&amp;49" not in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", page.source)


def test_one_topic_has_no_intervals(made: Callable[..., Page]) -> None:
    bare = gained(differences=[], notes=["one topic: no intervals and no tests"])
    for each in bare["gains"]:
        each |= {"low": None, "high": None}
    for each in bare["lines"]:
        del each["low"], each["high"]
    page = made(bare)
    assert page.line("f1-2") == [".700", ".800"]
    assert "One topic: no intervals and no tests." in page.text
    for word in ("ignificant", "Differences between", "bands", "interval"):
        assert word not in page.text.replace("no intervals and no tests", ""), word


def test_many_measures_and_wild_numbers(made: Callable[..., Page]) -> None:
    many = {f"f{i}-1": (1e50 * i, 1e-50) for i in range(14)}
    page = made(gained(many))
    assert "the best of each family of measures, the first 12 of 14" in page.text
    assert "1.3e+51" in page.text
    alone = made(gained({"f1-1": (0.5, 0.5)}))
    assert "The nCG is that of f1-1 at every cutoff (.500 and .500)." in alone.text
    assert [each["aria-label"] for each in alone.all("svg")] == ["nCG over k: f1-1; the numbers are in the table above"]


def test_gains_from_python(tmp_path: Path) -> None:
    words = ("duck", "pond", "bread", "war", "peace", "tax")
    rows = [
        Passage(f"t{t}", f"p{p}", " ".join(words[(t + p * i) % 6] for i in range(5)), grade=float((t + p) % 3))
        for t in range(4)
        for p in range(6)
    ]
    options = PassagesOptions(resamples=20, pool="topic", leave_one_out=True, k=(1, 3))
    results = [find_gains(rows, replace(options, reference=each))[0] for each in ("topic", "others")]
    page, _ = write_report(results, tmp_path / "r.html")
    document = Document(page)
    assert "Informativeness of passages: passages" in document.text
    assert "Interestingness of passages: passages (2)" in document.text
    assert "w-f1-sk" in document.text


# What is refused


def changed(place: str, value: Any, result: dict[str, Any] | None = None) -> dict[str, Any]:
    found = result or correlated()
    inner: Any = found
    *way, last = place.split(".")
    for key in way:
        inner = inner[int(key) if key.isdigit() else key]
    inner[last] = value
    return found


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (5, "expected an object in braces, got 5"),
        ({}, "schema: expected 1, got none"),
        ({"schema": 2, "kind": "compare"}, "schema: expected 1, got 2"),
        ({"schema": 1}, "kind: expected one of score, correlate,"),
        ({"schema": 1, "kind": "demo"}, ', got "demo"'),
        ({"schema": 1, "kind": []}, ", got an array"),
        (changed("correlations.1.value", float("nan")), "correlations[1].value: expected a finite number, got NaN"),
        (changed("correlations.1.value", float("inf")), "correlations[1].value: expected a finite number"),
        (changed("correlations.1.value", "much"), "correlations[1].value: expected a number"),
        (changed("correlations.1.low", None), "expected an interval from low to high, got None and 0.6"),
        (changed("correlations.1.low", 0.9), "expected an interval from low to high, got 0.9 and 0.6"),
        (changed("systems.0.system", "a\ud800"), "systems[0].system: expected text"),
        (changed("agreement.confusion", [[1]]), "expected counts for each of 2 labels"),
        (changed("points.scores", {"meteor": [1.0]}), "points: expected a score for each of 3 grades"),
        (changed("data", None), "data: expected an object"),
        (changed("gains.0.ncg", "high", gained()), "gains[0].ncg: expected a number, got text"),
        (changed("gains.0.k", 1.5, gained()), "gains[0].k: expected an integer"),
        (changed("gains.0.low", 0.9, gained()), "gains[0]: expected an interval from low to high"),
        (changed("gains.0.leave_one_out", "no", gained()), "gains[0].leave_one_out: expected true or false, got text"),
        (changed("differences.3.p_holm", None, gained()), "differences[3].p_holm: expected a number, got null"),
        (changed("lines.1.k", [1, 5, 5], gained()), "lines[1]: expected ascending rank cutoffs of at least 1"),
        (changed("lines.1.k", [0, 5, 9], gained()), "lines[1]: expected ascending rank cutoffs of at least 1"),
        (changed("lines.1.k", [], gained()), "lines[1]: expected ascending rank cutoffs of at least 1"),
        (changed("lines.1.ncg", [0.5], gained()), "lines[1]: expected a number for each of 3 rank cutoffs"),
        (changed("lines.1.low", None, gained()), "lines[1]: expected a band with two edges"),
        (
            changed("settings.reference", "both", gained()),
            'settings.reference: expected others or topic, got "both"',
        ),
        (changed("settings.pool", "each", gained()), 'settings.pool: expected all or topic, got "each"'),
        (changed("data.topics", "many", gained()), "data.topics: expected an integer, got text"),
    ],
)
def test_what_no_command_makes(result: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        write_report([result], tmp_path / "r.html")
    assert problem in str(caught.value)
    assert "`" not in str(caught.value)
    assert not list(tmp_path.iterdir())


TRAINING = {
    "kind": "training",
    "rows": [{"step": 500, "epoch": 1, "loss": 5.25, "dev": 5.5, "perplexity": 244.7, "best": True}],
}
MADE = {
    "label": "Machine-generated suggestion",
    "method": "generated",
    "model": "att",
    "model_hash": "0",
    "sources": [],
    "overlap": None,
}


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (
            TRAINING,
            ["step", "5.25", "5.5"],
        ),
        (
            {
                "kind": "evaluation",
                "rows": [
                    {"scorer": "x", "measure": "mrr", "value": 0.25, "low": 0.2, "high": 0.3, "n": 9, "comments": 99}
                ],
                "differences": [],
                "absent": [],
            },
            ["mrr", ".25", ".2", ".3"],
        ),
        (
            {
                "kind": "commenters",
                "scores": [
                    {"system": system, "metric": metric, "score": 0.5, "n": 3, "signature": f"{metric}|x"}
                    for system in ("a", "b")
                    for metric in ("meteor", "cider")
                ],
                "suggestions": [],
                "articles": 3,
                "left_out": 0,
                "references": {"least": 1, "most": 4, "mean": 2.5},
                "settings": {"split": "test", "weights": "votes", "scale": None, "seed": 1},
                "remarks": ["weights: votes"],
            },
            ["cider", "meteor", ".5"],
        ),
        (
            {
                "agreement": {
                    "texts": 2,
                    "ratings": 4,
                    "labels": [0, 1],
                    "estimates": {"kappa": {"value": 0.5, "low": None, "high": None}},
                },
                "reason": "",
                "repeated": [],
                "gold": [],
            },
            ["kappa", ".5"],
        ),
        (
            {
                "kind": "suggestions",
                "suggestions": [
                    {
                        "article": "x",
                        "suggestions": [{"rank": 1, "score": 2.0, "text": "so", "provenance": MADE}],
                        "filtered": [],
                    }
                ],
            },
            ["Machine-generated suggestion", "so"],
        ),
    ],
)
def test_results_without_sentences_are_tables(result: dict[str, Any], said: list[str], tmp_path: Path) -> None:
    made = decoded({"schema": 1, "name": "n", **result})
    page, folder = write_report([made], tmp_path / "r.html")
    first = page.read_bytes()
    assert all(text in Document(page).text for text in said)
    assert list(folder.glob("*.csv"))
    write_report(read_results([folder / "results.json"]), page)
    assert page.read_bytes() == first


def test_a_kind_without_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.render.page.assemble.MODULES", {})
    with pytest.raises(InvalidInput, match="a result of kind 'score' has no page"):
        write_report([scores()], tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there are no results"):
        write_report([], tmp_path / "r.html")


@pytest.mark.parametrize("name", ["r", "r.txt", "r.json", ".html", "sub.html"])
def test_names_that_are_no_page(name: str, tmp_path: Path) -> None:
    (tmp_path / "sub.html").mkdir()
    with pytest.raises(UsageError, match=r"expected the name of a file that ends in \.html"):
        write_report([scores()], tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["sub.html"]


def test_no_folder_for_the_page(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"parent folder .* does not exist"):
        write_report([scores()], tmp_path / "none" / "r.html")


def test_a_page_that_is_there_stays_where_writing_fails(tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    page.write_text("old", encoding="utf-8")
    (tmp_path / "r_files").write_text("mine", encoding="utf-8")
    with pytest.raises(PostilError, match="r_files: cannot be written"):
        write_report([scores()], page)
    assert page.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r_files"]


@pytest.mark.parametrize("missing", ["jinja2", "matplotlib"])
def test_without_the_extra(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for attempt in (lambda: write_report([scores()], tmp_path / "r.html"), lambda: check_report(tmp_path / "r.html")):
        with pytest.raises(MissingExtra, match=r"^a report needs an optional package: pip install 'postil\[plot\]'$"):
            attempt()


def test_from_python(tmp_path: Path) -> None:
    grades = [[1 + i % 5, 1 + (i * 3) % 5] for i in range(30)]
    metrics = {"a": [g[0] + i % 3 for i, g in enumerate(grades)], "b": [i % 7 for i in range(30)]}
    found = correlate(metrics, grades, options=QUICK)
    page, _ = write_report([found], tmp_path / "r.html")
    assert "Scores against ratings" in Document(page).text
    page, _ = write_report([structs.replace(found, points=None)], tmp_path / "r.html")
    assert "Scores against ratings" not in Document(page).text


@pytest.mark.parametrize(
    ("by", "points", "said"),
    [
        ("system", "5 system means", "Pearson"),
        ("item", "60 texts", "Pearson within items"),
        ("pool", "60 texts", "Pearson"),
    ],
)
def test_a_scatter_shows_what_its_coefficient_is_over(by: By, points: str, said: str, tmp_path: Path) -> None:
    grades = [1 + (i * i) % 5 for i in range(60)]
    scores = {"a": [grade + i % 7 for i, grade in enumerate(grades)]}
    items, systems = [i // 5 for i in range(60)], [i % 5 for i in range(60)]
    found = correlate(scores, grades, items=items, systems=systems, options=replace(QUICK, by=by))
    (value,) = [row.value for row in found.correlations if (row.metric, row.coefficient) == ("a", "pearson")]
    page, _ = write_report([found], tmp_path / "r.html")
    source = Document(page).source
    assert f"Score against mean human rating for 1 metrics, {points}" in source
    assert f">{said} {value:.3f}, ".replace("0.", ".") in source
