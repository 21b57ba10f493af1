"""The study of measures of passages: on made data, the tables of its findings, and anchors against a plain count."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from click.testing import CliRunner

from postil import rank_passages
from postil.cli.main import app
from postil.data.row_files import write
from postil.data.rows import Passage
from postil.results.formats import value_with_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import ModuleType

    Load = Callable[[str], ModuleType]
    Cells: TypeAlias = dict[tuple[str, str], str]
    Documented = Callable[[str, str], Cells]

NUMBER = re.compile(r"-?\d*\.\d+|(?<![\d.])1(?![\d.])")
HALF = 0.0011  # a number whose fourth decimal is a five may be shown either way


@pytest.fixture
def passages_data(judged: Path) -> Path:
    """The folder of passage collections."""
    return judged.parent / "passages"


@pytest.fixture
def study(example: Load) -> ModuleType:
    return example("passages_study")


@pytest.fixture
def documented(pytestconfig: pytest.Config) -> Documented:
    """The cells, by row and column, of the table whose first line starts so, in the section whose title does."""
    text = (pytestconfig.rootpath / "research/findings/passages.md").read_text(encoding="utf-8")

    def table(section: str, head: str) -> Cells:
        part = text[text.index(f"\n## {section}") + 1 :].split("\n## ")[0]
        return cells(part[part.index(f"| {head}") :].split("\n\n")[0])

    return table


def cells(text: str) -> Cells:
    """The cells of a table, by row and column."""
    (_, *columns), _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return {(row, column): cell for row, *given in rows for column, cell in zip(columns, given, strict=True)}


def alike(one: str, other: str) -> bool:
    """True if two cells say the same, up to the rounding of a last digit."""
    numbers = [[float(each) for each in NUMBER.findall(cell)] for cell in (one, other)]
    return NUMBER.sub("", one) == NUMBER.sub("", other) and numbers[0] == pytest.approx(numbers[1], abs=HALF)


def gains(*words: object) -> dict[tuple[str, bool, int], str]:
    """Results of `postil passages`: nCG with its interval by measure, whether itself is out, and cut."""
    result = CliRunner().invoke(app, ["passages", *map(str, words), "--format", "json"])
    assert result.exit_code == 0, result.output
    return {
        (row["measure"], row["leave_one_out"], row["k"]): value_with_interval(row["ncg"], row["low"], row["high"])
        for row in json.loads(result.stdout)["gains"]
    }


def specs(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("-m", name)]


def of_study(study: ModuleType, capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Cells]:
    """The tables that the study prints, by what stands over their first column."""
    study.main([str(word) for word in words])
    blocks = [block for block in capsys.readouterr().out.split("\n\n") if block.startswith("| ")]
    return {block.split("|")[1].strip(): cells(block.strip()) for block in blocks}


def measures(table: Cells) -> list[str]:
    """The rows of a table that need no word vectors, which would take minutes to train."""
    return [name for name in dict.fromkeys(row for row, _ in table) if not name.startswith("cosine")]


# Made data


def rows_of(topics: int = 8, each: int = 9) -> list[Passage]:
    """The more often a passage has the word of its topic, the better its grade; and the shorter it is."""
    rng = np.random.default_rng(5)
    return [
        Passage(f"t{t}", f"p{i}", " ".join([f"good{t}"] * n + ["the"] * (9 - 2 * n) + [f"w{i}"]), grade=float(n))
        for t in range(topics)
        for i, n in enumerate(rng.integers(0, 4, each).tolist())
    ]


def test_made_passages(study: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "p.jsonl", rows_of())
    asked = (tmp_path / "p.jsonl", "-m", "tf-idf-1", "-m", "length", "-m", "random", "--stop", "none", "--stop", "en")
    found = of_study(study, capsys, *asked, "--least", "1", "--control", "--against", "random")
    table = found["measure"]
    assert table["tf-idf-1 --stop en", "nCG@5"] == "1.000 [1.000, 1.000]"
    assert table["length", "Spearman"] == "1.000 [1.000, 1.000]"
    assert table["length", "at equal length"] == table["random", "Spearman"] == "-"
    value, p = re.fullmatch(r"(\S+) \[.*] \((\S+)\)", found["minus random"]["tf-idf-1 --stop en", "nCG@5"]).groups()
    assert float(value) > 0.1
    assert float(p) < 0.05
    assert ("tf-idf-1", "nCG@5") in found["minus its control"]
    assert not [row for row, _ in found["minus random"] if row.startswith("control:")]


def test_a_page_is_ranked_as_by_rank_passages(study: ModuleType) -> None:
    data = study.Judged.of(rows_of(topics=2))
    asked = study.Asked(specs=["logsim-1", "f1-2"], whose="topic", least=0.0, control=False, stem="none")
    scores, length = study.scored(data, asked, "none")
    page = [row.text for row in data.passages if row.topic == "t0"]
    assert length.tolist() == [len(row.text.split()) for row in data.passages]
    distinct = [place for place, text in enumerate(page) if page.count(text) == 1]  # copies leave the reference there
    for measure, column in scores.items():
        ranked = {each.index: each.score for each in rank_passages(page, measure=measure)}
        assert [ranked[place] for place in distinct] == pytest.approx(column[distinct])


def test_references_of_other_topics(study: ModuleType) -> None:
    data = study.Judged.of(rows_of(topics=3))
    above, below = (data.reference("others", 2.0, below=each) for each in (False, True))
    for place in range(3):
        held = above.references[above.reference_offsets[place] : above.reference_offsets[place + 1]]
        assert (data.grades[held] >= 2).all()
        assert place not in data.topic[held]
    assert sorted([*set(above.references.tolist()), *set(below.references.tolist())]) == list(range(len(data.grades)))
    assert set(below.weights) == {1.0}
    assert above.weights == pytest.approx(data.grades[above.references] / 3)


def test_what_is_missing_is_said(study: ModuleType, tmp_path: Path) -> None:
    write(tmp_path / "p.jsonl", [Passage("t", "1", "a b"), Passage("t", "2", "c")])
    with pytest.raises(SystemExit, match="needs a grade"):
        study.main([str(tmp_path / "p.jsonl")])
    write(tmp_path / "p.jsonl", [Passage(t, str(g), "a b", grade=g) for t, g in [("a", 1), ("a", 2), ("b", 1)]])
    with pytest.raises(SystemExit, match="no passage of such grades"):
        study.main([str(tmp_path / "p.jsonl"), "--least", "2"])


def test_equal_length_takes_the_words_that_count(study: ModuleType) -> None:
    """(r - r_sl r_gl) / ((1 - r_sl^2) (1 - r_gl^2))^.5, where the scores have -.5 with length and the grades .5."""
    data = study.Judged.of([Passage("t", str(i), "x", grade=float(g)) for i, g in enumerate([1, 2, 3])])
    found = study.by_topic(data, {"m": np.array([1.0, 3.0, 2.0])}, np.array([2.0, 1.0, 3.0]), [1])
    assert found["m"][0, 1:] == pytest.approx([0.5, (0.5 + 0.25) / 0.75])


# Anchors


def test_articles_among_others(example: Load) -> None:
    rows = [
        Passage(topic, f"{topic}{i}", f"{topic} {i % 2} is text, and so long that it has ends")
        for topic in "abc"
        for i in range(3)
    ]
    mixed = example("anchors_to_rows").mixed(rows, 1)
    assert [(row.topic, row.id, row.grade) for row in mixed if row.topic == "c"] == [
        ("c", "c0", 1), ("c", "c1", 1), ("c", "a0", 0), ("c", "a1", 0)
    ]  # fmt: skip
    assert len(example("anchors_to_rows").mixed(rows, 9)) == 3 * 6


# The tables


@pytest.fixture
def trec(passages_data: Path, tmp_path: Path) -> Path:
    folder = passages_data / "trec_dl19"
    words = ["--qrels", folder / "2019qrels-pass.txt", "--collection", folder / "dl2019_document.jsonl.gz"]
    result = CliRunner().invoke(
        app, ["corpus", "import", "trec", *map(str, words), "--out", str(tmp_path / "trec.jsonl")]
    )
    assert result.exit_code == 0, result.output
    return tmp_path / "trec.jsonl"


@pytest.fixture
def trivia(example: Load, passages_data: Path, tmp_path: Path) -> Path:
    table = passages_data / "wikipedia_trivia" / "crowd_judged.tsv"
    example("trivia_to_rows").main([str(table), str(tmp_path / "trivia.jsonl")])
    return tmp_path / "trivia.jsonl"


STEMS = ("--stop", "en", "--stem", "porter")


@pytest.mark.slow
def test_informativeness(trec: Path, documented: Documented) -> None:
    lists, one = documented("Informativeness", " | words, inside"), documented("Informativeness", " | inside, @100")
    cuts = ("--leave-one-out", "--pool", "topic", "-k", 10, "-k", 50, "-k", 100)
    for words, how in ((), "words"), (STEMS, "stems"):
        found = gains(trec, *specs(measures(lists)), *cuts, *words)
        for name in measures(lists):
            out = (name, True, 10) in found
            assert alike(found[name, False, 10], lists[name, f"{how}, inside"])
            assert alike(found[name, out, 10], lists[name, f"{how}, without itself"])
            assert alike(found[name, out, 50], lists[name, f"{how}, without itself, @50"])
    ks = (100, 1000, 4000)
    found = gains(trec, *specs(measures(one)), "--leave-one-out", *[word for k in ks for word in ("-k", k)], *STEMS)
    for name in measures(one):
        for k in ks:
            assert alike(found[name, False, k], one[name, f"inside, @{k}"])
            assert alike(found[name, (name, True, k) in found, k], one[name, f"without itself, @{k}"])


@pytest.mark.slow
def test_interestingness(trec: Path, documented: Documented) -> None:
    table = documented("Interestingness: ", " | words, @10")
    names = measures(table)
    for words, how in ((), "words"), (STEMS, "stems"):
        found = gains(
            trec, *specs(names), "--reference", "others", "--pool", "topic", "-k", 10, "-k", 50, "-k", 100, *words
        )
        for name in names:
            for k in (10, 50):
                assert alike(found[name, (name, True, k) in found, k], table[name, f"{how}, @{k}"])
    found = gains(trec, *specs(names), "--reference", "others", "-k", 100, "-k", 1000, "-k", 4000, *STEMS)
    for name in names:
        for k in (100, 1000):
            assert alike(found[name, (name, True, k) in found, k], table[name, f"stems, one list, @{k}"])


@pytest.mark.slow
def test_votes(trivia: Path, study: ModuleType, documented: Documented, capsys: pytest.CaptureFixture[str]) -> None:
    alone, helped = documented("Interestingness that", " | nCG@5"), documented("Interestingness that", " | interesting")
    both = ("--stop", "none", "--stop", "en")
    found = of_study(study, capsys, trivia, *specs(measures(alone)), *both)["measure"]
    for name in measures(alone):
        for column in ("nCG@5", "Spearman", "at equal length"):
            assert alike(found[name, column], alone[name, column])
            assert alike(found[f"{name} --stop en", column], alone[name, f"{column}, stop words out"])
    plain = [name for name in measures(helped) if not name.startswith("w-")]
    asked = ("--reference", "others", "--least", 0.6, "--stop", "en")
    tables = of_study(study, capsys, trivia, *asked, "--control", *specs(plain))
    every = of_study(study, capsys, trivia, *asked, *specs(measures(helped)))["measure"]
    same = of_study(study, capsys, trivia, "--least", 0.6, "--stop", "en", *specs(measures(helped)))["measure"]
    for name in measures(helped):
        row = f"{name} --stop en"
        assert alike(every[row, "nCG@5"], helped[name, "interesting"])
        assert alike(every[row, "Spearman"], helped[name, "interesting, Spearman"])
        assert alike(every[row, "at equal length"], helped[name, "interesting, at equal length"])
        assert alike(same[row, "nCG@5"], helped[name, "same page"])
        assert alike(same[row, "Spearman"], helped[name, "same page, Spearman"])
        if name in plain:
            assert alike(tables["measure"][f"control:{row}", "nCG@5"], helped[name, "dull"])
            assert alike(tables["minus its control"][row, "nCG@5"], helped[name, "difference"])


@pytest.mark.slow
def test_the_default(
    trivia: Path, trec: Path, study: ModuleType, documented: Documented, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "minus logsim-1 --stop en"
    table = documented("A measure for a page without judgements", head)
    names = ["f1-1", "f1-2", "logsim-1", "logsim-2", "js-1", "rouge-1", "tf-idf-1", study.LENGTH]
    for rows, what in (trivia, "votes"), (trec, "search"):
        asked = (rows, *specs(names), "--stop", "none", "--stop", "en", "--against", "logsim-1 --stop en")
        found = of_study(study, capsys, *asked)[head]
        for name, column in table:
            if column.startswith(what):
                assert alike(found[name, column.removeprefix(f"{what}, ")], table[name, column]), (name, column)


@pytest.mark.slow
def test_anchors(example: Load, passages_data: Path, tmp_path: Path, documented: Documented) -> None:
    table = documented("Anchors", " | words, inside")
    names = measures(table)
    file = passages_data / "wikipedia_anchors" / "passages.jsonl.gz"
    module = example("anchors_to_rows")
    module.main([str(file), str(tmp_path / "mixed.jsonl"), "--among", "3"])
    module.main([str(file), str(tmp_path / "targets.jsonl"), "--among", "3", "--targets"])
    asked = (*specs(names), "--leave-one-out", "--pool", "topic", "-k", 10)
    for rows, words, how in (
        ("mixed", STEMS, "words"),
        ("mixed", ["--anchors"], "anchors"),
        ("targets", ["--anchors"], "targets"),
    ):
        found = gains(tmp_path / f"{rows}.jsonl", *words, *asked)
        for name in names:
            assert alike(found[name, (name, True, 10) in found, 10], table[name, f"{how}, without itself"])
            if how != "targets":
                assert alike(found[name, False, 10], table[name, f"{how}, inside"])
