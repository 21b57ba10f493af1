"""Dates of rows: ISO 8601 in UTC with seconds, so that the order of the texts is the order of time."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Final

from msgspec.structs import force_setattr

from postil.data.checks import is_number
from postil.data.explain import shown
from postil.errors import InvalidInput

if TYPE_CHECKING:
    import msgspec

__all__ = ["coerce_date", "optional_date", "parse_date", "unix_seconds"]

_WRITTEN: Final = re.compile(
    r"(?!0000)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ",
    re.ASCII,
)
"""The form of rows that postil wrote, without leap days; it is checked here alone, since there are millions."""
_ISO: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?:(:\d\d)(?:[.,]\d+)?)? ?([Zz]|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)
_UNIX: Final = re.compile(r"\d{9,14}(?:\.\d+)?", re.ASCII)
_EARLIEST, _MILLISECONDS, _LATEST = 10**8, 10**11, 10**14
"""Numbers up to the second are seconds, from there on milliseconds: both reach from March 3, 1973, to the year 5138."""


def parse_date(value: object) -> str:
    """Convert a date to ISO 8601 in UTC, with seconds.

    Args:
        value: ISO 8601 text, a date alone or with a time after a space or a T, with an offset, `Z`, or none for UTC;
            Unix time as a number or as text, in seconds (from 10^8 to below 10^11) or milliseconds (below 10^14); or a
            `datetime` or `date` of Python.

    Returns:
        20 characters. A date without a time becomes midnight; fractions of a second are cut off.

    Raises:
        InvalidInput: It is none of these.

    >>> parse_date(1490842573), parse_date(1490842573000), parse_date("2020-03-21 06:27"), parse_date("2020-03-21")
    ('2017-03-30T02:56:13Z', '2017-03-30T02:56:13Z', '2020-03-21T06:27:00Z', '2020-03-21T00:00:00Z')
    >>> parse_date("2020-03-21T06:27:01.5+08:00")
    '2020-03-20T22:27:01Z'
    """
    try:
        if isinstance(value, str):
            if _WRITTEN.fullmatch(value) is not None:
                return value
            text = value.strip()
            found = _ISO.fullmatch(text)
            if found is not None:
                day, minutes, seconds, offset = found.groups(default="")
                return _written(datetime.fromisoformat(f"{day}T{minutes or '00:00'}{seconds}{offset.upper()}"))
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
    raise InvalidInput(f"expected a date such as 2017-03-30T02:56:13Z, or Unix seconds, got {shown(value)}")


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
