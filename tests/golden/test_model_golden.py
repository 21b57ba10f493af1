"""bertscore and sentence-cosine with models in memory: frozen numbers with their signatures."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

import postil
from made_models import put_in_place

if TYPE_CHECKING:
    from pathlib import Path

CANDIDATES = ["the night bus was late", "more trains please", ""]
REFERENCES = [["the bus came late", "buses"], ["we need more trains", "no more of it"], ["late"]]
WEIGHTS = [[1.0, 0.25], [0.75, 0.5], [1.0]]
FROZEN: dict[str, tuple[list[float], str]] = {
    "bertscore(model=m,layer=1)": (
        [0.759047, 0.818225, 0.0],
        "bertscore(model=words-m,layer=1,idf=false,part=f,over=max)|references:1-2",
    ),
    "bertscore(model=m,layer=2,idf=true,part=r,baseline=b.csv)": (
        [0.763457, 0.630675, -0.25],
        (
            "bertscore(model=words-m,layer=2,idf=true,part=r,baseline=0.2,over=max)|references:1-2|"
            "idf:references/5|documents:e7954218900f"
        ),
    ),
    "w-bertscore(model=m,layer=2,part=p,baseline=b.csv,over=near)": (
        [0.503635, 0.559806, 0.0],
        "w-bertscore(model=words-m,layer=2,idf=false,part=p,baseline=0.1,over=near)|weights:given|references:1-2",
    ),
    "w-bertscore(model=m,layer=1,over=kernel)": (
        [0.993468, 0.71073, 0.0],
        "w-bertscore(model=words-m,layer=1,idf=false,part=f,over=kernel,tau=0.1)|weights:given|references:1-2",
    ),
    "sentence-cosine(model=m)": (
        [0.663946, 0.799905, 0.0],
        "sentence-cosine(model=sentences-m,over=max)|references:1-2",
    ),
    "w-sentence-cosine(model=m,prefix=news:,baseline=auto,over=top-2)": (
        [0.188395, 0.20596, 0.0],
        "w-sentence-cosine(model=sentences-m,prefix=news:,baseline=auto,over=top-2)|weights:given|references:1-2|baseline:0.672854",
    ),
}


@pytest.mark.parametrize("spec", FROZEN)
def test_numbers_and_signatures_stay(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.csv").write_text("LAYER,P,R,F\n2,.1,.2,.15\n", encoding="utf-8")
    scores, signature = FROZEN[spec]
    with warnings.catch_warnings(action="ignore"):
        result = postil.score(CANDIDATES, REFERENCES, weights=WEIGHTS, metrics=[spec])
    assert result.items[spec].tolist() == pytest.approx(scores, abs=1e-6)
    assert result.signatures[spec].rpartition("|")[0] == signature
