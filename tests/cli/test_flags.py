"""Flags made of options classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from postil.cli.command import command
from postil.data.grades import Scale
from postil.errors import UsageError
from postil.messages import Setting
from postil.options import Flag, options


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


def app(found: list[tuple[str, Example]]) -> typer.Typer:
    made = typer.Typer(rich_markup_mode=None)

    @made.command()
    @command
    def example(file: Annotated[str, typer.Argument(help="A file.")], options: Example) -> None:
        """Show options."""
        found.append((file, options))

    return made


def called(*words: str) -> tuple[str, Example]:
    found: list[tuple[str, Example]] = []
    outcome = CliRunner().invoke(app(found), list(words), catch_exceptions=False)
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
    said = " ".join(CliRunner().invoke(app([]), ["--help"]).output.split())
    assert "-j, --jobs N" in said or "--jobs, -j N" in said
    assert "Number of threads; the numbers do not depend on it. [default: 1; x>=1]" in said
    assert "Names; a or b, repeatable." in said
    assert "Scale of the grades, see Scale." in said
    assert "Hidden size. [default: 256]" in said
    assert "--sizes N Sizes." in said
    assert "seen" not in said


@pytest.mark.parametrize("words", [["--jobs", "0"], ["--share", "2"], ["--folders", "x"], ["--scale", "a"]])
def test_values_that_do_not_fit_are_refused(words: list[str]) -> None:
    outcome = CliRunner().invoke(app([]), ["f", *words])
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
    made = typer.Typer()

    @made.command()
    @command
    def loss(options: Loss) -> None:
        """Show options."""

    outcome = CliRunner().invoke(made, words)
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
