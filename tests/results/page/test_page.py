"""Content, sentences, markup and safety of a page, and how it is written."""

from __future__ import annotations

import copy
import csv
import io
import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from msgspec import structs

from page_document import NASTY, QUICK, Document, Page, spoilt, study
from postil.comparison.result import Comparison
from postil.comparison.view import compared
from postil.correlation.calls import correlate
from postil.correlation.result import CorrelationResult
from postil.correlation.view import Lookup, paragraph, weights
from postil.errors import InvalidInput, MissingExtra, PostilError
from postil.metrics.result import ScoreResult
from postil.results.base import read_results
from postil.results.page.blocks import plain
from postil.results.page.report import check_report
from postil.scoring.view import scored
from result_examples import comparison, correlated, difference, example, gained, row, scores, typed, write_report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from postil.meta.coefficients import By
    from postil.results.base import Result


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


def test_chapters(page_of: Callable[..., Page]) -> None:
    page = page_of(correlated(), comparison(), scores(), gained())
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


def test_the_title_says_what_the_page_holds(page_of: Callable[..., Page]) -> None:
    five = [scores() | {"name": name} for name in "abcde"]
    training = example("training")
    for results, title in (
        ([study("forum")], "A paper, table by table"),
        ([study("forum"), comparison()], "A paper, table by table: forum"),
        ([scores(), study("forum"), study("news")], "A paper, table by table: forum and A paper, table by table: news"),
        ([training, scores()], "A training and Scores of systems"),
        (five, "Scores of systems: a, b, c and 2 more"),
        ([*five[:1] * 2, comparison() | {"name": "<b>"}], "Scores of systems and Systems against tfidf"),
        ([scores() | {"name": "<b>"}] * 2, "Scores of systems: <b> and <b> (2)"),
    ):
        page = page_of(*results)
        assert page.title == title
        assert page.text.count(title) >= 2  # in the tab and at the head
        assert "\u2068" not in page.source


def test_well_made(page_of: Callable[..., Page]) -> None:
    page = page_of(correlated(), correlated(), comparison(), scores(), gained(), gained())
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


def test_links_lead_to_files(page_of: Callable[..., Page], tmp_path: Path) -> None:
    page = page_of(correlated(), scores(), gained())
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


def test_hostile_names(page_of: Callable[..., Page], standard: Page) -> None:
    users = re.compile("w-meteor|meteor|flat|ann|bob|tfidf|seq2seq|lol|seldom here|s.jsonl|1:5|one label|not judged")
    page = page_of(spoilt(correlated(name="me"), users) | {"name": NASTY})
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in standard.tags}
    assert "<script>alert(1)</script></svg></title>\"'&amp;{{ 7*7 }}$x^2$" in page.text
    assert "49" not in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", page.source)
    # What can turn other letters round is inside an element that holds it.
    outside = re.sub(r"<(bdi|blockquote|dd|p|td|text|title)\b[^>]*>[^<]*", "", page.source)
    outside = re.sub(r"\"[^\"]*\"", "", outside)
    assert "\u202e" not in outside


def test_hostile_names_of_systems_and_results(page_of: Callable[..., Page]) -> None:
    results = spoilt([comparison(), scores()], re.compile("tfidf|copy|bleu-1"))
    page = page_of(*(each | {"name": NASTY} for each in results))
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.text.count("<script>alert(1)</script>") > 10


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


def test_little_is_enough(page_of: Callable[..., Page]) -> None:
    people = {"rows": [], "reason": "no text has two ratings"}
    bare = {"human": people, "agreement": None, "differences": [], "disagreements": [], "absent": [], "orders": {}}
    page = page_of(correlated(**bare, correlations=[], systems=[], signatures={}, points=None))
    assert "No metric has a correlation with human ratings." in page.text
    assert next(page.all("svg"), None) is None
    page_of(comparison() | {"systems": []}, {"schema": 1, "scores": []})
    page = page_of(gained(gains=[], differences=[], lines=[], notes=[]))
    assert "0:3" in page.text
    assert next(page.all("svg"), None) is None


def test_much_is_cut_on_the_page_and_whole_in_the_files(page_of: Callable[..., Page]) -> None:
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
    page = page_of(many, wide)
    assert "95 % confidence intervals, the first 60 of 1,500 systems" in page.text
    assert "(the first 1,000 rows of 1,500)" in page.text
    assert "system 19 (−.200) and 1,480 more." in page.text
    assert "All 990 differences of correlations" in page.text
    assert "between the 40 metrics with the strongest correlations" in page.text
    assert "The 12 of 45 metrics with the strongest correlations." in page.text
    assert (page.folder / "1-comparison.csv").read_text(encoding="utf-8").count("\n") == 1501


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("training", ["step", "5.25", "5.5"]),
        ("evaluation", ["mrr", ".25", ".2", ".3"]),
        ("commenters", ["cider", "meteor", ".5"]),
        ("agreement", ["kappa", ".5"]),
        ("corpus", ["train", "too short: 2"]),
        ("vectors", ["100 words, 8 dimensions", "ann"]),
        ("suggestions", ["Machine-generated suggestion", "tfidf"]),
    ],
)
def test_results_without_sentences_are_tables(kind: str, said: list[str], tmp_path: Path) -> None:
    made = structs.replace(example(kind), name="n")
    page, folder = write_report([made], tmp_path / "r.html")
    first = page.read_bytes()
    assert all(text in Document(page).text for text in said)
    assert list(folder.glob("*.csv"))
    write_report(read_results([folder / "results.json"]), page)
    assert page.read_bytes() == first


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
        ("within-system", "60 texts", "Pearson within systems"),
        ("pool", "60 texts", "Pearson"),
    ],
)
def test_a_scatter_shows_what_its_coefficient_is_over(by: By, points: str, said: str, tmp_path: Path) -> None:
    grades = [1 + (i * i) % 5 for i in range(60)]
    scores = {"a": [grade + i % 7 for i, grade in enumerate(grades)]}
    items, systems = [i // 5 for i in range(60)], [(i + i // 5) % 5 for i in range(60)]
    found = correlate(scores, grades, items=items, systems=systems, options=replace(QUICK, by=by))
    (value,) = [row.value for row in found.correlations if (row.metric, row.coefficient) == ("a", "pearson")]
    page, _ = write_report([found], tmp_path / "r.html")
    source = Document(page).source
    assert f"Score against mean human rating for 1 metrics, {points}" in source
    assert f">{said} {value:.3f}, ".replace("0.", ".") in source


def told(**changes: Any) -> str:
    found = typed(correlated(**changes), CorrelationResult)
    return plain(paragraph(Lookup(found))).replace("\N{NO-BREAK SPACE}", " ")


def test_paragraph() -> None:
    assert told() == (
        "w-meteor has the highest correlation among the metrics with human ratings: Pearson .500 [.400, .600]; "
        "control:top(w-meteor) has .550 [.450, .650]. "
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
        "w-meteor correlates best among the metrics with human ratings by Pearson .500 [.400, .600], meteor by "
        "Spearman .450 [.350, .550]; by Pearson control:top(w-meteor) has .550 [.450, .650]."
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
    code = "import sys; from pathlib import Path; from postil.results.page.report import *; "
    code += "from postil.results.base import *; "
    code += "write_report(read_results([Path(sys.argv[1])]), sys.argv[2])"
    pages = []
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        command = [sys.executable, "-c", code, str(result), str(tmp_path / seed / "r.html")]
        env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C"}
        subprocess.run(command, check=True, timeout=120, env=env)  # noqa: S603 - our own code
        pages.append((tmp_path / seed / "r.html").read_bytes())
    assert pages[0] == pages[1]


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there are no results"):
        write_report([], tmp_path / "r.html")


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
        with pytest.raises(MissingExtra, match=r"^a report needs an optional package: pip install 'postil\[report\]'$"):
            attempt()
