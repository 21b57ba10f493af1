"""postil label, calibrate and comment: from suggestions to labels, and to what is worth showing."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from postil.calibration.labels import invitation
from postil.calibration.options import LabelOptions
from postil.campaigns.store import Store
from postil.comments.retrieval import Retriever
from postil.corpus.store import Corpus
from postil.data.model_folders import Model
from postil.data.row_files import read, write
from postil.data.suggestions import Label
from postil.messages import COMMAND_LINE
from postil.screening.filtering import CandidateFilter
from retrieval_models import BY_WORDS, article, train_retrievers

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Outcome, Postil
    from postil.campaigns.models import AnnotationTask

NEW = range(100, 112)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = train_retrievers(tmp_path_factory.mktemp("models"), kinds=("ir-t", "ir-tc"))
    write(str(folder / "new.jsonl"), [article(number) for number in NEW])
    return folder


@pytest.fixture
def label(postil: Postil, models: Path) -> Callable[..., Outcome]:
    """Makes or continues a campaign of labels in `l.db`, and writes `l.jsonl`."""

    def run(*more: object, out: str = "l.jsonl", model: str | Path = models / "tc") -> Outcome:
        return postil("label", models / "new.jsonl", "--model", model, "--out", out, "--no-serve", *more)

    return run


def answer(campaign: str, tasks: list[AnnotationTask]) -> None:
    """Everybody answers everything: to show the comments that say something, and else the keys in turn."""
    with Store.open(campaign) as store:
        for person in store.people.everyone():
            if not person.name:
                store.people.invite(f"Person {person.id}", "annotator")
            while (task := store.grading.next(person)) is not None:
                grade = 1 if task.text.startswith("All about") else task.position % 8 + 2
                store.grading.rate(person, task.assignment, grade, idempotency_key=f"r{task.position}")
                tasks.append(task)


@pytest.mark.parametrize("name", ["l.jsonl", "l.csv", "l.parquet"])
def test_answers_become_labels(label: Callable[..., Outcome], name: str) -> None:
    pytest.importorskip("pyarrow")
    planned = label("--articles", 6, out=name)
    assert planned.code == 0, planned.err
    assert "l.db: 18 suggestions for 6 articles" in planned.err
    assert "no labels yet" in planned.err
    tasks: list[AnnotationTask] = []
    answer("l.db", tasks)
    # The page shows neither rank nor source.
    assert {task.title for task in tasks} <= {article(number).title for number in NEW}
    written = label("--articles", 6, out=name)
    assert written.code == 0, written.err
    assert "continued" in written.err
    assert f"written: {name} (18 labels)" in written.err
    rows = list(read(name, Label))
    assert [row.show for row in rows] == [row.text.startswith("All about") for row in rows]
    assert {row.rank for row in rows} == {1, 2, 3}
    assert all((row.reason is None) == row.show for row in rows)
    assert all(row.source_article and row.source_comment and row.model_hash and row.title for row in rows)


def test_the_draw_depends_on_the_seed_alone(label: Callable[..., Outcome]) -> None:
    drawn = []
    for name, seed, count in (("small", 1, 4), ("large", 1, 8), ("other", 2, 4)):
        out = label("--articles", count, "--seed", seed, "--per-article", 1, out=f"{name}.jsonl")
        assert out.code == 0, out.err
        with Store.open(f"{name}.db", read_only=True) as store:
            drawn.append({item.item for item in store.items()})
    small, large, other = drawn
    assert small < large
    assert small != other


def test_suggestions_are_drawn_among_more(label: Callable[..., Outcome]) -> None:
    assert label("--articles", 12, "--per-article", 2, "--among", 4).code == 0
    with Store.open("l.db", read_only=True) as store:
        items = store.items()
    ranks = [json.loads(item.system)[0] for item in items]
    assert ranks.count(1) == len({item.item for item in items})
    assert set(ranks) == {1, 2, 3, 4}
    assert max(Counter(item.item for item in items).values()) == 2


def test_several_annotators_are_told_who_can_open_a_link(label: Callable[..., Outcome]) -> None:
    assert label("--articles", 4, "--annotators", 2, "--annotators-per-item", 2).code == 0
    first, second = invitation(LabelOptions(out="l.jsonl"), print)
    assert first.startswith("invite annotators: postil annotate invite l.db NAME, or at http://localhost:8000/join/")
    assert second == (
        "only this machine can open links to http://localhost:8000; others can label where postil annotate serve l.db "
        "--base-url URL serves the campaign"
    )


def test_several_annotators_answer_for_themselves_and_a_lead_decides(label: Callable[..., Outcome]) -> None:
    assert label("--articles", 4, "--annotators", 2, "--annotators-per-item", 2).code == 0
    answer("l.db", [])
    with Store.open("l.db") as store:
        token = store.people.invite("Lee", "lead")
        lead = store.people.accept(token).person
        store.results.adjudicate(lead, 0, 1, "good after all", idempotency_key="k")
    assert label().code == 0
    rows = list(read("l.jsonl", Label))
    assert len(rows) == 1 + 2 * 11
    assert rows[0].show
    assert rows[0].annotator == "lead 1"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--out", "l.txt"), "l.txt"),
        (("--annotators-per-item", 2), "annotators per item"),
        (("--per-article", 0), "per-article"),
        (("--among", 2), "among: expected at least the 3 suggestions per article, got 2"),
    ],
)
def test_wrong_usage_makes_no_campaign(label: Callable[..., Outcome], more: tuple[object, ...], said: str) -> None:
    done = label(*more)
    assert done.code == 2
    assert said in done.err
    assert not Path("l.db").exists()


def test_another_campaign_is_refused(postil: Postil, models: Path) -> None:
    postil("annotate", "plan", models / "new.jsonl", "l.db", "--annotators", 2)
    given = ("label", models / "new.jsonl", "--model", models / "tc", "--out", "l.jsonl")
    for serve in ((), ("--no-serve",)):
        done = postil(*given, *serve)
        assert done.code == 3
        assert done.err == "postil: l.db: not a campaign of labels; postil label makes one\n"


def other_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text)")
        connection.commit()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_text("labels of mine\n" * 99), "c.db: cannot be opened: file is not a database"),
        (other_tables, "c.db: this database holds other tables; choose a new file"),
        (Path.mkdir, "c.db: cannot be opened: unable to open database file"),
    ],
)
def test_a_campaign_that_is_none_stays_as_it_is(
    postil: Postil, models: Path, make: Callable[[Path], object], said: str
) -> None:
    make(Path("c.db"))
    before = Path("c.db").read_bytes() if Path("c.db").is_file() else None
    done = postil("label", models / "new.jsonl", "--model", models / "tc", "--out", "l.jsonl", "--campaign", "c.db")
    assert done.code not in (0, 2)
    assert done.err.count("postil: ") == 1
    assert said in done.err
    assert before is None or Path("c.db").read_bytes() == before


def test_the_command_that_invites_names_the_campaign_for_a_shell(label: Callable[..., Outcome]) -> None:
    assert label("--articles", 4, "--annotators", 2, out="my labels.jsonl").code == 0
    options = LabelOptions(out="my labels.jsonl", annotators=2)
    said, only_here = map(COMMAND_LINE.words, invitation(options, lambda _: None))
    assert only_here.startswith("only this machine can open links to http://")
    assert said.startswith("invite annotators: postil annotate invite 'my labels.db' NAME, or at http://")


def test_a_campaign_goes_on_with_its_own_model_alone(
    postil: Postil, label: Callable[..., Outcome], models: Path
) -> None:
    shutil.copytree(models / "tc", "mine")
    assert label("--articles", 6, model="mine").code == 0
    before = Path("l.db").read_bytes()
    other = label("--articles", 6, model=models / "t")
    assert other.code == 2
    assert "l.db: this campaign labels the suggestions of another model" in other.err
    assert "go on with --model as it was, or begin another campaign with another --out" in other.err
    assert Path("l.db").read_bytes() == before
    # The same model is one that its labels calibrated meanwhile.
    labels_of(models, "enough.jsonl")
    for _ in range(2):
        assert postil("calibrate", "mine", "--labels", "enough.jsonl", "--resamples", 9).code == 0
        same = label("--articles", 6, model="mine")
        assert same.code == 0, same.err
        assert "stays as it was made" not in same.err


def test_other_settings_of_a_campaign_are_told(postil: Postil, models: Path) -> None:
    given = ("label", "--model", models / "tc", "--out", "l.jsonl", "--no-serve")
    assert postil(*given, models / "new.jsonl", "--articles", 6).code == 0
    write("fewer.jsonl", [article(number) for number in NEW][:-1])
    more = ("--articles", 5, "--among", 4, "--seed", 0, "--annotators", 2, "--annotators-per-item", 2)
    done = postil(*given, "fewer.jsonl", *more, "--per-article", 2)
    assert done.code == 0
    assert (
        "l.db: the campaign stays as it was made: drawn from other articles than these; --articles 6, not 5; "
        "--per-article 3, not 2; --among none, not 4; --annotators 1, not 2; --annotators-per-item 1, not 2; "
        "--seed 20181, not 0\n"
    ) in done.err


def test_a_file_that_the_campaign_did_not_write_is_left_alone(label: Callable[..., Outcome]) -> None:
    row = '{"article": "a100", "text": "Mine.", "show": true}\n'
    strange = "exists and holds labels that are not of the campaign l.db, such as one of article a100"
    no_labels = "exists and does not hold labels (no such columns"
    for name, text, said in (("l.jsonl", row, strange), ("l.csv", "name,size\na,1\n", no_labels)):
        Path(name).write_text(text)
        done = label("--articles", 6, out=name)
        assert done.code == 2
        assert f"{name}: {said}" in done.err
        assert "; name another --out, or move that file away\n" in done.err
        assert not Path("l.db").exists()
        Path(name).unlink()
    assert label("--articles", 6).code == 0
    answer("l.db", [])
    # One campaign may write several files, and each again.
    for name in ("l.jsonl", "l.csv", "l.jsonl", "l.csv"):
        written = label("--articles", 6, out=name)
        assert f"written: {name} (18 labels)" in written.err
    Path("l.jsonl").write_text(Path("l.jsonl").read_text() + row)
    assert label("--articles", 6).code == 2
    # A campaign of the same suggestions that nobody answered did not write it.
    assert label("--articles", 6, "--campaign", "other.db", out="l.csv").code == 2


def test_a_model_without_suggestions_is_told(postil: Postil, models: Path) -> None:
    write("other.jsonl", [article(1).__class__("z", "nothing shared", ())])
    done = postil("label", "other.jsonl", "--model", models / "tc", "--out", "l.jsonl", "--no-serve")
    assert done.code == 3
    assert "suggests nothing" in done.err


FREELY = ("--repeat", 0)  # the few texts of these models come back


def labels_of(models: Path, out: str, shown: float = 0.5) -> None:
    """Three labels for each of 20 articles: of the model's first suggestions, mostly to show those that say much."""
    retriever = Retriever.open(models / "tc", candidate_filter=CandidateFilter(repeat=0))
    found = retriever.comment([article(number) for number in range(100, 120)], 3)
    random = np.random.default_rng(4)
    rows = []
    for each in found:
        for one in each.suggestions:
            chance = 0.9 * shown * 2 if one.text.startswith("All about") else 0.1
            mine = article(int(each.article[1:]))
            rows.append(Label(each.article, one.text, bool(random.random() < chance), rank=one.rank, title=mine.title))
    write(out, rows)


def test_a_calibrated_model_shows_what_is_probably_worth_it(postil: Postil, models: Path) -> None:
    labels_of(models, "l.jsonl")
    done = postil("calibrate", models / "tc", "--labels", "l.jsonl", "--out", "cal", "--resamples", 50)
    assert done.code == 0, done.err
    assert "what to expect: with --coverage 0.3" in done.out
    assert "60 labels of 20 articles" in done.out
    again = postil("calibrate", models / "tc", "--labels", "l.jsonl", "--out", "cal2", "--resamples", 50)
    assert again.out == done.out
    assert Path("cal/show/filter.json").read_bytes() == Path("cal2/show/filter.json").read_bytes()
    Model.open("cal").verify()

    new = models / "new.jsonl"
    plain = rows_of(postil("comment", new, *FREELY, "--model", "cal", "-k", 3, "--format", "jsonl"))
    before = rows_of(postil("comment", new, *FREELY, "--model", models / "tc", "-k", 3, "--format", "jsonl"))
    for one, other in zip(plain, before, strict=True):
        assert [each["text"] for each in one["suggestions"]] == [each["text"] for each in other["suggestions"]]
        assert all(0 < each["probability"] < 1 for each in one["suggestions"])
        assert all(each["probability"] is None for each in other["suggestions"])
    command = ("calibrate", models / "tc", "--labels", "l.jsonl", "--format", "json")
    result = json.loads(postil(*command, "--out", "cal3").out)
    point = result["points"][0]
    by_coverage = ("--model", "cal", "--coverage", point["coverage"], "--format", "jsonl")
    chosen = rows_of(postil("comment", new, *FREELY, *by_coverage))
    for one, other in zip(chosen, plain, strict=True):
        probable = {each["text"]: each["probability"] for each in other["suggestions"]}
        wanted = sorted((p for p in probable.values() if p >= point["threshold"]), reverse=True)
        assert [each["probability"] for each in one["suggestions"]] == wanted
        assert [each["rank"] for each in one["suggestions"]] == list(range(1, len(wanted) + 1))
        assert (one["reason"] is None) == bool(wanted)
        low = [each["reason"] for each in one["filtered"] if "worth showing" in each["reason"]]
        assert len(low) == 3 - len(wanted)


def test_a_filter_that_is_worse_than_the_score_is_not_written(postil: Postil, models: Path) -> None:
    """Labels that follow the score and nothing else."""
    retriever = Retriever.open(models / "tc", candidate_filter=CandidateFilter(repeat=0))
    found = retriever.comment([article(number) for number in range(100, 120)], 3)
    middle = np.median([one.score for each in found for one in each.suggestions])
    random = np.random.default_rng(4)
    rows = []
    for each in found:
        title = article(int(each.article[1:])).title
        for one in each.suggestions:
            show = bool((one.score > middle) ^ (random.random() < 0.2))
            rows.append(Label(each.article, one.text, show, rank=one.rank, title=title))
    write("l.jsonl", rows)
    done = postil("calibrate", models / "tc", "--labels", "l.jsonl", "--out", "cal")
    assert done.code == 0, done.err
    assert "what to expect: with --coverage 0.3 by the ranker's score, calibrated, " in done.out
    assert "the ranker's score, calibrated, is the filter in cal" in done.err
    command = ("calibrate", models / "tc", "--labels", "l.jsonl", "--format", "json")
    result = json.loads(postil(*command, "--out", "cal2").out)
    assert result["filter"] == "score"
    assert [one["name"] for one in result["columns"]] == ["score"]
    auc, precision = result["comparisons"]
    assert auc["difference"]["value"] < 0 or precision["difference"]["value"] < 0
    (refused,) = [note for note in result["notes"] if "is refused" in note]
    assert f"AUC {auc['learned']['value']:.3f} against {auc['score']['value']:.3f} (difference " in refused
    percents = [f"{100 * precision[name]['value']:.1f} %" for name in ("learned", "score")]
    assert f"precision at coverage 0.3 {' against '.join(percents)} (difference " in refused
    assert f"note: {refused}" in done.out
    # What comment chooses by is the score.
    first, *others = json.loads(Path("cal/show/filter.json").read_text())["weights"]
    assert first > 0
    assert not any(others)
    new = models / "new.jsonl"
    for one in rows_of(postil("comment", new, *FREELY, "--model", "cal", "--coverage", 1, "--format", "jsonl")):
        scores = [each["score"] for each in one["suggestions"]]
        assert scores == sorted(scores, reverse=True)


def test_requests_that_nothing_answers(postil: Postil, models: Path) -> None:
    new = models / "new.jsonl"
    plain = postil("comment", new, "--model", models / "tc", "--precision", 0.6)
    assert plain.code == 2
    assert "never calibrated" in plain.err
    assert "postil calibrate" in plain.err
    both = postil("comment", new, "--model", models / "tc", "--precision", 0.6, "--coverage", 0.3)
    assert both.code == 2
    assert "expected either a precision or a coverage, got both" in both.err
    assert postil("comment", new, "--model", models / "tc", "--coverage", 0).code == 2


def test_labels_that_allow_no_filter_leave_the_model_alone(postil: Postil, models: Path) -> None:
    title = article(100).title
    text = Retriever.open(models / "tc").pool.texts[0]
    write("few.jsonl", [Label("a100", text, True, title=title)])
    done = postil("calibrate", models / "tc", "--labels", "few.jsonl", "--out", "cal")
    assert done.code == 0
    assert done.out.startswith("no filter: 1 labels of 1 articles, 1 to show and 0 not: a filter needs at least 30")
    assert "cal is not written: these labels make no filter" in done.err
    assert not Path("cal").exists()
    shutil.copytree(models / "tc", "mine")
    few = ("calibrate", "mine", "--labels", "few.jsonl")
    assert "mine is not changed: these labels make no filter" in postil(*few).err
    assert "show/filter.json" not in Model.open("mine").files
    labels_of(models, "l.jsonl")
    assert postil("calibrate", "mine", "--labels", "l.jsonl").code == 0
    assert "mine keeps the filter that it has, of 60 labels" in postil(*few).err


def test_labels_that_are_not_of_the_model(postil: Postil, models: Path) -> None:
    known, pool = article(100), Retriever.open(models / "tc").pool
    text, other = pool.texts[0], pool.texts[2]
    rows = [
        Label("a100", text, True, annotator="ann", title=known.title),
        Label("a100", text, False, annotator="bob", title=known.title),
        Label("a100", other, False, annotator="ann", title=known.title),
        Label("a100", other, True, annotator="ann", title=known.title),
        Label("a100", "never seen before", False, title=known.title),
        Label("gone", text, True),
    ]
    write("l.jsonl", rows)
    done = json.loads(postil("calibrate", models / "tc", "--labels", "l.jsonl", "--out", "c", "--format", "json").out)
    assert (done["labels"], done["shown"]) == (2, 1)  # the last answer of an annotator counts
    assert {each["why"].partition(";")[0]: each["examples"] for each in done["excluded"]} == {
        "label of an unknown article, or one without a word": [f"gone: {text}"],
        "answer of an annotator who gave a later one about the same text": [f"a100: {other}"],
        "text that as many would show as would not": [f"a100: {text}"],
        "label of a text that no comment of the model is": ["a100: never seen before"],
    }
    # The articles of another file; and none that is known.
    write("bare.jsonl", [Label("a100", text, True)])
    with_articles = ("--articles", models / "new.jsonl", "--out", "c")
    assert postil("calibrate", models / "tc", "--labels", "bare.jsonl", *with_articles).code == 0
    none = postil("calibrate", models / "tc", "--labels", "bare.jsonl", "--out", "c")
    assert none.code == 3
    assert "bare.jsonl: none of 1 labels is of a known article and of a comment of" in none.err
    assert "(label of an unknown article, or one without a word: 1); give the articles of the labels " in none.err
    assert "labels (--articles FILE), or labels of its suggestions with titles" in none.err
    write("other.jsonl", [Label("a101", "never seen before", True, title=known.title)])
    none = postil("calibrate", models / "tc", "--labels", "bare.jsonl", "--labels", "other.jsonl", "--out", "d")
    assert "bare.jsonl, other.jsonl: none of 2 labels" in none.err
    assert "word: 1, label of a text that no comment of the model is: 1)" in none.err
    none = postil("calibrate", models / "tc", "--labels", "other.jsonl", "--out", "d")
    assert none.err.endswith("(label of a text that no comment of the model is: 1); give labels of its suggestions\n")


def test_a_damaged_filter_is_named(postil: Postil, models: Path) -> None:
    labels_of(models, "l.jsonl")
    assert postil("calibrate", models / "tc", "--labels", "l.jsonl", "--out", "cal").code == 0
    file = Path("cal/show/filter.json")
    file.write_bytes(file.read_bytes().replace(b'"score"', b'"spore"'))
    done = postil("comment", models / "new.jsonl", "--model", "cal")
    assert done.code == 3
    assert "calibrate it again" in done.err


def test_training_and_updating_take_labels(postil: Postil, models: Path) -> None:
    labels_of(models, "l.jsonl")
    titles = {each.article: each.title for each in read("l.jsonl", Label)}
    trained = postil(*("train", "ir-tc", "--corpus", models / "corpus", "--out", "m", *BY_WORDS, "--labels", "l.jsonl"))
    assert trained.code == 0, trained.err
    assert f"60 labels of {len(titles)} articles" in trained.out
    updated = postil("train", "--update", models / "tc", "--labels", "l.jsonl", "--out", "u")
    assert updated.code == 0, updated.err
    assert Path("m/show/filter.json").read_bytes() == Path("u/show/filter.json").read_bytes()
    grown = postil("train", "--update", "u", "--corpus", models / "corpus", "--labels", "l.jsonl", "--out", "g")
    assert grown.code == 0, grown.err
    assert Path("g/show/filter.json").exists()
    # Labels of articles of the corpus need no titles.
    own = next(iter(Corpus.open(models / "corpus").articles("dev")))
    write("own.jsonl", [Label(own.id, Retriever.open(models / "tc").pool.texts[0], True)])
    few = postil("train", "--update", "u", "--corpus", models / "corpus", "--labels", "own.jsonl", "--out", "h")
    assert "no filter: 1 labels of 1 articles" in few.out
    # Broken labels are told before anything is trained.
    Path("bad.jsonl").write_text('{"article": "a", "text": "b", "show": "perhaps"}\n', encoding="utf-8")
    bad = postil("train", "ir-tc", "--corpus", models / "corpus", "--out", "n", *BY_WORDS, "--labels", "bad.jsonl")
    assert bad.code == 3
    assert "bad.jsonl:1: show: expected true or false" in bad.err
    assert not Path("n").exists()


@pytest.mark.parametrize(
    ("row", "reason", "by_corpus"),
    [
        (Label("gone", "bread!", True), "label of an unknown article, or one without a word: 1", True),
        (Label("a100", "never seen", True, title="Bread"), "label of a text that no comment of the model is: 1", True),
        (Label("gone", "bread!", True), "label of an unknown article, or one without a word: 1", False),
    ],
)
def test_labels_that_do_not_fit_leave_nothing_behind(
    postil: Postil, models: Path, row: Label, reason: str, *, by_corpus: bool
) -> None:
    write("l.jsonl", [row])
    shutil.copytree(models / "tc", "mine")
    before = Model.open("mine").hash
    corpus = ("--corpus", models / "corpus") if by_corpus else ()
    commands: list[tuple[object, ...]] = [("--update", "mine", *corpus, "--out", "new"), ("--update", "mine", *corpus)]
    commands += [("ir-tc", *corpus, "--out", "new", *BY_WORDS)] if by_corpus else []
    for words in commands:
        done = postil("train", *words, "--labels", "l.jsonl")
        assert done.code == 3
        assert "l.jsonl: none of 1 labels is of a known article and of a comment of" in done.err
        assert f"({reason}); give labels of its suggestions, with titles" in done.err
        assert (f"or of articles of {models / 'corpus'}" in done.err) == by_corpus
        assert "--articles" not in done.err
        assert not list(Path().glob("*new*"))
        assert Model.open("mine").hash == before


def rows_of(done: Outcome) -> list[dict[str, Any]]:
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_a_filter_reads_the_features_of_the_ranker(postil: Postil, models: Path) -> None:
    by_features = ("--ranker", "features", "--vectors", "none", "--eval-negatives", 3)
    assert postil("train", "ir-tc", "--corpus", models / "corpus", "--out", "f", *by_features).code == 0
    labels_of(models, "l.jsonl")
    done = postil("calibrate", "f", "--labels", "l.jsonl", "--format", "json")
    assert done.code == 0, done.err
    names = {each["name"] for each in json.loads(done.out)["columns"]}
    assert {"score", "tfidf_title", "mean_idf"} <= names
    assert "in_title" not in names
    rows = rows_of(postil("comment", models / "new.jsonl", "--model", "f", "--coverage", 0.5, "--format", "jsonl"))
    assert any(row["suggestions"] for row in rows)
