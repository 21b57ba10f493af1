"""Flags made of options classes, and help that says what each of them is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import pytest
from click.testing import CliRunner

from postil.cli.command import Argument, command
from postil.cli.main import app
from postil.data.grades import METHODS, Scale
from postil.errors import UsageError
from postil.messages import Setting
from postil.metrics.spec import METRICS
from postil.options import Flag, options
from postil.results.formats import FORMATS
from postil.text.tokenizers import TOKENIZERS
from postil.version import VERSION

if TYPE_CHECKING:
    import click

    from conftest import Postil


COMMANDS = app.commands


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_the_root_lists_every_command(postil: Postil, flag: str) -> None:
    outcome = postil(flag)
    assert outcome.code == 0
    assert not outcome.err
    assert all(f"  {name} " in outcome.out for name in COMMANDS)
    assert outcome.out.index("  score ") < outcome.out.index("  annotate "), "commands stand before groups"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_documents_itself_and_all_its_options(postil: Postil, name: str) -> None:
    outcome = postil(name, "--help")
    assert outcome.code == 0
    assert not outcome.err
    command = COMMANDS[name]
    assert command.help
    for parameter in command.params:
        assert parameter.help, f"{name}: {parameter.name} says nothing"
        assert any(option in outcome.out for option in [*parameter.opts, parameter.metavar] if option)


def _said(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("names", [FORMATS, METHODS, TOKENIZERS, [m for m in METRICS if not m.startswith("bleu")]])
def test_help_names_everything_that_can_be_asked_for(postil: Postil, names: list[str]) -> None:
    said = _said(postil("score", "--help").out)
    assert [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w+-])", said)] == []


def test_defaults_are_shown(postil: Postil) -> None:
    said = _said(postil("score", "--help").out)
    assert "[default: words]" in said
    assert "[default: table]" in said


def test_the_example_runs(postil: Postil) -> None:
    example = _said(postil("score", "--help").out).partition("Example: postil ")[2].partition(" Arguments:")[0]
    words = example.replace("systems.jsonl", "c.jsonl").replace("references.jsonl", "r.jsonl").split()
    assert postil(*words).code == 0


def test_version(postil: Postil) -> None:
    outcome = postil("--version")
    assert (outcome.code, outcome.out, outcome.err) == (0, f"postil {VERSION}\n", "")


def test_without_a_command_there_is_help(postil: Postil) -> None:
    outcome = postil()
    assert "score" in outcome.out + outcome.err


def test_a_misspelt_command_is_guessed(postil: Postil) -> None:
    outcome = postil("scroe")
    assert outcome.code == 2
    assert "'score'" in outcome.err


@options
class Shared:
    """Options that commands share.

    Args:
        jobs: Number of threads; the numbers do not
            depend on it.
    """

    jobs: Annotated[int, Flag("jobs", short="j", min=1)] = 1


@options
class Inner:
    """Options of a part.

    Args:
        size: Hidden size.
    """

    size: int = 256


@options
class Example(Shared):
    """Options of an example.

    Args:
        names: Names; ``a`` or ``b``, repeatable.
        scale: Scale of the grades, see `postil.data.grades.Scale`.
        level: Level: pool or item.
        folders: Named folders, as ``NAME=FOLDER``.
        pair: Two names.
        out: File to write.
        quiet: True to say nothing.
        inner: Options of the part.
        seen: Set from Python alone.
        share: Share of something.
        sizes: Sizes.
    """

    names: Annotated[tuple[str, ...], Flag("name", short="n", metavar="NAME")] = ("x",)
    scale: Scale | None = None
    level: Literal["pool", "item"] = "pool"
    folders: Mapping[str, str] = field(default_factory=dict)
    pair: tuple[str, str] | None = None
    out: Path | None = None
    quiet: bool = False
    inner: Inner = Inner()
    seen: Annotated[str, Flag(hidden=True)] = "unseen"
    share: Annotated[float, Flag(max=1)] = 0.5
    sizes: tuple[int, ...] = ()


def app_of(found: list[tuple[str, Example]]) -> click.Command:
    @command
    def example(file: Annotated[str, Argument(metavar="FILE", help="A file.")], options: Example) -> None:
        """Show options."""
        found.append((file, options))

    return example


def called(*words: str) -> tuple[str, Example]:
    found: list[tuple[str, Example]] = []
    outcome = CliRunner().invoke(app_of(found), list(words), catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return found[0]


def test_without_flags_all_is_as_declared() -> None:
    assert called("f") == ("f", Example())


def test_every_kind_of_field_has_a_flag() -> None:
    words = "f -n a --name b --scale 1:5 --level item --folders x=y --folders z=w=v --pair p q --out o --quiet --size 3"
    found = called(*words.split(), "--jobs", "2", "--share", ".25", "--sizes", "-1")[1]
    assert found == Example(
        names=("a", "b"),
        scale=Scale(1, 5),
        level="item",
        folders={"x": "y", "z": "w=v"},
        pair=("p", "q"),
        out=Path("o"),
        quiet=True,
        inner=Inner(size=3),
        jobs=2,
        share=0.25,
        sizes=(-1,),
    )


def test_help_is_the_documentation_of_the_fields() -> None:
    said = " ".join(CliRunner().invoke(app_of([]), ["--help"]).output.split())
    assert "-j, --jobs N" in said or "--jobs, -j N" in said
    assert "Number of threads; the numbers do not depend on it. [default: 1; x>=1]" in said
    assert "Names; a or b, repeatable." in said
    assert "Scale of the grades, see Scale." in said
    assert "Hidden size. [default: 256]" in said
    assert "--sizes N Sizes." in said
    assert "seen" not in said


@pytest.mark.parametrize("words", [["--jobs", "0"], ["--share", "2"], ["--folders", "x"], ["--scale", "a"]])
def test_values_that_do_not_fit_are_refused(words: list[str]) -> None:
    outcome = CliRunner().invoke(app_of([]), ["f", *words])
    assert outcome.exit_code in {2, 3}
    assert words[0].lstrip("-") in outcome.output


@options
class Loss:
    """Options that are checked.

    Args:
        loss: Training loss.
        rate: Learning rate.
    """

    loss: Annotated[str, Flag("softmax")] = "full"
    rate: float = 1

    def __post_init__(self) -> None:
        if self.loss != "full":
            raise UsageError("{loss}: expected full, got {got}", loss=Setting("loss"), got=self.loss)
        if self.rate < 0:
            raise UsageError(f"rate: expected at least 0, got {self.rate}")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--softmax", "a: b"], "--softmax: expected full, got a: b"),
        (["--rate", "-1"], "rate: expected at least 0, got -1.0"),
    ],
)
def test_an_error_names_the_flag_where_the_field_has_another_name(words: list[str], expected: str) -> None:
    @command
    def loss(options: Loss) -> None:
        """Show options."""

    outcome = CliRunner().invoke(loss, words)
    assert (outcome.exit_code, outcome.stderr) == (2, f"postil: {expected}\n")


def test_a_field_without_description_is_a_mistake_of_ours() -> None:
    @options
    class Undescribed:
        """Options without words."""

        size: int = 1

    def function(options: Undescribed) -> None:
        pass

    function.__annotations__["options"] = Undescribed
    with pytest.raises(KeyError, match="size"):
        command(function)
