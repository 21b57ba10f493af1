"""The way of the paper: a corpus, ratings of its references from a campaign, ratings of suggestions, all tables."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from command_line import put
from postil.corpus.store import Corpus
from postil.data.row_files import read, write
from postil.data.rows import Article, Comment, Judgement, Passage, Reference
from postil.meta.agreement import agreement
from postil.meta.resampling import Draws

pytest.importorskip("sqlalchemy")

from postil.campaigns.store import Store

if TYPE_CHECKING:
    from conftest import Outcome, Postil

pytestmark = [
    pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables"),
    pytest.mark.skipif(find_spec("matplotlib") is None, reason="pages need the extra report"),
]

WORDS = ("rain", "chess", "votes", "bread", "tram", "choir", "apples")
METRICS = ("bleu-1", "meteor", "w-meteor", "rouge-l", "w-rouge-l")
BUILD = (
    *("--source", "a site", "--license", "ours", "--dev", 3, "--test", 8, "--references-per-article", 4),
    *("--min-content-words", 0, "--min-comments", 1, "--test-min-comments", 0, "--test-min-upvotes", 0),
)
STUDY = (
    *("study", "comments", "--preset", "paper", "--systems", "ir-t,ir-tc", "--ranker", "tf-idf", "--scale", "1:5"),
    *(word for metric in METRICS for word in ("-m", metric)),
    *("--resamples", 60, "--permutations", 20, "--draws", 3),
)


def articles() -> list[Article]:
    def comment(n: int, c: int) -> Comment:
        words = [WORDS[(n + c * step) % 7] for step in range(2 + (n + c) % 5)]
        return Comment(f"c{c}", f"{' '.join(words)} says reader {c} of {n}", upvotes=c)

    return [
        Article(
            f"a{n:02}",
            f"{WORDS[n % 7]} and {WORDS[n % 5]} in town {n % 3}",
            tuple(comment(n, c) for c in range(7)),
            content=f"{WORDS[n % 7]} fell on {WORDS[(n + 1) % 7]} all day {n}",
        )
        for n in range(26)
    ]


def right(outcome: Outcome) -> Outcome:
    assert outcome.code == 0, outcome.err
    return outcome


def rate(path: str) -> None:
    """Each of five annotators rates by the length of the text, in a way of their own."""
    with Store.open(path) as store:
        for number, person in enumerate(store.people.everyone()):
            if person.role == "annotator":
                store.people.accept(store.people.invite(f"Person {person.id}", "annotator"))
                while (task := store.grading.next(person)) is not None:
                    size = len(task.text.split())
                    grade = max(1, min(5, size - 4 + (number % 3 == 0) - (number % 5 == 4 and size % 2)))
                    store.grading.rate(person, task.assignment, grade, idempotency_key=f"r{task.position}", seconds=1.0)


def build(postil: Postil) -> None:
    write("raw.jsonl", articles())
    right(postil("corpus", "build", "raw.jsonl", "--out", "corpus", *BUILD))


def rated_references(number: int) -> list[dict[str, Any]]:
    """The first references of the corpus with a rating each."""
    return [
        {"item": row["id"], "id": each["id"], "text": each["text"], "ratings": [{"annotator": "A1", "grade": 3}]}
        for row in _test_articles()
        for each in row["comments"]
    ][:number]


def campaign(postil: Postil, name: str, *what: object) -> None:
    """A campaign with five annotators, two for each text, from its plan to its export."""
    right(postil("annotate", "plan", *what, f"{name}.db", "--annotators", 5, "--annotators-per-item", 2))
    rate(f"{name}.db")
    right(postil("annotate", "export", f"{name}.db", "--out", name))


def tables(out: str) -> dict[str, dict[str, Any]]:
    study = json.loads(Path(out, "study.json").read_text())
    every = [table for part in study["parts"] for table in part["tables"]]
    return {table["key"]: {row["name"]: row.get("cells", []) for row in table["rows"]} for table in every}


def kappa(rows: list[Reference], name: str) -> float:
    found = agreement(
        (Judgement(row.item, str(row.id), each.annotator, each.grade) for row in rows for each in row.ratings),
        draws=Draws(resamples=1),
    )
    assert len(found.raters) == 5
    return found.estimates[name].value


def test_from_the_plan_of_a_campaign_to_tables_3_to_9(postil: Postil) -> None:
    build(postil)
    campaign(postil, "references", "corpus", "--split", "test")
    exported = list(read("references/references.jsonl", Reference))
    assert len(exported) == 8 * 4
    assert all(row.id is not None and len(row.ratings) == 2 for row in exported)

    asked = ("--corpus", "corpus", "--out", "study", "--references", "references/references.jsonl")
    right(postil(*STUDY, *asked))
    assert "weights of references: human ratings on the scale 1:5" in Path("study/study.md").read_text()
    campaign(postil, "suggestions", "study/candidates.jsonl", "--articles", "study/articles.jsonl")
    said = right(postil(*STUDY, *asked, "--judgements", "suggestions/judgements.jsonl")).err
    assert "ir-t: done before" in said
    assert "references: done before" in said

    found = tables("study")
    keys = ("table-2", "table-3", "table-5", "table-6", "table-7", "table-8", "table-9", "agreement", "deviations")
    assert set(keys) <= found.keys()
    means = [sum(each.grade for each in row.ratings) / 2 for row in exported]
    assert found["table-2"]["grade per comment"][2] == pytest.approx(sum(means) / len(means))
    top = sum(max(each.grade for each in row.ratings) == 5 for row in exported) / len(exported)
    assert found["table-2"]["share of comments with the top grade"][2] == pytest.approx(top)
    assert set(METRICS) <= found["table-3"].keys()
    assert "human: split-half correlation" in found["table-3"]
    assert all(value is not None for value in found["table-7"]["mean human rating"])
    assert found["agreement"]["annotators"][:2] == [5, 5]
    for name, key in (("unweighted", "kappa-unweighted-pairs"), ("with quadratic weights", "kappa-quadratic-pairs")):
        shown = found["agreement"][f"Cohen’s kappa, {name}"][0]
        assert shown[0] == pytest.approx(kappa(exported, key))
    assert found["table-8"]["grade and text of each reference"] is not None
    deviations = found["deviations"]
    rubric = "that of postil annotate (en), which paraphrases the paper’s criteria"
    assert deviations["rubric of the ratings"][1] == rubric
    assert deviations["ratings of the references"][1].startswith("64 ratings of 32 references; references/references")
    assert "beam search of METEOR 1.5" in deviations["METEOR: alignment"][1]

    # The same by way of the corpus: built again with the ratings, under other pseudonyms.
    rated = ("corpus", "build", "raw.jsonl", "--out", "rated", *BUILD, "--ratings", "references/references.jsonl")
    right(postil(*rated))
    right(postil(*STUDY, "--corpus", "rated", "--out", "again", "--judgements", "suggestions/judgements.jsonl"))
    again = tables("again")
    for key in ("table-2", "table-3", "table-7"):
        assert again[key] == found[key]
    assert again["agreement"]["annotators"][:2] == [5, 5]
    for name in ("unweighted", "with quadratic weights"):
        row = f"Cohen’s kappa, {name}"
        assert again["agreement"][row][0][0] == pytest.approx(found["agreement"][row][0][0])
    own, other = (list(read(f"{name}/references.jsonl", Reference)) for name in ("study", "again"))
    assert [(row.id, row.mean_grade) for row in own] == [(row.id, row.mean_grade) for row in other]


def mark(path: str) -> None:
    """Each of five annotators marks the beginning of longer passages, in a way of their own."""
    with Store.open(path) as store:
        for number, person in enumerate(store.people.everyone()):
            if person.role == "annotator":
                store.people.accept(store.people.invite(f"Person {person.id}", "annotator"))
                while (task := store.grading.next(person)) is not None:
                    words = task.text.split()
                    spans = [(0, len(words[0]) + 2 * number)] if len(words) > 5 else []
                    store.grading.rate(person, task.assignment, spans, idempotency_key=f"r{task.position}", seconds=1.0)


def test_passages_that_a_campaign_marked_are_the_collection_of_a_study(postil: Postil) -> None:
    rows = [
        Passage(
            topic=f"t{topic}",
            id=f"{topic}-{n}",
            text=f"{WORDS[(topic + n) % 7]} " * 3 + f"fell {topic} " * (n % 4),
            grade=0,
        )
        for topic in range(4)
        for n in range(6)
    ]
    write("p.jsonl", rows)
    people = ("--annotators", 5, "--annotators-per-item", 2)
    right(postil("annotate", "plan", "p.jsonl", "m.db", "--item-type", "passage", *people))
    mark("m.db")
    right(postil("annotate", "export", "m.db", "--out", "marks"))
    marked = {row.id: row.grade or 0.0 for row in read("marks/passages.jsonl", Passage)}
    assert len(marked) == 24
    assert {row.id for row in rows if len(row.text.split()) > 5} == {key for key, grade in marked.items() if grade > 0}
    asked = ("--collection", "marks/passages.jsonl", "--preset", "paper", "--no-train")
    right(postil("study", "passages", *asked, "--out", "study"))
    said = Path("study/study.md").read_text()
    graded = sum(grade > 0 for grade in marked.values())
    assert re.search(rf"^\d+ passages of 4 topics, {graded} with a grade above 0", said, re.MULTILINE)
    assert re.search(r"^\| f1-1 \(F1_1\) \| [.\d]+ \[", said, re.MULTILINE)


@pytest.mark.parametrize("way", ["study", "corpus"])
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": None}, ":2: id: expected the id of a comment"),
        ({"ratings": ()}, ":2: ratings: expected ratings or a grade, got neither"),
        ({"text": "another text"}, ":2: text: comment "),
        ({"id": "…"}, ":2: text: a second row of comment "),
        ({"item": "b"}, "none of 2 rows is of a comment that is here; the first one is of "),
    ],
)
def test_ratings_that_do_not_fit(postil: Postil, way: str, change: dict[str, Any], problem: str) -> None:
    build(postil)
    rows = rated_references(2)
    if change.get("item"):
        rows = [{**row, **change} for row in rows]
    else:
        rows[1] |= {**change, "id": rows[0]["id"]} if change.get("id") else change
    put("ratings.jsonl", rows)
    outcome = (
        postil(*STUDY, "--corpus", "corpus", "--out", "study", "--references", "ratings.jsonl")
        if way == "study"
        else postil("corpus", "build", "raw.jsonl", "--out", "rated", *BUILD, "--ratings", "ratings.jsonl")
    )
    assert outcome.code == 3
    assert outcome.err.splitlines()[-1].startswith("postil: ratings.jsonl")
    assert problem in outcome.err


def rated_rows(postil: Postil, each_of: int = 2) -> list[dict[str, Any]]:
    """Ratings of some references of each article, one row per rating, as a spreadsheet has them."""
    build(postil)
    return [
        {"item": row["id"], "id": each["id"], "text": each["text"], "annotator": who, "grade": 1 + number + place}
        for row in _test_articles()
        for number, each in enumerate(row["comments"][:each_of])
        for place, who in enumerate(("ann", "bob"))
    ]


def table(rows: list[dict[str, Any]]) -> str:
    names = list(rows[0])
    return "\n".join(
        ",".join(str(row[name]) for name in names) for row in [dict(zip(names, names, strict=True)), *rows]
    )


def test_a_row_per_rating_is_joined(postil: Postil) -> None:
    rows = rated_rows(postil)
    Path("ratings.csv").write_text(table(rows))
    right(postil("corpus", "build", "raw.jsonl", "--out", "rated", *BUILD, "--ratings", "ratings.csv"))
    found = {
        (article.id, comment.id): sorted(each.grade for each in comment.ratings)
        for article in Corpus.open("rated").articles("test")
        for comment in article.comments
        if comment.ratings
    }
    assert found == {(row["item"], row["id"]): [row["grade"], row["grade"] + 1] for row in rows[::2]}
    done = postil(*STUDY, "--corpus", "corpus", "--out", "study", "--references", "ratings.csv")
    assert f"ratings.csv: {32 - len(rows) // 2} of 32 references have no rating, and weights" in done.err


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"annotator": "ann"}, "ratings.csv:3: annotator: a second row of comment "),
        ({"annotator": ""}, "a column annotator"),
        ({"text": "another text"}, "ratings.csv:3: text: a second row of comment "),
    ],
)
def test_rows_of_ratings_that_cannot_be_joined(postil: Postil, change: dict[str, Any], problem: str) -> None:
    rows = rated_rows(postil)
    rows[1] |= change
    Path("ratings.csv").write_text(table(rows))
    done = postil(*STUDY, "--corpus", "corpus", "--out", "study", "--references", "ratings.csv")
    assert (done.code, problem in done.err) == (3, True), done.err


def test_a_grade_off_the_scale_is_found_in_its_file(postil: Postil) -> None:
    rows = rated_rows(postil, 4)
    rows[3]["grade"] = 9
    Path("ratings.csv").write_text(table(rows))
    done = postil(*STUDY, "--corpus", "corpus", "--out", "study", "--references", "ratings.csv")
    assert done.code == 3
    last = done.err.splitlines()[-1]
    assert last.startswith("postil: ratings.csv:4: ratings: expected a number from 1 to 5, got 9, for comment "), last
    right(postil("corpus", "build", "raw.jsonl", "--out", "rated", *BUILD, "--ratings", "ratings.csv"))
    done = postil(*STUDY, "--corpus", "rated", "--out", "study")
    assert done.err.splitlines()[-1].startswith(
        "postil: rated, test: expected a number from 1 to 5, got 9, for comment "
    )


def _test_articles() -> list[dict[str, Any]]:
    return [
        {"id": article.id, "comments": [{"id": one.id, "text": one.text} for one in article.comments]}
        for article in Corpus.open("corpus").articles("test")
    ]


def test_ratings_of_a_part_are_counted(postil: Postil) -> None:
    build(postil)
    rows = rated_references(9)
    rows.append({"item": "elsewhere", "id": "c1", "text": "Hm.", "ratings": [{"annotator": "A1", "grade": 3}]})
    put("ratings.jsonl", rows)
    asked = ("--corpus", "corpus", "--out", "study", "--references", "ratings.jsonl", "--stage", "references")
    said = right(postil(*STUDY, *asked)).err
    assert "ratings.jsonl: 1 row of comments that are no references of the test set: ignored" in said
    assert "ratings.jsonl: 23 of 32 references have no rating" in said
    built = ("corpus", "build", "raw.jsonl", "--out", "rated", *BUILD, "--ratings", "ratings.jsonl")
    assert "rated comments that are not in the articles: 1" in right(postil(*built)).err
    metadata = json.loads(Path("rated/metadata.json").read_text())
    assert metadata["ratings"]["name"] == "ratings.jsonl"
