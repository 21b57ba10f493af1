"""Limits of scores: what fails, what is said, and the XML that continuous integration reads."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from postil.errors import LimitMissed, UnknownName, UsageError
from postil.results.limits import LimitOptions, Measured, check_limits

if TYPE_CHECKING:
    from conftest import Outcome, Postil

SCORES = [
    Measured("a", "meteor", 0.25, falls=False),
    Measured("b", "meteor", 0.19999999, falls=False),
    Measured("a", "edits", 0.5, falls=True),
    Measured("b", "edits", 0.75, falls=True),
]


def parsed(path: str) -> ET.Element:
    return ET.parse(path).getroot()  # noqa: S314 - our own


def test_limits_are_read_by_the_direction_of_their_metric(tmp_path: Path) -> None:
    check_limits(LimitOptions(fail_below=("meteor=0.19", "edits=.75")), SCORES, "score")
    junit = str(tmp_path / "limits.xml")
    with pytest.raises(LimitMissed) as caught:
        check_limits(LimitOptions(fail_below=("meteor=.2", "edits=.6"), junit=junit), SCORES, "score")
    assert caught.value.exit_code == 4
    assert str(caught.value) == (
        "2 of 4 limits missed: b: meteor is 0.19999999, below the limit of 0.2; "
        "b: edits is 0.75, above the limit of 0.6"
    )
    root = parsed(junit)
    assert {name: root.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "2",
        "errors": "0",
    }
    cases = [
        (case.get("classname"), case.get("name"), case.find("failure") is not None) for case in root.iter("testcase")
    ]
    assert cases == [
        ("a", "meteor at least 0.2", False),
        ("b", "meteor at least 0.2", True),
        ("a", "edits at most 0.6", False),
        ("b", "edits at most 0.6", True),
    ]


def test_any_name_of_a_system_gives_xml(tmp_path: Path) -> None:
    junit = str(tmp_path / "limits.xml")
    system = 'ä<&"\x00\x1b\ud800\U0001f600'
    check_limits(LimitOptions(fail_below=("m=0",), junit=junit), [Measured(system, "m", 1.0, falls=False)], "score")
    [case] = parsed(junit).iter("testcase")
    assert case.get("classname") == 'ä<&"\ufffd\ufffd\ufffd\U0001f600'


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("meteor",), 'fail_below takes METRIC=NUMBER, such as meteor=.2; got "meteor"'),
        (("=.2",), 'got "=.2"'),
        (("meteor=nan",), 'got "meteor=nan"'),
        (("meteor=1_0",), 'got "meteor=1_0"'),
        (("meteor=-inf",), 'got "meteor=-inf"'),
        (("meteor=.1", "meteor=.2"), "fail_below: meteor has two limits; give one"),
    ],
)
def test_what_is_no_limit(given: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        LimitOptions(fail_below=given)
    assert said in str(caught.value)


def test_metrics_by_other_names() -> None:
    limits = LimitOptions(fail_below=("Rouge-L=.5",))
    assert list(limits.resolved(["w-rouge-l", "rouge-l"])) == ["rouge-l"]
    assert list(limits.resolved(["w-rouge-l", "rouge-l(over=mean)"])) == ["rouge-l(over=mean)"]
    for metrics in (["meteor"], ["rouge-l(over=mean)", "rouge-l(over=max)"]):
        with pytest.raises(UnknownName, match="unknown metric with a limit 'Rouge-L'"):
            limits.resolved(metrics)


@pytest.fixture
def own() -> None:
    Path("own.py").write_text(
        "import postil\n\n@postil.register_metric(name='length', better='low')\n"
        "def length(candidate, references):\n    return float(len(candidate))\n"
    )


def score(postil: Postil, *words: str) -> Outcome:
    return postil("score", "c.jsonl", "-r", "r.jsonl", "-m", "rouge-l", "-m", "length", "--plugin", "own.py", *words)


def test_score_ends_with_4_and_prints_the_scores_first(postil: Postil, own: None) -> None:
    del own
    plain = score(postil)
    assert plain.code == 0, plain.err
    met = score(postil, "--fail-below", "rouge-l=0", "--fail-below", "length=1e6", "--junit", "limits.xml")
    assert (met.code, met.out) == (0, plain.out)
    assert parsed("limits.xml").get("failures") == "0"
    missed = score(postil, "--fail-below", "length=1", "--junit", "limits.xml")
    assert (missed.code, missed.out) == (4, plain.out)
    assert ": length is " in missed.err
    assert "above the limit of 1" in missed.err
    root = parsed("limits.xml")
    assert root.get("failures") == root.get("tests") != "0"


def test_compare_has_limits_of_scores_alone(postil: Postil, own: None) -> None:
    del own
    assert score(postil, "--items", "items.jsonl").code == 0
    plain = postil("compare", "items.jsonl", "--format", "csv", "--resamples", "20", "--permutations", "20")
    words = ("compare", "items.jsonl", "--format", "csv", "--resamples", "20", "--permutations", "20")
    found = postil(*words, "--fail-below", "rouge-l=.99", "--fail-below", "length=1e6")
    assert (found.code, found.out) == (4, plain.out)
    assert "rouge-l is " in found.err
    assert "length" not in found.err.splitlines()[-1]
    found = postil("compare", "--preferences", "items.jsonl", "--fail-below", "rouge-l=.5")
    assert (found.code, found.out, found.err) == (2, "", "postil: --fail-below is of scores\n")
    found = postil("compare", "--preferences", "items.jsonl", "--name", "rouge-l=R")
    assert (found.code, found.out, found.err) == (2, "", "postil: --name is of scores\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--fail-below", "meteor=.5"), 2, "unknown metric with a limit 'meteor'. Known: rouge-l, length"),
        (("--fail-below", "rouge-l"), 2, '--fail-below takes METRIC=NUMBER, such as meteor=.2; got "rouge-l"'),
        (("--junit", "x.xml"), 2, "--junit writes whether limits are met; give one: --fail-below METRIC=NUMBER"),
        (("--fail-below", "rouge-l=0", "--junit", "c.jsonl"), 2, "c.jsonl"),
        (("--fail-below", "rouge-l=0", "--junit", "no/x.xml"), 2, "no/x.xml: parent folder "),
    ],
)
def test_bad_limits(postil: Postil, own: None, words: tuple[str, ...], code: int, said: str) -> None:
    del own
    found = score(postil, *words)
    assert found.code == code, found.err
    assert said in found.err.splitlines()[-1]
    assert Path("c.jsonl").read_text().startswith("{")
