"""The tables that a study of comments has with the preset of the paper."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from postil.corpus.result import CorpusStatistics, SplitStatistics, Spread, StatisticsResult, StatisticsSettings
from postil.correlation.result import CorrelationResult
from postil.data.rows import Article, Comment, Judgement
from postil.meta.agreement import agreement
from postil.meta.resampling import Draws
from postil.studies.comments.people import REFERENCES, agreement_part, disagreements_part, examples_part, people_part
from postil.studies.comments.tables import THRESHOLDS, corpus_part
from postil.studies.papers import comments_paper
from postil.studies.result import StudyPart, StudyResult
from postil.studies.view import study_text
from result_examples import correlated, row, typed, write_report

if TYPE_CHECKING:
    from pathlib import Path

    from postil.studies.result import StudyCell

PAPER = comments_paper()
HOSTILE = "</td><script>alert(1)</script> | [x](javascript:1)\u202e\x1b[31m `a`"


def rows(part: StudyPart, key: str) -> list[tuple[str, tuple[StudyCell, ...]]]:
    table = next(table for table in part.tables if table.key == key)
    return [(row.name, row.cells) for row in table.rows]


def judged(**changes: Any) -> CorrelationResult:
    metrics = ("bleu-1", "meteor(params=2005)", "meteor", "w-meteor")
    made = {
        "correlations": [row(name, 0.3, c, p=0.02) for name in metrics for c in ("spearman", "pearson")],
        "points": {"grades": [1.0, 2.5, 4.0], "scores": {name: [0.1, 0.3, 0.2] for name in metrics}},
    }
    return typed(correlated(**made | changes), CorrelationResult)


def statistics() -> StatisticsResult:
    def spread(mean: float) -> Spread:
        return Spread(
            n=4,
            mean=mean,
            sd=1.0,
            **dict.fromkeys(("min", "p25", "median", "p75", "p90", "p99", "p999"), mean),
            max=9.0,
        )

    def split(articles: int, categories: dict[str, int]) -> SplitStatistics:
        spreads = ("comments_per_article", "upvotes", "grades", "ratings")
        spreads += tuple(f"{of}_{unit}" for of in ("title", "content", "comment") for unit in ("words", "characters"))
        values: dict[str, Any] = {
            name: 0.2 if "float" in str(kind) else articles for name, kind in SplitStatistics.__annotations__.items()
        }
        return SplitStatistics(**values | {name: spread(2.5) for name in spreads} | {"categories": categories})

    many = {f"c{n:02}": 20 - n for n in range(20)}
    found = CorpusStatistics(
        splits={"train": split(6, {}), "test": split(2, {}), "all": split(8, many)}, top_grade=None
    )
    return StatisticsResult(
        statistics=found, settings=StatisticsSettings(tokenizer="words", vocabulary=30000, postil="0")
    )


def test_every_number_of_the_papers_text_has_one_beside_it() -> None:
    options = {option: place for place, option in enumerate(THRESHOLDS.values(), 1)}
    part = corpus_part(statistics(), PAPER, options)
    said = dict(rows(part, "table-2-text"))
    assert {name: cells[1] for name, cells in said.items()} == {
        "articles": 8,
        "comments": 8,
        "graded comments": 4,
        "comments per article": 2.5,
        "maximum upvotes of a comment": 9,
        **{name: place for place, name in enumerate(THRESHOLDS, 1)},
        "references per test article": 2.5,
        "vocabulary of the models": 30000,
    }
    assert said["comments"] == ("4.5 million", 8, "section 1")
    assert said["minimum words of each of these"][0] == "more than 5"


def test_shares_of_splits_and_categories() -> None:
    part = corpus_part(statistics(), PAPER, {})
    table = rows(part, "table-2")
    place = [name for name, _ in table].index("share of all articles")
    assert table[place][1] == (0.75, None, 0.25, 1.0)
    theirs = tuple(pytest.approx(n / 198112) for n in (191502, 5000, 1610))
    assert table[place + 1] == ("in the paper", (*theirs, None))
    shares = rows(part, "figure-2")
    assert len(shares) == 16
    assert shares[0] == ("c00", (20, 20 / 210))
    assert shares[-1] == ("5 others", (15, 15 / 210))
    assert sum(float(cells[1]) for _, cells in shares) == pytest.approx(1)  # type: ignore[arg-type]


def test_table_2_has_all_of_the_papers_rows_and_columns_with_the_preset_alone() -> None:
    found = statistics()
    part = corpus_part(found, PAPER, {})
    assert part.tables[0].head == ("", "train", "dev", "test", "all")
    assert rows(part, "table-2")[1] == ("in the paper", (191502, 5000, 1610, None))
    lacking = msgspec.structs.replace(
        found,
        statistics=msgspec.structs.replace(
            found.statistics,
            splits={
                name: msgspec.structs.replace(split, top_grade_comments=None)
                for name, split in found.statistics.splits.items()
            },
        ),
    )
    top = "share of comments with the top grade"
    assert dict(rows(corpus_part(lacking, PAPER, {}), "table-2"))[top] == (None,) * 4
    part = corpus_part(lacking, PAPER, None)
    assert [table.key for table in part.tables] == ["table-2"]
    assert part.tables[0].head == ("", "train", "test", "all")
    assert not {name for name, _ in rows(part, "table-2")} & {top, "share of all articles", "comments"}


def test_table_3_has_a_p_value_per_coefficient() -> None:
    part = people_part(judged(), PAPER, "weights: votes", tested=True)
    table = part.tables[0]
    assert table.head == ("metric", "Spearman", "p", "in the paper", "Pearson", "p ", "in the paper ")
    cells = dict(rows(part, "table-3"))
    estimated = (0.3, pytest.approx(0.2), pytest.approx(0.4))
    assert cells["w-meteor"] == (estimated, 0.02, 0.5902, estimated, 0.02, 0.5747)
    assert cells["meteor(params=2005)"][2] == 0.5595  # every reading of METEOR is beside the paper's
    assert cells["human: split-half correlation"] == (
        *(None, None, 0.7803),
        *((0.8, pytest.approx(0.7), pytest.approx(0.9)), 0.01, 0.7804),
    )
    assert "; in the paper all p < .01" in table.caption
    assert f"{2 / 101:.4f}"[1:] in table.caption
    plain = people_part(judged(), PAPER, "weights: votes", tested=False)
    assert plain.tables[0].head == ("metric", "Spearman", "in the paper", "Pearson", "in the paper ")
    assert not plain.pictures


def test_figure_1_has_three_panels_of_the_first_readings() -> None:
    (picture,) = people_part(judged(), PAPER, "", tested=True).pictures
    assert list(picture.points.scores) == ["bleu-1", "meteor(params=2005)", "w-meteor"]
    assert picture.notes == ("Spearman .300, Pearson .300",) * 3
    assert picture.points.grades == (1.0, 2.5, 4.0)  # noise is in the picture alone
    assert people_part(judged(points=None), PAPER, "", tested=True).pictures == ()
    others = {"grades": [1.0], "scores": {"rouge-l": [0.5]}}
    assert people_part(judged(points=others), PAPER, "", tested=True).pictures == ()


def test_disagreements_have_normalized_scores_with_the_originals_in_parentheses() -> None:
    part = disagreements_part(judged(), [Article("a", HOSTILE, ())])
    table = rows(part, "table-6")
    assert table[:7] == [
        ("meteor is higher", ()),
        ("title", (HOSTILE,)),
        ("comment", ("lol",)),
        ("system", ("tfidf",)),
        ("human", ("1.00",)),
        ("w-meteor", ("1.20 (.100)",)),
        ("meteor", ("4.50 (.900)",)),
    ]
    assert table[8] == ("title", ("b",))  # an article without a title has its id
    assert len(str(table[16][1][0])) == 300
    assert len(table) == 21
    assert "clipped to 1:5" in part.words[0]
    assert disagreements_part(judged(disagreements=[]), []) is None


def test_agreement_of_references_and_suggestions() -> None:
    ratings = [
        Judgement(str(n), "c", who, 1 + (n + (who == "bob" and n % 3 == 0)) % 5)
        for n in range(30)
        for who in ("ann", "bob")
    ]
    references = agreement(ratings, draws=Draws(resamples=20))
    estimate = references.estimates["kappa-unweighted-pairs"]
    table = dict(rows(agreement_part(judged(), references, PAPER), "agreement"))
    assert table["annotators"] == (2, 2, 5)
    assert table["ratings per text"] == (2.0, 2.0, 2)
    assert table["Cohen’s kappa, unweighted"] == ((estimate.value, estimate.low, estimate.high), None, 0.59)
    assert table["split-half correlation, Pearson"][1:] == ((0.8, pytest.approx(0.7), pytest.approx(0.9)), 0.7804)
    alone = dict(rows(agreement_part(None, None, PAPER), "agreement"))
    assert all(cells[:2] == (None, None) for cells in alone.values())
    assert {name for name, cells in alone.items() if cells[2] is None} == {
        "Scott’s pi, unweighted",
        "Scott’s pi, with quadratic weights",
    }


def test_the_kappa_of_the_paper_is_compared_with_no_kappa_between_positions() -> None:
    ratings = [
        Judgement(str(n), "c", place, 1 + (n + (place == "2" and n % 3 == 0)) % 5) for n in range(30) for place in "12"
    ]
    part = agreement_part(None, agreement(ratings, draws=Draws(resamples=20), numbered=True), PAPER)
    table = dict(rows(part, "agreement"))
    assert table["annotators"] == ("not told apart", None, 5)
    assert table["Cohen’s kappa, unweighted"] == (None, None, 0.59)
    assert table["Scott’s pi, unweighted"][0] is not None
    (said,) = part.words
    assert said.startswith("Of the ratings of the references there is no Cohen’s kappa to compare")
    assert "by position, so nobody can be told apart" in said


def example(name: str, comments: int, **quality: Any) -> Article:
    texts = (Comment(f"c{n}", f"{HOSTILE} {n}", **quality) for n in range(comments))
    return Article(name, HOSTILE, tuple(texts), content="long " * 1000)


@pytest.mark.parametrize(
    ("quality", "title", "first"),
    [
        ({"grade": 3.5, "upvotes": 1000}, "grade and text of each reference", "3.50"),
        ({"upvotes": 1000}, "upvotes and text of each reference", "1,000"),
        ({}, "number and text of each reference", "1"),
    ],
)
def test_examples_are_the_first_two_articles_with_their_references(
    quality: dict[str, Any], title: str, first: str
) -> None:
    part = examples_part([example(name, 3, **quality) for name in ("a", "b", "c")])
    assert [table.key for table in part.tables] == ["table-8", "table-9"]
    table = rows(part, "table-9")
    assert table[0] == ("article", ("b",))
    assert table[1][0] == "title"
    assert len(str(table[2][1][0])) == 1000
    assert table[3] == (title, ())
    assert [cells[0] for _, cells in table[4:]] == [f"{HOSTILE} {n}" for n in range(3)]
    assert table[4][0] == first


def test_few_of_very_many_references_are_shown_and_it_is_said() -> None:
    (table,) = examples_part([example("a", REFERENCES + 7)]).tables
    assert table.caption == "Table 8: a test article with 100 of 107 references"
    assert len(table.rows) == REFERENCES + 4


def test_the_page_and_the_files_of_the_paper_s_tables(tmp_path: Path) -> None:
    found = judged()
    articles = [example("a", 3, upvotes=2)]
    parts = [people_part(found, PAPER, "", tested=True), disagreements_part(found, articles), examples_part(articles)]
    study = StudyResult(name="x", title="T", parts=tuple(part for part in parts if part))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_report([study], tmp_path / name / "r.html")
    page = (tmp_path / "one" / "r.html").read_text()
    assert page == (tmp_path / "two" / "r.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<svg") == 1
    with (tmp_path / "one" / "r_files" / "figure-1.csv").open(newline="") as stream:
        points = list(csv.DictReader(stream))
    assert points[1] == {"human": "2.5", "bleu-1": "0.3", "meteor(params=2005)": "0.3", "w-meteor": "0.3"}
    text = study_text("markdown", study)
    assert "| article | a |" in text
    assert "&lt;script>alert(1)&lt;/script> \\| " in text
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_a_picture_of_points_is_read_back_and_checked() -> None:
    part = people_part(judged(), PAPER, "", tested=True)
    encoded = msgspec.json.encode(part)
    assert msgspec.json.decode(encoded, type=StudyPart) == part
    broken = json.loads(encoded)
    broken["pictures"][0]["notes"] = ["one"]
    with pytest.raises(msgspec.ValidationError, match="expected a note for each panel of points"):
        msgspec.convert(broken, StudyPart)
