"""Function words: the ones that METEOR's English parameters count less.

METEOR 1.5 takes every word and punctuation mark of a relative frequency above one in a thousand. The list of this
package is made by that rule, from data whose licenses allow it (its head names them), and is not the list of the METEOR
program, which is LGPL: scores equal the program's to the last digits only where the program's own list is given.

Another list gives other scores, so a signature has a hash of the list.
"""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

from postil.errors import InvalidInput

__all__ = ["function_words", "function_words_signature"]

_ENGLISH = "function_words.en.txt"


def function_words(path: Path | None = None) -> frozenset[str]:
    """Return a list of function words.

    Args:
        path: A UTF-8 file with one word per line. Empty lines and lines that begin with ``#`` are skipped. By default
            the English list of the package.

    Returns:
        The words as they stand in the file: texts are compared with them as their tokenizer leaves them.

    Raises:
        InvalidInput: The file cannot be read, is not UTF-8, or a line holds more than one word.

    >>> words = function_words()
    >>> [word in words for word in ("the", ",", "comment")]
    [True, True, False]
    """
    if path is None:
        content = resources.files(__package__).joinpath(_ENGLISH).read_bytes()
    else:
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            problem = f"expected a file of function words, one per line: {error.strerror}"
            raise InvalidInput(problem, where=str(path)) from error
    return _parse(content, str(path or _ENGLISH))


def function_words_signature(path: Path | None = None) -> str:
    """Return what a signature says of a list: 12 hexadecimal digits of a hash of the words, whatever their order.

    Args:
        path: As in `function_words`.

    Raises:
        InvalidInput: As `function_words`.

    >>> len(function_words_signature())
    12
    """
    content = "\n".join(sorted(function_words(path))).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:12]


def _parse(content: bytes, where: str) -> frozenset[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInput("expected UTF-8 text", where=where, line=line) from error
    words: set[str] = set()
    for line, word in enumerate(text.split("\n"), 1):
        fields = word.split()
        if len(fields) == 1 and not word.startswith("#"):
            words.add(fields[0])
        elif len(fields) > 1 and not word.startswith("#"):
            raise InvalidInput(f"expected one word, got '{word.strip()[:60]}'", where=where, line=line)
    return frozenset(words)
