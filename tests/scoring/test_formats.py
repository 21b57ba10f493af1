"""Golden output of every `--format`. The numbers are ROUGE-L by hand; see `test_golden_numbers_by_hand`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from postil.version import VERSION

if TYPE_CHECKING:
    from conftest import Postil

ARGUMENTS = ("score", "c.jsonl", "-r", "r.jsonl", "--scale", "5", "-m", "rouge-l", "-m", "w-rouge-l")
PLAIN = f"rouge-l(reading=max,beta=1.2,over=max)|tokenizer:words-2|references:1-2|postil:{VERSION}"
WEIGHTED = f"w-{PLAIN}".replace("|references", "|weights:score|scale:0:5|references")

GOLDEN = {
    "table": f"""\
system  n  rouge-l  w-rouge-l
------  -  -------  ---------
plain   2   0.4178     0.3342
zoo     2   0.9150     0.6150

rouge-l: {PLAIN}
w-rouge-l: {WEIGHTED}
""",
    "markdown": """\
| system | n | rouge-l | w-rouge-l |
| --- | ---: | ---: | ---: |
| plain | 2 | 0.4178 | 0.3342 |
| zoo | 2 | 0.9150 | 0.6150 |
""",
    "latex": r"""\begin{tabular}{lrrr}
\toprule
system & texts & rouge-l & w-rouge-l \\
\midrule
plain & 2 & .4178 & .3342 \\
zoo & 2 & .9150 & .6150 \\
\bottomrule
\end{tabular}
""",
}


def f_score(precision: float, recall: float) -> float:
    return 2.44 * precision * recall / (recall + 1.44 * precision)


# plain: "the cat sat" against "the cat sat down" (4 of 5) and "a cat" (2 of 5); "a dog barked" against "dogs bark"
# zoo: "a cat" against the same, "dogs bark loudly" against "dogs bark" (5 of 5)
SCORES = {
    ("plain", "rouge-l"): (f_score(1, 3 / 4) + 0) / 2,
    ("plain", "w-rouge-l"): (0.8 * f_score(1, 3 / 4) + 0) / 2,
    ("zoo", "rouge-l"): (1 + f_score(2 / 3, 1)) / 2,
    ("zoo", "w-rouge-l"): (f_score(max(0.8 / 2, 0.4), max(0.8 / 4, 0.4)) + f_score(2 / 3, 1)) / 2,
}


def test_golden_numbers_by_hand(postil: Postil) -> None:
    assert postil(*ARGUMENTS, "--format", "jsonl").scores == pytest.approx(SCORES, abs=1e-12)


@pytest.mark.parametrize("form", GOLDEN)
def test_layouts_for_people(postil: Postil, form: str) -> None:
    outcome = postil(*ARGUMENTS, "--format", form)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == GOLDEN[form]


def rows() -> list[dict[str, object]]:
    signatures = {"rouge-l": PLAIN, "w-rouge-l": WEIGHTED}
    return [
        {"system": system, "metric": metric, "score": pytest.approx(score), "n": 2, "signature": signatures[metric]}
        for (system, metric), score in SCORES.items()
    ]


def test_json_schema(postil: Postil) -> None:
    said = json.loads(postil(*ARGUMENTS, "--format", "json").out)
    assert said == {"schema": 1, "kind": "score", "scores": rows(), "aggregation": "corpus"}
    assert list(said) == ["schema", "kind", "scores", "aggregation"]
    assert [list(row) for row in said["scores"]] == [["system", "metric", "score", "n", "signature"]] * 4
