"""Tokenizers of sacreBLEU, by its package; a model that the package would download has to be there already."""

from __future__ import annotations

from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from postil.errors import UsageError, needs

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PACKAGED", "sacrebleu_signature", "sacrebleu_version", "split_sacrebleu"]

PACKAGED: Final = ("intl", "zh", "char", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm")
"""Names of the tokenizers that its package has; 13a is our own."""
_ALSO: Final = {
    "ja-mecab": "sacrebleu[ja]",
    "ko-mecab": "sacrebleu[ko]",
    "flores101": "sentencepiece",
    "flores200": "sentencepiece",
    "spm": "sentencepiece",
}
"""Further package that a tokenizer needs, as pip installs it."""


def sacrebleu_version() -> str:
    """Version of the package that is installed."""
    return metadata.version("sacrebleu")


def sacrebleu_signature(name: str) -> str:
    """Version of the package, and the tokenizer as its own signatures have it.

    Args:
        name: A name of `PACKAGED`.

    Raises:
        MissingExtra, UsageError: As `split_sacrebleu`.

    >>> sacrebleu_signature("zh").startswith("sacrebleu-2.")
    True
    """
    made = _opened(name)
    return f"sacrebleu-{sacrebleu_version()}:{made.signature()}"  # type: ignore[attr-defined]  # of its classes


def split_sacrebleu(name: str, text: str) -> list[str]:
    """Return the tokens of a text that BLEU of sacreBLEU counts.

    Args:
        name: A name of `PACKAGED`.
        text: Any text.

    Raises:
        MissingExtra: sacreBLEU is not installed.
        UsageError: What the tokenizer needs besides is not installed, or its model is not there.

    >>> split_sacrebleu("zh", "我爱iPhone 16。")
    ['我', '爱', 'iPhone', '16', '。']
    """
    return _opened(name)(text.rstrip()).split()


@cache
def _opened(name: str) -> Callable[[str], str]:
    with needs(f"tokenizer 'sacrebleu:{name}'", "sacrebleu"):
        bleu = import_module("sacrebleu.metrics.bleu")
        models = import_module("sacrebleu.tokenizers.tokenizer_spm").SPM_MODELS
        folder = import_module("sacrebleu.utils").SACREBLEU_DIR
    if name in models:
        model = Path(folder, "models", models[name]["url"].rpartition("/")[2])
        if not model.is_file():
            raise UsageError(
                f"tokenizer 'sacrebleu:{name}' reads the model {model}, which is not there, and nothing is downloaded "
                f"for you; it is the file of {models[name]['url']}"
            )
    try:
        return cast("Callable[[str], str]", bleu.BLEU(tokenize=name, force=True).tokenizer)
    except (ImportError, RuntimeError, AssertionError) as error:
        needed = _ALSO.get(name, "sacrebleu")
        raise UsageError(
            f"tokenizer 'sacrebleu:{name}' needs packages that are not installed: pip install '{needed}'"
        ) from error
