"""Fields of rows: checks and coercions that a row applies when it is made, ids and dates."""

from __future__ import annotations

import hashlib
import math
import re
from datetime import UTC, date, datetime
from numbers import Integral, Real
from typing import TYPE_CHECKING, Final, TypeGuard

from msgspec.structs import force_setattr

from postil.data.explain import is_finite, shown
from postil.errors import InvalidInput
from postil.kernel.unicode_forms import is_composed, normalized
from postil.messages import Message, spoken

if TYPE_CHECKING:
    import msgspec

__all__ = [
    "DecomposedId",
    "NoDate",
    "as_id",
    "check_texts",
    "coerce_date",
    "coerce_ids",
    "coerce_integers",
    "coerce_number_tuple",
    "coerce_numbers",
    "coerce_tuple",
    "draw_key",
    "is_integer",
    "is_number",
    "optional_date",
    "parse_date",
    "plain_id",
    "unix_seconds",
]


class NoDate(Message):
    """The problem that a value is no date."""

    __slots__ = ()


class DecomposedId(str):
    """An id that is not in the Unicode form NFC: equal to every id of its NFC form, in dictionaries as well.

    File names of macOS and texts of some keyboards are decomposed. Ids in NFC, which all of ASCII are, stay plain text.
    So every join works unchanged, and what is printed is what was given; a key at each join would be forgotten at the
    next one.
    """

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(normalized("NFC", self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and normalized("NFC", self) == normalized("NFC", other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: str) -> bool:
        return normalized("NFC", self) < normalized("NFC", other)

    def __le__(self, other: str) -> bool:
        return normalized("NFC", self) <= normalized("NFC", other)

    def __gt__(self, other: str) -> bool:
        return normalized("NFC", self) > normalized("NFC", other)

    def __ge__(self, other: str) -> bool:
        return normalized("NFC", self) >= normalized("NFC", other)


def as_id(text: str) -> str:
    r"""Make a text an id.

    Args:
        text: The id as it was given.

    >>> as_id("caf\u00e9") == as_id("cafe\u0301"), {as_id("cafe\u0301"): 1}["caf\u00e9"], len(as_id("cafe\u0301"))
    (True, 1, 5)
    """
    return text if is_composed(text) else DecomposedId(text)


def plain_id(value: object) -> str:
    """Encode what msgspec asks for: an id as it was given, a message in the words of the interface in use.

    Args:
        value: The id or the message.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(value, DecomposedId):
        return str(value)
    if isinstance(value, Message):
        return spoken(value)
    raise TypeError(f"expected what JSON has, got {type(value).__name__}")


def draw_key(seed: int, *names: str) -> int:
    """A 64-bit sort key for sampling in a seeded order.

    Args:
        seed: The seed.
        names: Ids that name the sampled thing.

    >>> draw_key(1, "a") == draw_key(1, "a"), draw_key(1, "a") == draw_key(2, "a")
    (True, False)
    """
    text = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def is_integer(value: object) -> TypeGuard[int]:
    """True if a value is an integer of at most 64 bits: Python's or NumPy's, not a bool.

    Args:
        value: Anything.
    """
    if isinstance(value, bool):
        return False
    return isinstance(value, Integral) and -(2**63) <= int(value) < 2**63


def is_number(value: object) -> TypeGuard[float]:
    """True if a value is a finite real number: Python's or NumPy's, not a bool.

    Args:
        value: Anything.
    """
    if isinstance(value, bool):
        return False
    return isinstance(value, Real) and is_finite(value)


def coerce_ids(row: msgspec.Struct, *fields: str, optional: bool = False) -> None:
    """Coerce ids to text that is compared in NFC; see `postil.data.fields`.

    Args:
        row: The row, newly made.
        fields: The fields that hold ids.
        optional: True if they may be None.

    Raises:
        InvalidInput: An id is neither text nor an integer.
    """
    for field in fields:
        value = getattr(row, field)
        if value.__class__ is DecomposedId or (value.__class__ is str and is_composed(value)):
            continue
        if optional and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, str | Integral):
            raise InvalidInput(f"expected text or an integer, got {shown(value)}", field=field)
        force_setattr(row, field, as_id(str(value)))


def check_texts(row: msgspec.Struct, *fields: str, optional: bool = False) -> None:
    """Require text.

    Args:
        row: The row, newly made.
        fields: The fields that hold text.
        optional: True if they may be None.

    Raises:
        InvalidInput: One is something else.
    """
    for field in fields:
        value = getattr(row, field)
        if value.__class__ is str or (optional and value is None):
            continue
        if not isinstance(value, str):
            raise InvalidInput(f"expected text, got {shown(value)}", field=field)
        force_setattr(row, field, str(value))


def coerce_numbers(row: msgspec.Struct, *fields: str, optional: bool = False) -> None:
    """Coerce numbers to finite floats.

    Args:
        row: The row, newly made.
        fields: The fields that hold numbers.
        optional: True if they may be None.

    Raises:
        InvalidInput: One is NaN, infinite, true, false or no number.
    """
    for field in fields:
        value = getattr(row, field)
        if (optional and value is None) or (value.__class__ is float and math.isfinite(value)):
            continue
        if not is_number(value):
            raise InvalidInput(f"expected a number, got {shown(value)}", field=field)
        force_setattr(row, field, float(value))


def coerce_integers(row: msgspec.Struct, *fields: str) -> None:
    """Coerce integers to plain integers; None stays.

    Args:
        row: The row, newly made.
        fields: The fields that hold integers.

    Raises:
        InvalidInput: One is no integer, or has more than 64 bits.
    """
    for field in fields:
        value = getattr(row, field)
        if value is None or (value.__class__ is int and -(2**63) <= value < 2**63):
            continue
        if not is_integer(value):
            raise InvalidInput(f"expected an integer of at most 64 bits, got {shown(value)}", field=field)
        force_setattr(row, field, int(value))


def coerce_tuple(row: msgspec.Struct, field: str, kind: type[object]) -> None:
    """Coerce a list of values to a tuple; None to an empty one.

    Args:
        row: The row, newly made.
        field: The field that holds them.
        kind: Class of each value.

    Raises:
        InvalidInput: One is something else.
    """
    values = getattr(row, field)
    if values == ():
        return
    found = () if values is None else tuple(values) if isinstance(values, list | tuple) else (values,)
    for position, value in enumerate(found):
        if not isinstance(value, kind):
            problem = f"expected a {kind.__name__}, got {shown(value)}"
            raise InvalidInput(problem, field=f"{field}[{position}]")
    force_setattr(row, field, found)


def coerce_number_tuple(row: msgspec.Struct, field: str) -> None:
    """Coerce a list of numbers to a tuple of finite floats; None to an empty one.

    Args:
        row: The row, newly made.
        field: The field that holds them.

    Raises:
        InvalidInput: One is NaN, infinite, true, false or no number.
    """
    coerce_tuple(row, field, object)
    values = getattr(row, field)
    if all(value.__class__ is float for value in values) and all(map(math.isfinite, values)):
        return
    for position, value in enumerate(values):
        if not is_number(value):
            raise InvalidInput(f"expected a number, got {shown(value)}", field=f"{field}[{position}]")
    force_setattr(row, field, tuple(map(float, values)))


_WRITTEN: Final = re.compile(
    r"(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ",
    re.ASCII,
)
"""The form of rows that postil wrote, without leap days; it is checked here alone, since there are millions."""
_OFFSET: Final = r" ?(?P<offset>[Zz]|[+-]\d\d(?::?\d\d)?)?"
_ISO: Final = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    rf"(?:[Tt ](?P<minutes>\d\d:\d\d)(?:(?P<seconds>:\d\d)(?:[.,]\d+)?)?{_OFFSET})?",
    re.ASCII,
)
_POINTS: Final = re.compile(
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})"
    rf"(?:(?:[Tt]|,? )(?P<minutes>\d{{1,2}}:\d\d)(?:(?P<seconds>:\d\d)(?:[.,]\d+)?)?{_OFFSET})?",
    re.ASCII,
)
"""Day, month and year with points between them: who writes so has the day first. Slashes would not tell the order."""
_UNIX: Final = re.compile(r"\d{9,14}(?:\.\d+)?", re.ASCII)
_EARLIEST, _MILLISECONDS, _LATEST = 10**8, 10**11, 10**14
"""Numbers up to the second are seconds, from there on milliseconds: both reach from March 3, 1973, to the year 5138."""


def parse_date(value: object) -> str:
    """Convert a date to ISO 8601 in UTC, with seconds.

    Args:
        value: ISO 8601 text, a date alone or with a time after a space or a T, with an offset, `Z`, or none for UTC;
            the same with the day first and points, as in 30.03.2017; Unix time as a number or as text, in seconds
            (from 10^8 to below 10^11) or milliseconds (below 10^14); or a `datetime` or `date` of Python.

    Returns:
        20 characters. A date without a time becomes midnight; fractions of a second are cut off.

    Raises:
        InvalidInput: It is none of these.

    >>> parse_date(1490842573), parse_date(1490842573000), parse_date("2020-03-21 06:27"), parse_date("2020-03-21")
    ('2017-03-30T02:56:13Z', '2017-03-30T02:56:13Z', '2020-03-21T06:27:00Z', '2020-03-21T00:00:00Z')
    >>> parse_date("2020-03-21T06:27:01.5+08:00"), parse_date("21.03.2020, 6:27")
    ('2020-03-20T22:27:01Z', '2020-03-21T06:27:00Z')
    """
    try:
        if isinstance(value, str):
            if _WRITTEN.fullmatch(value) is not None:
                return value
            text = value.strip()
            found = _ISO.fullmatch(text) or _POINTS.fullmatch(text)
            if found is not None:
                return _at(**found.groupdict(default=""))
            if _UNIX.fullmatch(text) is not None:
                return _written(_moment(int(text.partition(".")[0])))
        elif isinstance(value, datetime):
            return _written(value)
        elif isinstance(value, date):
            return f"{value.isoformat()}T00:00:00Z"
        elif is_number(value):
            return _written(_moment(math.floor(value)))
    except (ValueError, OverflowError):  # no such day or hour, or a year beyond 9999
        pass
    raise InvalidInput(
        NoDate(
            "expected a date such as 2017-03-30T02:56:13Z, 30.03.2017 02:56 or Unix seconds, got {got}",
            got=shown(value),
        )
    )


def optional_date(value: object) -> str | None:
    """Convert a date as `parse_date` does, or None for a missing one: None, blank text, or NaN.

    Args:
        value: The date.

    Raises:
        InvalidInput: It is neither a date nor missing.

    >>> optional_date("2020-03-21"), optional_date(" ")
    ('2020-03-21T00:00:00Z', None)
    """
    blank = not value.strip() if isinstance(value, str) else isinstance(value, float) and math.isnan(value)
    return None if value is None or blank else parse_date(value)


def _at(*, year: str, month: str, day: str, minutes: str, seconds: str, offset: str) -> str:
    """A date of its parts, of which those of the time may be empty."""
    written = f"{year}-{month:0>2}-{day:0>2}T{minutes or '00:00':0>5}{seconds}{offset.upper()}"
    return _written(datetime.fromisoformat(written))


def _moment(number: int) -> datetime:
    if not _EARLIEST <= number < _LATEST:
        raise ValueError(number)
    return datetime.fromtimestamp(number if number < _MILLISECONDS else number // 1000, UTC)


def _written(moment: datetime) -> str:
    at = moment if moment.tzinfo is None or moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{at.isoformat(timespec='seconds')[:19]}Z"


def unix_seconds(date: str) -> int:
    """Unix time of a date as rows have it.

    Args:
        date: `Article.date` or `Comment.date`.

    >>> unix_seconds("2017-03-30T02:56:13Z") - unix_seconds("2017-03-30T02:55:00Z")
    73
    """
    return int(datetime.fromisoformat(date).timestamp())


def coerce_date(row: msgspec.Struct) -> None:
    """Coerce the field `date` to ISO 8601 in UTC, or to None where it is blank.

    Args:
        row: The row, newly made.

    Raises:
        InvalidInput: It is no date.
    """
    value: object = getattr(row, "date")  # noqa: B009 - a struct of any type
    try:
        force_setattr(row, "date", optional_date(value))
    except InvalidInput as error:
        raise InvalidInput(error.problem, field="date") from None
