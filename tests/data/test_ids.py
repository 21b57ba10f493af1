"""Ids in two Unicode forms are one id, and are written as they were given."""

from __future__ import annotations

import csv
import io
import json
import pickle
import unicodedata
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

import postil
from postil.campaigns.models import Item
from postil.campaigns.planning import with_gold
from postil.campaigns.rubric import Rubric
from postil.campaigns.submissions import Export, Submission, Task
from postil.data.fields import DecomposedId, as_id, plain_id
from postil.data.row_files import read, write
from postil.data.rows import Candidate, Comment, Judgement, Passage, Rating, Reference, Score

if TYPE_CHECKING:
    from pathlib import Path

NFC = "café"
NFD = unicodedata.normalize("NFD", NFC)


def test_an_id_is_equal_to_its_other_form_and_keeps_its_own() -> None:
    one = as_id(NFD)
    assert (one == NFC, one == NFC, one != NFC, one == "cafe", len({one, NFC})) == (True, True, False, False, 1)
    assert ({NFC: 1}[one], {one: 2}[NFC], f"{one}", str(one)) == (1, 2, NFD, NFD)
    assert sorted(["cafz", NFC, one, "cafa"]) == ["cafa", "cafz", NFC, NFC]
    assert np.unique(np.array([NFC, one, "a"], dtype=object), return_inverse=True)[1].tolist() == [1, 1, 0]
    assert pickle.loads(pickle.dumps(one)) == NFC  # noqa: S301
    assert type(as_id(NFC)) is type(as_id("a")) is str


@pytest.mark.parametrize(
    "row",
    [
        Candidate(NFD, NFD, "x"),
        Reference(NFD, "x", system=NFD, ratings=(Rating(NFD, 1.0),)),
        Judgement(NFD, NFD, NFD, 1.0),
        Score(NFD, NFD, "m", 1.0),
        Passage(NFD, NFD, "x"),
        Comment(NFD, "x", parent=NFD, user=NFD),
    ],
)
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_every_row_is_equal_and_is_written_as_given(row: Any, ending: str, tmp_path: Path) -> None:
    ids = [name for name in row.__struct_fields__ if isinstance(getattr(row, name), DecomposedId)]
    composed = msgspec.structs.replace(row, **dict.fromkeys(ids, NFC))
    assert ids
    assert msgspec.structs.replace(composed, ratings=row.ratings) == row if hasattr(row, "ratings") else composed == row
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = str(tmp_path / f"rows.{ending}")
    write(path, [row])
    (again,) = read(path, type(row))
    assert [str(getattr(again, name)) for name in ids] == [NFD] * len(ids)


def test_only_ids_are_encoded() -> None:
    assert msgspec.json.encode({"a": as_id(NFD)}, enc_hook=plain_id).decode() == f'{{"a":"{NFD}"}}'
    with pytest.raises(TypeError):
        msgspec.json.encode({"a": object()}, enc_hook=plain_id)


def rows(form: str) -> list[dict[str, Any]]:
    name = [unicodedata.normalize(form, each) for each in ("café", "naïve", "öl", "x")]
    return [{"item": item, "system": system, "text": f"a {system} cat"} for item in name for system in ("b", name[0])]


def test_scores_join_and_print_the_candidates_form() -> None:
    references = [{"item": row["item"], "text": "a cat"} for row in rows("NFC")[::2]]
    with pytest.warns(UserWarning, match="4 of 8 candidates are not in the Unicode form NFC, and were read in it"):
        found = postil.score(rows("NFD"), references, metrics=["rouge-l"])
    assert [str(name) for name in found.item_names] == [row["item"] for row in rows("NFD")]
    assert [row["system"] for row in json.loads(found.to_json())["scores"]] == ["b", NFD]
    assert postil.compare(found, baseline=NFC).baseline == NFC


def test_columns_join() -> None:
    scores, grades = [0.1, 0.5, 0.3, 0.9], [1.0, 3.0, 2.0, 4.0]
    found = postil.score(
        ["a b", "b", "a", "c"], [["a"], ["b"]] * 2, items=[NFC, "x", NFD, "x"], systems=[NFC, NFC, "b", NFD],
        metrics=["bleu-1"],
    )  # fmt: skip
    assert [(row.system, row.n) for row in found.scores] == [(NFC, 3), ("b", 1)]
    one, other = (
        postil.correlate({"m": scores}, grades, items=items, systems=["b", "c", "b", "c"])
        for items in ([NFC, NFD, "x", "x"], [NFC, NFC, "x", "x"])
    )
    assert one.correlations == other.correlations


def test_judgements_join_by_all_their_ids(tmp_path: Path) -> None:
    given = [
        Judgement(unicodedata.normalize(form, row["item"]), unicodedata.normalize(form, row["system"]), who, grade + k)
        for k, (form, who) in enumerate((("NFC", NFC), ("NFD", "Bob"), ("NFD", "Ana")))
        for grade, row in enumerate(rows("NFC"), 1)
    ]
    mixed = [msgspec.structs.replace(row, annotator=NFD) if i % 2 and row.annotator == NFC else row
             for i, row in enumerate(given)]  # fmt: skip
    table = [Score(row["item"], row["system"], "m", len(row["text"]) + i % 3, "m") for i, row in enumerate(rows("NFD"))]
    first, second = (postil.correlate(table, judgements).to_dict() for judgements in (given, mixed))
    assert first == second
    assert first["correlations"][0]["n"] == 8
    write(str(tmp_path / "j.csv"), mixed)
    assert postil.correlate(table, str(tmp_path / "j.csv")).to_dict() == first


def test_tasks_and_answers_of_other_tools_join() -> None:
    export = Export()
    export.known(Task(id=NFD, fields={"item": "a"}, where="x.json", line=1))
    assert str(export.known(Task(id=NFC, fields={}, where="y.json", line=1)).id) == NFD
    answers = [Submission(task=task, annotator=who, answers={"q": 1.0}) for task, who in ((NFC, NFD), (NFD, NFC))]
    assert len({(one.task, one.annotator) for one in answers}) == 1


def test_gold_of_a_campaign_is_found(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    stream = io.StringIO()
    csv.writer(stream).writerows([("item", "system", "grade"), (NFC, NFC, 2)])
    path.write_text(stream.getvalue(), encoding="utf-8")
    (found,) = with_gold([Item(item=NFD, system=NFD, text="t")], str(path), Rubric.default())
    assert (found.gold, str(found.item)) == (2.0, NFD)
