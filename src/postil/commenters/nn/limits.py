"""Upper limits of options, so that absurd sizes are refused before memory is allocated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from postil.errors import UsageError
from postil.records.arguments import check_fields

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["check_limits"]

_LIMITS: Final = {
    **dict.fromkeys(("hidden_size", "embedding_dim", "filters", "output_dim"), 2**16),
    **dict.fromkeys(("vocab_size", "num_sampled", "num_negatives"), 2**24),
    "layers": 64,
    "widths": 1024,
    "seed": 2**63 - 1,
}
_DEFAULT_LIMIT: Final = 2**31 - 1


def check_limits(options: DataclassInstance) -> None:
    """Check that options have their declared types and stay within their limits.

    Args:
        options: Options of a network or a training.

    Raises:
        UsageError: One has another type, or is too large.
    """
    check_fields(options)
    for name in options.__dataclass_fields__:
        value = getattr(options, name)
        limit = _LIMITS.get(name, _DEFAULT_LIMIT)
        for number in value if isinstance(value, tuple | list) else (value,):
            if isinstance(number, int) and number > limit:
                raise UsageError(f"{name}: expected at most {limit:,}, got {number:,}")
