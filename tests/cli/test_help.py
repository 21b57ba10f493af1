"""Flags made of options classes, and help that says what each of them is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click
import pytest
from click.testing import CliRunner

from postil.cli.command import Argument, command
from postil.cli.help import FlagOption, option_groups
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
    from collections.abc import Iterator

    from conftest import Postil


COMMANDS = app.commands


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_the_root_lists_every_command(postil: Postil, flag: str) -> None:
    outcome = postil(flag)
    assert outcome.code == 0
    assert not outcome.err
    assert all(f"  {name} " in outcome.out for name in COMMANDS)
    assert outcome.out.index("  score ") < outcome.out.index("  annotate "), "commands stand before groups"


def below(command: click.Command, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """A command and all below it, with their names."""
    yield words, command
    for name, inner in command.commands.items() if isinstance(command, click.Group) else ():
        yield from below(inner, *words, name)


EVERY = [pytest.param(words, command, id=" ".join(words) or "postil") for words, command in below(app)]


@pytest.mark.parametrize(("words", "command"), EVERY)
def test_a_command_documents_itself_and_all_its_options(
    postil: Postil, words: tuple[str, ...], command: click.Command
) -> None:
    outcome = postil(*words, "--help-all")
    assert outcome.code == 0
    assert not outcome.err
    assert command.help
    for parameter in command.params if words else ():
        if isinstance(parameter, FlagOption | click.Argument):
            assert parameter.help, f"{parameter.name} says nothing"
        if not getattr(parameter, "hidden", False):
            assert any(option in outcome.out for option in [*parameter.opts, parameter.metavar] if option)
    groups = [group for group in option_groups(command) if group and words]
    assert [group for group in groups if f"\n{group}:\n" not in outcome.out] == []


@pytest.mark.parametrize(("words", "command"), EVERY)
def test_the_help_of_a_command_fits_a_screen(words: tuple[str, ...], command: click.Command) -> None:
    width = 78  # click leaves two columns of 80
    outcome = CliRunner().invoke(app, [*words, "--help"], prog_name="postil", terminal_width=width)
    lines = outcome.output.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= width
    groups = option_groups(command)
    assert len(groups.get("", [])) <= 9
    count = sum(map(len, groups.values()))
    assert (f"--help-all explains all {count}" in outcome.output) == (len(groups) > 1 and bool(words))
    first, _, rest = outcome.output.partition("\nMore options")
    for group, inside in groups.items() if words else ():
        assert inside[0].opts[0].lstrip("-") in (rest if group else first), group
        assert f"\n  {group}" in rest or not group


def test_the_short_help_counts_what_a_line_has_no_room_for(postil: Postil) -> None:
    (line,) = (each for each in postil("correlate", "--help").out.splitlines() if each.startswith("  Layout of tables"))
    named = line.removeprefix("  Layout of tables").strip().partition(" and ")
    assert named[0].startswith("--layout, --percent, ")
    assert named[2] == f"{9 - named[0].count('--')} more"
    said = postil("correlate", "--help").out
    assert "  --no-logprobs, " in postil("judge", "--help").out, "of a switch that is on the name that turns it off"
    assert "Number of resamples" not in said
    assert "Number of resamples" in postil("correlate", "--help-all").out


def test_few_options_are_all_explained(postil: Postil) -> None:
    assert postil("corpus", "stats", "--help").out == postil("corpus", "stats", "--help-all").out


def test_commands_are_listed_by_job(postil: Postil) -> None:
    said = postil("--help").out
    places = [said.index(each) for each in ("Measure texts:", "  score ", "Serve:", "  serve ", "  tokens ")]
    assert places == sorted(places)
    said = postil("train", "--help").out
    assert re.search(r"Generate comments:\n  seq2seq .*\n  att .*\n  att-tc ", said)
    assert said.index("Generate comments:") < said.index("Options:")


def test_all_commands_are_listed_with_those_below_them(postil: Postil) -> None:
    said = postil("--help-all").out
    names = [" ".join(words) for words, command in below(app) if not isinstance(command, click.Group)]
    assert len(names) > 70
    assert [name for name in names if f"\n  {name} " not in said] == []
    assert "\n  import label-studio " in postil("annotate", "--help-all").out


def _said(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("names", [FORMATS, METHODS, TOKENIZERS, [m for m in METRICS if not m.startswith("bleu")]])
def test_help_names_everything_that_can_be_asked_for(postil: Postil, names: list[str]) -> None:
    said = _said(postil("score", "--help-all").out)
    assert [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w+-])", said)] == []


def test_defaults_are_shown(postil: Postil) -> None:
    said = _said(postil("score", "--help-all").out)
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


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ("rougeL(stem=true)=ROUGE-L", "rougeL(stem=true)", "ROUGE-L"),
        (
            "control:top(w-rouge-l(reading=union,beta=1))=top=(best)",
            "control:top(w-rouge-l(reading=union,beta=1))",
            "top=(best)",
        ),
        ("a)b=c(d=e)", "a)b", "c(d=e)"),
        ("a(b=c", "a(b", "c"),
        ("a(b=c=d", "a(b=c", "d"),
    ],
)
def test_a_value_stands_behind_the_parameters_of_a_name(given: str, name: str, value: str) -> None:
    assert called("f", "--folders", given)[1].folders == {name: value}


def test_help_is_the_documentation_of_the_fields() -> None:
    said = " ".join(CliRunner().invoke(app_of([]), ["--help-all"]).output.split())
    assert "-j, --jobs N" in said or "--jobs, -j N" in said
    assert "Number of threads; the numbers do not depend on it. [default: 1; x>=1]" in said
    assert "Names; a or b, repeatable." in said
    assert "Scale of the grades, see Scale." in said
    assert "Hidden size. [default: 256]" in said
    assert "--sizes N Sizes." in said
    assert "seen" not in said


@pytest.mark.parametrize(
    "words", [["--jobs", "0"], ["--share", "2"], ["--folders", "x"], ["--folders", "x(y=z)"], ["--scale", "a"]]
)
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
