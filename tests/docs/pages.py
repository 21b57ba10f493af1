"""The pages of the documentation as what can be run.

A fenced block without a language holds commands, if its first word is one: a line each, or behind `$ ` with what they
print below, where `…` stands for anything. Else it is output: its lines were printed, in this order, by one command
of the page before it. Blocks of Python run each by itself. Blocks in other languages (`text`, `json`, …) are not run.

A comment above a block says what else there is to know: `<!-- not run: WHY -->` or `<!-- needs: MODULE, … -->`.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import permutations, takewhile
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from click.testing import CliRunner

from endpoint_stub import Asked, Reply, StubServer, completion, embeddings
from postil.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"(?:^<!-- (not run|needs): (.+?) -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = ("postil", "cat", "pip", "torchrun", "trec_eval", "ir_measures")
NOT_RUN = {
    "pip": "installs",
    "torchrun": "trains in several processes",
    "trec_eval": "is another program",
    "ir_measures": "is another program",
}
FEW_STEPS = ("--steps", "3", "--batch", "8")
"""Options of each network that is trained here."""
SHORT_STUDY = ("--systems", "ir-t,ir-tc", "--ranker", "tf-idf", "--resamples", "50", "--permutations", "50")
SHORT_USES = ("--no-train", "--folds", "2", "--resamples", "50")
REMARKS = (
    "I would like to know who pays for it.",
    "My neighbors talk of nothing else.",
    "About time, after all these years!",
)
"""Remarks of the language model."""
ENDPOINT = "http://127.0.0.1:8080/v1"
"""Address of a language model on the pages."""
WITH_CORPUS = tuple(f"docs/{name}.md" for name in ("choose", "comment", "generate", "maintain", "rank", "study"))
"""Pages that begin with a corpus."""


@dataclass(frozen=True)
class Block:
    line: int
    lang: str
    text: str
    not_run: str = ""
    needs: tuple[str, ...] = ()

    @property
    def holds_commands(self) -> bool:
        return (
            not self.lang
            and self.text.removeprefix("$ ").split(maxsplit=1)[:1] != []
            and (self.text.startswith("$ ") or self.text.split(maxsplit=1)[0] in PROGRAMS)
        )

    def commands(self) -> list[tuple[str, list[str]]]:
        """Each command with the lines that it is shown to print."""
        if not self.text.startswith("$ "):
            return [(line, []) for line in self.text.replace("\\\n", " ").splitlines() if line]
        found = []
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            command, *printed = part.replace("\\\n> ", "").splitlines()
            found.append((command, printed))
        return found


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        kind, value, lang, inside = match.groups()
        line = text.count("\n", 0, match.start(3)) + 1
        why = value if kind == "not run" else ""
        needs = tuple(re.split(r",\s*", value)) if kind == "needs" else ()
        found.append(Block(line, lang, inside, why, needs))
    return found


def reason_not_to_run(command: str) -> str:
    return next((why for start, why in NOT_RUN.items() if f"{command} ".startswith(f"{start} ")), "")


@dataclass
class Run:
    """Goes through a page in the current folder."""

    page: str
    outputs: list[str] = field(default_factory=list)
    done: int = 0

    def all(self) -> None:
        if self.page in WITH_CORPUS:
            Path("corpus.made").rename("corpus")
            shutil.copy("new-articles.jsonl", "articles.jsonl")  # fewer, since each takes its time
        for block in blocks(self.page):
            if block.not_run or not all(find_spec(name) for name in block.needs):
                continue
            self.where = f"{self.page}:{block.line}"
            if block.lang == "python":
                self.python(block)
            elif block.holds_commands:
                for command, printed in block.commands():
                    self.command(command, printed)
            elif not block.lang:
                self.compare(block.text.splitlines())

    def python(self, block: Block) -> None:
        with answered(block.text) as (text,), contextlib.redirect_stdout(io.StringIO()) as said:
            code = compile(text, self.where, "exec")
            exec(code, {"__name__": "__main__"})  # noqa: S102 - our own page
        self.outputs.append(said.getvalue())
        self.done += 1

    def command(self, command: str, printed: list[str]) -> None:
        if reason_not_to_run(command):
            return
        program, *words = shlex.split(command, comments=True)
        assert program in {"postil", "cat"}, f"{self.where}: {program} is not run here"
        self.done += 1
        if program == "cat":  # cat > FILE <<'END'
            assert (words[0], words[2], printed.pop()) == (">", "<<END", "END"), f"{self.where}: {command}"
            Path(words[1]).write_text("".join(f"{line}\n" for line in printed), encoding="utf-8")
            return
        args = list(takewhile(lambda word: word != ">", words))
        if args[0] == "demo":  # made already, see inputs.py
            self.outputs.append(Path("demo.txt").read_text(encoding="utf-8"))
            return
        if "serve" in args[:2]:  # whose options must be right
            campaign = args[0] == "annotate"
            with mock.patch(f"postil.{'campaigns.pages' if campaign else 'service'}.server.serve") as serve:
                result = CliRunner().invoke(app, args)
            assert serve.called, f"{self.where}: {command}: {result.output}"
            if campaign:
                grade_all(args[2])
            return
        self.adapt(args)
        with answered(*args) as asked:
            result = CliRunner().invoke(app, asked)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, f"{self.where}: {command}: {result.output}"
        if len(args) < len(words):
            Path(words[-1]).write_text(result.stdout, encoding="utf-8")
        said = [f"{one}{other}".rstrip("\n") for one, other in permutations((result.stdout, result.stderr))]
        self.outputs.append(said[0])
        if printed:
            lines = (".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in printed)
            pattern = re.compile("\n".join(lines) + r"(\nseed \d+)?", re.DOTALL)  # a page may leave the seed out
            assert any(map(pattern.fullmatch, said)), f"{self.where}: {command} printed:\n{said[0]}"

    def adapt(self, args: list[str]) -> None:
        """Give a command less to do, and somebody who answers."""
        if args[0] == "label":  # a first run draws, and the one below writes what was answered
            args += ["--no-serve"]
            if self.page in WITH_CORPUS:
                args[1] = "many-articles.jsonl"  # as many as a filter needs
            CliRunner().invoke(app, args)
            label_all(str(Path(args[args.index("--out") + 1]).with_suffix(".db")))
        if args[0] == "study":
            shutil.rmtree(args[-1] if args[-2] == "--out" else "study", ignore_errors=True)  # or study twice
        if (
            args[0] == "train"
            and {"both", "relevance", "seq2seq", "att", "att-tc"} & set(args)
            and "tf-idf" not in args
        ):
            args += FEW_STEPS
        if args[:2] == ["study", "comments"]:
            args += SHORT_STUDY
        if args[:2] == ["study", "uses"]:
            args += SHORT_USES

    def compare(self, shown: list[str]) -> None:
        assert any(is_part(shown, said.splitlines()) for said in self.outputs), f"{self.where}: no command printed this"


@contextlib.contextmanager
def answered(*texts: str) -> Iterator[list[str]]:
    """Texts in which the address of an endpoint is that of a stand-in, as long as it is there."""
    if not any(ENDPOINT in text for text in texts):
        yield list(texts)
        return
    with StubServer(stand_in) as server:
        yield [text.replace(ENDPOINT, server.url) for text in texts]


def stand_in(asked: Asked) -> Reply:
    """In place of a language model: a judge that counts words, and is drawn to the grade of the last example.

    Of two texts it prefers the one with more words, and the first. Asked for a comment, it appends a remark to the
    title. Of numbered comments it chooses those with at least fourteen words. In place of a sentence encoder it counts
    letters.
    """
    if asked.texts:
        letters = ("abcdefghijklmnopqrstuvwxyz", "这的是不")
        return embeddings([[1.0 + text.lower().count(one) for one in "".join(letters)] for text in asked.texts])
    if numbered := re.findall(r'<comment number="(\d+)">\n(.*?)\n</comment>', asked.prompt, re.DOTALL):
        chosen = ", ".join(number for number, text in numbered if len(text.split()) >= 14)
        return completion(f'{{"show": [{chosen}]}}', usage=(900, 9), model="qwen3-4b")
    if '<candidate name="A">' in asked.prompt:
        first, second = (
            len(asked.prompt.split(f'name="{name}">')[1].split("</candidate>")[0].split()) for name in "AB"
        )
        share = 0.9 / (1 + exp((second - first - 4) / 8))
        return completion("A", tokens={"A": log(share), "B": log(0.9 - share)}, usage=(500, 1))
    if "<candidate>" not in asked.prompt:
        title = re.findall(r"<article>\n(.*)", asked.prompt)[-1]
        seed = asked.body["seed"]
        assert isinstance(seed, int)
        return completion(f"{title}? {REMARKS[seed % len(REMARKS)]}", usage=(400, 12), model="qwen3-4b")
    text = asked.prompt.rpartition("<candidate>")[2].partition("</candidate>")[0]
    grade = min(5, 1 + len(text.split()) // 5)
    examples = re.findall(r'<example grade="(.)">', asked.prompt) or [f"{grade}"]
    return completion(f"{grade}", tokens={f"{grade}": log(0.7), f" {examples[-1]}": log(0.2)}, usage=(500, 1))


def grade_all(campaign: str) -> None:
    """In place of a server: everyone grades what is theirs."""
    from postil.campaigns.store import Store  # noqa: PLC0415

    with Store.open(campaign) as store:
        for person in store.people.everyone():
            if person.role == "annotator":
                if not person.name:
                    store.people.accept(store.people.invite(f"Person {person.id}", "annotator"))
                while (task := store.grading.next(person)) is not None:
                    grade = min(5, 1 + len(task.text) // 20 + (person.id + task.position) % 2)
                    store.grading.rate(person, task.assignment, grade, idempotency_key=f"r{task.position}", seconds=1.0)


def label_all(campaign: str) -> None:
    """In place of a server: an editor shows what says at least fourteen words."""
    from postil.campaigns.store import Store  # noqa: PLC0415

    with Store.open(campaign) as store:
        (person,) = store.people.everyone()
        store.people.invite("editor", "annotator")
        while (task := store.grading.next(person)) is not None:
            grade = 1 if len(task.text.split()) >= 14 else 4
            store.grading.rate(person, task.assignment, grade, idempotency_key=f"r{task.position}", seconds=1.0)


def is_part(shown: list[str], said: list[str]) -> bool:
    """True if the lines come in this order among the others."""
    rest = iter(said)
    return all(line in rest for line in shown if line != "…")
