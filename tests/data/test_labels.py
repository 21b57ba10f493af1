"""Label rows, from any table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from postil.data.labels import Label, parse_show
from postil.data.row_files import read
from postil.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("shown", ["true", "1", '"show"', '"YES"', "1.0"])
@pytest.mark.parametrize("hidden", ["false", "0", '"hide"', '"do not show"'])
def test_json_says_the_answer_in_many_ways(tmp_path: Path, shown: str, hidden: str) -> None:
    file = tmp_path / "l.jsonl"
    file.write_text("".join(f'{{"article": 1, "text": "a b", "show": {show}}}\n' for show in (shown, hidden)))
    assert [row.show for row in read(str(file), Label)] == [True, False]


def test_a_table_of_text_says_it_too(tmp_path: Path) -> None:
    file = tmp_path / "l.csv"
    file.write_text("article,text,show,rank,reason\n7,Bring a coat.,TRUE,1,\n7,lol,hide,2,unkind\n8,hm,0,,\n")
    rows = list(read(str(file), Label))
    assert [(row.article, row.show, row.rank, row.reason) for row in rows] == [
        ("7", True, 1, None),
        ("7", False, 2, "unkind"),
        ("8", False, None, None),
    ]


def test_a_spreadsheet_of_another_language_says_it_in_its_own_words(tmp_path: Path) -> None:
    file = tmp_path / "l.csv"
    file.write_text("article;text;show\n1;a;WAHR\n1;b;FALSCH\n1;c;vrai\n1;d;Show\n1;e;1.0\n", encoding="utf-8")
    assert [row.show for row in read(str(file), Label)] == [True, False, True, True, True]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"article": "a", "text": "b", "show": "maybe"}', "show: expected true or false, show or hide, 1 or 0"),
        ('{"article": "a", "text": "b", "show": 2}', "show: expected true or false"),
        ('{"article": "a", "text": "b", "show": null}', "show: expected true or false"),
        ('{"article": "a", "text": "b", "show": [1]}', "show: expected"),
        ('{"article": "a", "text": " ", "show": 1}', "text: expected the text of a suggestion, got an empty one"),
        ('{"article": "a", "text": "b", "show": 1, "rank": 0}', "rank: expected a rank from 1, got 0"),
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "l.jsonl"
    file.write_text(f'{{"article": "a", "text": "b", "show": 1}}\n{line}\n')
    with pytest.raises(InvalidInput) as caught:
        list(read(str(file), Label))
    assert str(caught.value).startswith(f"{file}:2: {said}")


@pytest.mark.parametrize("value", [None, "", "x", 2, -1, float("nan"), [], {}])
def test_no_other_answer_is_taken(value: Any) -> None:
    with pytest.raises(InvalidInput, match="expected true or false"):
        parse_show(value)
