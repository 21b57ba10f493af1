"""`postil vectors`."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Protocol

import pytest
from click.testing import CliRunner

from command_line import put
from postil.cli.main import app as postil
from postil.text.stop_words import stop_words_signature
from postil.text.tokens import Vocabulary
from postil.text.vectors import Vectors
from postil.vectors.command import vectors as app

PASSAGES = [
    {"topic": "1", "id": str(i), "text": text, "grade": 1}
    for i, text in enumerate(
        ["The cat sleeps.", "The dog sleeps.", "The cat eats.", "The dog eats.", "A bus stops."] * 30
    )
]
SMALL = ("--dimensions", 12, "--negative", 5, "--epochs", 3)
FILE = b"3 2\nrain 1 0\nsnow 1 1\nsun 0 1\n"


class Run(Protocol):
    def __call__(self, *args: object, code: int = 0) -> tuple[str, str]: ...


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `postil vectors` in a folder with passages and a file of vectors; gives standard output and error."""
    monkeypatch.chdir(tmp_path)
    put("p.jsonl", PASSAGES)
    Path("v.txt").write_bytes(FILE)

    def go(*args: object, code: int = 0) -> tuple[str, str]:
        result = CliRunner().invoke(app, [str(arg) for arg in args])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.stderr
        return result.stdout, result.stderr

    return go


def content(folder: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(Path(folder).iterdir())]


def test_train(run: Run) -> None:
    pytest.importorskip("gensim")
    for folder in ("one", "two"):
        assert run("train", "p.jsonl", "--out", folder, *SMALL) == (
            "",
            f"written: {folder}: 8 words, 12 dimensions\n",
        )
    assert content("one") == content("two")
    made = json.loads(Path("one/metadata.json").read_text(encoding="utf-8"))
    assert (made["tokenizer"], made["seed"], made["texts"], made["bigrams"]) == ("words-2", 20181, 150, False)
    run("train", "p.jsonl", "--out", "two", *SMALL, "--seed", 1)
    assert content("one") != content("two")
    assert sorted(path.name for path in Path().iterdir()) == ["one", "p.jsonl", "two", "v.txt"]


def test_train_with_every_option(run: Run) -> None:
    pytest.importorskip("gensim")
    options = ("--bigrams", "--window", 2, "--min-count", 30, "--tokenizer", "space", "--workers", 2)
    _, err = run("train", "p.jsonl", "--out", "v", *SMALL, *options)
    assert err.startswith("trained by several workers: the next run will give slightly other numbers; --workers 1")
    vectors = Vectors.open("v")
    # Every pair occurs 30 times but those with "The", which 60 times do; "space" leaves capitals and full stops.
    pairs = ("A_bus", "bus_stops.", "cat_eats.", "cat_sleeps.", "dog_eats.", "dog_sleeps.")
    assert vectors.words == ("The_cat", "The_dog", *pairs)
    assert vectors.bigrams
    out, _ = run("show", "v", "The_cat", "-k", 1)
    assert out.startswith("8 bigrams, 12 dimensions, 0.0 MB\n")


def test_train_without_stop_words(run: Run) -> None:
    """Pairs close over them, as `postil passages --stop` has it, and `show` and `metadata.json` name the list."""
    pytest.importorskip("gensim")
    run("train", "p.jsonl", "--out", "v", *SMALL, "--bigrams", "--stop", "en")
    vectors = Vectors.open("v")
    assert vectors.words == ("bus_stops", "cat_eats", "cat_sleeps", "dog_eats", "dog_sleeps")
    assert (vectors.metadata["stop"], vectors.metadata["tokens"]) == (stop_words_signature("en"), 300)
    assert f"stop: {stop_words_signature('en')}" in run("show", "v")[0].splitlines()
    run("train", "p.jsonl", "--out", "w", *SMALL, "--bigrams")
    assert Vectors.open("w").metadata["stop"] == "none"
    collection = Vocabulary().encode_tokens([["cat", "sleeps"], ["the", "cat"]])
    assert (vectors.sums(collection).unknown, Vectors.open("w").sums(collection).unknown) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("train", "used", "said"),
    [
        ("--bigrams --stop en", "--stop en", "0.0% of the pairs of words"),
        ("--bigrams", "--stop en", "0.0% of the pairs of words; stop:none; stop:en-HASH"),
        ("--bigrams --stop en", "", "50.0% of the pairs of words; stop:en-HASH; stop:none"),
        ("", "--stop en", "0.0% of the words"),  # each word that is left has its vector
        ("--stop en", "", "33.3% of the words; stop:en-HASH; stop:none"),
        # but cat and dog, which have neither a capital nor a full stop
        (
            "--stop en --tokenizer space",
            "--tokenizer words",
            "66.7% of the words; tokenizer:space and stop:en-HASH; tokenizer:words-2 and stop:none",
        ),
        ("", "--anchors", "0.0% of the words; tokenizer:words-2; tokenizer:anchors"),
    ],
)
def test_passages_read_otherwise_than_the_vectors_were_trained(run: Run, train: str, used: str, said: str) -> None:
    pytest.importorskip("gensim")
    run("train", "p.jsonl", "--out", "v", *SMALL, *train.split())
    rows = [
        {"topic": "1", "id": "1", "text": "The cat sleeps.", "anchors": ["cat"], "grade": 1},
        {"topic": "1", "id": "2", "text": "The dog eats.", "grade": 0},
    ]
    put("q.jsonl", rows)
    result = CliRunner().invoke(postil, ["passages", "q.jsonl", "-m", "cosine(vectors=v)", *used.split()])
    assert result.exit_code == 0, result.output
    (note,) = (line for line in result.stdout.splitlines() if line.startswith("note: cosine"))
    share, *ways = said.replace("en-HASH", stop_words_signature("en")).split("; ")
    told = [f"{share} have no vector", *map(str.__add__, ("trained with ", "used with "), ways)]
    assert note == f"note: cosine(vectors=v): {told[0]}{'; ' * bool(ways)}{', '.join(told[1:])}"


def test_vectors_that_do_not_say_how_they_were_trained(run: Run) -> None:
    run("convert", "v.txt", "--out", "v")
    Path("q.jsonl").write_text('{"topic": "1", "id": "1", "text": "rain and snow", "grade": 1}\n', encoding="utf-8")
    result = CliRunner().invoke(postil, ["passages", "q.jsonl", "-m", "cosine(vectors=v)", "--stop", "en"])
    assert "note: cosine(vectors=v): 0.0% of the words have no vector\n" in result.stdout


def test_train_refuses(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("full").mkdir()
    Path("full/mine").touch()
    _, err = run("train", "p.jsonl", "--out", "full", code=2)
    assert err == "postil: full: is there already and holds mine, which is not replaced; name another folder\n"
    _, err = run("train", "p.jsonl", "--out", "v", "--tokenizer", "wrods", code=2)
    assert "unknown tokenizer 'wrods'; did you mean 'words'?" in err
    _, err = run("train", "p.jsonl", "--out", "v", "--stop", "eng", code=2)
    assert "unknown stop list 'eng'; did you mean 'en'?" in err
    Path("zh.jsonl").write_text('{"text": "ok"}\n{"text": "我爱北京"}\n', encoding="utf-8")
    _, err = run("train", "zh.jsonl", "--out", "v", code=3)
    assert err.startswith("postil: zh.jsonl:2: text: Han text cannot be split into words")
    _, err = run("train", "none.jsonl", "--out", "v", code=3)
    assert err == "postil: none.jsonl: no such file\n"
    monkeypatch.setitem(sys.modules, "gensim", None)
    _, err = run("train", "p.jsonl", "--out", "v", code=2)
    assert err == "postil: training word vectors needs an optional package: pip install 'postil[vectors]'\n"
    assert not Path("v").exists()


def test_train_on_too_little(run: Run) -> None:
    pytest.importorskip("gensim")
    _, err = run("train", "p.jsonl", "--out", "v", "--min-count", 1000, code=3)
    assert err == "postil: p.jsonl: no word occurs 1000 times in 150 texts\n"


@pytest.mark.parametrize("packed", [False, True])
def test_convert(run: Run, packed: bool) -> None:
    name = "v.txt.gz" if packed else "v.txt"
    Path(name).write_bytes(gzip.compress(FILE, mtime=0) if packed else FILE)
    assert run("convert", name, "--out", "v") == ("", "written: v: 3 words, 2 dimensions\n")
    before = content("v")
    run("convert", name, "--out", "v", "--form", "text")
    assert content("v") == before
    vectors = Vectors.open("v")
    assert vectors.words == ("rain", "snow", "sun")
    assert vectors.array.tolist() == [[1, 0], [1, 1], [0, 1]]
    assert [vectors.metadata[key] for key in ("spec", "bigrams", "file")] == ["word2vec(text)", False, name]


def test_convert_says_where_a_file_is_wrong_and_keeps_the_old_folder(run: Run) -> None:
    run("convert", "v.txt", "--out", "v")
    before = content("v")
    Path("bad.txt").write_bytes(b"4 2\nrain 1 0\nrain 1 1\nsun nan 1\ncaf\xe9 1 2\n")
    _, err = run("convert", "bad.txt", "--out", "v", code=3)
    assert err == "postil: bad.txt:3: the word 'rain' comes a second time\n"
    assert content("v") == before
    _, err = run("convert", "bad.txt", "--out", "v", "--skip-bad")
    assert err == (
        "left out: 1 word (not UTF-8)\nleft out: 1 word (met before)\nleft out: 1 word (not finite)\n"
        "written: v: 1 word, 2 dimensions\n"
    )
    assert json.loads(Path("v/metadata.json").read_text())["left_out"] == {
        "not UTF-8": 1,
        "met before": 1,
        "not finite": 1,
    }
    _, err = run("convert", "v.txt", "--out", "v", "--form", "txt", code=2)
    assert "unknown form of word vectors 'txt'; did you mean 'text'?" in err


def test_show(run: Run) -> None:
    run("convert", "v.txt", "--out", "v", "--bigrams")
    out, err = run("show", "v", "rain", "sun", "--nearest", 1, "--check")
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == "3 bigrams, 2 dimensions, 0.0 MB"
    assert "spec: word2vec(text)" in lines
    assert "first: rain" in lines
    # the cosine of (1, 0) and (1, 1) is 1 / sqrt(2)
    assert lines[2:6] == ["near  word  cosine", "----  ----  ------", "snow  rain  0.7071", "snow   sun  0.7071"]
    assert run("show", "v", "rain", "-k", 1, "--format", "csv")[0].startswith("word,near,cosine\nrain,snow,0.7")
    told = json.loads(run("show", "v", "rain", "-k", 1, "--format", "json")[0])
    assert (told["kind"], told["words"], told["dimensions"], told["made"]["bigrams"]) == ("vectors", 3, 2, True)
    assert told["signature"].startswith("3x2-bigrams-")
    assert told["nearest"] == [{"word": "rain", "near": "snow", "cosine": pytest.approx(0.5**0.5)}]
    assert run("show", "v")[0].splitlines()[-1] == "first: rain snow sun"


def test_show_refuses(run: Run) -> None:
    run("convert", "v.txt", "--out", "v")
    assert run("show", "v", "Rain", code=2)[1] == "postil: no vector for 'Rain'; there is one for 'rain'\n"
    assert "w: no such folder; expected word vectors that postil vectors train" in run("show", "w", code=3)[1]
    path = Path("v/vectors.npy")
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    assert run("show", "v")[1] == ""
    assert run("show", "v", "--check", code=3)[1].startswith("postil: v: expected content with the hash")


def test_a_bar_only_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    class Steps:
        def __enter__(self) -> object:
            return begun.append

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr("postil.vectors.calls.steps", lambda _total: Steps())
    run("convert", "v.txt", "--out", "v")
    assert begun == ["3 words"] * 100
