"""The audit on a page: the verdict first, a section with its parts, files beside it, names escaped."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

import pytest
from matplotlib.text import Text

from page_document import NASTY, Document, Page, spoilt
from postil.correlation.chapter import pictures
from postil.correlation.result import CorrelationResult
from postil.correlation.view import Lookup, paragraph
from postil.results.page.blocks import plain
from postil.results.page.report import write_report
from result_examples import accuracy, alt_row, audit, audited, correlated, example, typed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PARTS = [
    "Ranking texts and systems",
    "Alternative annotator test",
    "On the scale of the ratings",
    "Length of the text",
    "The raters",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    made, _ = write_report([example("audit")], tmp_path_factory.mktemp("audit") / "r.html")
    return Document(made)


def rows(page: Page, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((page.folder / f"{name}.csv").read_text(encoding="utf-8"))))


def test_the_verdict_comes_first_then_its_chapter(page: Page) -> None:
    order = [
        "w-meteor ranks systems best, with soft pairwise accuracy",
        "May replace one of the 2 annotators",
        "w-meteor has the highest correlation",
        "Differences between metrics",
        "All 5 differences",
        "Could it stand in for a person?Ranking",
        *PARTS,
        "Worst disagreements",
    ]
    places = [page.text.replace("\n", "").rindex(part) for part in order]
    assert places == sorted(places)


def test_a_page_of_few_items_or_systems_calls_nothing_significant(tmp_path: Path) -> None:
    """Also where an earlier version, which did not warn of them, made the result."""
    made = correlated()
    untested = [row | {"p_permutation": None, "p_both": row["p"]} for row in made["differences"]]
    few = made | {"data": made["data"] | {"items": 6}, "differences": untested}
    page = Document(write_report([typed(few, CorrelationResult)], tmp_path / "few.html")[0])
    assert "6 items are few: intervals and tests that resample items cannot be trusted below 10" in page.text
    assert "By Pearson w-meteor is not significantly higher than any other metric." in page.text
    assert "significantly higher than meteor" not in page.text
    by_system = [row | {"by": "system"} for row in made["differences"]]
    few = made | {"settings": made["settings"] | {"by": "system"}, "differences": by_system}
    page = Document(write_report([typed(few, CorrelationResult)], tmp_path / "systems.html")[0])
    assert "an exact permutation of 2 systems has a one-sided p of .500 at least." in page.text
    assert "By Pearson w-meteor is not significantly higher than any other metric." in page.text


def test_every_table_is_there(page: Page) -> None:
    assert page.line("chance: w-meteor") == ["–", ".450 [.400, .500]", "–", "–"]
    assert ["w-meteor", "spa by system", ".910 [.810, 1.010]", ".500", ".0083", "–", "–", "–", "10"] in page.rows
    assert ["w-meteor", "rounded", ".500", ".840 [.790, .890]", "yes", "1/2"] in page.rows
    assert ["constant", "rounded", ".000", ".530 [.480, .580]", "no", "0/2"] in page.rows
    assert ["w-meteor", "rounded", "ann", "40", ".840", ".800", ".0100", "yes"] in page.rows
    assert ["meteor", "linear", ".680 [.580, .780]", ".780", "−.050", ".250 [.200, .300]"] in page.rows
    assert page.line("item:rater") == ["−.100", ".000"]
    assert page.line("pool") == ["2", ".700", ".600", ".800", ".700", ".800", ".850", ".930", ".960"]
    for note in ("No calibration of flat (linear): all 40 scores are 1.", "The t-test takes texts for independent"):
        assert note in page.text
    assert "median" not in page.text


def test_pictures_of_an_audit(page: Page) -> None:
    labels = [str(svg["aria-label"]) for svg in page.all("svg")]
    assert sum("Average advantage probability" in label for label in labels) == 1
    assert sum("Reliability curves, mapping" in label for label in labels) == 2
    assert sum("Gain from more raters" in label for label in labels) == 1
    assert "w-meteor, passed" in page.text
    assert page.text.count("chance: meteor") == 2  # the table, and the forest


def test_files_of_an_audit(page: Page) -> None:
    fields = {"metric": "w-meteor", "mapping": "rounded", "omega": "0.5", "rho": "0.84", "passed": "True"}
    assert rows(page, "alt-test")[2].items() >= (fields | {"epsilon": "0.2", "q": "0.05"}).items()
    assert rows(page, "alt-test-annotators")[0]["annotator"] == "ann"
    assert [float(each["ece"]) for each in rows(page, "calibration")] == [0.25] * 5
    assert rows(page, "reliability")[1] == {
        "metric": "meteor", "mapping": "isotonic", "n": "25", "predicted": "2.6", "grade": "2.8",
    }  # fmt: skip
    assert {each["lengths"] for each in rows(page, "length")} == {"control:length"}
    quarter = rows(page, "length-quarters")[2]
    assert list(quarter) == ["metric", "coefficient", "n", "from", "to", "value", "reason"]
    assert (quarter["from"], quarter["value"], quarter["reason"]) == ("10.0", "", "all 10 grades are 1")
    assert [each["component"] for each in rows(page, "raters")] == ["item", "item:rater", "residual"]
    assert rows(page, "ceilings")[1]["reason"] == "the variance of the systems is 0"
    assert [float(each["k"]) for each in rows(page, "raters-growth")][:5] == [1, 2, 3, 5, 10]
    systems = rows(page, "accuracies")[3]
    assert [systems[name] for name in ("metric", "coefficient", "exact", "ties")] == ["w-meteor", "spa", "True", ""]
    assert "sd" not in systems
    assert [each["second"] for each in rows(page, "margins")] == ["meteor", "control:length", "meteor"]
    tex = (page.folder / "alt-test.tex").read_text(encoding="utf-8")
    assert r"w-meteor & rounded & .500 & .840 [.790, .890] & yes & 1/2 \\" in tex
    assert not (page.folder / "alt-test-annotators.tex").exists()


def test_hostile_names_of_an_audit(page_of: Callable[..., Page], page: Page) -> None:
    spoiled = page_of(spoilt(audited(), re.compile("w-meteor|meteor|flat|ann|bob|cid|control:length")))
    assert {tag for tag, _ in spoiled.tags} == {tag for tag, _ in page.tags}
    assert "<script>alert(1)</script></svg></title>\"'&amp;{{ 7*7 }}$x^2$" in spoiled.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", spoiled.source)
    outside = re.sub(r"<(bdi|blockquote|dd|p|td|text|title)\b[^>]*>[^<]*", "", spoiled.source)
    outside = re.sub(r"\"[^\"]*\"", "", outside)
    assert "\u202e" not in outside
    assert NASTY not in spoiled.source


def test_accuracies_without_an_audit(page_of: Callable[..., Page]) -> None:
    page = page_of(correlated(correlations=[accuracy("meteor", 0.7), accuracy("w-meteor", 0.75)]))
    assert "Could it stand in for a person?" not in page.text
    assert "meteor agrees" not in page.text
    only = correlated()["settings"] | {"coefficients": ["acc-eq"]}
    rows = [accuracy("meteor", 0.7), accuracy("w-meteor", 0.75)]
    result = typed(correlated(correlations=rows, settings=only), CorrelationResult)
    said = plain(paragraph(Lookup(result)))
    assert said.startswith("w-meteor has the highest accuracy with human ratings: accuracy with ties .750")
    row = next(row for row in page.rows if row[1:2] == ["acc-eq by item"])
    assert row[2:5] == [".700 [.600, .800]", ".450 [.400, .500]", ".0099"]
    assert (page.folder / "correlations.csv").read_text(encoding="utf-8").startswith("metric,coefficient,by,value,low,")


def test_little_of_an_audit_is_enough(page_of: Callable[..., Page]) -> None:
    bare = {
        "alt_test": audit()["alt_test"] | {"rows": []},
        "calibration": [],
        "length": {"lengths": "control:length", "n": 0, "left_out": 0, "rows": [], "absent": []},
        "raters": {"design": "", "components": [], "levels": [], "reason": "no text has two grades"},
        "rankings": [],
    }
    page = page_of(audited(**bare) | {"correlations": correlated()["correlations"]})
    assert not [part for part in PARTS if part in page.text]
    assert "No variance components: no text has two grades." in page.text
    assert not (page.folder / "alt-test.csv").exists()


def test_many_metrics_are_cut() -> None:
    many = [alt_row(f"metric {place}", "rounded", 0.5) for place in range(70)]
    calibration = [audit()["calibration"][0] | {"metric": f"metric {place}"} for place in range(14)]
    result = typed(audited(alt_test=audit()["alt_test"] | {"rows": many}, calibration=calibration), CorrelationResult)
    assert result.audit is not None
    captions = {picture.key: picture.caption for picture in pictures(result)}
    assert "the first 60 of 70; controls in gray" in captions["alt-test"]
    assert captions["reliability"].endswith("the first 12 of 14 metrics")
    drawn = result.plot("alt-test").findobj(Text)
    assert sum(text.get_text().startswith("metric ") for text in drawn) == 60
