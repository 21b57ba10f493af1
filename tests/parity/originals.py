"""Inputs of the originals: texts to score, the METEOR 1.5 program behind its line protocol, and PTBTokenizer."""

from __future__ import annotations

import csv
import gzip
import importlib
import importlib.util
import itertools
import json
import os
import random
import re
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DATA = Path(os.environ.get("POSTIL_DATA", Path(__file__).parents[2].parent / "shared" / "data"))


@dataclass(frozen=True)
class Texts:
    """n candidates and n lists of references, words parted by single spaces."""

    name: str
    candidates: list[str]
    references: list[list[str]]

    def __len__(self) -> int:
        return len(self.candidates)

    def first(self, n: int) -> Texts:
        return Texts(self.name, self.candidates[:n], self.references[:n])


# ---- made texts ------------------------------------------------------------------------------------------------------

ENGLISH = (
    "the a of to and in it is was . , ? cat cats sat mat house houses housing run runs running Running jump jumps "
    "jumped walk walks walking quick quickly easy easily Moscow 2018 3.5 don't e-mail"
)
CHINESE = "的 了 我 我们 不 喜欢 电影 这 个 好看 评论 文章 。 ， ！ 2018年 中国 人 人们 看 看看 iPhone 手机"


def made(n: int, *, seed: int = 20181) -> Texts:
    """Random texts that go for the corners: few distinct words, one-word texts, copies, one to six references."""
    rng = random.Random(seed)  # noqa: S311 - texts, not secrets
    candidates, references = [], []
    for number in range(n):
        words = rng.sample((CHINESE if number % 3 == 0 else ENGLISH).split(), rng.choice([1, 2, 4, 8, 16]))
        longest = rng.choice([1, 3, 8, 25])
        candidate = _text(rng, words, longest)
        texts = [_text(rng, words, longest) for _ in range(rng.randint(1, 6))]
        if rng.random() < 0.3:
            texts[rng.randrange(len(texts))] = _changed(rng, candidate, words)
        if rng.random() < 0.1:
            texts.append(rng.choice(texts))
        candidates.append(" ".join(candidate))
        references.append([" ".join(text) for text in texts])
    return Texts("made", candidates, references)


def _text(rng: random.Random, words: Sequence[str], longest: int) -> list[str]:
    return [rng.choice(words) for _ in range(rng.randint(1, longest))]


def _changed(rng: random.Random, text: Sequence[str], words: Sequence[str]) -> list[str]:
    """The text itself, or with a word replaced, dropped or moved."""
    out = list(text)
    at = rng.randrange(len(out))
    match rng.randrange(4):
        case 0:
            out[at] = rng.choice(words)
        case 1 if len(out) > 1:
            del out[at]
        case 2:
            out.append(out.pop(at))
        case _:
            pass
    return out


STEMS = (
    "nation relate condition valence hesitate digit conform radical differ vile predicate operate feudal decide hope "
    "callous formal sensitive triplicate good revive allow infer adjust irritate replace depend adopt homolog activate "
    "angular bowdler happy enjoy fly die tie control roll probat cease hop fall hiss fizz sky news inning geo theo run"
)
ENDINGS = (
    "s es ed ing ies ational ly ness fulness ization ement al er y ied ity ous logy fully ally ation iveness able ion"
)
OTHERS = "the a of to and in 2018 3.5 don't e-mail U.S. Élan İstanbul über (hi) -- ! £5 x The, \"quoted\" it's…"


def summaries(n: int, *, seed: int = 2004) -> Texts:
    """Random texts of several lines: endings that a stemmer removes, capitals, marks, empty lines, copied sentences."""
    rng = random.Random(seed)  # noqa: S311 - texts, not secrets
    words = [*OTHERS.split(), *STEMS.split(), *(stem + ending for stem in STEMS.split() for ending in ENDINGS.split())]
    candidates, references = [], []
    for _ in range(n):
        some = rng.sample(words, rng.choice([2, 5, 12, 40]))
        candidate = _lines(rng, some)
        texts = [_lines(rng, some) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.2:
            texts[0] = [*texts[0], *candidate[:1]]
        candidates.append("\n".join(candidate))
        references.append(["\n".join(lines) for lines in texts])
    return Texts("summaries", candidates, references)


def _lines(rng: random.Random, words: Sequence[str]) -> list[str]:
    lines = []
    for _ in range(rng.choice([0, 1, 1, 2, 3, 4])):
        text = " ".join(_text(rng, words, rng.choice([1, 4, 12, 25])))
        lines.append(rng.choice([text, text, text.title(), f"{text}.", f"  {text}", ""]))
    return lines


# ---- real texts ------------------------------------------------------------------------------------------------------


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+(?:['’]\w+)*|[^\w\s]", text.lower()))


def mohler() -> Texts:
    """Every student answer against all other answers to its question: 2,273 candidates, 23 to 30 references."""
    groups: dict[str, list[str]] = {}
    with (DATA / "judged/mohler/mohler_dataset.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            groups.setdefault(row["id"], []).append(_words(row["student_answer"]))
    pairs = [
        (text, others) for texts in groups.values() for text, others in _each_against_others(list(filter(None, texts)))
    ]
    return Texts("mohler", [text for text, _ in pairs], [others for _, others in pairs])


def answers() -> Texts:
    """Every fourth text of `mohler`, from all questions: the real texts of every run."""
    texts = mohler()
    return Texts("answers", texts.candidates[::4], texts.references[::4])


def _each_against_others(texts: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for at, text in enumerate(texts):
        yield text, [*texts[:at], *texts[at + 1 :]]


def dstc7(threads: int = 250) -> Texts:
    """Answers of systems in web threads, with the human answers: nine candidates a thread, 35 references."""
    candidates, references = [], []
    for row in itertools.islice(_rows("judged/dstc7/dstc7_joined.en.jsonl.gz"), threads):
        humans = list(filter(None, map(_words, row["references"])))
        for response in row["candidates"] if humans else ():
            text = _words(response["text"])
            if text and response["system"] != "Human":
                candidates.append(text)
                references.append(humans)
    return Texts("dstc7", candidates, references)


def chinese(posts: int = 250) -> Texts:
    """Comments on Chinese news: eight of a post's against ten others, cut every two characters."""
    candidates, references = [], []
    for row in itertools.islice(_rows("articles/checked.zh.jsonl.gz"), posts):
        comments = list(filter(None, (_chinese_words(comment["text"]) for comment in row["comments"])))
        if len(comments) >= 18:
            candidates += comments[10:18]
            references += [comments[:10]] * 8
    return Texts("chinese", candidates, references)


def _chinese_words(text: str) -> str:
    runs = re.findall(r"[\u4e00-\u9fff]+|[0-9]+|[，。！？、；：（）《》]", text)
    return " ".join(
        run[at : at + 2] for run in runs for at in range(0, len(run), 2 if run[0] >= "\u4e00" else len(run))
    )


def _rows(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


REAL = {"answers": answers, "mohler": mohler, "dstc7": dstc7, "chinese": chinese}


# ---- the METEOR 1.5 program ------------------------------------------------------------------------------------------


def jar_path() -> Path:
    """The jar that pycocoevalcap carries."""
    specification = importlib.util.find_spec("pycocoevalcap")
    if specification is None or not specification.submodule_search_locations:
        raise ModuleNotFoundError("pycocoevalcap")
    return Path(specification.submodule_search_locations[0]) / "meteor" / "meteor-1.5.jar"


def jar_function_words() -> str:
    """The program's English function words, one a line."""
    with zipfile.ZipFile(jar_path()) as archive:
        return archive.read("function/english.words").decode()


def jar_scores(texts: Texts, *options: str) -> tuple[float, list[float]]:
    """The corpus score and the item scores of the program run with these options."""
    command = ["java", "-Xmx2G", "-jar", str(jar_path()), "-", "-", "-stdio", *options]
    asked = [
        " ||| ".join(["SCORE", *references, candidate])
        for candidate, references in zip(texts.candidates, texts.references, strict=True)
    ]
    with subprocess.Popen(  # noqa: S603 - the command stands above
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("no pipes to the METEOR jar")
        stats = []
        for line in asked:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            stats.append(process.stdout.readline().strip())
        process.stdin.write(" ||| ".join(["EVAL", *stats]) + "\n")
        process.stdin.flush()
        items = [float(process.stdout.readline()) for _ in stats]
        corpus = float(process.stdout.readline())
        process.stdin.close()
    return corpus, items


def without_collisions(texts: Texts) -> Texts:
    """Leave out items in which two words share Java's ``hashCode``: the program takes them for one word."""
    kept = [
        (candidate, references)
        for candidate, references in zip(texts.candidates, texts.references, strict=True)
        if not _collide({word for text in (candidate, *references) for word in text.split(" ")})
    ]
    return Texts(texts.name, [candidate for candidate, _ in kept], [references for _, references in kept])


def _collide(words: set[str]) -> bool:
    return len({_java_hash(word) for word in words}) < len(words)


def _java_hash(word: str) -> int:
    units = word.encode("utf-16-be")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + 256 * high + low) & 0xFFFFFFFF
    return value


# ---- pycocoevalcap's tokenizer ---------------------------------------------------------------------------------------


def ptb_lines(texts: Sequence[str]) -> list[str]:
    """Tokens of each text by PTBTokenizer, separated by spaces.

    A line ``x`` stands between the texts: the program looks at the first word of the next line where a text ends in a
    single letter and a full stop. White space within a token, as in ``1 1/2``, becomes a space, as for BLEU and CIDEr.
    """
    tokenizer = importlib.import_module("pycocoevalcap.tokenizer.ptbtokenizer").PTBTokenizer()
    found = tokenizer.tokenize({number: [{"caption": text}, {"caption": "x"}] for number, text in enumerate(texts)})
    assert all(line == "x" for _, line in found.values())
    return [" ".join(line.split()) for line, _ in found.values()]
