"""Every command that reads rows takes tables of other formats and columns of other names, and says the same."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from command_line import put

if TYPE_CHECKING:
    from conftest import Postil

    Record = dict[str, object]

SAMPLE = files("postil") / "sample"
FIELDS = ("id", "title", "content", "category", "lang", "url", "date", "comments")
FEW = ("--resamples", 50, "--permutations", 50, "--format", "json")


def records(name: str) -> list[Record]:
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


def as_csv(name: str, rows: list[Record], names: dict[str, str], delimiter: str = ";") -> None:
    """A table whose columns have other names, with one more that nobody reads."""
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow([*(names.get(field, field) for field in rows[0]), "remark"])
        writer.writerows([*map(cell, row.values()), "read by nobody"] for row in rows)


def cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, list | dict) else value


def shared_settings(out: str) -> object:
    """A result without the command line."""
    found = json.loads(out)
    found.get("settings", {}).pop("command", None)
    return found


@pytest.fixture
def scores(postil: Postil) -> list[Record]:
    """Item scores of four systems, as `s.jsonl`."""
    articles = [row for row in records("articles.jsonl") if row["lang"] == "en"]
    ids = {row["id"] for row in articles}
    put(
        "refs.jsonl",
        [
            {"item": row["id"], "text": comment["text"], "grade": 3}
            for row in articles
            for comment in row["comments"]  # type: ignore[attr-defined]
        ],
    )
    put("cands.jsonl", [row for row in records("candidates.jsonl") if row["item"] in ids])
    put("judged.jsonl", [row for row in records("judgements.jsonl") if row["item"] in ids])
    done = postil("score", "cands.jsonl", "-r", "refs.jsonl", "-m", "rouge-l", "-m", "bleu-1", "--items", "s.jsonl")
    assert done.code == 0, done.err
    return [json.loads(line) for line in Path("s.jsonl").read_text(encoding="utf-8").splitlines()]


NAMES = {"item": "doc", "system": "model", "metric": "measure", "score": "value"}
NAMED = ("--column", "item=doc", "--column", "system=model")


def test_correlate(postil: Postil, scores: list[Record]) -> None:
    usual = postil("correlate", "s.jsonl", "--judgements", "judged.jsonl", *FEW)
    as_csv("s.csv", [{**row, "statistics": row.get("statistics", [])} for row in scores], NAMES)
    judged = [json.loads(line) for line in Path("judged.jsonl").read_text(encoding="utf-8").splitlines()]
    as_csv("judged.tsv", judged, {"item": "doc", "annotator": "who"}, "\t")
    done = postil(
        "correlate",
        "s.csv",
        "--judgements",
        "judged.tsv",
        *NAMED,
        "--column",
        "metric=measure",
        "--column",
        "score=value",
        "--column",
        "judgements.item=doc",
        "--column",
        "judgements.annotator=who",
        *FEW,
    )
    assert done.code == 0, done.err
    assert shared_settings(done.out) == shared_settings(usual.out)
    assert set(done.err.splitlines()) - set(usual.err.splitlines()) == {
        "s.csv: read with ';' between columns; columns not read: remark",
        "judged.tsv: columns not read: remark",
    }


def test_wide_scores_and_judgements(postil: Postil, scores: list[Record]) -> None:
    """One column per metric and per annotator: the same numbers, but for the signatures."""
    wide: dict[tuple[object, object], Record] = {}
    for row in scores:
        wide.setdefault((row["item"], row["system"]), {"doc": row["item"], "model": row["system"]})[
            str(row["metric"])
        ] = row["score"]
    as_csv("wide.csv", list(wide.values()), {}, ",")
    rated: dict[tuple[object, object], Record] = {}
    everyone = dict.fromkeys(row["annotator"] for row in records("judgements.jsonl"))
    for line in Path("judged.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        of = rated.setdefault((row["item"], row["system"]), {"doc": row["item"], "model": row["system"]})
        of |= {str(name): of.get(str(name), "") for name in everyone}
        of[row["annotator"]] = row["grade"]
    as_csv("wide.tsv", list(rated.values()), {}, "\t")
    people = ",".join(map(str, everyone))
    usual = postil("correlate", "s.jsonl", "--judgements", "judged.jsonl", *FEW)
    done = postil(
        "correlate",
        "wide.csv",
        "--judgements",
        "wide.tsv",
        "--metric-columns",
        "rouge-l,bleu-1",
        "--annotator-columns",
        people,
        *NAMED,
        "--column",
        "judgements.item=doc",
        "--column",
        "judgements.system=model",
        *FEW,
    )
    assert done.code == 0, done.err
    before, after = json.loads(usual.out), json.loads(done.out)
    for part in ("correlations", "differences", "human"):
        assert after[part] == before[part]
    as_means = postil("compare", "s.jsonl", "--item-means", *FEW)
    compared = postil("compare", "wide.csv", "--metric-columns", "rouge-l", "--metric-columns", "bleu-1", *NAMED, *FEW)
    assert compared.code == 0, compared.err
    assert json.loads(compared.out)["systems"] == json.loads(as_means.out)["systems"]


def test_a_table_without_a_column_of_metrics_says_what_to_do(postil: Postil) -> None:
    Path("wide.csv").write_text("item,system,bleu\n1,a,0.5\n", encoding="utf-8")
    done = postil("compare", "wide.csv")
    assert done.code == 3
    assert "metric, score: no such columns" in done.err
    assert "--metric-columns" in done.err


def test_names_of_columns_may_have_blanks_around_them_but_none_is_empty(postil: Postil) -> None:
    rows = [f"{item},{system},0.{item},0.{item}5" for item in (1, 2) for system in "ab"]
    Path("wide.csv").write_text("\n".join(["item,system,bleu,own", *rows]), encoding="utf-8")
    assert '"own"' in postil("compare", "wide.csv", "--metric-columns", "bleu, own", *FEW).out
    for names in ("", "bleu,"):
        done = postil("compare", "wide.csv", "--metric-columns", names)
        assert f"expected names of columns with commas between them, got '{names}'" in done.err


def test_passages(postil: Postil) -> None:
    rows = records("passages.jsonl")
    flags = ("-m", "f1-1", "-k", 5, "--resamples", 50, "--stop", "en", "--tokenizer", "words", "--format", "json")
    english = [row for row in rows if str(row["text"]).isascii()] or rows
    put("p.jsonl", english)
    as_csv(
        "p.csv",
        [{field: row.get(field, "") for field in ("topic", "id", "text", "grade")} for row in english],
        {"topic": "subject", "text": "body"},
    )
    usual = postil("passages", "p.jsonl", *flags)
    done = postil("passages", "p.csv", "--column", "topic=subject", "--column", "text=body", *flags)
    assert done.code == 0, done.err
    assert shared_settings(done.out) == shared_settings(usual.out)
    ranked = postil("interesting", "p.csv", "--column", "topic=subject", "--column", "text=body", "--format", "json")
    assert ranked.out == postil("interesting", "p.jsonl", "--format", "json").out
    assert ranked.code == 0, ranked.err


def test_a_campaign_is_planned_from_a_table(postil: Postil) -> None:
    pytest.importorskip("sqlalchemy", reason="needs the web extra")
    rows = [row for row in records("articles.jsonl") if row["lang"] == "en"]
    put("a.jsonl", rows)
    Path("a.json").write_text(
        json.dumps({"data": [{**row, "key": row["id"], "id": 0} for row in rows]}), encoding="utf-8"
    )
    flags = ("--annotators", 4, "--format", "json")
    usual = postil("annotate", "plan", "a.jsonl", "a.db", *flags)
    done = postil("annotate", "plan", "a.json", "b.db", "--column", "id=key", *flags)
    assert done.code == 0, done.err
    assert done.out == usual.out


def test_vectors_are_trained_on_a_table(postil: Postil) -> None:
    pytest.importorskip("gensim")
    rows = [{"text": row["text"]} for row in records("passages.jsonl")]
    put("t.jsonl", rows)
    as_csv("t.csv", rows, {"text": "body"})
    flags = ("--dimensions", 4, "--epochs", 1, "--min-count", 2, "--tokenizer", "characters")
    for out, of, more in (("one", "t.jsonl", ()), ("two", "t.csv", ("--column", "text=body"))):
        done = postil("vectors", "train", of, "--out", out, *flags, *more)
        assert done.code == 0, done.err
    one, two = (sorted((file.name, file.read_bytes()) for file in Path(out).iterdir()) for out in ("one", "two"))
    assert one == two
