"""The stages of a study: each writes files, and runs again only if its outputs, inputs or options have changed."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from hashlib import file_digest
from typing import TYPE_CHECKING, Final, TypeVar

from postil.data.atomic_file import check_apart, write_file, writing
from postil.data.explain import load_json
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.messages import Command, CommandLine, Setting
from postil.options import flags_of
from postil.results.base import Result, read_results, to_json
from postil.results.page.report import write_report
from postil.studies.result import StudyResult
from postil.studies.view import study_text
from postil.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from postil.data.progress import OnMessage

__all__ = [
    "Stage",
    "Stages",
    "as_line",
    "read_result",
    "report_stage",
    "settings_of",
    "words_of",
    "write_result",
    "write_study",
]

AnyResult = TypeVar("AnyResult", bound=Result)

RECORDS: Final = ".stages"
METADATA: Final = "metadata.json"
"""The file of a folder that holds the hashes of the others."""
SHORT: Final = {"metrics": "-m", "measures": "-m", "coefficients": "-c", "k": "-k", "r": "-r"}
"""Flags of settings in the lines of commands, where they are not the settings' names."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A step of a study.

    Args:
        name: Name for messages and for ``--stage``.
        outputs: Files or folders that it writes.
        inputs: Files or folders that it reads.
        request: Options that the outputs depend on besides the inputs; JSON.
        command: Line of a shell that does the same.
        work: Function that writes the outputs.
        printed: True if that command prints the first output.
    """

    name: str
    outputs: Sequence[Path]
    inputs: Sequence[Path]
    request: Mapping[str, object]
    command: str
    work: Callable[[], object]
    printed: bool = False


class Stages:
    """Runner of stages in a folder, with a record of the inputs and options of each.

    Args:
        out: Output folder; created where it is missing.
        on_message: Callback for status messages.
        only: The one stage to run; None for all of them.

    Raises:
        PostilError: The operating system reports an error.
    """

    def __init__(self, out: Path, on_message: OnMessage, only: str | None = None) -> None:
        self.out, self._on_message, self._only = out, on_message, only
        self.names: list[str] = []
        with writing(out):
            (out / RECORDS).mkdir(parents=True, exist_ok=True)

    def run(self, stage: Stage) -> None:
        """Run a stage unless it is done or not the one selected.

        Args:
            stage: The stage.

        Raises:
            InvalidInput: An input is missing.
            UsageError: An output would overwrite an input, or an output folder exists and has other inputs or
                options.
        """
        self.names.append(stage.name)
        if self._only not in (None, stage.name):
            return
        for path in stage.outputs:
            check_apart(path, stage.inputs)
        command = stage.command + (f" > {shlex.quote(str(stage.outputs[0]))}" if stage.printed else "")
        inputs = [_digest(path, needed=True) for path in stage.inputs]
        request = json.loads(json.dumps({**stage.request, "inputs": inputs, "postil": VERSION}))
        record = self.out / RECORDS / f"{stage.name}.json"
        there = {str(path.relative_to(self.out)): _digest(path) for path in stage.outputs}
        if record.is_file() and _read_json(record) == {"request": request, "outputs": there} and all(there.values()):
            self._on_message(f"{stage.name}: done before")
            return
        folders = [path for path in stage.outputs if path.is_dir()]
        if folders and not record.is_file():
            self._on_message(f"{stage.name}: {folders[0]} exists and is used as it is")
        elif folders:
            raise UsageError(
                "{folder}: made from other inputs or options; remove it, or give another {out}",
                folder=str(folders[0]),
                out=Setting("out"),
            )
        else:
            self._on_message(f"{stage.name}: {command}")
            stage.work()
        there = {str(path.relative_to(self.out)): _digest(path) for path in stage.outputs}
        write_file(record, to_json({"request": request, "outputs": there}).encode())

    def finish(self, stages: Iterable[Stage]) -> None:
        """Run the last stages, and check that the selected one is among all.

        Args:
            stages: The stages.

        Raises:
            UnknownName: It is not.
        """
        for stage in stages:
            self.run(stage)
        if self._only is not None and self._only not in self.names:
            raise UnknownName("stage", self._only, self.names)


def _digest(path: Path, *, needed: bool = False) -> str | None:
    """SHA-256 of a file, or of a folder's metadata; None where it does not exist."""
    target = path / METADATA if path.is_dir() else path
    try:
        with target.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()
    except OSError:
        if needed:
            raise InvalidInput("no such file; run the stages before this one", where=str(target)) from None
        return None


def as_line(command: Command, options: type | None = None) -> str:
    """A command as a line for a shell, which results and files have whatever the interface.

    Args:
        command: The command.
        options: Class of its options, for their flags in full; None for short ones.

    >>> as_line(Command("score", ("my texts.jsonl",), settings_of({"metrics": ("cider", "meteor"), "controls": True})))
    "postil score 'my texts.jsonl' -m cider -m meteor --controls"
    """
    return _spelling(options).command(command)


def words_of(settings: Iterable[Setting], options: type | None = None) -> list[str]:
    """The words of a command that give settings.

    Args:
        settings: The settings.
        options: See `as_line`.
    """
    interface = _spelling(options)
    return [word for each in settings for word in shlex.split(interface.setting(each))]


def _spelling(options: type | None) -> CommandLine:
    return CommandLine(SHORT if options is None else flags_of(options))


def settings_of(values: Mapping[str, object]) -> tuple[Setting, ...]:
    """Settings of some values.

    Args:
        values: Values by name; of several values each is a setting, and a value that is None is omitted.

    >>> words_of(settings_of({"scale": "1:5", "epochs": None, "k": (1, 2), "train": False}))
    ['--scale', '1:5', '-k', '1', '-k', '2', '--no-train']
    """
    return tuple(
        Setting(name, one if isinstance(one, bool) else str(one))
        for name, value in values.items()
        for one in (value if isinstance(value, tuple) else (value,))
        if one is not None
    )


def read_result(path: Path, kind: type[AnyResult]) -> AnyResult:
    """Read the result that an earlier stage wrote.

    Args:
        path: The file.
        kind: Struct of the result.

    Raises:
        InvalidInput: The file is missing or holds something else.
    """
    (result,) = read_results([path])
    if not isinstance(result, kind):
        tag = kind.__struct_config__.tag
        raise InvalidInput(f"expected {tag}, got {result.__struct_config__.tag}", where=str(path), field="kind")
    return result


def _read_json(path: Path) -> object:
    """Read the record of an earlier run."""
    try:
        return load_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InvalidInput("expected a file that an earlier stage wrote", where=str(path)) from None


def report_stage(
    page: Path,
    inputs: Sequence[Path],
    on_message: OnMessage,
    shown: Callable[[list[Result]], list[Result]] = lambda results: results,
) -> Stage:
    """The stage that writes the page of results.

    Args:
        page: The page.
        inputs: Files of the results.
        on_message: Callback for status messages.
        shown: Function from the results to those that the page shows.
    """

    def work() -> None:
        write_report(shown(read_results(inputs)), page)
        on_message(f"written: {page}")

    return Stage(
        name="report",
        outputs=[page],
        inputs=inputs,
        request={},
        command=as_line(Command("report", tuple(map(str, inputs)), settings_of({"out": page}))),
        work=work,
    )


def write_result(path: Path, make: Callable[[], Result]) -> None:
    """Write a result as JSON, which is the work of most stages.

    Args:
        path: The file.
        make: Function that computes the result.

    Raises:
        PostilError: The operating system reports an error, or the result cannot be computed.
    """
    make().save(path)


def write_study(folder: Path, study: StudyResult) -> None:
    """Write a study as JSON and, in the same words, as Markdown.

    Args:
        folder: The folder.
        study: The study.

    Raises:
        PostilError: The operating system reports an error.
    """
    study.save(folder / "study.json")
    text = study_text("markdown", read_result(folder / "study.json", StudyResult))
    write_file(folder / "study.md", text.encode())
