r"""Make a list of function words by the rule of METEOR 1.5: tokens with a relative frequency above one in a thousand.

The relative frequency of a token is the median of its relative frequencies in the sources, so that every source has the
same weight and the subject of one source puts no word on the list. A word with an apostrophe counts as itself and as
each of its pieces (``don't``, ``don`` and ``t``), since some tokenizers keep it whole and others cut it. Straight and
curly quotes are one mark, and all forms of it are listed.

A source is a description, which should name its license, and files:

- ``.jsonl``: the fields ``text``, ``content``, ``comments`` and ``references`` of each row;
- ``.html``: the paragraphs, without code;
- ``.bzz``: a zText module of SWORD (OSIS), without notes and headings; its index ``.bzs`` lies beside it;
- any other: plain text.

All but ``.bzz`` may be gzipped. A list for another language:

    python tools/make_function_words.py --text "Danish newspapers, public domain" danish.txt > function_words.da.txt

The list in the package is made on Debian 12. Its sources are data whose licenses put no condition on what is computed
from them: a forum, a translation in modern English, and technical prose. The first 250 threads of the forum are left
out, since ``tests/parity`` measures with them. Its ``context`` fields quote Wikipedia (CC BY-SA) and are not read.
Sources were chosen by license and genre before any score was looked at. Not taken: word lists and texts under CC BY-SA
or GFDL, forums without a license, and the talks of WMT21, which are CC BY-NC-ND.

    apt-get install python3.11-doc sword-text-web
    gzip -dc "$POSTIL_DATA/judged/dstc7/dstc7_joined.en.jsonl.gz" | tail -n +251 > forum.jsonl
    cd /usr/share/doc/python3.11/html && prose=$(realpath tutorial/*.html howto/*.html faq/*.html whatsnew/*.html); cd -
    python tools/make_function_words.py \
        --text "human responses of the DSTC7 task 2 evaluation data, threads 251 to 1000, O-UDA-1.0" forum.jsonl \
        --text "World English Bible (sword-text-web 426.0), public domain" \
            /usr/share/sword/modules/texts/ztext/engWEB2015eb/[on]t.bzz \
        --text "tutorial, HOWTOs, FAQ and news of Python (python3.11-doc 3.11.2), PSF-2.0" $prose \
        > src/postil/text/function_words.en.txt
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import re
import struct
import sys
import unicodedata
import zlib
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

THRESHOLD = 1e-3
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]|_")
_QUOTES = {'"': "“”", "'": "‘’"}
_STRAIGHT = {ord(curly): straight for straight, forms in _QUOTES.items() for curly in forms}
_NO_PROSE = re.compile(r"<(code|note|pre|title)\b.*?</\1>", re.DOTALL)
_PARAGRAPH = re.compile(r"<p\b[^>]*>(.*?)</p>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


def tokens(text: str) -> Iterator[str]:
    """Yield lower-cased words, apostrophes inside them kept, and punctuation marks one by one, with straight quotes."""
    for match in _TOKEN.finditer(text.lower().translate(_STRAIGHT)):
        token = match[0]
        if token[0].isalnum() or unicodedata.category(token).startswith("P"):
            yield token


def frequencies(texts: Iterable[str]) -> dict[str, float]:
    """Return the share of each token among all tokens."""
    counts = Counter(token for text in texts for token in tokens(text))
    total = counts.total()
    return {token: count / total for token, count in counts.items()}


def typical(tables: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the median share of each token; a table without the token counts 0."""
    return {token: median(table.get(token, 0.0) for table in tables) for token in set().union(*tables)}


def with_pieces(table: dict[str, float]) -> dict[str, float]:
    """Return the shares with that of each word that has an apostrophe added to those of its pieces."""
    whole = dict(table)
    for word, share in table.items():
        if "'" in word and not is_mark(word):
            for piece in set(word.split("'")):
                whole[piece] = whole.get(piece, 0.0) + share
    return whole


def is_mark(token: str) -> bool:
    """True if a token is a punctuation mark."""
    return not token[:1].isalnum()


def above(table: dict[str, float]) -> list[str]:
    """Return the tokens above the threshold, marks first; a number is neither word nor mark."""
    kept = [token for token, share in table.items() if share > THRESHOLD and (is_mark(token) or token[0].isalpha())]
    forms = [form for token in kept for form in (token, *_QUOTES.get(token, ""))]
    return sorted(forms, key=lambda token: (not is_mark(token), token))


def read_texts(path: Path) -> Iterator[str]:
    """Yield the texts of a file; the suffix says how it is read."""
    if path.suffix == ".bzz":
        yield from map(_prose, _blocks(path))
        return
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        if ".html" in path.suffixes:
            yield from map(_prose, _PARAGRAPH.findall(file.read()))
        elif ".jsonl" in path.suffixes:
            for line in file:
                yield from _row_texts(json.loads(line))
        else:
            yield from file


def _row_texts(row: dict[str, Any]) -> Iterator[str]:
    yield from (row[name] for name in ("content", "text") if row.get(name))
    yield from (comment["text"] for comment in row.get("comments", ()))
    yield from row.get("references", ())


def _blocks(path: Path) -> Iterator[str]:
    """Yield the blocks of a zText module; its index has offset, size and unpacked size of each, four bytes each."""
    packed = path.read_bytes()
    for offset, size, _ in struct.iter_unpack("<III", path.with_suffix(".bzs").read_bytes()):
        yield zlib.decompress(packed[offset : offset + size]).decode()


def _prose(markup: str) -> str:
    return html.unescape(_TAG.sub("", _NO_PROSE.sub(" ", markup)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the list, with its rule and sources at the head."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", nargs="+", action="append", required=True, metavar=("SOURCE", "FILE"))
    sources = [(what, [Path(name) for name in names]) for what, *names in parser.parse_args(arguments).text]
    for what, files in sources:
        if not files:
            parser.error(f"--text: expected a description and at least one file, got only '{what}'")

    tables = [frequencies(text for path in files for text in read_texts(path)) for _, files in sources]
    head = [
        "Function words: words and punctuation marks with a relative frequency above 0.001, numbers left out.",
        "The relative frequency is the median over the sources. A word with an apostrophe counts as itself and as each",
        "of its pieces; straight and curly quotes are one mark. One word per line; # begins a comment line.",
        "Made by tools/make_function_words.py, whose head has the command, from these sources with their licenses:",
        *(f"- {what}" for what, _ in sources),
    ]
    words = above(typical([with_pieces(table) for table in tables]))
    sys.stdout.write("".join(f"# {line}\n" for line in head) + "".join(f"{word}\n" for word in words))


if __name__ == "__main__":
    main()
