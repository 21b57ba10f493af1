"""Sentences, tables and curves of passage rankings."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

import pytest

from page_document import Page, spoilt
from postil.passages.chapter import Gains, gains_paragraph, leads, use_of_weights
from postil.passages.result import NcgResult
from postil.results.page.blocks import plain
from result_examples import CUTS, ITSELF, NCG, gained, typed

if TYPE_CHECKING:
    from collections.abc import Callable


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


def test_equal_measures_are_first_together(page_of: Callable[..., Page]) -> None:
    page = page_of(gained({"a-1": (0.5, 0.5), "b-1": (0.5 + 1e-15, 0.5), "c-1": (0.3, 0.6)}))
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


def test_only_baselines_are_compared_with_one_another() -> None:
    said, _ = gains_told(gained({"length": (0.4, 0.4), "random": (0.1, 0.2)}))
    assert (
        said
        == "The highest nCG is that of length at every cutoff (.400 and .400). That is significantly higher than every "
        "other measure."
    )


def test_weighted_measures_are_not_compared_with_others() -> None:
    said, look = gains_told(gained({"f1-1": (0.7, 0.7), f"w-f1-1{ITSELF}": (0.6, 0.6)}))
    assert "That is" not in said
    assert (
        "they are not comparable with those above, which leave_one_out=True scores in that way too. Of them the nCG is"
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


def test_a_chapter_of_gains(page_of: Callable[..., Page]) -> None:
    page = page_of(gained())
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


def test_interestingness_and_informativeness_on_one_page(page_of: Callable[..., Page]) -> None:
    outside = {name: values for name, values in NCG.items() if name.endswith(ITSELF)}
    others = gained(outside, name="others")
    others["settings"] |= {"reference": "others", "pool": "all"}
    page = page_of(gained() | {"name": "topics"}, others)
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


def test_tables_of_gains_beside_the_page(page_of: Callable[..., Page]) -> None:
    folder = page_of(gained()).folder
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


def test_hostile_measures(page_of: Callable[..., Page]) -> None:
    page = page_of(
        spoilt(gained(), re.compile("f1-2|kl-1|p1 of ducks|words|stop words|p.jsonl|0:3|\ben\b|none|sig|nothing"))
    )
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.text.count("<script>alert(1)</script>") > 30
    assert "&amp;49" not in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", page.source)


def test_one_topic_has_no_intervals(page_of: Callable[..., Page]) -> None:
    bare = gained(differences=[], notes=["one topic: no intervals and no tests"])
    for each in bare["gains"]:
        each |= {"low": None, "high": None}
    for each in bare["lines"]:
        del each["low"], each["high"]
    page = page_of(bare)
    assert page.line("f1-2") == [".700", ".800"]
    assert "One topic: no intervals and no tests." in page.text
    for word in ("ignificant", "Differences between", "bands", "interval"):
        assert word not in page.text.replace("no intervals and no tests", ""), word


def test_many_measures_and_wild_numbers(page_of: Callable[..., Page]) -> None:
    many = {f"f{i}-1": (1e50 * i, 1e-50) for i in range(14)}
    page = page_of(gained(many))
    assert "the best of each family of measures, the first 12 of 14" in page.text
    assert "1.3e+51" in page.text
    alone = page_of(gained({"f1-1": (0.5, 0.5)}))
    assert "The nCG is that of f1-1 at every cutoff (.500 and .500)." in alone.text
    assert [each["aria-label"] for each in alone.all("svg")] == ["nCG over k: f1-1; the numbers are in the table above"]


def correlation(value: float | None, reason: str | None = None) -> dict[str, Any]:
    if value is None:
        return {"lists": 0, "reason": reason}
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "lists": 4}


def with_lengths() -> dict[str, Any]:
    """Gains, with the numbers of every ranking by length; the first has no partial correlation."""
    thirds = [{"ncg": ncg, "n": n, "shortest": 2, "longest": n} for ncg, n in ((0.3, 7), (None, 2), (0.5, 1200))]
    rows = [
        {
            "measure": each.removesuffix(ITSELF),
            "leave_one_out": each.endswith(ITSELF),
            "k": 5,
            "ncg": {"value": 0.4, "low": 0.35, "high": 0.45},
            "thirds": thirds,
            "spearman": correlation(0.25),
            "partial": correlation(None if each == next(iter(NCG)) else -0.125, "equal short scores"),
            "with_length": correlation(0.75),
        }
        for each in NCG
    ]
    return gained(by_length=rows)


def test_the_length_of_the_passages(page_of: Callable[..., Page]) -> None:
    page = page_of(with_lengths())
    section = page.text[page.text.index("nCG@5 by length: the mean of three thirds") :]
    assert "three thirds of each topic by number of words, and each third" in section
    assert "95 % confidence intervals over topics in brackets" in section
    assert "7 passages of 2 to 7 words" in section
    assert "1,200 passages of 2 to 1,200 words" in section
    assert "2 passages of 2 words" in section
    assert section.count(f"{next(iter(NCG))}, given length") == section.count("equal short scores") == 1
    rows = list(csv.DictReader(io.StringIO((page.folder / "by-length.csv").read_text(encoding="utf-8"))))
    assert [row["measure"] for row in rows] == [name.removesuffix(ITSELF) for name in NCG]
    assert (rows[0]["partial_spearman"], rows[1]["partial_spearman"], rows[0]["middle_ncg"]) == ("", "-0.125", "")
    tex = (page.folder / "by-length.tex").read_text(encoding="utf-8")
    assert "& .400 [.350, .450] & .300 & -- & .500 & .250 [.150, .350] &" in tex
