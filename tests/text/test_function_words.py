from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.errors import InvalidInput
from postil.text.function_words import function_words

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_function_words", ROOT / "tools" / "make_function_words.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_of_the_package() -> None:
    words = function_words()
    assert {"the", "a", "of", "it's", "don't", "s", "t", ",", ".", "?", '"', "("} <= words
    assert not {"cat", "comment", "election", "1", "#", ""} & words
    assert 80 <= len(words) <= 150
    assert all(word == word.lower() and word.split() == [word] for word in words)


def test_the_head_of_the_list_states_rule_and_sources() -> None:
    lines = (ROOT / "src/postil/text/function_words.en.txt").read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    assert lines[: len(head)] == head
    assert "0.001" in head[0]
    assert any("wordfreq 3.1.1" in line for line in head)
    assert len(lines) - len(head) == len(function_words())


def test_a_file_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeffog\r\n\n# a comment with spaces\n  i\t\n,\nOg\nog".encode())
    assert function_words(path) == {"og", "i", ",", "Og"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"og\n# fine\nto ord\n", r"words\.txt:3: expected one word, got 'to ord'"),
        (b"og\n\n\xe6\n", r"words\.txt:3: expected UTF-8 text"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        function_words(path)


def test_a_missing_file_is_invalid_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"absent\.txt: expected a file of function words"):
        function_words(tmp_path / "absent.txt")


def test_tokens_of_the_tool(tool: ModuleType) -> None:
    text = "It's a dog’s DON'T; 5 cats' x_y -- ¿que? €3"
    expected = ["it's", "a", "dog's", "don't", ";", "5", "cats", "'", "x", "_", "y", "-", "-", "¿", "que", "?", "3"]
    assert list(tool.tokens(text)) == expected


def test_the_rule_is_strictly_above_one_in_a_thousand(tool: ModuleType) -> None:
    table = tool.frequencies(["a b " * 1, "c " * 996, ", ,"])
    assert table["a"] == 1e-3
    assert tool.above(table) == [",", "c"]
    assert tool.above({"7": 0.5, "a7": 0.5}) == ["a7"]


def test_an_apostrophe_word_counts_whole_and_in_pieces(tool: ModuleType) -> None:
    table = tool.with_pieces({"it's": 0.25, "it": 0.25, "'": 0.5})
    assert table == {"it's": 0.25, "it": 0.5, "s": 0.25, "'": 0.5}


def test_the_mean_counts_an_absent_token_as_zero(tool: ModuleType) -> None:
    assert tool.mean([{"a": 0.5, "b": 0.5}, {"a": 1.0}]) == {"a": 0.75, "b": 0.25}


def test_the_tool_writes_a_list_that_the_package_reads(
    tool: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain, rows = tmp_path / "plain.txt", tmp_path / "rows.jsonl.gz"
    plain.write_text("one two, two\n", encoding="utf-8")
    row = {"title": "unread", "content": "three", "text": "", "comments": [{"text": "four!"}], "votes": 3}
    with gzip.open(rows, "wt", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    tool.main(["--text", "a page", str(plain), "--text", "a forum", str(rows)])
    made = tmp_path / "made.txt"
    made.write_text(capsys.readouterr().out, encoding="utf-8")
    assert function_words(made) == {"one", "two", ",", "three", "four", "!"}
    assert "a page; a forum" in made.read_text(encoding="utf-8")
