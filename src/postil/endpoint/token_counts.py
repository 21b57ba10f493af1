"""Numbers of tokens by a tokenizer file of a language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from postil.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

__all__ = ["token_counter"]


def token_counter(path: str | PathLike[str]) -> Callable[[str], int]:
    """Make a function that counts the tokens of a text.

    Args:
        path: A file ``tokenizer.json`` of the library ``tokenizers``.

    Returns:
        The function; special tokens are not counted.

    Raises:
        MissingExtra: The library is not installed.
        InvalidInput: There is no such file, or it is no tokenizer.
    """
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - part of an extra
    except ImportError as error:
        raise MissingExtra("a tokenizer file", "meaning") from error
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror or error}", where=str(path)) from error
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises nothing narrower
        raise InvalidInput(f"not a readable tokenizer: {error}", where=str(path)) from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
