"""Function words: the ones that METEOR's English parameters count less.

METEOR 1.5 takes every word and punctuation mark of a relative frequency above one in a thousand. The list of this
package is made by that rule from open sources (its head says which) and is not the list of the METEOR jar, so scores
agree with the jar's to the last digit only where the jar's own list is given.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from postil.errors import InvalidInput

__all__ = ["function_words"]

_ENGLISH = "function_words.en.txt"


def function_words(path: Path | None = None) -> frozenset[str]:
    """Return a list of function words.

    Args:
        path: A UTF-8 file of one word a line. Empty lines and lines that begin with ``#`` are skipped. Without it, the
            English list of the package.

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
            problem = f"expected a file of function words, one a line: {error.strerror}"
            raise InvalidInput(problem, where=str(path)) from error
    return _parse(content, str(path or _ENGLISH))


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
