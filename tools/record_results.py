"""Record what a version of the package answers, to be compared with another version by ``compare_results.py``.

Everything that the documentation shows is run, each page in a copy of one folder of small files: every command as it
is shown, then in every format, then with one word of it wrong at a time. A small result of each kind is laid out in
every form that Python, a terminal, a report and a notebook have, and the pages of the campaigns are read in each
language. With ``--data``, studies of real data are run too.
Pages, small files and examples may be those of another checkout, so that two versions answer the same questions::

    python tools/record_results.py ../before --out before
    python tools/record_results.py . --questions ../before --out after
    python tools/compare_results.py before after
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import secrets
import shutil
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass, field
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FORMATS: Final = ("table", "json", "jsonl", "csv", "markdown", "latex", "html")

LONG: Final = ("demo", "evaluate", "serve", "study", "train")
"""Commands that are not run again with a wrong word: many words are right to them, and each run takes long."""

ENDLESS: Final = ("serve", "label")
"""Commands that go on until someone stops them."""

LANGUAGES: Final = ("en", "zh")
"""Languages of the pages of campaigns."""

PAGES_AT_MOST: Final = 80
"""Largest number of pages kept of one campaign in one language."""

NOWHERE: Final = "nowhere"
"""A word that is no file, number, name of a metric or other thing."""


@dataclass
class Recorder:
    """In place of the harness's runner of commands: keeps what each command printed.

    Args:
        runner: The class of the runner that is replaced.
        out: File for the answers.
        commands: The commands so far that ended well, each with those of its words that are files it wrote.
    """

    runner: Callable[[], Any]
    out: Path
    commands: list[tuple[tuple[str, ...], frozenset[str]]] = field(default_factory=list)

    def __call__(self) -> Recorder:
        """The runner itself, where the harness makes a new one."""
        return self

    def invoke(self, app: object, args: Sequence[str]) -> Any:
        """Run a command and keep its answer.

        Args:
            app: The root command.
            args: The words after the name of the program.
        """
        new = [word for word in args if not Path(word).exists()]
        result = self.runner().invoke(app, list(args))
        crash = result.exception if not isinstance(result.exception, SystemExit) else None
        answer = {
            "args": list(args),
            "code": result.exit_code,
            "stdout": result.stdout,
            "stderr": result.stderr,
            "crash": repr(crash) if crash else "",
        }
        with self.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")
        if not result.exit_code:
            self.commands.append((tuple(args), frozenset(word for word in new if Path(word).exists())))
        return result

    def takes_format(self, app: object, args: Sequence[str]) -> bool:
        """True if a command has the option of a format, and is shown without it."""
        name = [word for word in args[:3] if word.replace("-", "").isalpha()]
        while name and self.runner().invoke(app, [*name, "--help"]).exit_code:
            name.pop()
        return "--format" not in args and "--format" in self.runner().invoke(app, [*name, "--help"]).output


def further(args: Sequence[str], written: frozenset[str], *, formats: bool) -> Iterator[list[str]]:
    """A command in each format, then with each word replaced or left out.

    Args:
        args: The words of the command.
        written: Those that are files which it wrote; it is to write other ones now.
        formats: Whether it has formats.
    """
    if formats and args[0] != "study":
        for form in FORMATS:
            yield [*(beside(word, form) if word in written else word for word in args), "--format", form]
    if set(LONG) & set(args[:2]):
        return
    kept = [beside(word, NOWHERE) if word in written else word for word in args]
    for place in range(1, len(args)):
        if args[place] not in written:
            yield [*kept[:place], f"--{NOWHERE}" if args[place].startswith("--") else NOWHERE, *kept[place + 1 :]]
            yield [*kept[:place], *kept[place + 1 :]]


def harness(name: str) -> Any:
    """A module of the tests of the checkout that is recorded; it is on the path of the child process alone."""
    return import_module(name)


def beside(word: str, name: str) -> str:
    """The name of another file in the same folder."""
    path = Path(word)
    return str(path.with_name(f"{name}-{path.name}"))


@contextlib.contextmanager
def the_same_secrets(key: str) -> Iterator[None]:
    """Secrets, pseudonyms and file names that are drawn, the same in every run."""
    drawn = random.Random(key)  # noqa: S311 - none of them guards anything here
    known: dict[str, Callable[..., object]] = {
        "token_bytes": lambda size=32: drawn.randbytes(size or 32),
        "token_hex": lambda size=32: drawn.randbytes(size or 32).hex(),
        "token_urlsafe": lambda size=32: drawn.randbytes(size or 32).hex(),
        "randbelow": drawn.randrange,
        "randbits": drawn.getrandbits,
        "choice": drawn.choice,
    }
    before = {name: getattr(secrets, name) for name in known}
    for name, function in known.items():
        setattr(secrets, name, function)
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(secrets, name, function)


def record_page(page: str, questions: Path, small: Path, out: Path) -> None:
    """Run a page of the documentation.

    Args:
        page: The page.
        questions: The checkout whose page it is.
        small: Folder of the small files.
        out: Folder for the answers: ``answers.jsonl``, and in ``files`` what the commands left.
    """
    pages = harness("pages")

    pages.ROOT = questions
    out.mkdir(parents=True)
    shutil.copytree(small, out / "files")
    os.chdir(out / "files")
    os.environ["HF_HOME"] = str(out / "huggingface")
    recorder = Recorder(pages.CliRunner, out / "answers.jsonl")
    pages.CliRunner = recorder
    warnings.simplefilter("ignore")
    with the_same_secrets(page):
        pages.Run(page).all()
        ask_further(recorder)


def ask_further(recorder: Recorder) -> None:
    """Ask the commands again that were recorded so far, otherwise."""
    pages = harness("pages")

    asked = set()
    for args, written in tuple(recorder.commands):
        if set(ENDLESS) & set(args[:2]):
            continue
        shown = [re.sub(r"http://127\.0\.0\.1:\d+/v1", pages.ENDPOINT, word) for word in args]
        for words in further(shown, written, formats=recorder.takes_format(pages.app, args)):
            if tuple(words) not in asked and not set(ENDLESS) & set(words[:2]):
                asked.add(tuple(words))
                with pages.answered(*words) as at_hand:
                    recorder.invoke(pages.app, at_hand)


def record_examples(examples: Path, out: Path) -> None:
    """Lay out a result of each kind in every form.

    Args:
        examples: Folder with a JSON file of each.
        out: Folder for the forms, a file each.
    """
    pages = harness("pages")

    import postil  # noqa: PLC0415

    terminal = harness("result_examples").terminal

    out.mkdir(parents=True)
    os.chdir(examples)
    for path in sorted(examples.glob("*.json")):
        result = postil.read_result(path)
        forms: dict[str, Callable[[], str]] = {
            "terminal.txt": lambda result=result: terminal(result, 100),  # type: ignore[misc]
            "narrow.txt": lambda result=result: terminal(result, 40),  # type: ignore[misc]
            "line.txt": result.__repr__,
            "notebook.html": result._repr_html_,
            "csv": result.to_csv,
            "md": result.to_markdown,
            "tex": result.to_latex,
            "html": result.to_html,
            "json": result.to_json,
            "rows.json": lambda result=result: json.dumps(result.to_rows(), default=str),  # type: ignore[misc]
            "frame.txt": lambda result=result: result.to_frame("polars").write_ndjson(),  # type: ignore[misc]
        }
        for name, made in forms.items():
            try:
                text = made()
            except (postil.PostilError, ValueError) as error:
                text = f"{type(error).__name__}: {error}\n"
            (out / f"{path.stem}.{name}").write_text(text, encoding="utf-8")
        page = out / f"{path.stem}.page.html"
        said = pages.CliRunner().invoke(pages.app, ["report", path.name, "--out", str(page)])
        if said.exit_code:
            page.write_text(said.stderr, encoding="utf-8")


def write_questions(out: Path) -> None:
    """Write what the pages and examples of this checkout need, and which pages it has.

    Args:
        out: Folder for ``pages.txt``, ``small`` with the small files of the pages, and ``examples`` with a result of
            each kind as JSON.
    """
    examples, inputs, pages = harness("result_examples"), harness("inputs"), harness("test_pages").PAGES

    (out / "examples").mkdir(parents=True)
    (out / "small").mkdir()
    (out / "pages.txt").write_text("".join(f"{page}\n" for page in pages), encoding="utf-8")
    for kind in examples.EXAMPLES:
        (out / f"examples/{kind}.json").write_text(examples.example(kind).to_json(), encoding="utf-8")
    with the_same_secrets("small files"):
        inputs.make(out / "small")


def record_data(data: Path, out: Path) -> None:
    """Run commands on real data: a corpus from a forum, and the passages of TREC's deep learning track.

    Args:
        data: Folder of the shared data.
        out: Folder for the answers, as of a page.
    """
    pages = harness("pages")

    (out / "files").mkdir(parents=True)
    os.chdir(out / "files")
    recorder = Recorder(pages.CliRunner, out / "answers.jsonl")
    dl19 = data / "passages/trec_dl19"
    measures = [
        "--stop",
        "en",
        "--stem",
        "porter",
        "-m",
        "f1-1",
        "-m",
        "kl-1",
        "-m",
        "logsim-1",
        "-k",
        "10",
        "-k",
        "100",
    ]
    forum = ["--source", "posts", "--license", "none", "--test", "200", "--dev", "50", "--test-min-comments", "15"]
    forum += ["--test-min-words", "5", "--test-min-upvotes", "0", "--references-per-article", "0"]
    posts = str(data / "articles/reddit_college.en.jsonl.gz")
    trec = ["--qrels", str(dl19 / "2019qrels-pass.txt"), "--collection", str(dl19 / "dl2019_document.jsonl.gz")]
    for words in (
        ["corpus", "import", "forum", posts, "--out", "posts.jsonl"],
        ["corpus", "build", "posts.jsonl", "--out", "corpus", *forum],
        ["corpus", "stats", "corpus"],
        ["train", "ir-tc", "--corpus", "corpus", "--out", "model", "--ranker", "tf-idf"],
        ["evaluate", "model", "--corpus", "corpus", "--items", "e.jsonl"],
        ["compare", "e.jsonl", "--baseline", "human"],
        ["corpus", "import", "trec", *trec, "--out", "dl19.jsonl"],
        ["passages", "dl19.jsonl", *measures, "--resamples", "200"],
    ):
        recorder.invoke(pages.app, words)
    ask_further(recorder)


def record_campaigns(folder: Path, out: Path) -> None:
    """Keep the pages that the server of each campaign in a folder shows to a lead, in each language.

    Args:
        folder: Folder with campaigns, after a page has been recorded in it.
        out: Folder for the pages: a folder for each campaign and language.
    """
    pages = harness("pages")

    os.chdir(folder)
    for campaign in sorted(folder.glob("*.db")):
        if campaign.name.startswith((*FORMATS, NOWHERE)):
            continue
        with the_same_secrets(campaign.name):
            said = pages.CliRunner().invoke(
                pages.app, ["annotate", "invite", campaign.name, "recorder", "--role", "lead"]
            )
        if said.exit_code:
            continue
        with served("annotate", "serve", campaign.name, "--port", "0") as address:
            browser = Browser(address)
            browser.join(said.stdout.rpartition("/")[2].strip())
            for lang in LANGUAGES:
                browser.crawl("/lead", lang, out / campaign.stem / lang)


@contextlib.contextmanager
def served(*words: str) -> Iterator[str]:
    """Address of a server that a command starts, as long as the block runs."""
    command = [sys.executable, "-m", "postil", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:  # noqa: S603
        try:
            found = (re.search(r"http://[\w.]+:\d+", line) for line in server.stdout or ())
            yield next(match[0] for match in found if match)
        finally:
            server.terminate()


@dataclass
class Browser:
    """A person's browser, without scripts.

    Args:
        address: Address of the server.
    """

    address: str
    opener: OpenerDirector = field(default_factory=lambda: build_opener(HTTPCookieProcessor()))

    def read(self, path: str, form: dict[str, str] | None = None, lang: str = "en") -> str:
        """Open a page, or send a form to it; errors are pages too."""
        data = urlencode(form).encode() if form else None
        request = Request(self.address + path, data, {"Accept-Language": lang})  # noqa: S310 - our own server
        try:
            with self.opener.open(request, timeout=30) as answer:
                return str(answer.read().decode("utf-8", errors="backslashreplace"))
        except HTTPError as error:
            return f"{error.code}\n{error.read().decode('utf-8')}"

    def join(self, token: str) -> None:
        """Accept an invitation."""
        page = self.read(f"/join/{token}")
        fields = dict(re.findall(r'name="(csrf|token)" value="([^"]+)"', page))
        self.read("/join", {"token": token, **fields})

    def crawl(self, start: str, lang: str, out: Path) -> None:
        """Keep a page and all that links lead to from it, in one language."""
        out.mkdir(parents=True, exist_ok=True)
        waiting, seen = [start], {start}
        while waiting:
            path = waiting.pop(0)
            while "load delay" in (text := self.read(path, lang=lang)):
                time.sleep(0.2)  # its numbers are being computed, and it asks for them again by itself
            (out / re.sub(r"\W", "_", path)).with_suffix(".html").write_text(text, encoding="utf-8")
            links = (unescape(link).partition("#")[0] for link in re.findall(r'href="([^"]+)"', text))
            here = (link if link.startswith("/") else f"{path.partition('?')[0]}{link}" for link in links if link)
            for link in here:
                if link.startswith("/lead") and "lang=" not in link and link not in seen and len(seen) < PAGES_AT_MOST:
                    seen.add(link)
                    waiting.append(link)


def inventory(folder: Path) -> None:
    """Replace large files that commands left by their hashes, so that a recording stays small."""
    left = (path for path in sorted(folder.rglob("*")) if path.name != "answers.jsonl")
    for path in left:
        if path.is_file() and not path.is_symlink() and path.stat().st_size > 1 << 20:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            path.write_text(f"sha256:{digest}\n")


def main() -> None:
    """Record in child processes, one for a page, so that no page depends on another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("checkout", type=Path, help="checkout of the version to record")
    parser.add_argument("--questions", type=Path, help="checkout with the pages and examples; by default the same")
    parser.add_argument("--out", type=Path, required=True, help="folder to record into; must not exist")
    parser.add_argument("--data", type=Path, help="folder of the shared data")
    parser.add_argument("--page", action="append", help="record these pages alone")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    given = parser.parse_args()
    checkout, out = given.checkout.resolve(), given.out.resolve()
    questions = (given.questions or checkout).resolve()
    data = given.data and given.data.resolve()
    if given.part:
        record_part(given.part, questions, out, data)
        return
    out.mkdir(parents=True)
    _child("questions", questions, questions, out, data)
    _child("examples", checkout, questions, out, data)
    for page in given.page or (out / "questions/pages.txt").read_text(encoding="utf-8").splitlines():
        _child(page, checkout, questions, out, data)
    if (out / "pages/docs_annotate.md").exists():
        _child("campaigns", checkout, questions, out, data)
    if data:
        _child("data", checkout, questions, out, data)
    inventory(out / "pages")


def record_part(name: str, questions: Path, out: Path, data: Path | None) -> None:
    """Record a page or another part, within a child process."""
    if name == "questions":
        write_questions(out / "questions")
    elif name == "examples":
        record_examples(out / "questions/examples", out / "examples")
    elif name == "campaigns":
        record_campaigns(out / "pages/docs_annotate.md/files", out / "campaigns")
    elif name == "data" and data:
        record_data(data, out / "pages/data")
    else:
        record_page(name, questions, out / "questions/small", out / "pages" / name.replace("/", "_"))


def _child(name: str, checkout: Path, questions: Path, out: Path, data: Path | None) -> None:
    """Start a child process with the package and the harness of a checkout, and keep what it says if it fails."""
    paths = os.pathsep.join(str(checkout / each) for each in ("src", "tests", "tests/docs"))
    words = [str(checkout), "--questions", str(questions), "--out", str(out), "--part", name]
    words += ["--data", str(data)] if data else []
    environment = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "120", "PYTHONHASHSEED": "0"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, __file__, *words], env=environment, capture_output=True, text=True, check=False
    )
    print(name, "FAILED" if done.returncode else "recorded", flush=True)
    if done.returncode:
        with (out / "failures.txt").open("a", encoding="utf-8") as file:
            file.write(f"{name}\n{done.stderr}\n")


if __name__ == "__main__":
    main()
