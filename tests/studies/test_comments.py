"""The study of commenters: what its stages leave, when they are done anew, and that its tables are the commands'."""

from __future__ import annotations

import gzip
import json
import shlex
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from click.testing import CliRunner

from postil.cli.main import app
from postil.comments.evaluation import evaluate_commenters
from postil.comments.options import EvaluateOptions
from postil.corpus.store import Corpus
from postil.data.grades import Scale
from postil.data.row_files import write
from postil.data.rows import Article, Candidate, Comment, Judgement, Rating
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.results.base import read_results
from postil.results.page.report import write_report
from postil.studies.comments.calls import study_comments, study_tencent
from postil.studies.comments.tables import source_of_weights
from postil.studies.options import CommentsOptions
from postil.studies.papers import comments_paper
from postil.studies.result import StudyResult
from postil.studies.view import study_text
from topic_corpora import corpus_of

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [
    pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables"),
    pytest.mark.skipif(find_spec("matplotlib") is None, reason="pages need the extra report"),
]

WORDS = ("rain", "chess", "votes", "bread")
METRICS = ("rouge-l", "w-rouge-l", "bleu-1")
QUICK: dict[str, Any] = {
    "systems": ("ir-t",),
    "ranker": "tf-idf",
    "metrics": METRICS,
    "draws": 2,
    "resamples": 20,
    "permutations": 20,
}


def articles(*, votes: bool = True) -> list[Article]:
    return [
        Article(
            f"a{n:02}",
            f"{WORDS[n % 4]} in town {n % 3}",
            tuple(
                Comment(
                    f"c{c}",
                    f"{WORDS[(n + c) % 4]} reader {c} says so {n}" + " again" * (c % 3),
                    upvotes=c * (n % 3) if votes else None,
                )
                for c in range(6)
            ),
            category=WORDS[n % 2],
        )
        for n in range(24)
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus_of(tmp_path_factory.mktemp("made"), articles(), 4, 6, references_per_article=4).path


@pytest.fixture(scope="module")
def done(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    out, said = tmp_path_factory.mktemp("out"), list[str]()
    study_comments(str(corpus), out, CommentsOptions(**QUICK), said.append)
    return out, said


STAGES = ("statistics", "references", "suggestions-ir-t", "candidates", "scores", "comparison")


def run(corpus: Path, out: Path, options: CommentsOptions, stages: Sequence[str], said: list[str]) -> None:
    """Some stages, one after the other; without the page, which takes longer than they do."""
    for stage in stages:
        study_comments(str(corpus), out, replace(options, stage=stage), said.append)


def trained(done: tuple[Path, list[str]], **more: Any) -> dict[str, Any]:
    """Options of a study that takes the model of another one."""
    return QUICK | {"systems": (), "models": {"ir-t": str(done[0] / "models" / "ir-t")}} | more


def judged(done: tuple[Path, list[str]], path: Path, aspects: tuple[str | None, ...] = (None,)) -> list[Judgement]:
    """Ratings of all candidates by two people, in a file."""
    rows = [
        Judgement(row["item"], row["system"], annotator, 1 + (len(row["text"]) + n * shift) % 5, aspect)
        for n, row in enumerate(lines(done[0] / "candidates.jsonl"))
        for shift, annotator in enumerate(("ann", "bob"))
        for aspect in aspects
    ]
    write(path, rows)
    return rows


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def cells(out: Path, key: str) -> dict[str, list[Any]]:
    """The rows of a table, without those of the paper."""
    study = json.loads((out / "study.json").read_text())
    table = next(table for part in study["parts"] for table in part["tables"] if table["key"] == key)
    return {row["name"]: row["cells"] for row in table["rows"] if row["name"] != "in the paper" and "cells" in row}


def test_every_stage_says_the_command_that_does_the_same(done: tuple[Path, list[str]], corpus: Path) -> None:
    out, said = done
    stages = [line.partition(": ")[0] for line in said if ": postil " in line]
    assert stages == [
        *("statistics", "ir-t", "references", "suggestions-ir-t", "candidates", "scores", "comparison", "tables"),
        "report",
    ]
    assert f"statistics: postil corpus stats {corpus} --format json > {out / 'statistics.json'}" in said


@pytest.mark.parametrize("stage", ["statistics", "suggestions-ir-t", "scores", "comparison"])
def test_that_command_prints_the_same_bytes(done: tuple[Path, list[str]], stage: str) -> None:
    words = next(shlex.split(line) for line in done[1] if line.startswith(f"{stage}: "))
    *command, arrow, path = words[2:]
    result = CliRunner().invoke(app, command)
    assert arrow == ">"
    assert result.stdout == Path(path).read_text()


def test_the_numbers_are_those_of_evaluate(done: tuple[Path, list[str]], corpus: Path) -> None:
    out, _ = done
    found = evaluate_commenters([str(out / "models" / "ir-t")], corpus, EvaluateOptions(metrics=METRICS)).result
    ours = cells(out, "table-7")
    for metric in METRICS:
        assert ours[metric] == [row.score for row in found.scores if row.metric == metric]
    assert ours["mean words"] == [one.words for one in found.suggestions]
    assert ours["distinct-2"] == [one.distinct_2 for one in found.suggestions]
    assert found.settings.weights == "votes"


def test_the_human_comment_is_no_reference(done: tuple[Path, list[str]]) -> None:
    out, _ = done
    references, humans = (
        {(row["item"], row["text"]) for row in lines(out / f"{name}.jsonl")} for name in ("references", "human")
    )
    assert len(humans) == 6
    assert len(references) == 24
    assert not humans & references


def test_every_table_with_weights_says_where_they_come_from(done: tuple[Path, list[str]], corpus: Path) -> None:
    page = (done[0] / "report.html").read_text()
    said = "weights of references: readers’ votes, for want of human ratings"
    captions = [part.partition("</caption>")[0] for part in page.split("<caption>")[1:]]
    weighted = [caption for caption in captions if caption.startswith(("<span>Table 7", "<span>Systems against"))]
    assert len(weighted) == 2
    assert all(said in caption for caption in weighted)
    level = sum(len({one.upvotes for one in article.comments}) == 1 for article in Corpus.open(corpus).articles("test"))
    assert level
    assert f"in {level} of 6 articles all references have equally many votes; all weigh 1 there" in page


def test_nothing_is_done_twice(done: tuple[Path, list[str]], corpus: Path) -> None:
    out, first = done
    said: list[str] = []
    study_comments(str(corpus), out, CommentsOptions(**QUICK), said.append)
    assert said == [f"{line.partition(': ')[0]}: done before" for line in first if ": postil " in line]


def test_what_was_changed_is_done_anew_with_what_rests_on_it(
    done: tuple[Path, list[str]], corpus: Path, tmp_path: Path
) -> None:
    options, said = CommentsOptions(**trained(done, systems=("ir-t",))), list[str]()
    run(corpus, tmp_path, options, STAGES, said)
    before = (tmp_path / "scores.json").read_bytes()
    (tmp_path / "candidates.jsonl").write_text("")
    (tmp_path / "comparison.json").unlink()
    said.clear()
    run(corpus, tmp_path, options, STAGES, said)
    assert [line.partition(":")[0] for line in said if ": postil " in line] == ["candidates", "comparison"]
    assert (tmp_path / "scores.json").read_bytes() == before


def test_scores_are_done_anew_when_a_list_of_function_words_has_changed(
    done: tuple[Path, list[str]], corpus: Path, tmp_path: Path
) -> None:
    words = tmp_path / "words.txt"
    words.write_text("rain\n", encoding="utf-8")
    given = trained(done, systems=("ir-t",), metrics=(f"meteor(function_words={words})",))
    options, said = CommentsOptions(**given), list[str]()
    run(corpus, tmp_path, options, STAGES[1:5], said)
    before = json.loads((tmp_path / "scores.json").read_text())["scores"]
    words.write_text("rain\nreader\nsays\nso\n", encoding="utf-8")
    said.clear()
    run(corpus, tmp_path, options, STAGES[1:5], said)
    after = json.loads((tmp_path / "scores.json").read_text())["scores"]
    assert [line.partition(":")[0] for line in said if ": postil " in line] == ["scores"]
    assert [row["signature"] for row in before] != [row["signature"] for row in after]
    assert [row["score"] for row in before] != [row["score"] for row in after]


def test_a_model_that_is_there_is_never_replaced(corpus: Path, tmp_path: Path) -> None:
    training = QUICK | {"stage": "ir-t"}
    study_comments(str(corpus), tmp_path, CommentsOptions(**training), lambda _: None)
    with pytest.raises(UsageError, match="made from other inputs or options"):
        study_comments(str(corpus), tmp_path, CommentsOptions(**training, seed=1), lambda _: None)


def test_one_stage_alone(corpus: Path, tmp_path: Path) -> None:
    said: list[str] = []
    study_comments(str(corpus), tmp_path, CommentsOptions(**QUICK, stage="references"), said.append)
    assert (tmp_path / "references.jsonl").is_file()
    assert not (tmp_path / "statistics.json").exists()
    with pytest.raises(InvalidInput, match="run the stages before"):
        study_comments(str(corpus), tmp_path, CommentsOptions(**QUICK, stage="scores"), said.append)
    with pytest.raises(UnknownName, match="suggestion"):
        study_comments(str(corpus), tmp_path, CommentsOptions(**QUICK, stage="suggest"), said.append)


def test_judgements_add_people_controls_and_the_papers_numbers(
    done: tuple[Path, list[str]], corpus: Path, tmp_path: Path
) -> None:
    path = tmp_path / "judgements.jsonl"
    rows = judged(done, path)
    options = CommentsOptions(**trained(done), judgements=str(path), scale=Scale(1, 5))
    out = tmp_path / "out"
    run(corpus, out, options, [*STAGES, "correlations", "tables"], [])
    found = json.loads((out / "correlations.json").read_text())
    value = next(r for r in found["correlations"] if (r["metric"], r["coefficient"]) == ("w-rouge-l", "pearson"))
    table = cells(out, "table-3")
    assert table["w-rouge-l"][2] == [value["value"], value["low"], value["high"]]
    assert table["w-rouge-l"][3] == 0.2572
    assert table["human: split-half correlation"][1] == 0.7803
    assert {"shuffled weights", "top references", "weight of the nearest reference", "length of the text"} <= set(table)
    systems = cells(out, "table-7")
    assert systems["mean human rating"][0] == pytest.approx(sum(row.grade for row in rows if row.system == "ir-t") / 12)
    assert comments_paper().systems["people"]["ir-t"] == 2.859


def test_the_preset_of_the_paper_has_all_of_its_tables(
    done: tuple[Path, list[str]], corpus: Path, tmp_path: Path
) -> None:
    metrics = ("bleu-1", "meteor", "w-meteor")
    path = tmp_path / "judgements.jsonl"
    judged(done, path)
    asked = CommentsOptions(**trained(done, metrics=metrics), judgements=str(path), scale=Scale(1, 5))
    stages = [*STAGES, "correlations", "tables"]
    for name, preset in (("plain", None), ("paper", "paper")):
        run(corpus, tmp_path / name, replace(asked, preset=preset), stages, [])
    made, plain = (json.loads((tmp_path / name / "study.json").read_text()) for name in ("paper", "plain"))
    assert [table["key"] for part in plain["parts"] for table in part["tables"]] == [
        *("table-2", "commenters", "table-7", "table-3")
    ]
    keys = [table["key"] for part in made["parts"] for table in part["tables"]]
    assert keys[:3] == ["table-2", "table-2-text", "figure-2"]
    assert {"commenters", "table-7", "table-3", "table-5", "table-6", "agreement", "table-8", "table-9"} <= set(keys)
    (figure,) = (picture for part in made["parts"] for picture in part.get("pictures", ()) if "points" in picture)
    points = json.loads((tmp_path / "paper" / "correlations.json").read_text())["points"]
    assert figure["points"] == {
        "grades": points["grades"],
        "scores": {name: points["scores"][name] for name in metrics},
    }
    first = next(Corpus.open(corpus).articles("test"))
    example = cells(tmp_path / "paper", "table-8")
    assert example["article"] == [first.id]
    assert example["title"] == [first.title]


def test_the_preset_of_the_paper_without_judgements_has_the_agreement_of_the_references(tmp_path: Path) -> None:
    rated = [
        msgspec.structs.replace(
            article,
            comments=tuple(
                msgspec.structs.replace(
                    one, ratings=tuple(Rating(who, float(1 + (c * n + (who == "bob")) % 5)) for who in ("ann", "bob"))
                )
                for c, one in enumerate(article.comments)
            ),
        )
        for n, article in enumerate(articles())
    ]
    corpus_of(tmp_path, rated, 4, 6)
    rows = [Candidate(row.id, name, row.title) for row in articles() for name in ("lead", "human")]
    write(tmp_path / "given.jsonl", rows)
    given = QUICK | {"systems": (), "candidates": str(tmp_path / "given.jsonl"), "preset": "paper"}
    asked = CommentsOptions(**given, scale=Scale(1, 5))
    stages = ("statistics", "references", "candidates", "scores", "comparison", "tables")
    run(tmp_path / "corpus", tmp_path / "out", asked, stages, [])
    table = cells(tmp_path / "out", "agreement")
    assert table["annotators"] == [2, None, 5]
    assert table["ratings per text"] == [2.0, None, 2]
    assert table["Cohen’s kappa, unweighted"][0][0] < 0  # Ann and Bob never agree
    text = (tmp_path / "out" / "study.md").read_text()
    assert text.count("| grade and text of each reference |  |") == 2
    assert "graded comments | over 43,000 | " in text
    assert "Table 3, in the paper" in text


def test_deviations_are_those_of_the_systems_and_options_that_were_taken(corpus: Path, tmp_path: Path) -> None:
    asked = CommentsOptions(**QUICK | {"preset": "paper", "epochs": 2, "grid": ("dropout=0,0.5",)})
    run(corpus, tmp_path, asked, ["ir-t", *STAGES, "tables"], [])
    rows = cells(tmp_path, "deviations")
    assert rows["ranking of the candidates"][:2] == ["the relevance network alone", "the cosine of TF-IDF vectors"]
    assert rows["references per article"][1] == "4, sampled"
    assert {"similar articles", "idf", "W-ROUGE-L: several references", "kappa"} <= set(rows)
    assert not {"relevance network", "optimizer", "decoding", "att, att-tc", "METEOR: parameters", "p-values"} & set(
        rows
    )


def test_of_several_questions_one_is_chosen(done: tuple[Path, list[str]], corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    judged(done, path, ("relevance", "style"))
    options, said = CommentsOptions(**trained(done), judgements=str(path), aspect="style"), list[str]()
    run(corpus, tmp_path / "out", options, [*STAGES, "correlations"], said)
    assert json.loads((tmp_path / "out" / "correlations.json").read_text())["data"]["aspect"] == "style"
    commands = {line.partition(": ")[0]: line for line in said}
    assert "--aspect style" in commands["correlations"]
    assert "--aspect style" in commands["candidates"]


@pytest.mark.parametrize(
    ("rows", "aspect", "problem"),
    [
        ([("x", "style"), ("x", "tone")], None, r"judgements\.jsonl:2: aspect: .*more than one aspect"),
        ([("x", "style")], "tone", "unknown aspect 'tone'"),
        ([("x", None)], None, r"judgements\.jsonl: no judgement is of a test article; items are ids of articles"),
    ],
)
def test_judgements_are_looked_at_before_anything_is_trained(
    rows: list[tuple[str, str | None]], aspect: str | None, problem: str, corpus: Path, tmp_path: Path
) -> None:
    path = tmp_path / "judgements.jsonl"
    write(path, [Judgement(item, "ir-t", "ann", 3, asked) for item, asked in rows])
    options, said = CommentsOptions(**QUICK, judgements=str(path), aspect=aspect), list[str]()
    with pytest.raises((InvalidInput, UnknownName), match=problem):
        study_comments(str(corpus), tmp_path / "out", options, said.append)
    assert said == []


def test_the_page_can_be_made_again_from_its_results(done: tuple[Path, list[str]], tmp_path: Path) -> None:
    out, _ = done
    write_report(read_results([out / "report_files" / "results.json"]), tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes() == (out / "report.html").read_bytes()
    assert (out / "report_files" / "1-table-7.csv").read_text().startswith("row,ir-t,human\nrouge-l,")


def test_source_of_weights() -> None:
    assert source_of_weights("consensus", None).endswith("for want of human ratings and votes")
    assert source_of_weights("score", Scale(1, 5)) == "human ratings on the scale 1:5 (score)"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"systems": ("ir-x",)}, "commenter"),
        ({"systems": ()}, "no commenter"),
        ({"models": {"human": "x"}}, "readers' comment"),
        ({"metrics": ("meteorr",)}, "meteor"),
    ],
)
def test_requests_that_make_no_sense(given: dict[str, Any], problem: str) -> None:
    with pytest.raises((UsageError, UnknownName), match=problem):
        CommentsOptions(**QUICK | given)


def release(folder: Path) -> None:
    """Twelve articles in the files of the release, scored in the test set."""
    words = ["天气", "象棋", "选票", "面包"]
    for split, count in (("train", 6), ("dev", 3), ("test", 3)):
        rows = []
        for n in range(count):
            comments: list[list[Any]] = [
                [f"{words[(n + c) % 4]} 读者 {c} 说 {split}{n}", c, *([c % 5 / 4] if split == "test" else [])]
                for c in range(22)
            ]
            title = f"{words[n % 4]} {split} {n}"
            rows.append(
                json.dumps({"channel": "x", "comment": comments, "title": title, "url": f"http://k/{split}{n}"})
            )
        (folder / f"data.{split}.json").write_text("".join(f"{line}\n" for line in rows))


@pytest.mark.skipif(find_spec("rjieba") is None, reason="the release is cut by rjieba")
def test_the_release_becomes_a_corpus_and_its_scores_the_weights(tmp_path: Path) -> None:
    release(tmp_path)
    out, said = tmp_path / "out", list[str]()
    for stage in ("import-train", "import-dev", "import-test", "corpus", "ir-t", *STAGES, "tables"):
        study_tencent(tmp_path, out, replace(CommentsOptions(**QUICK), stage=stage), said.append)
    assert "human ratings on the scale 0:1 (score)" in (out / "study.json").read_text()
    assert cells(out, "table-2")["articles"] == [6, 3, 3, 12]
    paper = replace(CommentsOptions(**QUICK), preset="paper", stage="tables")
    study_tencent(tmp_path, out, paper, said.append)
    rows = cells(out, "deviations")
    assert rows["test articles at least"][1] == "as given"
    assert rows["references per article"][1] == "all comments"
    assert rows["articles at least"][1] == "0 words of content, 20 comments; dev and test as given"


def test_without_contents_given_systems_alone_train_nothing(tmp_path: Path) -> None:
    release(tmp_path)
    said: list[str] = []
    options = CommentsOptions(candidates=str(tmp_path / "given.jsonl"), stage="import-train")
    study_tencent(tmp_path, tmp_path / "out", options, said.append)
    assert not any("no contents" in line for line in said)


@pytest.mark.skipif(find_spec("rjieba") is None, reason="the release is cut by rjieba")
def test_contents_and_files_may_be_compressed(tmp_path: Path) -> None:
    release(tmp_path)
    train, out = tmp_path / "data.train.json", tmp_path / "out"
    with gzip.open(f"{train}.gz", "wb") as stream:
        stream.write(train.read_bytes())
    train.unlink()
    contents = "".join(f"http://k/train{n}\t{'天气很好，' * 20}\n" for n in range(6))
    (tmp_path / "contents.tsv").write_text(contents)
    study_tencent(tmp_path, out, replace(CommentsOptions(**QUICK), stage="import-train"), lambda _: None)
    with gzip.open(out / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
        assert all(json.loads(line)["content"].startswith("天气") for line in lines)


@pytest.mark.parametrize(
    ("there", "problem"),
    [
        ((), "data.train.json, data.dev.json and data.test.json missing; expected the folder of the Tencent release"),
        (("x/data.train.json",), r"missing; .* release; is it .*x\?"),
        (("data.train.json", "data.dev.json.gz", "x/data.train.json"), "data.test.json missing; .* release$"),
    ],
)
def test_parts_of_the_release_are_missing(tmp_path: Path, there: tuple[str, ...], problem: str) -> None:
    (tmp_path / "x").mkdir()
    for name in there:
        (tmp_path / name).touch()
    with pytest.raises(InvalidInput, match=problem):
        study_tencent(tmp_path, tmp_path / "out", CommentsOptions(**QUICK), lambda _: None)
    assert not (tmp_path / "out").exists()


def given(folder: Path, *names: str, leave: int = 0) -> Path:
    """Systems that were run elsewhere; the first of them lacks some articles, if asked for."""
    rows = [Candidate(row.id, name, f"{name} of {row.title}") for row in articles() for name in names]
    tested = {row["item"] for row in lines(folder / "candidates.jsonl")}
    lacking = sorted(tested)[:leave]
    path = folder / "given.jsonl"
    write(path, [row for row in rows if row.system != names[0] or row.item not in lacking])
    return path


def test_systems_that_were_run_elsewhere(done: tuple[Path, list[str]], corpus: Path, tmp_path: Path) -> None:
    path, said = given(done[0], "lead", "human"), list[str]()
    options = CommentsOptions(**trained(done), candidates=str(path))
    run(corpus, tmp_path, options, [*STAGES, "tables"], said)
    rows = lines(tmp_path / "candidates.jsonl")
    assert list(dict.fromkeys(row["system"] for row in rows)) == ["ir-t", "lead", "human"]
    assert len(rows) == 18
    assert {row["text"] for row in rows if row["system"] == "human"} <= {f"human of {row.title}" for row in articles()}
    assert len(lines(tmp_path / "references.jsonl")) == 24
    assert not (tmp_path / "human.jsonl").exists()
    assert f"{path}: 36 rows of other articles ignored" in said
    study = json.loads((tmp_path / "study.json").read_text())
    assert study["data"].startswith("6 test articles; 1 commenter, 1 given system and human, a comment of a reader; ")
    assert ["external systems", f"lead and human ({path})"] in study["settings"]


@pytest.mark.parametrize(
    ("names", "leave", "problem"),
    [
        ("lead human", 2, "system 'lead' has no text for 2 of 6 articles, such as 'a"),
        ("lead lead", 0, r"given.jsonl:\d+: expected one text of system 'lead' for article 'a\d+', got another"),
        ("ir-t human", 0, "a commenter is named 'ir-t'; rename this system"),
    ],
)
def test_given_systems_that_make_no_sense(
    done: tuple[Path, list[str]], corpus: Path, names: str, leave: int, problem: str
) -> None:
    path = given(done[0], *names.split(), leave=leave)
    with pytest.raises((InvalidInput, UsageError), match=problem):
        study_comments(str(corpus), done[0], CommentsOptions(**QUICK, candidates=str(path)), lambda _: None)


def test_a_model_of_another_corpus_is_told(done: tuple[Path, list[str]], corpus: Path, tmp_path: Path) -> None:
    other = corpus_of(tmp_path, articles(votes=False), 4, 6).path
    said: list[str] = []
    for number, folder in enumerate((corpus, other)):
        run(folder, tmp_path / f"out-{number}", CommentsOptions(**trained(done)), ["statistics"], said)
    assert [line for line in said if "another corpus" in line] == [
        "ir-t: trained on another corpus, which may contain the test articles"
    ]


def test_a_model_for_texts_that_are_cut_otherwise(done: tuple[Path, list[str]], corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(done[0] / "models" / "ir-t", tmp_path / "ir-t")
    config = tmp_path / "ir-t" / "config.json"
    config.write_text(config.read_text().replace('"words-2"', '"space"  '))  # of the same size
    options = CommentsOptions(**QUICK | {"systems": ()}, models={"mine": str(tmp_path / "ir-t")}, stage="references")
    with pytest.raises(InvalidInput, match=r"mine: its tokenizer is space, that of .* words-2; train it on a corpus"):
        study_comments(str(corpus), tmp_path / "out", options, lambda _: None)


def test_the_study_as_text(done: tuple[Path, list[str]]) -> None:
    (study,) = read_results([done[0] / "study.json"])
    assert isinstance(study, StudyResult)
    text = (done[0] / "study.md").read_text()
    assert text == study_text("markdown", study)
    assert text.startswith("# Automatic article commenting, table by table\n\n6 test articles; ")
    assert "\n| rouge-l | ." in text
    assert "\n| … in the paper | .230 | – |\n" in text
    assert study_text("table", study, ["table-7"]).startswith("Table 7: the best suggestion of each system")
