from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from postil.data.row_files import Writer, read
from postil.data.suggestions import LABEL, Filtered, Overlap, Provenance, Source, Suggestion, Suggestions
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

FOUND = Provenance.retrieved("ir-tc", "8d0c", [Source("a7", "3"), Source("a9", "12")])
WRITTEN = Provenance.generated("att", "77aa", Overlap("带上外套", 2, Source("a7", "3")))
ROWS = [
    Suggestions("a1", (Suggestion("Bring a coat.", 2.5, 1, FOUND),), (Filtered("ok", "too short", Source("a7", "5")),)),
    Suggestions("a2", (Suggestion("带上外套。", -1.0, 1, WRITTEN), Suggestion("😂", -2.0, 2, WRITTEN))),
    Suggestions("a3", ()),
]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet"])
def test_rows_come_back_from_a_file(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"suggestions.{ending}"
    with Writer(path, Suggestions) as out:
        for row in ROWS:
            out.write(row)
    assert list(read(path, Suggestions)) == ROWS


def test_what_stands_in_a_file() -> None:
    assert msgspec.json.encode(ROWS[0]).decode() == (
        '{"article":"a1","suggestions":[{"text":"Bring a coat.","score":2.5,"rank":1,"provenance":{"label":'
        '"Machine-generated suggestion: a reader\'s comment found under another article","method":"retrieved",'
        '"model":"ir-tc","model_hash":"8d0c","sources":[{"article":"a7","comment":"3"},{"article":"a9","comment":"12"}],'
        '"overlap":null,"prompting":null},"probability":null}],'
        '"filtered":[{"text":"ok","reason":"too short","source":{"article":"a7","comment":"5"},"overlap":null}],'
        '"reason":null}'
    )
    assert msgspec.json.encode(ROWS[2]) == b'{"article":"a3","suggestions":[],"filtered":[],"reason":null}'


@pytest.mark.parametrize("provenance", [FOUND, WRITTEN])
def test_every_label_begins_with_the_words(provenance: Provenance) -> None:
    assert provenance.label.startswith(LABEL)
    assert LABEL == "Machine-generated suggestion"


def test_a_row_without_a_label_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "suggestions.jsonl"
    path.write_text(msgspec.json.encode(ROWS[0]).decode().replace('"label"', '"words"'))
    with pytest.raises(InvalidInput, match=r"suggestions\.jsonl:1: .*label"):
        list(read(path, Suggestions))


def test_rows_settle_themselves() -> None:
    row = Suggestions(7, [Suggestion("x", 1, 1, FOUND)], None)  # type: ignore[arg-type]
    assert (row.article, row.suggestions[0].score, row.filtered) == ("7", 1.0, ())
    assert Source(7, 3) == Source("7", "3")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="score: expected a number, got NaN"):
        Suggestion("x", float("nan"), 1, FOUND)
