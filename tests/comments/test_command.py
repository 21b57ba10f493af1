"""`postil train`, `comment`, `rank-comments` and `evaluate`: flags, words on standard error, exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from postil.comments.call_options import CommentOptions
from postil.comments.options import DecodingOptions
from postil.data.row_files import read, write
from postil.data.rows import Article, Comment
from postil.data.suggestions import Label
from postil.screening.filtering import CandidateFilter
from retrieval_models import BY_WORDS, article, train_retrievers

if TYPE_CHECKING:
    from conftest import Outcome, Postil

pytestmark = pytest.mark.skipif(find_spec("pyarrow") is None, reason="corpora need the extra tables")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra neural")

LABEL = "Machine-generated suggestion: a reader's comment found under another article"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus and two models."""
    return train_retrievers(tmp_path_factory.mktemp("made"))


@pytest.fixture(autouse=True)
def here(postil: Postil, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that holds the corpus, the models and two articles."""
    assert postil
    monkeypatch.setattr(os, "fsync", lambda _: None)
    for name in ("corpus", "t", "tc"):
        Path(name).symlink_to(made / name)
    write(
        "q.jsonl",
        [Article("q1", "Chess, or votes?", (Comment("1", "votes votes"), Comment("2", "chess now or never")))],
    )
    with Path("q.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"id": 7, "title": "下雪", "comments": [], "lang": "zh"}\n')


def rows(outcome: Outcome) -> list[dict[str, Any]]:
    assert (outcome.code, outcome.err) == (0, "")
    return [json.loads(line) for line in outcome.out.splitlines()]


# ---- train


def test_a_training_tells_how_well_it_does(postil: Postil) -> None:
    done = postil("train", "ir-t", "--corpus", "corpus", *BY_WORDS, "--out", "my m", "--format", "jsonl")
    assert done.err.splitlines()[-1] == "ir-t in my m; go on with: postil comment ARTICLES --model 'my m'"
    told = [json.loads(line) for line in done.out.splitlines()]
    assert {row["scorer"] for row in told} == {"tf-idf", "upvotes", "random"}
    assert {row["measure"] for row in told} >= {"recall@1", "mrr"}
    assert all(0 <= row["low"] <= row["value"] <= row["high"] <= 1 for row in told)
    assert postil("train", "--ranker", "both", "ir-t").code == 2  # options stand behind the model


def test_the_flags_of_a_training_are_written_down(postil: Postil) -> None:
    flags = ("--neighbors", 3, "--retrieval", "bm25", "--idf", "smooth", "--seed", 4)
    done = postil("train", "ir-tc", "--corpus", "corpus", "--out", "m", *BY_WORDS, *flags)
    assert done.code == 0, done.err
    options = json.loads(Path("m/metadata.json").read_text())["options"]
    assert options == {
        "ranker": "tf-idf", "neighbors": 3, "retrieval": "bm25", "idf": "smooth", "embeddings": None,
        "eval_negatives": 3, "seed": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("ir",), 2, "unknown commenter 'ir'; did you mean 'ir-t'?"),
        (("ir-t", "--out", "t"), 2, "t: already exists; choose another output folder or remove it"),
        (
            ("ir-t", "--architecture", "interaction"),
            2,
            "--architecture: of the network, and the ranker tf-idf has ",
        ),
        (("ir-t", "--epochs", 0), 2, "Invalid value for '--epochs'"),
        (
            ("ir-t", "--grid", "dropout=.2,.5"),
            2,
            "--grid: expected a ranker with a network, relevance or both, got ",
        ),
        (("ir-t", "--grid-epochs", 1), 2, "--grid-epochs: expected --grid as well, got none"),
        (
            ("att", "--grid", "dropout=.2,.5", "--dropout", ".2"),
            2,
            "--grid dropout: expected the option either in the grid or as a flag, got --dropout too",
        ),
        (("ir-t", "--corpus", "t"), 3, "t: expected a corpus, got "),
    ],
)
def test_a_training_that_cannot_be(words: tuple[str, ...], code: int, problem: str, postil: Postil) -> None:
    before = sorted(Path().rglob("*"))
    name, *more = words
    own = BY_WORDS if name.startswith("ir") else ()
    done = postil("train", name, *("--corpus", "corpus", "--out", "m", *own), *more)
    assert (done.code, done.out) == (code, "")
    assert problem in done.err
    assert sorted(Path().rglob("*")) == before


@needs_torch
def test_hyperparameters_are_chosen_on_dev(postil: Postil) -> None:
    network = ("--ranker", "relevance", "--eval-negatives", 3, "--embeddings", "none", "--epochs", 1, "--device", "cpu")
    grid = ("--grid", "filters=4,8", "--grid", "dropout=.5", "--grid-epochs", 1)
    done = postil("train", "ir-t", "--corpus", "corpus", "--out", "m", *network, *grid, "--format", "json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["grid"]
    assert (found["measure"], found["epochs"]) == ("mrr", 1)
    assert [point["values"] for point in found["points"]] == [{"filters": n, "dropout": 0.5} for n in (4, 8)]
    assert found == json.loads(Path("m/metadata.json").read_text())["grid"]
    assert "\nchosen on dev: filters " in done.err
    assert "; 2 combinations, 1 epoch each)\n" in done.err


# ---- comment


def test_suggestions_say_where_they_come_from(postil: Postil) -> None:
    first, none = rows(postil("comment", "q.jsonl", "--model", "tc", "-k", 2, "--format", "jsonl"))
    assert first["article"] == "q1"
    assert [one["rank"] for one in first["suggestions"]] == [1, 2]
    top = first["suggestions"][0]
    digest = json.loads(Path("tc/metadata.json").read_text())["hash"]
    assert {name: top["provenance"][name] for name in ("label", "method", "model", "model_hash", "overlap")} == {
        "label": LABEL, "method": "retrieved", "model": "ir-tc", "model_hash": digest, "overlap": None,
    }  # fmt: skip
    said = {(f"a{n:02}", comment.id): comment.text for n in range(24) for comment in article(n).comments}
    source = top["provenance"]["sources"][0]
    assert said[source["article"], source["comment"]] == top["text"]
    assert {held["reason"] for held in first["filtered"]} == {"too short: 1 word, expected at least 4"}
    assert none == {"article": "7", "suggestions": [], "filtered": [], "reason": None, "title": "下雪"}


def test_the_title_of_the_article_stands_beside_its_id(postil: Postil) -> None:
    """Its column has no name that a label has: a label with a title alone needs no file of articles, and gets none."""
    done = postil("comment", "q.jsonl", "--model", "tc", "-k", 2, "--format", "csv").out
    Path("s.csv").write_text(done, encoding="utf-8")
    for row in csv.DictReader(io.StringIO(done)):
        assert (row["article"], row["article_title"]) == ("q1", "Chess, or votes?")
        assert not {*row} & {*Label.__struct_fields__} - {"article", "rank", "text"}
    Path("l.csv").write_text(done.replace("probability", "show").replace(",\n", ",yes\n"), encoding="utf-8")
    assert {label.title for label in read("l.csv", Label)} == {None}


def test_nothing_to_suggest_is_told(postil: Postil) -> None:
    write("n.jsonl", [Article("n", "Nothing known", ())])
    done = postil("comment", "n.jsonl", "-m", "t")
    assert done.code == 0
    assert done.out == "no suggestions\n"
    first = Path("q.jsonl").read_text().splitlines()[0]
    Path("q1.jsonl").write_text(first, encoding="utf-8")
    short = postil("comment", "q1.jsonl", "-m", "t", "--min-words", 30).out
    assert re.fullmatch(
        r"no suggestions: all (\d+) candidates are filtered out: too short\n"
        r"\1 filtered out; --format jsonl gives the reasons\n",
        short,
    )
    both = postil("comment", "q.jsonl", "-m", "t", "--min-words", 30).out  # nothing is found for the other one
    assert both == f"no suggestions\n{short.replace('no suggestions', 'nothing for 1 article')}"
    assert postil("comment", "n.jsonl", "-m", "t", "--format", "csv").out == (
        "article,article_title,rank,score,text,label,sources,source_title,source_url,source_date,source_upvotes,"
        "probability\n"
    )


def test_articles_come_on_standard_input(postil: Postil) -> None:
    from_file = postil("comment", "q.jsonl", "-m", "t", "--format", "jsonl")
    assert postil("comment", "-", "-m", "t", "--format", "jsonl", stdin=Path("q.jsonl").read_bytes()) == from_file
    assert postil("comment", "-", "-m", "t", "--format", "jsonl", stdin=b"").out == ""


def test_more_articles_than_are_read_at_once(postil: Postil) -> None:
    write("many.jsonl.gz", [Article(f"m{n}", "Chess at town1", ()) for n in range(150)])
    found = rows(postil("comment", "many.jsonl.gz", "-m", "t", "-k", 1, "--format", "jsonl"))
    assert [row["article"] for row in found] == [f"m{n}" for n in range(150)]
    first = [row["suggestions"][0]["text"] for row in found[:100] if row["suggestions"]]
    assert len(first) > 20
    assert {first.count(text) for text in first} == {2}
    assert found[99]["filtered"][-1]["reason"] == "suggested for 2 of the last 100 articles already"
    again = postil("comment", "many.jsonl.gz", "-m", "t", "-k", 1, "--format", "jsonl", "--repeat", 0)
    assert len({row["suggestions"][0]["text"] for row in rows(again)}) == 1


def test_the_screen_has_flags(postil: Postil) -> None:
    Path("block.txt").write_text("# names\nreader\n", encoding="utf-8")
    flags = {"--blocklist": "block.txt", "--min-words": 0, "--max-words": 6}
    words = [word for pair in flags.items() for word in pair]
    row = rows(postil("comment", "q.jsonl", "-m", "t", "-k", 99, "--format", "jsonl", *words))[0]
    assert {held["reason"] for held in row["filtered"]} == {"on the block list: reader"}
    assert any(one["text"] == "chess!" for one in row["suggestions"])
    row = rows(postil("comment", "q.jsonl", "-m", "t", "--format", "jsonl", "--max-words", 5))[0]
    assert row["suggestions"] == []
    assert {held["reason"] for held in row["filtered"]} == {
        "too long: 6 words, expected at most 5",
        "too short: 1 word, expected at least 4",
    }


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("none.jsonl", "-m", "t"), 3, "none.jsonl: "),
        (("q.odd", "-m", "t"), 2, "q.odd: unknown kind of file"),
        (("bad.jsonl", "-m", "t"), 3, "bad.jsonl:2: title: "),
        (
            ("twice.jsonl", "-m", "t"),
            3,
            "twice.jsonl:102: id: expected an id that no other article has, got 'a0' again",
        ),
        (("q.jsonl", "-m", "corpus"), 3, "corpus: no config.json in this folder; expected a model "),
        (("q.jsonl", "-m", "poet"), 3, "poet: expected a model "),
        (("q.jsonl", "-m", "torn"), 3, "torn/comments/texts.data.npy: missing; was the folder copied whole?"),
        (("q.jsonl", "-m", "t", "--decoding", "best"), 2, "--decoding: expected beam, greedy or nucleus, got best"),
        (
            ("q.jsonl", "-m", "t", "--no-repeat-ngrams", "0", "--length-penalty", "0.5"),
            2,
            "t: ir-t retrieves comments; length_penalty, no_repeat_ngram_size: only for models that generate",
        ),
        (("q.jsonl", "-m", "t", "--blocklist", "none.txt"), 3, "none.txt: cannot be read"),
        (("q.jsonl", "-m", "t", "--min-words", "5", "--max-words", "2"), 2, "no comment has at least 5 and at most 2"),
    ],
)
@pytest.mark.parametrize("verb", ["comment", "rank-comments"])
def test_what_cannot_be_is_told(verb: str, words: tuple[str, ...], code: int, problem: str, postil: Postil) -> None:
    Path("bad.jsonl").write_text('{"id": "1", "title": "a", "comments": []}\n{"id": "2", "title": 3, "comments": []}\n')
    rest = [Article(f"a{n}", "none", ()) for n in range(100)]
    write("twice.jsonl", [*rest, Article("b", "none", ()), rest[0]])
    shutil.copytree("t", "poet")
    config = Path("poet/config.json")
    config.write_text(config.read_text().replace('"ir-t"', '"poet"'))
    shutil.copytree("t", "torn")
    Path("torn/comments/texts.data.npy").unlink()
    if verb == "rank-comments" and words[-2].startswith("--"):
        return  # not its flags
    done = postil(verb, *words)
    assert done.code == code, done
    assert done.err.startswith(f"postil: {problem}")
    assert done.err.count("\n") == 1
    assert done.out == "" or words[0] == "twice.jsonl"


def test_flags_of_decoding_are_its_options() -> None:
    assert CommentOptions().decoding() is None
    given = CommentOptions(beam_size=1, length_penalty=0.0, no_repeat_ngram_size=0, top_p=0.5).decoding()
    assert given == DecodingOptions(beam_size=1, length_penalty=0.0, no_repeat_ngram_size=0, top_p=0.5)


def test_flags_of_the_filter_are_its_options() -> None:
    given = {"min_words": 2, "max_words": 9, "allow": ("addresses",), "repeat": 3}
    assert CommentOptions(**given).candidate_filter() == CandidateFilter(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("verb", "nothing"), [("comment", "no suggestions for"), ("rank-comments", "no ranks in")])
def test_articles_of_which_nothing_is_read_are_named(verb: str, nothing: str, postil: Postil) -> None:
    thread = (Comment("1", "votes votes"), Comment("2", "chess now or never"))
    some = [Article(f"q{n}", "Chess, or votes?" if n == 1 else "…", thread, "about chess") for n in range(8)]
    write("some.jsonl", some)
    write("none.jsonl", [one for one in some if one.id != "q1"])
    reads = "has a word in its title, and ir-t reads nothing else; a model that reads contents, such as ir-tc, may help"
    done = postil(verb, "some.jsonl", "-m", "t", "--format", "jsonl")
    assert done.code == 0
    assert done.err == f"some.jsonl: {nothing} 7 of 8 articles (q0, q2, q3, q4, q5 and 2 more): none of them {reads}\n"
    found = [json.loads(line) for line in done.out.splitlines()]
    said = [row["article"] for row in found if row.get("suggestions", True)]
    assert said == (["q1", "q1"] if verb == "rank-comments" else ["q1"])
    done = postil(verb, "none.jsonl", "-m", "t")
    assert (done.code, done.out, done.err) == (3, "", f"postil: none.jsonl: no article {reads}\n")
    assert postil(verb, "some.jsonl", "-m", "tc").err == ""


@pytest.mark.parametrize(("verb", "count"), [("comment", 1), ("rank-comments", 2)])
def test_html_of_articles_is_cleaned(verb: str, count: int, postil: Postil) -> None:
    thread = (Comment("1", "votes <b>votes</b>"), Comment("2", "chess <3 now or never"))
    write("html.jsonl", [Article("q1", "<p>Chess, or <a href='chess'>votes</a>?</p>", thread)])
    write("text.jsonl", [Article("q1", "Chess, or votes?", (Comment("1", "votes votes"), thread[1]))])
    found, expected = (postil(verb, f"{name}.jsonl", "-m", "t", "--format", "jsonl") for name in ("html", "text"))
    assert (found.code, found.out) == (0, expected.out)
    assert found.err == f"html.jsonl: texts with HTML, of which the text is read: {count}\n"
    write("bomb.jsonl", [Article("q1", "Chess", (), "<p>" + "a" * (1 << 22))])
    done = postil(verb, "bomb.jsonl", "-m", "t")
    assert done.err == "postil: bomb.jsonl:1: expected HTML of at most 4,194,304 characters, got 4,194,307\n"


# ---- rank-comments


def test_threads_are_ranked(postil: Postil) -> None:
    done = postil("rank-comments", "q.jsonl", "-m", "t", "--format", "jsonl")
    assert (done.code, done.err) == (0, "q.jsonl: no ranks in 1 of 2 articles (7): no comments\n")
    assert postil("rank-comments", "q.jsonl", "-m", "t", "--format", "jsonl", "-j", 2).out == done.out
    told = [json.loads(line) for line in done.out.splitlines()]
    assert [list(row) for row in told] == [["article", "comment", "rank", "score", "text", "reasons", "same_as"]] * 2
    assert [row["rank"] for row in told] == [1, 2]
    assert {row["comment"]: row["text"] for row in told} == {"1": "votes votes", "2": "chess now or never"}


def test_equal_comments_stand_in_the_order_of_their_ids(postil: Postil) -> None:
    write("e.jsonl", [Article("e", "Chess", tuple(Comment(name, "none of it") for name in ("b", "c", "a")))])
    found = rows(postil("rank-comments", "e.jsonl", "-m", "t", "--format", "jsonl"))
    assert [row["comment"] for row in found] == ["a", "b", "c"]


def test_comments_need_ids_of_their_own(postil: Postil) -> None:
    rest = [Article(f"d{n}", "x", ()) for n in range(70)]
    write("e.jsonl", [*rest, Article("e", "Chess", (Comment("1", "a"), Comment("1", "b")))])
    done = postil("rank-comments", "e.jsonl", "-m", "t")
    assert (done.code, done.out) == (3, "")
    assert done.err == "postil: e.jsonl:71: comments: expected an id for each comment, got one twice\n"


# ---- evaluate

ALONE = "--threads: only --corpus, --split, --seed, --jobs, --figures and --format go with it"
EVALUATE = ("evaluate", "t", "tc", "--corpus", "corpus", "--split", "dev", "-m", "rouge-l", "-m", "w-rouge-l")


@pytest.mark.parametrize("form", ["table", "json", "jsonl"])
def test_models_stand_beside_readers(form: str, postil: Postil) -> None:
    done = postil(*EVALUATE, "--format", form)
    assert done.code == 0, done.err
    assert postil(*EVALUATE, "--format", form, "-j", 2) == done
    remarks = [
        "8 articles of dev, references per article: 2",
        "weights: the readers' votes for each reference (votes)",
        "human: a comment of each article, drawn with seed 20181, that is no reference",
    ]
    if form == "json":
        found = json.loads(done.out)
        assert (found["kind"], found["articles"], found["left_out"], found["remarks"]) == ("commenters", 8, 0, remarks)
        assert {one["system"]: one["nothing"] for one in found["suggestions"]} == {"t": 0, "tc": 0, "human": 0}
        assert found["settings"] == {"split": "dev", "weights": "votes", "scale": None, "seed": 20181}
    elif form == "jsonl":
        told = map(json.loads, done.out.splitlines())
        expected = [(system, metric) for system in ("t", "tc", "human") for metric in ("rouge-l", "w-rouge-l")]
        assert [(row["system"], row["metric"]) for row in told] == expected
    else:
        assert done.out.splitlines()[-3:] == remarks
    assert done.err.splitlines() == (remarks if form == "jsonl" else [])


def test_suggestions_and_their_scores_are_written(postil: Postil) -> None:
    files = ("--items", "scores.jsonl", "--candidates", "said.jsonl")
    done = postil(*EVALUATE, "-m", "bleu-1", *files, "--format", "jsonl")
    scores = {(row["system"], row["metric"]): row["score"] for row in map(json.loads, done.out.splitlines())}
    compared = json.loads(postil("compare", "scores.jsonl", "--baseline", "human", "--format", "json").out)
    assert compared["summed"] == ["bleu-1"]
    assert {(row["system"], row["metric"]): row["mean"] for row in compared["systems"]} == pytest.approx(scores)
    items = [json.loads(line) for line in Path("scores.jsonl").read_text().splitlines()]
    for key, score in scores.items():
        values = [row["score"] for row in items if (row["system"], row["metric"]) == key]
        assert len(values) == 8
        assert key[1] == "bleu-1" or sum(values) / 8 == pytest.approx(score)
    said = [json.loads(line) for line in Path("said.jsonl").read_text().splitlines()]
    assert {row["system"] for row in said} == {"t", "tc", "human"}
    assert len(said) == 24
    assert all(str(int(row["item"][1:])) not in row["text"].split() for row in said if row["system"] != "human")


def test_layout_of_systems(postil: Postil) -> None:
    said = postil(*EVALUATE, "--layout", "systems", "--format", "latex").out
    assert "\ncommenter & ROUGE-L & w-ROUGE-L \\\\\n" in said
    assert "8 articles. Best in bold." in said


def test_a_scale_and_a_method_are_taken(postil: Postil) -> None:
    done = postil(*EVALUATE, "--weights", "consensus")
    assert done.code == 0
    assert "weights: similarity of a reference to the others of its article (consensus)\n" in done.out
    done = postil(*EVALUATE, "--scale", "1:5", "--weights", "score")
    assert done.err.startswith("postil: corpus, dev: 16 of 16 comments have no grade, which the weights method 'score'")


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("t", "--split", "test"), 2, "corpus: it has no test set; it has train, dev"),
        (("t", "--weights", "vote"), 2, "unknown weights method 'vote'; did you mean 'votes'?"),
        (("t", "--scale", "x"), 2, 'scale "x": expected HIGH or LOW:HIGH'),
        (("t", "--items", "-"), 2, "--items, --candidates: expected a file"),
        (("t", "--items", "x.jsonl", "--candidates", "x.jsonl"), 2, "x.jsonl: --items and --candidates are the same"),
        (("t", "--items", "x.txt"), 2, "x.txt: unknown kind of file"),
    ],
)
def test_an_evaluation_that_cannot_be(words: tuple[str, ...], code: int, problem: str, postil: Postil) -> None:
    before = sorted(Path().rglob("*"))
    done = postil("evaluate", "--corpus", "corpus", "--split", "dev", *words)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"postil: {problem}")
    assert done.err.count("\n") == 1
    assert sorted(Path().rglob("*")) == before


def test_limits_of_an_evaluation(postil: Postil) -> None:
    plain = postil(*EVALUATE)
    met = postil(*EVALUATE, "--fail-below", "rouge-l=0", "--junit", "limits.xml")
    missed = postil(*EVALUATE, "--fail-below", "rouge-l=1")
    assert (met.code, met.out, missed.code, missed.out) == (0, plain.out, 4, plain.out), met.err + missed.err
    assert 'failures="0"' in Path("limits.xml").read_text()
    assert "rouge-l is " in missed.err
    other = postil(*EVALUATE, "--fail-below", "meteor=1")
    assert (other.code, other.err) == (2, "postil: unknown metric with a limit 'meteor'. Known: rouge-l, w-rouge-l\n")
    for words, problem in (
        (("--name", "meteor=M"), "unknown metric 'meteor'. Known: rouge-l, w-rouge-l"),
        (("--layout", "metrics"), "--layout metrics is for metrics that are compared with people (correlate, wmt), "),
    ):
        refused = postil(*EVALUATE, *words, "--items", "items.jsonl")
        assert (refused.code, refused.out, Path("items.jsonl").exists()) == (2, "", False)
        assert refused.err.startswith(f"postil: {problem}")
    for words in (("--fail-below", "rouge-l=0"), ("--name", "rouge-l=R"), ("--layout", "systems")):
        threads = postil("evaluate", "t", "--corpus", "corpus", "--threads", "votes", *words)
        assert (threads.code, threads.err) == (2, f"postil: {ALONE}\n")


# ---- a training that is cut off

CHILD = """
import os, signal, sys
from contextlib import contextmanager
from postil.training import texts
os.fsync = lambda _: None

@contextmanager
def live():
    yield lambda line: os.kill(os.getpid(), signal.SIGKILL) if line.step == 6 else None

texts.live = live
from postil.cli.main import main
main()
"""


@needs_torch
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_training_that_was_killed_goes_on(postil: Postil) -> None:
    """Four steps an epoch, and a checkpoint after each epoch; the child is killed in the second one."""
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    network = ("--ranker", "relevance", "--epochs", 3, "--batch", 16, "--device", "cpu", "--eval-negatives", 3)
    network += ("--format", "jsonl")
    command = ["train", "ir-t", "--corpus", "corpus", *map(str, network)]
    child = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", CHILD, *command, "--out", "m"],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    assert not Path("m").exists()
    resumed, whole = postil(*command, "--out", "m"), postil(*command, "--out", "whole")
    assert resumed.code == whole.code == 0, resumed.err
    assert "resuming after step 4" in resumed.err
    assert "word vectors are trained" not in resumed.err  # they were kept as well
    assert "step 8, epoch 2" in resumed.err
    assert "step 4, epoch 1" not in resumed.err
    assert resumed.out == whole.out
    assert {row["scorer"] for row in map(json.loads, whole.out.splitlines())} > {"relevance", "tf-idf"}
    for path in Path("whole").rglob("*"):
        assert path.is_dir() or path.read_bytes() == Path("m", path.relative_to("whole")).read_bytes(), path
    assert not list(Path().glob(".*"))
    first = rows(postil("comment", "q.jsonl", "-m", "m", "-k", 2, "--format", "jsonl"))
    assert len(first[0]["suggestions"]) == 2


def test_articles_to_comment_on_need_no_comments(postil: Postil) -> None:
    Path("new.csv").write_text("id,title\nn1,Chess and votes\n", encoding="utf-8")
    (found,) = rows(postil("comment", "new.csv", "--model", "t", "--format", "jsonl"))
    assert (found["article"], bool(found["suggestions"])) == ("n1", True)
    ranked = postil("rank-comments", "new.csv", "--model", "t")
    assert ranked.code == 3
    assert "comments" in ranked.err


ARTICLE = """---
title: {0}
date: 2026-11-26
---

# {0}

Chess is played in the park.

- Votes were counted twice.
"""
PASTED = "<!-- wp:paragraph -->\n<h1>{}</h1>\n<p>Chess is played in the park, &amp; votes were counted twice.</p>"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("today.md", ARTICLE),
        ("today.html", PASTED),
        ("today.txt", "{}\n\nChess is played in the park.\n"),
        ("today.txt", "id\ttitle\ntoday\t{}\n"),
    ],
)
def test_a_document_is_one_article(name: str, text: str, postil: Postil) -> None:
    Path(name).write_text(text.format("Chess, or votes?"), encoding="utf-8")
    (found,) = rows(postil("comment", name, "--model", "t", "-k", 3, "--format", "jsonl"))
    (row,) = rows(postil("comment", "-", "--model", "t", "-k", 3, "--format", "jsonl", stdin=AS_ROW))
    assert found == row
    assert found["suggestions"]


AS_ROW = b'{"id": "today", "title": "Chess, or votes?"}\n'


def test_what_is_no_article_is_told(postil: Postil) -> None:
    Path("empty.md").write_text("---\ntitle: Chess\n---\n", encoding="utf-8")
    Path("today.docx").write_bytes(b"PK\x03\x04\x14\0" + b"word/document.xml" + b"\0" * 64)
    for name, problem in {"empty.md": "expected", "today.docx": "Word document", "none.md": "no such file"}.items():
        outcome = postil("comment", name, "--model", "t")
        assert (outcome.code, outcome.out) == (3, "")
        assert outcome.err.startswith(f"postil: {name}: ")
        assert problem in outcome.err


def test_a_narrow_terminal_has_whole_texts(postil: Postil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postil.comments.command.terminal_width", lambda: 500)
    wide = postil("comment", "q.jsonl", "--model", "t", "-k", 2)
    monkeypatch.setattr("postil.comments.command.terminal_width", lambda: 40)
    narrow = postil("comment", "q.jsonl", "--model", "t", "-k", 2)
    assert (wide.code, narrow.code) == (0, 0)
    assert max(map(len, wide.out.splitlines())) > 60
    lines = narrow.out.splitlines()
    cards = lines[: lines.index(LABEL)]
    assert max(map(len, cards)) <= 40
    found = rows(postil("comment", "q.jsonl", "--model", "t", "-k", 2, "--format", "jsonl"))
    texts = [each["text"] for row in found for each in row["suggestions"]]
    assert all(f" {text} " in f" {' '.join(' '.join(cards).split())} " for text in texts)
