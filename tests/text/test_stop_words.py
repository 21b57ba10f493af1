"""Stop lists and function words."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import struct
import unicodedata
import zlib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.errors import InvalidInput, UnknownName
from postil.text.stop_words import STOP_LISTS, function_words, stop_words, stop_words_signature, without_stop_words
from postil.text.tokenizers import tokenizer
from postil.text.tokens import Vocabulary

if TYPE_CHECKING:
    from types import ModuleType


FILES = resources.files("postil.text").joinpath("stop_lists")


def test_there_is_a_file_for_every_list_and_no_other() -> None:
    assert sorted(file.name for file in FILES.iterdir()) == [f"{lang}.txt" for lang in STOP_LISTS]


@pytest.mark.parametrize("lang", STOP_LISTS)
def test_a_file_says_what_it_is_and_has_no_word_twice(lang: str) -> None:
    lines = FILES.joinpath(f"{lang}.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert "stop words" in lines[0]
    words = [word for line in lines if not line.startswith("#") for word in line.split()]
    assert len(words) == len(stop_words(lang))
    assert 150 <= len(words) <= 260


@pytest.mark.parametrize("lang", [lang for lang in STOP_LISTS if lang != "zh"])
def test_every_word_is_one_token_of_the_words_tokenizer(lang: str) -> None:
    split = tokenizer("words").split
    assert [word for word in stop_words(lang) if split(word) != [word]] == []
    assert all(unicodedata.is_normalized("NFC", word) for word in stop_words(lang))


def test_every_chinese_word_is_one_token_of_jieba() -> None:
    pytest.importorskip("jieba", reason="needs the extra zh")
    split = tokenizer("jieba").split
    assert [word for word in stop_words("zh") if split(word) != [word]] == []


@pytest.mark.parametrize(
    ("lang", "text", "left"),
    [
        ("de", "Das ist nicht der Hund, den ich gestern im Park gesehen habe", "hund gestern park gesehen"),
        ("en", "I don't think they'll say it's the cat that we've seen", "think say cat seen"),
        ("es", "No sé si el perro que está en la casa es de mi hermana", "sé perro casa hermana"),
        ("fr", "L'eau n'est pas froide, mais j'ai peur jusqu'à ce qu'il vienne", "eau froide peur vienne"),
        ("it", "L'acqua dell'isola non è fredda, anch'io l'ho vista", "acqua isola fredda vista"),
        ("nl", "De hond is niet van mij, maar 's avonds zit hij in het huis", "hond avonds zit huis"),
        ("pt", "O cão não está na casa da minha irmã, mas no jardim", "cão casa irmã jardim"),
        ("ru", "Я не знаю, её ли это собака, но она живёт ещё в нашем доме", "знаю собака живёт нашем доме"),
        ("sv", "Hunden är inte min, men den bor hos oss i huset", "hunden bor huset"),
    ],
)
def test_what_is_left_of_a_sentence(lang: str, text: str, left: str) -> None:
    assert [word for word in tokenizer("words").split(text) if word not in stop_words(lang)] == left.split()


def test_what_is_left_of_a_chinese_sentence() -> None:
    pytest.importorskip("jieba", reason="needs the extra zh")
    tokens = tokenizer("jieba").split("我们昨天在公园里看到了一个漂亮的孩子，但是他没有说话……")
    assert " ".join(token for token in tokens if token not in stop_words("zh")) == "昨天 公园 看到 漂亮 孩子 说话"


# Another list gives other scores: who changes a list changes its signature here and says so in CHANGELOG.md.
SIGNATURES = (
    "de-f116f97e en-82f5b00b es-d2e3e986 fr-19705be7 it-3fb33224 nl-f91c6e4f pt-5fd824e7 ru-16236632 sv-f5348dd0 "
    "zh-ec9000c5"
)


def test_the_lists_are_the_ones_that_scores_were_made_with() -> None:
    assert [stop_words_signature(lang) for lang in STOP_LISTS] == SIGNATURES.split()


@pytest.mark.parametrize("function", [stop_words, stop_words_signature])
@pytest.mark.parametrize("name", ["english", "EN", "", "../text/stop_lists/en", "none"])
def test_an_unknown_list(function: object, name: str) -> None:
    assert callable(function)
    with pytest.raises(UnknownName, match=r"unknown stop list '.*Known: de, en, es"):
        function(name)


def test_each_text_is_without_the_words_of_its_own_list() -> None:
    tokens = Vocabulary().encode(["die Boote der the", "die boats der the", "die the"], tokenizer("words"))
    kept = without_stop_words(tokens, "en", ["de", "en", "none"])
    assert [kept.words(text) for text in range(3)] == [["boote", "the"], ["die", "boats", "der"], ["die", "the"]]
    same = without_stop_words(tokens, "en", ["en"] * 3)
    assert same.ids.tolist() == without_stop_words(tokens, "en").ids.tolist()


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
    assert {"the", "a", "of", "don't", "s", "t", ",", ".", "?", '"', "“", "("} <= words
    assert not {"cat", "comment", "election", "1", "#", ""} & words
    assert 80 <= len(words) <= 150
    assert all(word == word.lower() and word.split() == [word] for word in words)


PERMISSIVE = ("O-UDA-1.0", "PSF-2.0", "public domain")
"""Licenses of data from which a list in an Apache-2.0 package may be computed."""


def test_the_head_of_the_list_states_rule_and_sources() -> None:
    lines = (ROOT / "src/postil/text/function_words.en.txt").read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    assert lines[: len(head)] == head
    assert "0.001" in head[0]
    assert len(lines) - len(head) == len(function_words())
    sources = [line for line in head if line.startswith("# - ")]
    assert len(sources) >= 3
    assert all(line.endswith(PERMISSIVE) for line in sources)
    assert not re.search(r"wordfreq|wikipedia|CC.BY.SA|share.?alike|GFDL|GPL", "\n".join(head), re.IGNORECASE)


def test_the_command_that_makes_the_list_names_its_sources(tool: ModuleType) -> None:
    head = (ROOT / "src/postil/text/function_words.en.txt").read_text(encoding="utf-8")
    named = re.findall(r'--text "(.*?)"', str(tool.__doc__).split("The list in the package")[1])
    assert [f"# - {what}" for what in named] == [line for line in head.splitlines() if line.startswith("# - ")]


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


def test_quotes_are_one_mark_in_every_form(tool: ModuleType) -> None:
    assert list(tool.tokens("“a” ‘b’")) == ['"', "a", '"', "'", "b", "'"]
    assert tool.above({'"': 0.5, "a": 0.5}) == ['"', "“", "”", "a"]


def test_the_median_keeps_the_subject_of_one_source_out(tool: ModuleType) -> None:
    tables = [{"the": 0.25, "python": 0.75}, {"the": 0.5, "yahweh": 0.5}, {"the": 1.0}]
    assert tool.typical(tables) == {"the": 0.5, "python": 0.0, "yahweh": 0.0}


def test_the_tool_writes_a_list_that_the_package_reads(
    tool: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One source of four files, of every kind that is read; what is no prose comes from none of them."""
    plain, rows, page, module = (tmp_path / name for name in ("plain.txt", "rows.jsonl.gz", "page.html", "ot.bzz"))
    plain.write_text("one two, two\n", encoding="utf-8")
    row = {"title": "no", "context": "no", "content": "three", "text": "", "comments": [{"text": "four!"}]}
    with gzip.open(rows, "wt", encoding="utf-8") as file:
        file.write(json.dumps(row | {"references": ["five"]}) + "\n")
    page.write_text("<title>no</title><p class='x'>six <em>sev</em>en &amp; <code>no</code>\n</p>no", encoding="utf-8")
    block = zlib.compress(b"<title>no</title><w>eight</w><note n='1'>no <b>no</b></note> nine")
    module.write_bytes(b"gap" + block)
    module.with_suffix(".bzs").write_bytes(struct.pack("<III", 3, len(block), 99))
    tool.main(["--text", "four files, public domain", *map(str, (plain, rows, page, module))])
    made = tmp_path / "made.txt"
    made.write_text(capsys.readouterr().out, encoding="utf-8")
    numbers = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
    assert function_words(made) == numbers | {",", "!", "&"}
    assert "# - four files, public domain\n" in made.read_text(encoding="utf-8")


def test_a_source_of_the_tool_has_a_file(tool: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tool.main(["--text", "words.txt"])
    assert "expected a description and at least one file, got only 'words.txt'" in capsys.readouterr().err
