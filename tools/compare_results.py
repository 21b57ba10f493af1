"""Compare the results of two versions of the package, command by command, number by number.

Each command runs in a folder of its own with either version. The JSON of the first, with the fields renamed that were
renamed and the ``kind`` that was added, must be that of the second, byte for byte; where only texts differ (captions,
notes, labels), these are counted. Files of scores and suggestions are compared too::

    python tools/compare_results.py BEFORE/src AFTER/src --data DATA --work FOLDER
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RENAMED_FLAGS: Final = {
    "--min-content-words": "--content-words",
    "--min-comments": "--comments",
    "--max-comment-words": "--comment-words",
    "--test-min-comments": "--test-comments",
    "--test-min-words": "--test-words",
    "--test-min-upvotes": "--test-upvotes",
    "--references-per-article": "--draw",
    "--dedup-threshold": "--near-duplicates",
    "--annotators-per-item": "--each",
    "--vocab-size": "--vocabulary",
}
"""Flag after -> flag before."""

RENAMED_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "suggestions": {"held": "filtered", "made": "method", "hash": "model_hash", "copied": "overlap"},
    "statistics": {"comments_an_article": "comments_per_article"},
    "plan": {"each": "annotators_per_item", "order": "order_correlation", "gap": "median_gap"},
    "interesting": {"place": "index"},
    "vectors": {"made": "metadata"},
}
"""Field before -> field after, by kind."""

HASHES: Final = ("hash", "model_hash")
"""Hashes of model folders, whose metadata names its fields otherwise now."""

DEFAULTS: Final = {"digits": 3, "aside": 0, "words": [], "tables": [], "pictures": [], "kind": ""}
"""Fields of a study that are left out now where they have their default; they were before in most places."""

COMMENTS: Final = ("statistics", "scores", "comparison", "correlations", "study")
PASSAGES: Final = ("informativeness", "interestingness", "study")
"""Results of the two studies."""

ADDED: Final = {"scores": "score", "agreement": "agreement", "annotators": "plan", "nearest": "vectors"}
"""A field that tells the kind of a result that had none."""


@dataclass(frozen=True)
class Step:
    """A command, and the files of it that are compared.

    Args:
        name: Its name; also that of the file for its standard output.
        words: Its words, with the flags of the version after.
        files: Files that it writes.
    """

    name: str
    words: Sequence[str]
    files: Sequence[str] = ()


@dataclass
class Outcome:
    """The comparison of one file.

    Args:
        same: True if it is byte for byte as before.
        texts: Number of texts that differ.
        layout: Number of objects with their fields in another order, or without one that has its default.
        problems: Other differences.
    """

    same: bool = False
    texts: int = 0
    layout: int = 0
    problems: list[str] = field(default_factory=list)


def steps(data: Path) -> Iterator[Step]:
    """The commands, in order; later ones read what earlier ones wrote."""
    studies = [
        *(
            f"demo/study-comments/{name}.json"
            for name in ("statistics", "scores", "comparison", "correlations", "study")
        ),
        *(f"demo/study-passages/{name}.json" for name in ("informativeness", "interestingness", "study")),
    ]
    yield Step("demo", ["demo", "--out", "demo"], [*studies, "demo/study-comments/scores.jsonl.gz"])
    sample = ["demo/candidates.en.jsonl", "-r", "demo/references.en.jsonl", "--scale", "1:5"]
    yield Step("score", ["score", *sample, "--items", "items.jsonl", "--controls", "--format", "json"], ["items.jsonl"])
    judged = ["correlate", "items.jsonl", "--judgements", "demo/judgements.jsonl", "--scale", "1:5", "--format", "json"]
    yield Step("correlate", [*judged, "--candidates", "demo/candidates.en.jsonl"])
    yield Step("correlate-by-item", [*judged, "--by", "item", "-c", "kendall-c"])
    yield Step("correlate-by-system", [*judged, "--by", "system"])
    yield Step("compare", ["compare", "items.jsonl", "--format", "json"])
    measures = ["-m", "f1-1", "-m", "kl-2", "-m", "logsim-sk", "-k", "5", "-k", "10", "--format", "json"]
    for reference, more in (("topic", ["--leave-one-out"]), ("others", ["--folds", "3"])):
        words = ["passages", "demo/passages.jsonl", "--reference", reference, *more, *measures]
        yield Step(f"passages-{reference}", words)
    yield Step("plan", ["annotate", "plan", "demo/articles.en.jsonl", "c.db", "-n", "4", "--format", "json"])
    posts = str(data / "articles/reddit_college.en.jsonl.gz")
    yield Step("import", ["corpus", "import", "forum", posts, "--out", "posts.jsonl"], ["posts.jsonl"])
    build = ["corpus", "build", "posts.jsonl", "--out", "corpus", "--source", "posts", "--license", "none"]
    split = ["--test", "200", "--dev", "50", "--test-min-comments", "15", "--test-min-words", "5"]
    yield Step("build", [*build, *split, "--test-min-upvotes", "0", "--references-per-article", "0"])
    yield Step("stats", ["corpus", "stats", "corpus", "--format", "json"])
    train = ["train", "ir-tc", "--corpus", "corpus", "--out", "model", "--ranker", "tf-idf", "--format", "json"]
    yield Step("train", train)
    yield Step("comment", ["comment", "demo/articles.en.jsonl", "--model", "model", "-k", "3", "--format", "json"])
    yield Step("rank", ["rank-comments", "demo/articles.en.jsonl", "--model", "model", "--format", "json"])
    evaluate = ["evaluate", "model", "--corpus", "corpus", "--items", "e.jsonl", "--format", "json"]
    yield Step("evaluate", evaluate, ["e.jsonl"])
    yield Step("compare-evaluate", ["compare", "e.jsonl", "--baseline", "human", "--format", "json"])
    dl19 = data / "passages/trec_dl19"
    trec = ["corpus", "import", "trec", "--qrels", str(dl19 / "2019qrels-pass.txt")]
    trec += ["--collection", str(dl19 / "dl2019_document.jsonl.gz"), "--out", "dl19.jsonl"]
    yield Step("import-trec", trec, ["dl19.jsonl"])
    words = ["passages", "dl19.jsonl", "--stop", "en", "--stem", "porter", "-m", "f1-1", "-m", "kl-1", "-m", "logsim-1"]
    yield Step("passages-dl19", [*words, "-k", "10", "-k", "100", "--resamples", "200", "--format", "json"])


def run(step: Step, source: Path, folder: Path, *, before: bool) -> None:
    """Run a command with one version; its standard output goes to a file."""
    words = [RENAMED_FLAGS.get(word, word) if before else word for word in step.words]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, "-m", "postil", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{source}: {' '.join(words)}:\n{done.stderr.decode()}")
    (folder / f"{step.name}.out").write_bytes(done.stdout)


def compare(before: bytes, after: bytes) -> Outcome:
    """Compare two files, by their JSON where they hold JSON."""
    if before == after:
        return Outcome(same=True)
    try:
        old, new = json.loads(before), json.loads(after)
    except ValueError:
        return Outcome(problems=["the bytes differ"])
    expected = renamed(old, str(new.get("kind", "")) if isinstance(new, dict) else "")
    outcome = Outcome(same=json.dumps(expected, ensure_ascii=False, indent=2).encode() + b"\n" == after)
    differences(expected, new, "", outcome)
    return outcome


def renamed(value: object, kind: str) -> object:
    """The JSON of the version before with the names of the version after."""
    if isinstance(value, dict):
        names = RENAMED_FIELDS.get(kind, {})
        made = {names.get(name, name): renamed(each, kind) for name, each in value.items()}
        if "schema" in made and "kind" not in made:
            added = next((each for name, each in ADDED.items() if name in made), "")
            made = {"schema": made.pop("schema"), "kind": added, **made}
        return made
    return [renamed(each, kind) for each in value] if isinstance(value, list) else value


def differences(old: object, new: object, path: str, outcome: Outcome) -> None:
    """Collect what differs."""
    if isinstance(old, dict) and isinstance(new, dict):
        outcome.layout += list(old) != list(new)
        if any(name not in DEFAULTS or old.get(name) != DEFAULTS[name] for name in old.keys() ^ new.keys()):
            outcome.problems.append(f"{path or 'top'}: fields {list(old)} became {list(new)}")
        for name in old.keys() & new.keys():
            if name not in HASHES:
                differences(old[name], new[name], f"{path}.{name}", outcome)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            differences(one, other, f"{path}[{place}]", outcome)
    elif isinstance(old, str) and isinstance(new, str):
        outcome.texts += old != new
    elif old != new:
        outcome.problems.append(f"{path}: {str(old)[:60]} became {str(new)[:60]}")


def main() -> None:
    """Run all commands with both versions and print one line per file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("before", type=Path, help="src folder of the version before")
    parser.add_argument("after", type=Path, help="src folder of the version after")
    parser.add_argument("--data", type=Path, required=True, help="folder of the shared data")
    parser.add_argument("--work", type=Path, required=True, help="folder to work in; must not exist")
    given = parser.parse_args()
    folders = [given.work / name for name in ("before", "after")]
    for folder in folders:
        folder.mkdir(parents=True)
    wrong = 0
    for step in steps(given.data.resolve()):
        for folder, source in zip(folders, (given.before, given.after), strict=True):
            run(step, source.resolve(), folder, before=folder is folders[0])
        for name in (f"{step.name}.out", *step.files):
            old, new = ((folder / name).read_bytes() for folder in folders)
            if name.endswith(".gz"):
                old, new = gzip.decompress(old), gzip.decompress(new)
            found = compare(old, new)
            texts = f", {found.texts} texts differ" if found.texts else ""
            texts += f", {found.layout} objects laid out otherwise" if found.layout else ""
            same = "byte for byte" if found.same else "DIFFERS" if found.problems else "same numbers"
            print(f"{step.name:20} {name:45} {same}{texts}", flush=True)
            for problem in found.problems[:5]:
                print(f"    {problem}", flush=True)
            wrong += bool(found.problems)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
