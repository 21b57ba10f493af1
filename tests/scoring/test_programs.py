"""`postil score --like PROGRAM` and `--cite`: whose numbers they are, and what the methods section says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import postil as package
from command_line import refusal
from postil.errors import UnknownName, UsageError
from postil.metrics.citations import methods, sacrebleu_signature
from postil.metrics.spec import METRICS, parse_metric
from postil.scoring.options import ScoreOptions
from postil.scoring.programs import PROGRAMS, as_program

if TYPE_CHECKING:
    from conftest import Postil

BASE = ("score", "c.jsonl", "-r", "r.jsonl")


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_names_metrics_that_there_are(name: str) -> None:
    program = PROGRAMS[name]
    assert set(program.metrics.values()) <= METRICS.keys()
    assert set(program.default) <= set(program.metrics.values())
    metrics, tokenizer = as_program(name, (), "words")
    assert as_program(name, metrics, tokenizer) == (metrics, tokenizer)  # options are made again of options
    assert set(metrics) == set(program.default)


@pytest.mark.parametrize(
    ("name", "spec", "found"),
    [
        ("sacrebleu", "BLEU(smooth=floor)", "bleu(smooth=floor)"),
        ("sacrebleu", "w-BLEU", "w-bleu"),
        ("rouge-score", "ROUGE-L(stem=true)", "rougeL(stem=true)"),
        ("pycocoevalcap", "CIDEr", "cider-d"),
        ("pycocoevalcap", "Bleu_4", "bleu-4"),
        ("pycocoevalcap", "ROUGE_L", "rouge-l"),
    ],
)
def test_names_of_a_program_are_taken(name: str, spec: str, found: str) -> None:
    assert as_program(name, [spec], "words")[0] == (found,)
    assert parse_metric(found)


def test_the_tokenizer_of_the_run_is_that_of_bleu() -> None:
    options = ScoreOptions(metrics=("bleu", "chrf"), like="sacrebleu", tokenizer="characters")
    assert options.metrics == ("bleu(tokenizer=characters)", "chrf")
    assert as_program("sacrebleu", ["bleu(tokenizer=zh)"], "characters")[0] == ("bleu(tokenizer=zh)",)


def test_what_a_program_has_not_is_refused(postil: Postil) -> None:
    with pytest.raises(UnknownName, match="unknown program 'sacrebleau'; did you mean 'sacrebleu'"):
        ScoreOptions(like="sacrebleau")
    with pytest.raises(UnknownName, match="unknown metric of rouge-score 'rouge3'; did you mean 'rouge"):
        as_program("rouge-score", ["rouge3"], "words")
    with pytest.raises(UsageError, match="has a stage of paraphrases, which is not offered; leave it out"):
        as_program("pycocoevalcap", ["METEOR"], "words")
    told = refusal(postil, *BASE, "--like", "rouge-score", "--tokenizer", "13a", code=2)
    assert told == "--like rouge-score has a tokenizer of its own; leave --tokenizer 13a out"


@pytest.mark.parametrize("scale", [(), ("--percent",), ("--as-printed",)])
def test_numbers_of_a_program_are_scaled_once_whichever_option_asks(postil: Postil, scale: tuple[str, ...]) -> None:
    asked = (*BASE, "--like", "sacrebleu", "-m", "chrf")
    plain = json.loads(postil(*asked, "--format", "json").out)["scores"][0]["score"]
    outcome = postil(*asked, "--layout", "systems", *scale, "--format", "csv")
    assert outcome.code == 0, outcome.err
    assert 0 < plain < 1
    assert float(outcome.out.splitlines()[1].split(",")[2]) == pytest.approx(100 * plain)


def test_tables_are_as_the_program_prints_them_and_all_else_from_0_to_1(postil: Postil) -> None:
    asked = (*BASE, "--like", "sacrebleu", "-m", "chrF", "-m", "bleu")
    score = json.loads(postil(*asked, "--format", "json").out)
    assert score["like"] == "sacrebleu"
    chrf = next(row["score"] for row in score["scores"] if row["metric"] == "chrf")
    assert 0 < chrf < 1
    table = postil(*asked).out
    assert f" {100 * chrf:.2f} " in table.splitlines()[2]
    assert "bleu: sacreBLEU nrefs:var|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0" in table
    assert "as sacrebleu computes them; scores × 100; cite Post (2018)" in table
    assert "Scores × 100." in postil(*asked, "--layout", "systems").out
    assert f",{chrf!r}," in postil(*asked, "--format", "csv").out
    rouge = postil(*BASE, "--like", "rouge-score", "-m", "rouge1").out  # it prints shares itself
    assert "  0.4286" in rouge
    assert "× 100" not in rouge


def test_python_takes_the_name_of_a_program() -> None:
    candidates, references = ["The cat's sat down."], [["The cat sat down there.", "A cat."]]
    result = package.score(candidates, references, like="rouge-score", metrics=["ROUGE-L"])
    plain = package.score(candidates, references, metrics=["rougeL"])
    assert (result.like, result.corpus) == ("rouge-score", plain.corpus)
    assert list(package.score(candidates, references, like="sacrebleu").corpus) == ["bleu"]
    assert "like" not in plain.to_dict()


def test_a_sentence_for_the_methods_section(postil: Postil) -> None:
    asked = (*BASE, "--scale", "5", "-m", "bleu", "-m", "w-meteor", "-m", "rouge1", "--cite")
    lines = postil(*asked).out.splitlines()
    said = next(line for line in lines if line.startswith("We report "))
    assert "BLEU (Papineni et al., 2002; Post, 2018; sacreBLEU signature nrefs:var|case:mixed|eff:no|tok:13a|" in said
    assert "w-METEOR (Denkowski and Lavie, 2014; Qin et al., 2018; signature w-meteor(" in said
    papers = lines[lines.index(said) + 1 :]
    assert [line.partition(":")[0] for line in papers] == [
        "Papineni et al. (2002)",
        "Post (2018)",
        "Denkowski and Lavie (2014)",
        "Qin et al. (2018)",
        "Lin (2004)",
    ]
    for form in ("csv", "json", "jsonl"):
        other = postil(*asked, "--format", form)
        assert said in other.err
        assert "We report" not in other.out


@pytest.mark.parametrize("layout", ["rows", "systems"])
@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("latex", r"signature a\_b(c=d\&e\#f)\textbar{}100\%"),
        ("table.tex", r"signature a\_b(c=d\&e\#f)\textbar{}100\%"),
        ("markdown", r"signature a\_b(c=d&e\#f)\|100%"),
        ("html", "signature a_b(c=d&amp;e#f)|100%"),
        ("csv", "signature a_b(c=d&e#f)|100%"),
    ],
)
def test_the_sentence_is_escaped_for_the_format_of_the_table(
    postil: Postil, monkeypatch: pytest.MonkeyPatch, layout: str, form: str, said: str
) -> None:
    monkeypatch.setattr("postil.metrics.citations.methods", lambda _: methods({"m": "a_b(c=d&e#f)|100%"}))
    outcome = postil(*BASE, "-m", "rouge1", "--cite", "--layout", layout, "--format", form)
    assert outcome.code == 0, outcome.err
    assert f"We report m ({said}), computed by postil " in outcome.err
    assert "We report" not in outcome.out


def test_only_what_sacrebleu_computes_has_its_signature() -> None:
    end = "|references:2|postil:0.3.0"
    assert sacrebleu_signature("x", f"bleu(tokenizer=words,smooth=exp)|tokenizer:words-2{end}") == ""
    assert sacrebleu_signature("x", f"w-bleu(tokenizer=13a,smooth=exp)|tokenizer:sacrebleu:13a{end}") == ""
    assert sacrebleu_signature("x", f"meteor(params=en)|tokenizer:words-2{end}") == ""
    assert sacrebleu_signature("bleu", "external") == ""
    zh = sacrebleu_signature("x", f"bleu(tokenizer=zh,smooth=floor)|tokenizer:sacrebleu-2.5.1:zh{end}")
    assert zh == "nrefs:2|case:mixed|eff:no|tok:zh|smooth:floor[0.10]|version:2.5.1"
    assert methods({}) == []
    assert methods({"COMET": "external"})[0].startswith("We report COMET (signature external), computed")
