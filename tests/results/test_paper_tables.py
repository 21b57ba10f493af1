"""Tables for a paper: names that people know, signatures below, and widths that fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib import get_data_path
from matplotlib.ft2font import FT2Font

import postil
from postil.errors import UnknownName, UsageError
from postil.metrics.spec import METRICS
from postil.results.latex_width import COLUMN, PAGE, text_width
from postil.results.names import display_name, display_names
from postil.results.table_options import TableOptions

EIGHT = ["bleu-4", "w-bleu-4", "rouge-1", "rouge-l", "rouge-lsum", "chrf", "meteor", "cider-d"]
TEXTS = ["the cat sat on the mat today", "a dog ran in the park", "it rained all night", "b c d e f"]
REFERENCES = [["the cat sat on a mat", "a cat is on the mat"], ["the dog ran in a park"], ["it rained"], ["b c d x"]]


def scored(systems: tuple[str, ...] = ("retrieval", "generator"), metrics: list[str] = EIGHT) -> postil.ScoreResult:
    n = len(systems)
    return postil.score(
        TEXTS * n,
        REFERENCES * n,
        items=[1, 2, 3, 4] * n,
        systems=[system for system in systems for _ in TEXTS],
        weights=[[0.5] * len(references) for references in REFERENCES] * n,
        metrics=metrics,
    )


def computer_modern(text: str) -> float:
    """The width of a text in Computer Modern at 10 pt, as the font that matplotlib has says it."""
    font = FT2Font(str(Path(get_data_path()) / "fonts" / "ttf" / "cmr10.ttf"))
    font.set_size(10, 72)
    return sum(font.load_char(ord(each)).linearHoriAdvance / 65536 for each in text)


def table_widths(latex: str) -> list[float]:
    """The width of each line of a tabular by the font's own metrics, at 10 pt with 12 pt between columns."""
    lines = [line.removesuffix(r" \\") for line in latex.splitlines() if line.endswith(r"\\")]
    cells = [[re.sub(r"\\textbf\{(.*?)\}", r"\1", cell) for cell in line.split(" & ")] for line in lines]
    return [max(map(computer_modern, column)) + 12 for column in zip(*cells, strict=True)]


@pytest.mark.parametrize("text", ["0.1234", "ROUGE-Lsum", "w-BLEU-4", "retrieval", "[17.0, 21.3]", "METEOR", "CIDEr-D"])
def test_widths_are_those_of_computer_modern(text: str) -> None:
    assert text_width(text) == pytest.approx(computer_modern(text), abs=0.1)


def test_every_metric_has_a_name_of_papers() -> None:
    assert [name for name in METRICS if display_name(name) == name] == []


def test_heads_of_a_paper_are_names_and_those_of_a_terminal_are_specs() -> None:
    result = scored()
    heads = ["BLEU-4", "w-BLEU-4", "ROUGE-1", "ROUGE-L", "ROUGE-Lsum", "chrF", "METEOR", "CIDEr-D"]
    assert f"system & {' & '.join(heads)}" in result.to_latex(layout="systems")
    assert f"| system | {' | '.join(heads)} |" in result.to_markdown(layout="systems")
    assert result.to_csv(layout="systems").startswith(f"system,n,{','.join(EIGHT)}\n")
    assert '<th scope="col">bleu-4</th>' in result.to_html(layout="systems")


def test_metrics_that_share_a_name_keep_what_differs() -> None:
    assert list(display_names(["rouge-l", "rouge-l(beta=1)", "meteor"]).values()) == [
        "ROUGE-L",
        "ROUGE-L(beta=1)",
        "METEOR",
    ]
    assert list(display_names(["rouge-1", "rouge1"]).values()) == ["rouge-1", "rouge1"]
    assert list(display_names(["rouge-1", "rouge1"], {"rouge1": "ROUGE-1"}).values()) == ["rouge-1", "ROUGE-1"]


def test_a_name_can_be_chosen() -> None:
    result = scored(metrics=["meteor", "chrf"])
    latex = result.to_latex(layout="systems", names={"meteor": "M_1"})
    assert r"system & M\_1 & chrF \\" in latex
    assert "M\\_1: meteor(" in latex
    assert result.to_csv(layout="systems", names={"meteor": "M"}).startswith("system,n,M,chrf\n")
    with pytest.raises(UnknownName, match="meteor"):
        result.to_latex(layout="systems", names={"metoer": "M"})
    assert "| M | " in result.to_markdown(names={"meteor": "M"})
    with pytest.raises(UsageError, match="names is of tables and figures; csv has the names of the data"):
        result.to_csv(names={"meteor": "M"})
    with pytest.raises(UnknownName, match="unknown metric 'metoer'; did you mean 'meteor'"):
        result.to_latex(names={"metoer": "M"})


def test_signatures_are_notes_below_the_table() -> None:
    latex = scored(metrics=["meteor"]).to_latex(layout="systems", caption="Scores")
    below = latex[latex.index("\\end{tabular}") : latex.index("\\end{table}")]
    assert "METEOR: meteor(params=en" in below
    assert "% meteor" not in latex


def test_scores_as_they_are_printed() -> None:
    result = scored(metrics=["bleu-4", "meteor", "rouge-l", "cider-d", "chrf"])
    cells = {row.metric: row.score for row in result.scores if row.system == "retrieval"}
    text = result.to_markdown(layout="systems", as_printed=True)
    (line,) = (line for line in text.splitlines() if line.startswith("| retrieval"))
    shown = [re.sub(r"[*† ]", "", cell) for cell in line.strip("|").split("|")[1:]]
    scale = {"bleu-4": 100, "meteor": 100, "rouge-l": 100, "chrf": 100}
    assert shown == [f"{cells[m] * scale.get(m, 1):.{2 if m in scale else 4}f}" for m in cells]
    assert "BLEU-4, METEOR, ROUGE-L and chrF × 100." in text
    csv = result.to_csv(layout="systems", as_printed=True).splitlines()[1].split(",")
    assert float(csv[2]) == pytest.approx(cells["bleu-4"] * 100)
    assert float(csv[3]) == pytest.approx(cells["meteor"] * 100)
    assert float(csv[5]) == cells["cider-d"]
    with pytest.raises(UsageError, match="give one of them"):
        TableOptions(layout="systems", as_printed=True, percent=True)


def test_meteor_is_printed_as_what_stands_beside_it() -> None:
    for others, times in ((["cider-d"], 1), ([], 1), (["rouge-l"], 100), (["ter", "cider-d"], 100)):
        result = scored(metrics=["meteor", "w-meteor", *others])
        first = result.to_csv(layout="systems", as_printed=True).splitlines()[1].split(",")
        expected = [row.score for row in result.scores[:2]]
        assert [float(cell) for cell in first[2:4]] == pytest.approx([times * score for score in expected])
        assert ("METEOR, w-METEOR" in result.to_markdown(layout="systems", as_printed=True)) == (times == 100)


def test_eight_metrics_fit_a_page_of_two_columns() -> None:
    latex = scored().to_latex(layout="systems", as_printed=True, caption="Scores", label="tab:scores")
    assert "\\begin{table*}\n" in latex
    assert "\\resizebox" not in latex
    widths = table_widths(latex)
    assert len(widths) == 9
    assert sum(widths) > PAGE  # at 10 pt it is too wide
    (size,) = re.findall(r"\{\\(\w+)\\setlength\{\\tabcolsep\}\{(\d)pt\}", latex)
    letters = {"small": 0.925, "footnotesize": 0.855, "scriptsize": 0.8}[size[0]]
    assert sum((width - 12) * letters + 2 * int(size[1]) for width in widths) < PAGE


def test_a_narrow_table_stays_in_its_column() -> None:
    latex = scored(("a", "b"), ["meteor", "chrf"]).to_latex(layout="systems", caption="Scores")
    assert "\\begin{table}\n" in latex
    assert "tabcolsep" not in latex
    assert sum(table_widths(latex)) < COLUMN


def test_a_table_that_no_size_makes_fit_is_scaled() -> None:
    latex = scored(("a" * 120, "b"), ["meteor"]).to_latex(layout="systems")
    assert latex.startswith("% needs \\usepackage{booktabs,graphicx}\n% wider than a column of two: put it in table*\n")
    assert "\\resizebox{\\textwidth}{!}{%\n\\begin{tabular}" in latex


def test_long_parts_of_signatures_can_be_broken() -> None:
    latex = scored(metrics=["meteor"]).to_latex(layout="systems")
    note = latex[latex.index("METEOR: ") :].partition("\\par")[0]
    parts = re.split(r"\\allowbreak | ", note)
    assert max(map(computer_modern, parts)) * 0.8 < COLUMN


def test_a_notebook_shows_a_plot_as_it_is() -> None:
    figure = scored(metrics=["meteor"]).plot()
    shown = figure._repr_svg_()
    assert shown.startswith("<svg ")
    assert "generator</text>" in shown
    figure.axes[0].set_title("A title of mine")
    assert "A title of mine</text>" in figure._repr_svg_()
