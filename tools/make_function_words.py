r"""Make a list of function words by the rule of METEOR 1.5: what has a relative frequency above one in a thousand.

A word with an apostrophe counts as itself and as each of its pieces (``don't``, ``don`` and ``t``), since some
tokenizers keep it whole and others cut it.

A list for any language, from texts of it (plain text, or JSONL whose ``text``, ``content`` and comments are read):

    python tools/make_function_words.py --text "Danish newspapers" danish.txt > function_words.da.txt

The list in the package takes the words from the package wordfreq, and only the marks from texts:

    python tools/make_function_words.py --wordfreq en --text "paragraphs of English Wikipedia" passages.jsonl.gz \
        --text "posts and comments of an English forum" forum.jsonl.gz > src/postil/text/function_words.en.txt
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import unicodedata
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

THRESHOLD = 1e-3
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")


def tokens(text: str) -> Iterator[str]:
    """Yield lower-cased words, apostrophes inside them kept and made straight, and punctuation marks one by one."""
    for match in _TOKEN.finditer(text.lower()):
        token = match[0].replace("’", "'") if len(match[0]) > 1 else match[0]
        if token[0].isalnum() or unicodedata.category(token).startswith("P"):
            yield token


def frequencies(texts: Iterable[str]) -> dict[str, float]:
    """Return the share of each token among all tokens."""
    counts = Counter(token for text in texts for token in tokens(text))
    total = counts.total()
    return {token: count / total for token, count in counts.items()}


def mean(tables: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean share of each token; a table without the token counts 0."""
    return {token: sum(table.get(token, 0.0) for table in tables) / len(tables) for token in set().union(*tables)}


def with_pieces(table: dict[str, float]) -> dict[str, float]:
    """Return the shares with that of each word that has an apostrophe added to those of its pieces."""
    whole = dict(table)
    for word, share in table.items():
        if "'" in word and not is_mark(word):
            for piece in set(word.split("'")):
                whole[piece] = whole.get(piece, 0.0) + share
    return whole


def is_mark(token: str) -> bool:
    """Whether a token is a punctuation mark."""
    return not token[:1].isalnum()


def above(table: dict[str, float]) -> list[str]:
    """Return the tokens above the threshold, marks first; a number is neither word nor mark."""
    kept = (token for token, share in table.items() if share > THRESHOLD)
    return sorted((token for token in kept if is_mark(token) or token[0].isalpha()), key=lambda t: (not is_mark(t), t))


def read_texts(path: Path) -> Iterator[str]:
    """Yield the texts of a plain file, or of the rows of a JSONL file; either may be gzipped."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            if ".jsonl" in path.suffixes:
                yield from _row_texts(json.loads(line))
            else:
                yield line


def _row_texts(row: dict[str, Any]) -> Iterator[str]:
    yield from (row[name] for name in ("content", "text") if row.get(name))
    yield from (comment["text"] for comment in row.get("comments", ()))


def wordfreq_frequencies(language: str) -> dict[str, float]:
    """Return the shares that wordfreq gives; it counts words only."""
    import wordfreq  # type: ignore[import-not-found]  # noqa: PLC0415  # only the list in the package needs it

    return {word: wordfreq.word_frequency(word, language) for word in wordfreq.iter_wordlist(language)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the list, with its rule and sources at the head."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", nargs=2, action="append", required=True, metavar=("WHAT", "PATH"))
    parser.add_argument("--wordfreq", metavar="LANGUAGE", help="take the words from wordfreq, the marks from the texts")
    options = parser.parse_args(arguments)

    table = mean([frequencies(read_texts(Path(path))) for _, path in options.text])
    texts = "; ".join(what for what, _ in options.text)
    sources = [f"Words and marks: {texts}; mean of the relative frequencies."]
    if options.wordfreq:
        table = {token: share for token, share in table.items() if is_mark(token)}
        table |= wordfreq_frequencies(options.wordfreq)
        words = f"wordfreq {metadata.version('wordfreq')} by Robyn Speer, language {options.wordfreq}"
        sources = [f"Words: {words} (its data: CC BY-SA 4.0).", f"Marks: {texts}; mean of the relative frequencies."]
    head = [
        "Function words: words and punctuation marks with a relative frequency above 0.001, numbers left out.",
        "A word with an apostrophe counts as itself and as each of its pieces.",
    ]
    head += [*sources, "Made by tools/make_function_words.py. One word a line; lines that begin with # are comments."]
    sys.stdout.write(
        "".join(f"# {line}\n" for line in head) + "".join(f"{word}\n" for word in above(with_pieces(table)))
    )


if __name__ == "__main__":
    main()
