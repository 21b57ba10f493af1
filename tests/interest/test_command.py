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


def test_a_pipe_gets_whole_passages(postil: Postil) -> None:
    text = (
        "The first coffee house of London opened in 1652 in a shed in the yard of St. Michael, and it sold only coffee."
    )
    Path("page.txt").write_text(f"{PAGE}\n{text}\n", encoding="utf-8")
    lines = postil("interesting", "page.txt", *BY_PARAGRAPH).out.splitlines()
    assert text in " ".join(" ".join(lines).split())
    assert not any("…" in line for line in lines)


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


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("none.txt",), 3, "none.txt: no such file"),
        (("empty.txt",), 3, "empty.txt: "),
        (("broken.txt",), 3, "broken.txt:2: expected UTF-8"),
        (("page.txt", "-m", "js-1"), 2, "does not decompose into unit contributions"),
        (("page.txt", "-m", "w-f1-1"), 2, "needs weights"),
        (("page.txt", "--tokenizer", "xx"), 2, "unknown tokenizer 'xx'"),
        (("page.txt", "--stop", "xx"), 2, "unknown stop list 'xx'"),
        (("page.txt", "--lang", "English"), 2, "expected the code of a language, such as en or zh"),
        (("page.txt", "--model", "m", "--vectors", "v"), 2, "leave out one or the other"),
        (("page.txt", "--page", "-"), 2, "--page: expected a file, got standard output"),
        (("",), 3, 'expected the name of a file or an address, got ""'),
        (("It rained on Ely. " * 400,), 3, 'expected the name of a file or an address, got "It rained'),
        (("dull.jsonl", "none.txt"), 3, "a table of passages is ranked alone"),
        (("page.txt", "--stem", "porter"), 2, "expected a stemmer with a measure alone"),
        (("page.txt", "--goal", "fun"), 2, "interest, topic"),
        (("page.txt", "--split", "word"), 2, "sentences, paragraphs, lines"),
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


@pytest.mark.parametrize("form", ["json", "csv", "table"])
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
    text = "Coffee is made of roasted beans.\n{}Prices of coffee rose.\n"
    Path("page.txt").write_text(text.format(""))
    postil("interesting", "page.txt", *BY_LINE, *reference, "--format", "jsonl")  # the modules
    Path("page.txt").write_text(text.format("Coffee is made of roasted beans.\n" * 3999))
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


def test_pages_with_han_text_in_another_language_are_split_by_a_segmenter(postil: Postil) -> None:
    pytest.importorskip("rjieba")
    text = "The baker closed early, since nobody wanted bread. 面包师很早就关门了，因为没有人想买面包。\n"
    Path("both.txt").write_text(text, encoding="utf-8")
    found = json.loads(postil("interesting", "both.txt", "--goal", "topic", "--format", "json").out)
    assert "|words:rjieba-" in found["signature"]
    outcome = postil("interesting", "both.txt", "--goal", "topic", "--tokenizer", "words", "--vectors", "none")
    assert (outcome.code, outcome.err.partition(" ")[0]) == (3, "postil:")
    assert outcome.err.startswith("postil: both.txt: Han text cannot be split into words")


LETTERS = """这部新手机今天在北京发布。它叫做iPhone，网址是https://example.com/new/iphone。许多人等了Android很久。\
发布会上有人试了iPhone和Android。这块电池创下了世界纪录，可以用整整九天。它的设计师在去年冬天去世，没有看到iPhone这一天。
"""


@pytest.mark.parametrize("installed", [True, False])
def test_units_of_chinese_are_words_and_names(postil: Postil, monkeypatch: pytest.MonkeyPatch, installed: bool) -> None:
    if installed:
        pytest.importorskip("rjieba")
    else:
        monkeypatch.setattr("postil.text.tokenizers.util.find_spec", {}.get)
    Path("letters.txt").write_text(LETTERS, encoding="utf-8")
    found = json.loads(postil("interesting", "letters.txt", "-k", 20, "--format", "json").out)
    assert f"|words:{'rjieba-' if installed else 'runs|'}" in found["signature"]
    units = {reason["unit"] for passage in found["passages"] for reason in passage["reasons"]}
    assert {"iPhone", "Android"} <= units
    assert not any(unit.isascii() and unit not in {"iPhone", "Android"} for unit in units)
    texts = [passage["text"] for passage in found["passages"]]
    assert "它叫做iPhone，网址是https://example.com/new/iphone。" in texts  # as it was written
    by_characters = json.loads(
        postil("interesting", "letters.txt", "-k", 20, "--tokenizer", "characters", "--format", "json").out
    )
    assert "|words:runs|" in by_characters["signature"]


def html_of(lang: str, *paragraphs: str) -> str:
    inside = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    head = f'<!DOCTYPE html><html lang="{lang}"><head><meta charset="utf-8"><title>x</title></head>'
    return f"{head}<body><article><h1>x</h1>{inside}</article></body></html>"


def test_soft_hyphens_hide_no_words(postil: Postil) -> None:
    pytest.importorskip("trafilatura")
    hidden = "Die Schleu&shy;sen&shy;wär&shy;ter der alten Müh&shy;le öffnen das Tor um neun Uhr früh."
    plain = "Am Abend sehen die Schleusenwärter nach der Mühle und zählen die Boote, die noch warten."
    Path("p.html").write_text(html_of("de", hidden, plain), encoding="utf-8")
    found = json.loads(postil("interesting", "p.html", "-k", 20, "--vectors", "none", "--format", "json").out)
    assert {passage["text"] for passage in found["passages"]} == {hidden.replace("&shy;", "\xad"), plain}
    units = [{reason["unit"] for reason in passage["reasons"]} for passage in found["passages"]]
    assert units == [{"schleusenwärter", "mühle"}] * 2


MIXED = """# The lock

Boats wait here all day, and the keeper writes their names into a green book. "Der alte Müller öffnet das Tor um neun \
Uhr früh und zählt die Boote." The oldest lock of Ely never froze. He left.

Am Abend gehen sie über die Brücke nach Hause. Die Boote warten dort. Er schrieb alles in ein grünes Buch.

The village has the first bridge of iron, which nobody expected to hold for a hundred years.
"""


@pytest.mark.parametrize("goal", ["interest", "topic"])
def test_sentences_in_another_language_come_after_the_others(postil: Postil, goal: str) -> None:
    Path("mixed.md").write_text(MIXED, encoding="utf-8")
    without = ("--vectors", "none") if goal == "topic" else ()
    found = json.loads(postil("interesting", "mixed.md", "-k", 20, "--goal", goal, *without, "--format", "json").out)
    assert found["lang"] == "en"
    words = [passage["text"].split() for passage in found["passages"]]
    german = [bool({"Der", '"Der', "gehen", "dort.", "Buch."} & set(each)) for each in words]
    assert german[:7] == [False] * 3 + [True] * 4  # behind three in English; what cannot stand by itself is last
    assert not any(german[7:])
    assert "passages in another language than the page's, ranked after the others: 4 (de)" in found["notes"]
    if goal == "topic":  # each sentence without the stop words of its own language
        assert "|stop:de-" in found["signature"]
        assert "+en-" in found["signature"]
        units = {reason["unit"] for passage in found["passages"] for reason in passage["reasons"]}
        assert not units & {"die", "der", "in", "ein", "the", "and"}


@pytest.mark.parametrize(("k", "shown"), [("2", 2), ("4", 4)])
def test_of_several_pages_each_has_as_many_passages_as_are_asked_for(postil: Postil, k: str, shown: int) -> None:
    Path("two.txt").write_text(PAGE, encoding="utf-8")
    outcome = postil("interesting", "page.txt", "two.txt", *BY_LINE, "-k", k, "--pages", "best")
    assert outcome.code == 0
    ranks = [line[:2] for line in outcome.out.splitlines() if line[1:2] == "."]
    assert ranks == [f"{rank}." for rank in range(1, shown + 1)] * 2
    assert f"{2 * shown} passages of 2 pages" in Path("best/index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_notes_of_several_pages_name_flags_in_every_format(postil: Postil, form: str) -> None:
    Path("two.txt").write_text(PAGE, encoding="utf-8")
    outcome = postil("interesting", "page.txt", "two.txt", "--measure", "kl-1", "--format", form)
    assert outcome.code == 0
    assert "name a --reference, or take logsim" in outcome.out + outcome.err
