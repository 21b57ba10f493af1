"""`postil interesting`: the best passages of a page, with their unit contributions."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Postil

PAGE = """Coffee is made of roasted coffee beans.

The earliest evidence of coffee
is from Yemen. Beans came from Africa.

Prices rose in 2021.
"""
BY_LINE = ("--split", "lines", "--measure", "logsim-1", "--stop", "none", "--lang", "en")
BY_PARAGRAPH = ("--split", "paragraphs", "--measure", "logsim-1", "--stop", "en")


@pytest.fixture(autouse=True)
def page(postil: Postil) -> None:
    del postil  # which has changed to an empty folder
    Path("page.txt").write_text(PAGE, encoding="utf-8")


def texts(out: str) -> list[str]:
    return [row["text"] for row in json.loads(out)["passages"]]


def test_the_passage_that_shares_most_with_the_rest_comes_first_with_its_top_units(postil: Postil) -> None:
    outcome = postil("interesting", "page.txt", *BY_PARAGRAPH, "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    rows = json.loads(outcome.out)["passages"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert rows[-1]["text"] == "Prices rose in 2021."
    assert rows[-1]["reasons"] == []
    assert {why["unit"] for why in rows[0]["reasons"]} == {"coffee", "beans"}
    assert sum(why["part"] for why in rows[0]["reasons"]) == pytest.approx(rows[0]["score"])


def test_what_a_passage_is(postil: Postil) -> None:
    found = texts(postil("interesting", "page.txt", "--split", "sentences", "-k", "9", "--format", "json").out)
    assert sorted(found) == [
        "Beans came from Africa.",
        "Coffee is made of roasted coffee beans.",
        "Prices rose in 2021.",
        "The earliest evidence of coffee is from Yemen.",
    ]
    assert len(texts(postil("interesting", "page.txt", "--split", "lines", "-k", "9", "--format", "json").out)) == 4
    outcome = postil("interesting", "page.txt", "--split", "word")
    assert outcome.code == 2
    assert "sentences, paragraphs, lines" in outcome.err


def test_sentences_in_chinese(postil: Postil) -> None:
    pytest.importorskip("rjieba")
    Path("page.txt").write_text("咖啡来自也门。价格上涨！他说：“咖啡很好。”然后走了。", encoding="utf-8")
    for tokenizer in ("rjieba", "auto"):
        outcome = postil("interesting", "page.txt", "--lang", "zh", "--tokenizer", tokenizer, "--format", "json")
        found = json.loads(outcome.out)
        assert sorted(texts(outcome.out)) == sorted(["咖啡来自也门。", "价格上涨！", "他说：“咖啡很好。”然后走了。"])
        assert (found["goal"], found["lang"]) == ("topic", "zh")
        assert "goal topic, since goal interest knows en and not the language zh" in found["notes"][0]
    refused = postil("interesting", "page.txt", "--goal", "topic", "--tokenizer", "words")
    assert refused.code == 3
    assert "jieba" in refused.err


def test_known_passages_are_the_reference_and_their_grades_the_weights(postil: Postil) -> None:
    rows = [("dance", "Goats danced after eating berries.", 2), ("price", "Prices rose.", 1), ("dull", "Beans", 0)]
    known = [{"topic": "t", "id": name, "text": text, "grade": grade} for name, text, grade in rows]
    Path("known.jsonl").write_text("".join(json.dumps(row) + "\n" for row in known), encoding="utf-8")
    Path("page.txt").write_text("Beans are roasted.\n\nA goat and berries.\n\nPrices rose.", encoding="utf-8")
    outcome = postil(
        "interesting", "page.txt", "-r", "known.jsonl", "-m", "w-f1-1", "--stop", "none", "--format", "json"
    )
    passages = json.loads(outcome.out)["passages"]
    # m is 1 for berries of the first reference, two types less are known without "Prices rose.", which leaves itself.
    assert [row["text"] for row in passages] == ["A goat and berries.", "Beans are roasted.", "Prices rose."]
    assert [row["score"] for row in passages] == pytest.approx([2 * 1.0 / (4 + 7), 0.0, 0.0])


@pytest.mark.parametrize("form", ["table", "jsonl", "csv", "markdown", "latex"])
def test_every_format_names_the_best_passage(postil: Postil, form: str) -> None:
    outcome = postil("interesting", "page.txt", *BY_PARAGRAPH, "-k", "1", "--format", form)
    assert outcome.code == 0
    assert "The earliest evidence" in outcome.out
    assert outcome == postil("interesting", "page.txt", *BY_PARAGRAPH, "-k", "1", "--format", form)


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("none.txt",), 3, "none.txt: no such file"),
        (("empty.txt",), 3, "empty.txt: "),
        (("broken.txt",), 3, "broken.txt:2: expected UTF-8"),
        (("page.txt", "-m", "js-1"), 2, "does not decompose into unit contributions"),
        (("page.txt", "-m", "length"), 2, "does not decompose into unit contributions"),
        (("page.txt", "-m", "f1-7"), 2, "did you mean"),
        (("page.txt", "-m", "w-f1-1"), 2, "needs weights"),
        (("page.txt", "-m", "f1-1", "--stop", "xx"), 2, "stop"),
        (("page.txt", "-m", "f1-1", "--stem", "xx"), 2, "stemmer"),
        (("page.txt", "--tokenizer", "xx"), 2, "unknown tokenizer 'xx'"),
        (("page.txt", "--stop", "xx"), 2, "unknown stop list 'xx'"),
        (("page.txt", "--lang", "English"), 2, "expected the code of a language, such as en or zh"),
        (("page.txt", "--lang", ""), 2, "expected the code of a language"),
        (("page.txt", "--model", "m", "--vectors", "v"), 2, "leave out one or the other"),
        (("page.txt", "--page", "-"), 2, "--page: expected a file, got standard output"),
        (("",), 3, 'expected the name of a file or an address, got ""'),
        (("It rained on Ely. " * 400,), 3, 'expected the name of a file or an address, got "It rained'),
        (("dull.jsonl", "none.txt"), 3, "a table of passages is ranked alone"),
        (("page.txt", "--stem", "porter"), 2, "expected a stemmer with a measure alone"),
        (("page.txt", "--goal", "fun"), 2, "interest, topic"),
        (("page.txt", "--goal", "topic", "-m", "f1-1"), 2, "a goal excludes a measure and a reference"),
        (("page.txt", "--goal", "topic", "--model", "m"), 2, "expected a model with the goal interest alone"),
        (("page.txt", "--goal", "interest", "--vectors", "v"), 2, "expected vectors with the goal topic alone"),
        (("page.txt", "--model", "none"), 3, "none"),
        (("page.txt", "page.txt", "--page", "out.html"), 2, "--page is for one document"),
        (("page.txt", "--page", "page.txt"), 2, "page.txt"),
        (("dull.jsonl", "--page", "out.html"), 2, "rows of passages are no document"),
        (("none.txt", "empty.txt"), 3, "expected documents with passages, got none; none.txt: no such file"),
        (("archive.html",), 3, "archive.html: expected"),
        (("menu.html",), 3, "menu.html: "),
        (("ftp://news.example/a.html",), 3, "no such file"),
        (("http://[::1/a.html",), 3, "http"),
        (("page.txt", "--format", "xml"), 2, "format"),
        (("-", "-r", "-"), 2, "only one of the files"),
        (("page.txt", "-r", "graded.jsonl"), 3, "graded.jsonl:1: grade: expected a number of at least 0"),
        (("page.txt", "-r", "dull.jsonl"), 3, "grade above 0"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(postil: Postil, args: tuple[str, ...], code: int, words: str) -> None:
    Path("empty.txt").write_text("\n \n")
    Path("broken.txt").write_bytes(b"right\n\xff\n")
    Path("archive.html").write_bytes(b"PK\x03\x04" + bytes(100))
    Path("menu.html").write_text("<html><body><nav>Home</nav><script>alert(1)</script></body></html>")
    for name, grade in (("graded", -1), ("dull", 0)):
        Path(f"{name}.jsonl").write_text(json.dumps({"topic": "t", "id": "1", "text": "x", "grade": grade}) + "\n")
    outcome = postil("interesting", *args)
    assert outcome.code == code
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_kl_on_a_page_that_is_its_own_reference_is_doubted(postil: Postil) -> None:
    """For good reason."""
    page = (
        "Ducks moult in summer ponds near town.",
        "Ducks in cold ponds moult every year.",
        "Summer ponds have ducks.",
        "Oh.",
    )
    Path("page.txt").write_text("\n\n".join(page), encoding="utf-8")
    outcome = postil(
        "interesting", "page.txt", "-m", "kl-1", "-k", 1, *BY_LINE[:2], "--stop", "none", "--format", "jsonl"
    )
    assert json.loads(outcome.out)["text"] == "Oh."
    assert outcome.err == (
        "note: on a page that is its own reference kl puts short passages first; name a --reference, or take logsim\n"
    )
    assert "note:" not in postil("interesting", "page.txt", "-m", "kl-1", "-r", "page.txt").out
    assert "note:" not in postil("interesting", "page.txt", "-m", "f1-1").out


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "table", "markdown", "latex"])
def test_a_passage_with_nothing_to_be_compared_with_has_no_score(postil: Postil, form: str) -> None:
    Path("one.txt").write_text("Coffee.\n\nCoffee.", encoding="utf-8")
    outcome = postil("interesting", "one.txt", "-m", "logsim-1", "--lang", "en", "--format", form)
    assert outcome.code == 0
    assert "inf" not in outcome.out.lower()
    if form == "json":
        assert [row["score"] for row in json.loads(outcome.out)["passages"]] == [None]


@pytest.mark.parametrize("reference", [(), ("--reference", "page.txt")])
def test_repeated_passages_take_memory_in_proportion(postil: Postil, reference: tuple[str, ...]) -> None:
    """Each of 4,000 copies has 4,000 references that leave: 16 million places if they are written down for each."""
    Path("page.txt").write_text("Coffee is made of roasted beans.\n" * 4000 + "Prices of coffee rose.\n")
    tracemalloc.start()
    try:
        outcome = postil("interesting", "page.txt", *BY_LINE, *reference, "-k", "4001", "--format", "jsonl")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert outcome.code == 0, outcome.err
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert [row["text"] for row in rows] == ["Coffee is made of roasted beans.", "Prices of coffee rose."]
    assert peak < 50 << 20


def test_rows_keep_their_index_and_several_topics_are_noted(postil: Postil) -> None:
    rows = "topic,id,text\na,1,Rain fell on Ely and the Fens.\na,2,\nb,1,Nobody left Ely.\n"
    Path("rows.csv").write_text(rows, encoding="utf-8")
    found = json.loads(postil("interesting", "rows.csv", "--format", "json").out)
    assert sorted(row["index"] for row in found["passages"]) == [0, 2]
    assert "rows of 2 topics, ranked together as those of one page" in found["notes"]


def test_without_vectors_any_goal_is_taken(postil: Postil) -> None:
    for goal in ("interest", "topic"):
        outcome = postil("interesting", "page.txt", "--goal", goal, "--vectors", "none", "--lang", "en")
        assert outcome.code == 0


def test_nothing_that_is_read_is_written_over(postil: Postil) -> None:
    Path("site").mkdir()
    Path("site/index.html").write_text(f"<p>{PAGE}</p>", encoding="utf-8")
    Path("known.txt").write_text("Coffee was first drunk in Yemen.", encoding="utf-8")
    before = Path("site/index.html").read_bytes()
    for args in (
        ("site", "--pages", "site"),
        ("site", "--pages", "site/best"),
        (".", "--pages", "best"),
        ("site/index.html", "--pages", "site"),
        ("page.txt", "--reference", "known.txt", "--page", "known.txt"),
    ):
        outcome = postil("interesting", *args)
        assert outcome.code == 2
        assert outcome.err.endswith("which is read; name another output\n")
    assert Path("site/index.html").read_bytes() == before
    assert Path("known.txt").stat().st_size == 32


FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "items": [{"id": "1", "title": "Tea", "content_text": "Coffee was first drunk in Yemen. Nobody drank tea."}],
}


def test_a_json_feed_is_a_source_and_a_reference(postil: Postil) -> None:
    Path("feed.json").write_text(json.dumps(FEED), encoding="utf-8")
    (page,) = json.loads(postil("interesting", "feed.json", "--lang", "en", "--format", "json").out)["pages"]
    assert page["title"] == "Tea"
    outcome = postil("interesting", "page.txt", "--reference", "feed.json", "--format", "json")
    (best, *_) = json.loads(outcome.out)["passages"]
    assert best["text"].startswith("The earliest evidence")


def test_pages_with_han_text_in_another_language_are_split_by_characters(postil: Postil) -> None:
    text = "The baker closed early, since nobody wanted bread. 面包师很早就关门了，因为没有人想买面包。\n"
    Path("both.txt").write_text(text, encoding="utf-8")
    found = json.loads(postil("interesting", "both.txt", "--goal", "topic", "--format", "json").out)
    assert "characters" in found["signature"]
    outcome = postil("interesting", "both.txt", "--goal", "topic", "--tokenizer", "words", "--vectors", "none")
    assert (outcome.code, outcome.err.partition(" ")[0]) == (3, "postil:")
    assert outcome.err.startswith("postil: both.txt: Han text cannot be split into words")
