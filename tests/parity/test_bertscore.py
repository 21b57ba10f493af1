"""bertscore beside the program bert-score, both run on the same folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import postil
from tiny_models import WORDS, write_bert

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Program = Callable[..., NDArray[np.float64]]

pytestmark = pytest.mark.integration

CLOSE = 2e-5
BASELINES = "LAYER,P,R,F\n" + "".join(f"{i},{0.1 + i / 20},{0.12 + i / 20},{0.11 + i / 20}\n" for i in range(4))


def made_texts(seed: int) -> tuple[list[str], list[list[str]]]:
    """40 candidates with 1 to 4 references each; some are empty, some too long for the model."""
    random = np.random.default_rng(seed)

    def text(most: int) -> str:
        words = random.choice([*WORDS, "Zebra", "x1", "!", "[SEP]"], random.integers(0, most))
        return " ".join([*words, random.choice(WORDS)])

    candidates = [text(60 if i % 9 == 0 else 12) for i in range(40)]
    references = [[text(12) for _ in range(random.integers(1, 5))] for _ in range(40)]
    candidates[3], references[5][0], candidates[6] = "", "  ", f"  {candidates[6]}\n"
    return candidates, references


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_bert(tmp_path_factory.mktemp("bertscore") / "bert")
    (made / "baselines.csv").write_text(BASELINES, encoding="utf-8")
    return made


@pytest.fixture
def program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    import bert_score  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    # Since transformers 5 tokenizers lack the method that the program calls for an empty text.
    backend = transformers.tokenization_utils_tokenizers.TokenizersBackend
    monkeypatch.setattr(
        backend,
        "build_inputs_with_special_tokens",
        lambda self, ids: [self.cls_token_id, *ids, self.sep_token_id],
        raising=False,
    )

    def run(candidates: list[str], references: object, **more: object) -> NDArray[np.float64]:
        # A batch of one: in larger ones padding makes negative maxima 0. In one process, as a fork of torch may hang.
        found = bert_score.score(
            candidates, references, model_type=str(folder), batch_size=1, nthreads=0, device="cpu", **more
        )
        return np.array([part.numpy() for part in found], dtype=np.float64)

    return run


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layer", [1, 2, 3])
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_numbers_are_those_of_the_program(layer: int, idf: bool, several: bool, folder: Path, program: Program) -> None:
    candidates, references = made_texts(layer)
    if not several:
        references = [row[:1] for row in references]
    given = references if several else [row[0] for row in references]
    expected = program(candidates, given, num_layers=layer, idf=idf)
    specs = [f"bertscore(model={folder},layer={layer},idf={str(idf).lower()},part={part})" for part in "prf"]
    found = postil.score(candidates, references, metrics=specs)
    for spec, wanted in zip(specs, expected, strict=True):
        np.testing.assert_allclose(found.items[spec], wanted, rtol=0, atol=CLOSE, err_msg=spec)
    assert (expected < 0.9).any()


@pytest.mark.filterwarnings("ignore")
def test_a_text_whose_tokens_all_weigh_nothing_scores_0(folder: Path, program: Program) -> None:
    expected = program(["rain"], ["[SEP]"], num_layers=2)
    assert np.isnan(expected[1]).all()
    assert expected[2] == 0.0
    specs = [f"bertscore(model={folder},layer=2,part={part})" for part in "prf"]
    assert postil.score(["rain"], [["[SEP]"]], metrics=specs).corpus == dict.fromkeys(specs, 0.0)


@pytest.mark.filterwarnings("ignore")
def test_rescaled_numbers_are_those_of_the_program(folder: Path, program: Program) -> None:
    candidates, references = made_texts(9)
    path = folder / "baselines.csv"
    more = {"rescale_with_baseline": True, "lang": "en", "baseline_path": str(path)}
    expected = program(candidates, references, num_layers=2, **more)
    specs = [f"bertscore(model={folder},layer=2,part={part},baseline={path})" for part in "prf"]
    found = postil.score(candidates, references, metrics=specs)
    for spec, wanted in zip(specs, expected, strict=True):
        np.testing.assert_allclose(found.items[spec], wanted, rtol=0, atol=CLOSE, err_msg=spec)
    assert found.items[specs[2]][3] < 0
    weighted = [f"w-{spec}" for spec in specs]
    ones = [[1.0] * len(row) for row in references]
    again = postil.score(candidates, references, weights=ones, metrics=weighted)
    there = np.arange(40) != 3
    for spec in specs:
        np.testing.assert_allclose(again.items[f"w-{spec}"][there], found.items[spec][there], atol=1e-12)
        assert again.items[f"w-{spec}"][3] == 0.0
