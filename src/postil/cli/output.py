"""Output and end of commands: results, pages, messages; one line and an exit code, whatever goes wrong.

Signals are taken as interrupts.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NoReturn, ParamSpec, TextIO

import click

from postil.data.escaping import one_line, visible
from postil.errors import PostilError, UsageError
from postil.messages import COMMAND_LINE, INTERFACE, CommandLine, Interface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from postil.results.base import Result
    from postil.results.formats import Cells, Format
    from postil.results.table_options import TableOptions
    from postil.results.views import View

    P = ParamSpec("P")

__all__ = [
    "CALLED",
    "check_figures",
    "check_page",
    "command_line",
    "emit",
    "exits",
    "print_into",
    "print_result",
    "refuse",
    "say",
    "tell",
    "terminal_width",
    "unwound",
    "visible_mistakes",
    "write_figures",
    "write_page",
    "write_pages",
]

CALLED: Final = "postil"
"""Key of the command line in the context of the root command."""

PRINTED: Final = "printed"
"""Key of the file that results are printed into in the context, and `BEGUN`, how often something was."""
BEGUN: Final = "begun"

INTERRUPTED: Final = 130  # 128 and the number of the signal, as shells have it

PIPED: Final = 80
"""Number of columns of results that go to a file or a program, where no wide table may cut texts."""

ENDED: Final = ("SIGTERM", "SIGHUP")
"""The signals that ask a process to end, beside Ctrl+C; not every system has both."""


@contextmanager
def visible_mistakes() -> Iterator[None]:
    """Escape the words of a command line that a message of click repeats; end on Ctrl+C as commands do."""
    try:
        yield
    except click.UsageError as error:
        error.message = visible(error.message)  # type: ignore[misc]  # final in its annotations
        raise
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None


def command_line() -> str:
    """The command line that runs, without the flags on which no result depends: jobs, engine and address."""
    words: list[str] = click.get_current_context().meta.get(CALLED, [])
    kept = [
        word
        for place, word in enumerate(words)
        if not re.fullmatch(r"-j\d*|--(jobs|engine|address)(=.*)?", word)
        and (place == 0 or words[place - 1] not in {"-j", "--jobs", "--engine", "--address"})
    ]
    return shlex.join(["postil", *kept])


def emit(shown: str | Cells, form: str = "") -> None:
    """Print a result: unchanged where a program reads it, escaped on a terminal and in tables.

    Args:
        shown: The result, with its line ends, or as cells.
        form: The format.
    """
    path = _file() if form else None
    if form == "table" or (path is None and sys.stdout.isatty()):
        shown = visible(str(shown))
    if path is None:
        _write(str(shown), sys.stdout)
    else:
        _print_into(path, shown)


def terminal_width() -> int:
    """Number of columns of the terminal that results are printed on; `PIPED` where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() and not _file() else PIPED


def print_into(path: str) -> None:
    """Let results of the running command be printed into a file.

    Args:
        path: The file; one that is there is replaced.

    Raises:
        UsageError: The file cannot be made, or another word of the command line is its name or a folder around it,
            which may be read or written.
    """
    from postil.data.atomic_file import check_apart, check_file  # noqa: PLC0415 - the help of commands does without it

    meta = click.get_current_context().meta
    given = list(meta.get(CALLED, []))
    words = [word.rpartition("=")[2] for word in given]
    if path in words:
        del given[words.index(path)]
    check_file(path)
    for word in given:
        for name in {word, word.rpartition("=")[2], word[2:] if word.startswith("-") else ""} - {""}:
            with suppress(OSError):  # it is too long for the name of a file
                check_apart(path, [name] if Path(name).exists() else [])
                if Path(name).resolve() == Path(path).resolve():
                    raise UsageError(f"{path}: named twice; name another file for what is printed")
    meta[PRINTED] = path


def _file() -> str | None:
    """The file that results are printed into; None where that is standard output."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(PRINTED)


def _print_into(path: str, shown: str | Cells) -> None:
    """Write a file, or add to what was written: JSON Lines are printed as they come.

    A further table of a workbook, or a further document of JSON, is a file of its own.
    """
    from postil.data.atomic_file import write_file, writing  # noqa: PLC0415 - the help of commands does without it
    from postil.results.formats import file_bytes  # noqa: PLC0415 - the same

    meta, data = click.get_current_context().meta, file_bytes(path, shown)
    number = meta[BEGUN] = meta.get(BEGUN, 0) + 1
    if number > 1 and Path(path).suffix.lower() not in {".xlsx", ".json"}:
        with writing(path), Path(path).open("ab") as stream:
            stream.write(data)
        return
    if number > 1:
        path = str(Path(path).with_stem(f"{Path(path).stem}-{number}"))
    write_file(path, data)
    say(f"written: {path}")


def say(message: str) -> None:
    """Print a status message to standard error, in the words of the command line.

    Args:
        message: The message.
    """
    _write(one_line(_interface().words(message)) + "\n", sys.stderr)


def _interface() -> Interface:
    """The interface of the running command, whose options spell settings; outside of commands that of any command."""
    interface = INTERFACE.get()
    return interface if isinstance(interface, CommandLine) else COMMAND_LINE


def _write(text: str, stream: TextIO) -> None:
    stream.write(text)
    stream.flush()


def tell(form: str, remarks: Iterable[str]) -> None:
    """Print the remarks that tables and JSON contain, for a format that has no place for them.

    Args:
        form: The format.
        remarks: Lines for people.
    """
    for line in remarks if form not in {"table", "json"} else ():
        say(line)


def refuse(error: PostilError) -> NoReturn:
    """End the process with one line and an exit code.

    Args:
        error: The error.
    """
    say(f"postil: {error.words(_interface())}")
    _settle_output()
    raise click.exceptions.Exit(error.exit_code) from None


def _settle_output() -> None:
    """Write what is buffered; where that cannot be, to nowhere, or Python would complain of it at its end."""
    try:
        sys.stdout.flush()
    except OSError:  # the reader has gone, or the disk is full
        with suppress(OSError):  # it is no file: a test or a caller has replaced it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exits(command: Callable[P, None]) -> Callable[P, None]:
    """Turn exceptions into one line and an exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except PostilError as error:
            refuse(error)
        except MemoryError:
            refuse(PostilError("not enough memory; give it fewer or shorter texts, or a larger machine"))
        except BrokenPipeError:
            _settle_output()
            raise click.exceptions.Exit(1) from None
        except OSError as error:
            say(f"postil: {error.filename or 'standard output'}: {error.strerror or error}")
            _settle_output()
            raise click.exceptions.Exit(1) from None
        except KeyboardInterrupt:
            say("postil: interrupted")
            raise click.exceptions.Exit(INTERRUPTED) from None

    return run


@contextmanager
def unwound(*, serving: bool = False) -> Iterator[None]:
    """Leave the block on a signal as on Ctrl+C, so that what it holds is closed; then end by that signal.

    Further signals do not interrupt the leaving.

    Args:
        serving: True if the block runs a server that ends on SIGTERM by itself. A terminal that is closed then counts
            as that, so that requests are still answered, and a second Ctrl+C does not interrupt the closing either.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    got: list[int] = []

    def stop(number: int, _frame: object) -> None:
        if not got:
            got.append(number)
            raise KeyboardInterrupt

    def hang_up(_number: int, _frame: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    before = {}
    for name in (*ENDED, "SIGINT") if serving else ENDED:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            before[number] = signal.signal(number, hang_up if serving and name == "SIGHUP" else stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if got:
            signal.raise_signal(got[0])


def check_page(page: Path | None, inputs: Iterable[str | None]) -> None:
    """Refuse a page that cannot be written, before the work is done.

    Args:
        page: The page; None for none.
        inputs: Files that are read, which the page must not replace; None for those that are not given.
    """
    if page:
        from postil.results.page.report import check_report  # noqa: PLC0415  # matplotlib is behind it

        check_report(page, filter(None, inputs))


def check_figures(folder: Path | None) -> None:
    """Refuse a folder that figures cannot be written into, before the work is done.

    Args:
        folder: The folder; None for none.
    """
    if folder:
        from postil.results.figures import check_figures as check  # noqa: PLC0415  # results are behind it

        check(folder)


def write_figures(
    results: Sequence[Result], folder: Path | None, names: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write the figures of results, if there is a folder for them.

    Args:
        results: The results.
        folder: The folder.
        names: Names of metrics in the figures, by their specs.
    """
    if folder:
        from postil.results.figures import tell_written  # noqa: PLC0415  # matplotlib is behind it
        from postil.results.figures import write_figures as write  # noqa: PLC0415  # the same

        tell_written(write(results, folder, names), say)


def write_page(result: Result, page: Path | None) -> None:
    """Write the page of a result, if there is one to write.

    Args:
        result: The result.
        page: The page.
    """
    write_pages([result], page)


def write_pages(results: Sequence[Result], page: Path | None) -> None:
    """Write one page of several results, if there is one to write.

    Args:
        results: The results.
        page: The page.
    """
    if page:
        from postil.results.page.report import write_report  # noqa: PLC0415  # matplotlib is behind it

        for path in write_report(results, page):
            say(f"written: {path}")


def print_result(
    result: Result,
    form: Format,
    page: Path | None = None,
    *,
    table: TableOptions | None = None,
    view: View | None = None,
) -> None:
    """Write the page of a result if there is one to write, print it, and tell what its format has no place for.

    Args:
        result: The result.
        form: The format.
        page: The page.
        table: Layout of the tables.
        view: The view; by default that of its kind.
    """
    from postil.results.table_options import TableOptions  # noqa: PLC0415
    from postil.results.views import show, view_of  # noqa: PLC0415

    write_page(result, page)
    shown = view or view_of(result)
    emit(show(form, result, shown, table=table or TableOptions(), width=terminal_width()), form)
    tell(form, shown.remarks)
