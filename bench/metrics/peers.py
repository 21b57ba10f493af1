"""Other packages that compute these metrics, each made ready to be timed.

A `Peer` is started once (a Java machine, a loaded module, warmed caches) and then called with plain strings, words
separated by single spaces. All that it does with them is timed, its own splitting into words included. A package that
is not installed is reported as such and nothing else happens.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import io
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Score = Callable[[Sequence[str], Sequence[Sequence[str]]], None]
"""Score n candidates against n lists of references and drop the numbers."""


@dataclass(frozen=True)
class Peer:
    """One way in which a package computes a metric.

    Attributes:
        name: Its name in the table.
        package: The distribution on PyPI.
        line: The line of the benchmark that it stands in.
        start: Makes it ready; start-up is outside the timing.
        slow: Timed on the first few hundred items alone.
        note: Difference of its number from postil's; empty where it is the same number.
        java: It needs a Java runtime.
    """

    name: str
    package: str
    line: str
    start: Callable[[], AbstractContextManager[Score]]
    slow: bool = False
    note: str = ""
    java: bool = False

    @property
    def version(self) -> str | None:
        """The installed version, or None."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None

    @property
    def missing(self) -> str:
        """Reason why it cannot run here; empty if it can."""
        if self.version is None:
            return "not installed"
        if self.java and shutil.which("java") is None:
            return "no Java runtime"
        return ""


def simple(make: Callable[[], Score]) -> Callable[[], AbstractContextManager[Score]]:
    """A peer that holds nothing open."""

    @contextmanager
    def start() -> Iterator[Score]:
        yield make()

    return start


def words(texts: Sequence[str]) -> list[list[str]]:
    return [text.split(" ") for text in texts]


# ---- pycocoevalcap ---------------------------------------------------------------------------------------------------


def _coco(module: str, *classes: tuple[str, Any]) -> list[Any]:
    loaded = importlib.import_module(f"pycocoevalcap.{module}")
    return [getattr(loaded, name)(*arguments) for name, arguments in classes]


def _coco_score(scorers: Sequence[Any]) -> Score:
    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        results = {number: [text] for number, text in enumerate(candidates)}
        truths = {number: list(texts) for number, texts in enumerate(references)}
        with contextlib.redirect_stdout(io.StringIO()):  # Bleu prints
            for scorer in scorers:
                scorer.compute_score(truths, results)

    return score


def coco_bleu() -> Score:
    return _coco_score(_coco("bleu.bleu", ("Bleu", (4,))))


def coco_rouge() -> Score:
    return _coco_score(_coco("rouge.rouge", ("Rouge", ())))


def coco_cider() -> Score:
    return _coco_score(_coco("cider.cider", ("Cider", ())))


@contextmanager
def _coco_meteor() -> Iterator[Any]:
    (meteor,) = _coco("meteor.meteor", ("Meteor", ()))
    try:
        yield meteor
    finally:
        meteor.meteor_p.stdin.close()  # its __del__ closes again, which does no harm
        meteor.meteor_p.wait()


@contextmanager
def coco_meteor() -> Iterator[Score]:
    with _coco_meteor() as meteor:
        yield _coco_score([meteor])


@contextmanager
def coco_all() -> Iterator[Score]:
    """BLEU, METEOR, ROUGE-L and CIDEr-D as pycocoevalcap runs them."""
    with _coco_meteor() as meteor:
        yield _coco_score([*_coco_plain(), meteor])


@contextmanager
def coco_all_exact() -> Iterator[Score]:
    """The same with the jar's exact matches alone, which is far faster."""
    rest = _coco_score(_coco_plain())
    with jar("-l", "en", "-m", "exact", "-w", "1.0")() as meteor:

        def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
            rest(candidates, references)
            meteor(candidates, references)

        yield score


def _coco_plain() -> list[Any]:
    return [
        *_coco("bleu.bleu", ("Bleu", (4,))),
        *_coco("rouge.rouge", ("Rouge", ())),
        *_coco("cider.cider", ("Cider", ())),
    ]


# ---- the METEOR jar --------------------------------------------------------------------------------------------------


def jar_path() -> Path:
    """The METEOR 1.5 jar that pycocoevalcap carries."""
    specification = importlib.util.find_spec("pycocoevalcap")
    if specification is None or not specification.submodule_search_locations:
        raise ModuleNotFoundError("pycocoevalcap is not installed")
    return Path(specification.submodule_search_locations[0]) / "meteor" / "meteor-1.5.jar"


def jar(*options: str) -> Callable[[], AbstractContextManager[Score]]:
    """The jar's line protocol with these options: SCORE for every item, then one EVAL for all."""

    @contextmanager
    def start() -> Iterator[Score]:
        command = ["java", "-Xmx2G", "-jar", str(jar_path()), "-", "-", "-stdio", *options]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:
            if process.stdin is None or process.stdout is None:
                raise RuntimeError("no pipes to the METEOR jar")
            to, back = process.stdin, process.stdout

            def ask(line: str) -> str:
                to.write(line + "\n")
                to.flush()
                return back.readline().rstrip("\n")

            def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
                pairs = zip(candidates, references, strict=True)
                stats = [ask(" ||| ".join(["SCORE", *texts, candidate])) for candidate, texts in pairs]
                ask(" ||| ".join(["EVAL", *stats]))
                for _ in stats:  # the rest of the items and the corpus score
                    back.readline()

            yield score
            to.close()

    return start


# ---- NLTK ------------------------------------------------------------------------------------------------------------


def _nltk(call: Callable[[Any, list[list[str]], list[list[list[str]]]], object]) -> Score:
    module = importlib.import_module("nltk.translate.bleu_score")

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of orders without a match
            call(module, words(candidates), [words(texts) for texts in references])

    return score


def nltk_sentences() -> Score:
    orders = [(1.0,), (0.5, 0.5), (1 / 3, 1 / 3, 1 / 3), (0.25, 0.25, 0.25, 0.25)]
    return _nltk(
        lambda nltk, candidates, references: [
            nltk.sentence_bleu(texts, candidate, weights=orders, smoothing_function=nltk.SmoothingFunction().method1)
            for candidate, texts in zip(candidates, references, strict=True)
        ]
    )


def nltk_corpus() -> Score:
    return _nltk(lambda nltk, candidates, references: nltk.corpus_bleu(references, candidates))


class _SameWord:
    """A stemmer that does nothing and a WordNet without synonyms: NLTK's METEOR with exact matches alone."""

    def stem(self, word: str) -> str:
        return word

    def synsets(self, word: str) -> tuple[str, ...]:  # noqa: ARG002 - NLTK calls it so
        return ()


def nltk_meteor() -> Score:
    meteor = importlib.import_module("nltk.translate.meteor_score").meteor_score
    nothing = _SameWord()

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        for candidate, texts in zip(words(candidates), references, strict=True):
            meteor(words(texts), candidate, stemmer=nothing, wordnet=nothing)

    return score


# ---- other BLEU ------------------------------------------------------------------------------------------------------


def _sacrebleu() -> Any:
    return importlib.import_module("sacrebleu.metrics").BLEU(tokenize="none", effective_order=True)


def sacrebleu_sentences() -> Score:
    bleu = _sacrebleu()

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        for candidate, texts in zip(candidates, references, strict=True):
            bleu.sentence_score(candidate, texts)

    return score


def sacrebleu_corpus() -> Score:
    bleu = importlib.import_module("sacrebleu.metrics").BLEU(tokenize="none", force=True)

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        bleu.corpus_score(candidates, [list(stream) for stream in zip(*references, strict=True)])

    return score


def chrf_sentences(words: int) -> Score:
    """sacreBLEU's chrF with word n-grams up to an order, item by item."""
    chrf = importlib.import_module("sacrebleu.metrics").CHRF(word_order=words)

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        for candidate, texts in zip(candidates, references, strict=True):
            chrf.sentence_score(candidate, texts)

    return score


def chrf_corpus(words: int) -> Score:
    """The same of all texts."""
    chrf = importlib.import_module("sacrebleu.metrics").CHRF(word_order=words)

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        chrf.corpus_score(candidates, [list(stream) for stream in zip(*references, strict=True)])

    return score


def bleuscore_corpus() -> Score:
    compute = importlib.import_module("bleuscore").compute
    return lambda candidates, references: compute(
        [list(texts) for texts in references], list(candidates), max_order=4, ref_len_method="closest"
    )


def fast_bleu() -> Score:
    make = importlib.import_module("fast_bleu").BLEU
    weights = {order: (1 / order,) * order for order in (2, 3, 4)}

    def score(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        for candidate, texts in zip(words(candidates), references, strict=True):
            make(words(texts), weights).get_score([candidate])

    return score
