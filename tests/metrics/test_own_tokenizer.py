"""A metric with its own tokenizer scores as in a run with that tokenizer."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import pytest

import postil
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.metrics.controls import ControlOptions
from postil.metrics.spec import parse_metric
from postil.scoring.files import score_files, streamed
from postil.scoring.options import ScoreOptions

if TYPE_CHECKING:
    from pathlib import Path


CANDIDATES = ["The cat's on the mat.", "Prices rose 3.5 %, again!", "", "He said: (no) comment."]
REFERENCES = [
    ["The cat is on the mat .", "A cat's mat."],
    ["Prices rose 3.5%, again!", "prices fell, again", "Again: up!"],
    ["Nothing at all."],
    ["He said no.", "No comment, he said."],
]
WEIGHTS = [[1.0, 0.5], [0.25, 1.0, 0.75], [1.0], [0.5, 1.0]]
SPECS = [
    "bleu-4",
    "w-bleu-2(smooth=exp)",
    "delta-bleu",
    "meteor",
    "w-meteor(over=near)",
    "meteor(characters=true)",
    "rouge-l",
    "w-rouge-l(reading=union)",
    "w-rouge-l(over=kernel)",
    "rouge-lsum(stem=true)",
    "w-rouge-1",
    "rouge-su4",
    "cider",
    "w-cider-d",
]


def with_tokenizer(spec: str, name: str) -> str:
    return f"{spec[:-1]},tokenizer={name})" if spec.endswith(")") else f"{spec}(tokenizer={name})"


@pytest.mark.parametrize("name", ["13a", "ptb", "words", "rouge"])
@pytest.mark.parametrize("run", ["words", "space"])
def test_scores_and_controls_are_those_of_a_run_with_it(name: str, run: str) -> None:
    controls = ControlOptions(draws=2, best=2, choices=2)
    given = {"weights": WEIGHTS, "controls": controls}
    alone = postil.score(CANDIDATES, REFERENCES, metrics=SPECS, tokenizer=name, **given)  # type: ignore[arg-type]
    own = [with_tokenizer(spec, name) for spec in SPECS]
    found = postil.score(CANDIDATES, REFERENCES, metrics=[*own, "rouge-1"], tokenizer=run, **given)  # type: ignore[arg-type]
    for spec, named in zip(SPECS, own, strict=True):
        assert found.corpus[named] == alone.corpus[spec]
        assert found.items[named].tolist() == alone.items[spec].tolist()
        assert parse_metric(str(parse_metric(named))) == parse_metric(named)
        assert f"|tokenizer:{alone.signatures[spec].split('tokenizer:')[1]}" in found.signatures[named]
    of_controls = [key for key in alone.items if key.startswith("control:") and "(" in key]
    assert len(of_controls) > 20
    for control in of_controls:
        spec = next(spec for spec in sorted(SPECS, key=len, reverse=True) if f"({spec}" in control)
        assert found.items[control.replace(spec, with_tokenizer(spec, name))].tolist() == alone.items[control].tolist()


def test_signatures_name_the_tokenizer_only_where_it_is_set() -> None:
    assert str(parse_metric("bleu-4")) == "bleu-4(smooth=coco,effective=false)"
    result = postil.score(CANDIDATES, REFERENCES, metrics=["bleu-4", "bleu-4(tokenizer=13a)", "chrf"])
    assert [text.split("|")[1] for text in result.signatures.values()] == [
        "tokenizer:words-2",
        "tokenizer:13a",
        "references:1-3",
    ]


def test_lists_of_tokens_are_taken_as_they_are() -> None:
    candidates, references = [["a.", "b"], ["c"]], [[["a.", "b"], ["b"]], [["c", "d."]]]
    for run in (["rouge-l(tokenizer=13a)"], ["rouge-l(tokenizer=13a)", "rouge-l"]):
        result = postil.score(candidates, references, metrics=run)
        alone = postil.score(candidates, references, metrics="rouge-l")
        assert result.items[run[0]].tolist() == alone.items["rouge-l"].tolist()
        assert "|tokenizer:given|" in result.signatures[run[0]]


@pytest.mark.parametrize("tokens_of", ["candidates", "references"])
def test_tokens_on_one_side_meet_split_texts_on_the_other(tokens_of: str) -> None:
    texts, tokens = "a. b", ["a", ".", "b"]
    sides = (tokens, [texts]) if tokens_of == "candidates" else (texts, [tokens])
    result = postil.score([sides[0]], [sides[1]], metrics=["rouge-l(tokenizer=13a)"])  # type: ignore[list-item]
    assert result.corpus["rouge-l(tokenizer=13a)"] == 1.0
    assert "|tokenizer:13a|" in result.signatures["rouge-l(tokenizer=13a)"]


def test_wrong_tokenizers_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"unknown tokenizer '13b'; did you mean '13a'\?"):
        parse_metric("bleu-4(tokenizer=13b)")
    for spec in ("chrf", "bertscore", "sentence-cosine"):
        with pytest.raises(UsageError, match=f"{spec} reads texts, whatever the tokenizer; leave it out"):
            parse_metric(f"{spec}(tokenizer=13a)")


def test_an_own_metric_may_have_a_parameter_of_that_name() -> None:
    def split(candidate: str, references: list[str], *, tokenizer: str = "x") -> float:
        return float((candidate in references) + candidate.count(tokenizer))

    assert postil.score(["a,b,c"], [["d"]], metrics=[split]).corpus == {"split": 0.0}


def test_each_tokenizer_refuses_the_texts_that_it_is_not_for() -> None:
    texts, references = ["今天天气很好", "明天也很好"], [["今天天气不好"], ["明天不好"]]
    with pytest.raises(InvalidInput, match="Han text cannot be split"):
        postil.score(texts, references, metrics=["rouge-l(tokenizer=words)"], tokenizer="characters")
    with pytest.raises(InvalidInput, match="dropped by the tokenizer rouge"):
        postil.score(texts, references, metrics=["rouge-l", "rouge-1(tokenizer=rouge)"], tokenizer="characters")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the tokenizer of the run, words, splits nothing
        found = postil.score(texts, references, metrics=["rouge-l(tokenizer=characters)"])
    assert found.corpus["rouge-l(tokenizer=characters)"] > 0.4


def test_saved_frequencies_are_those_of_the_metrics_tokenizer(tmp_path: Path) -> None:
    files = written(tmp_path)
    saved = str(tmp_path / "background")
    whole = score_files(*files, ScoreOptions(metrics=("cider",), tokenizer="ptb", save_background=saved), str)
    spec = "cider(tokenizer=ptb)"
    found = score_files(*files, ScoreOptions(metrics=(spec, "rouge-l"), background=saved), str)
    assert found.corpus[spec] == pytest.approx(whole.corpus["cider"], abs=0)
    with pytest.raises(UsageError, match=r"was counted with the tokenizer ptb.*, not words-2"):
        score_files(*files, ScoreOptions(metrics=("cider",), background=saved), str)
    with pytest.raises(UsageError, match=r"was counted with the tokenizer ptb.*, not 13a"):
        score_files(*files, ScoreOptions(metrics=("cider(tokenizer=13a)",), background=saved), str)


def test_consensus_takes_the_tokenizer_of_its_metric() -> None:
    one = postil.consensus_weights(REFERENCES, metric="rouge-l(beta=1,tokenizer=13a)")
    assert one == postil.consensus_weights(REFERENCES, metric="rouge-l(beta=1)", tokenizer="13a")
    assert one != postil.consensus_weights(REFERENCES)


def test_streamed_files_and_other_engines_give_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = written(tmp_path)
    options = ScoreOptions(metrics=("bleu-4(tokenizer=13a)", "rouge-l(tokenizer=ptb)", "chrf"))
    whole = score_files(*files, options, str)
    monkeypatch.setattr("postil.scoring.files.SMALLEST", 0)
    monkeypatch.setattr("postil.scoring.files.FEW", 1)
    calls = list[object]()

    def watched(*given: object) -> object:
        calls.append(streamed(*given))  # type: ignore[arg-type]
        return calls[-1]

    monkeypatch.setattr("postil.scoring.files.streamed", watched)
    assert score_files(*files, options, str).scores == whole.scores
    assert calls[0] is not None
    idf = ScoreOptions(metrics=("cider(tokenizer=ptb)",))
    assert score_files(*files, idf, str).scores  # their frequencies are those of all references
    assert calls[1] is None


def written(folder: Path) -> tuple[str, str]:
    candidates, references = folder / "candidates.jsonl", folder / "references.jsonl"
    rows = [{"item": str(i), "system": "a", "text": text} for i, text in enumerate(CANDIDATES) if text]
    candidates.write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [{"item": str(i), "text": text} for i, texts in enumerate(REFERENCES) for text in texts if CANDIDATES[i]]
    references.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(candidates), str(references)
