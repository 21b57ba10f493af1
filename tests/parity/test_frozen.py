"""The originals' numbers as ``freeze.py`` kept them, so that parity needs neither the originals nor Java."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import postil

FROZEN = Path(__file__).parent / "frozen"
PAGES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FROZEN.glob("*.json"))}
TEXTS = PAGES.pop("texts")
KINDS = {"texts": TEXTS, "lines": PAGES.pop("lines")}
CASES = [(name, spec) for name, page in PAGES.items() for spec in page["numbers"]]


@pytest.mark.parametrize(("name", "spec"), CASES)
def test_the_numbers_are_those_of_the_original(name: str, spec: str, tmp_path: Path) -> None:
    frozen: dict[str, Any] = PAGES[name]["numbers"][spec]
    none = tmp_path / "none.txt"
    none.write_text("notawordofthesetexts\n", "utf-8")
    ours = spec.replace("NONE", str(none))
    texts, tokenizer = KINDS[PAGES[name].get("texts", "texts")], PAGES[name].get("tokenizer", "space")
    result = postil.score(texts["candidates"], texts["references"], metrics=[ours], tokenizer=tokenizer)
    np.testing.assert_allclose(result.items[ours], frozen["items"], rtol=0, atol=1e-14)
    assert result.corpus[ours] == pytest.approx(frozen["corpus"], abs=1e-14)


def test_every_page_says_who_made_it() -> None:
    assert set(PAGES) == {"chrf", "meteor", "nltk", "pycocoevalcap", "rouge-score", "sacrebleu"}
    assert all(page["made_by"] and page["command"] for page in PAGES.values())
