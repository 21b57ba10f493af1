"""A range of dates, such as the months in which articles were collected."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from typing import Final

from postil.errors import InvalidInput, UsageError
from postil.records.dates import parse_date

__all__ = ["DateRange"]

_SHORT: Final = re.compile(r"(\d{4})(?:-(\d\d))?", re.ASCII)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True)
class DateRange:
    """A range of dates, both ends included; a year, a month or a day at the end is included whole.

    Args:
        text: ``FROM..TO``, each a year, a month, a day or a moment in ISO 8601 (UTC without an offset); one of them
            may be missing.

    Raises:
        UsageError: It is no range, or ends before it begins.

    >>> spring = DateRange("2017-04..2017-08")
    >>> spring.first, spring.last, "2017-08-31T23:00:00Z" in spring, "2017-09-01T00:00:00Z" in spring
    ('2017-04-01T00:00:00Z', '2017-08-31T23:59:59Z', True, False)
    """

    text: str

    def __post_init__(self) -> None:
        begin, dots, end = self.text.partition("..")
        if not dots or not (begin.strip() or end.strip()):
            raise UsageError(f"dates: expected FROM..TO, such as 2017-04..2017-08, got '{self.text}'")
        first, last = self.first, self.last
        if last and first > last:
            raise UsageError(f"dates: expected a range that ends after it begins, got '{self.text}'")

    @classmethod
    def parse(cls, text: str) -> DateRange:
        """Parse the value of a flag.

        Args:
            text: ``FROM..TO``.

        Raises:
            UsageError: It is no range.
        """
        return cls(text.strip())

    def __str__(self) -> str:
        return self.text

    def __contains__(self, date: object) -> bool:
        """True for a date as rows have it that is in the range."""
        return isinstance(date, str) and date != "" and self.first <= date and not (self.last and date > self.last)

    @property
    def first(self) -> str:
        """The first moment, as rows have dates; empty where the range is open."""
        return self._end(self.text.partition("..")[0], last=False)

    @property
    def last(self) -> str:
        """The last second."""
        return self._end(self.text.partition("..")[2], last=True)

    def _end(self, text: str, *, last: bool) -> str:
        text = text.strip()
        if not text:
            return ""
        day = text
        if (short := _SHORT.fullmatch(text)) is not None:
            year, month = int(short[1]), int(short[2] or (12 if last else 1))
            if not (year and 1 <= month <= 12):
                raise UsageError(f"dates: expected a year or a month such as 2017-04, got '{text}'")
            day = f"{year:04}-{month:02}-{calendar.monthrange(year, month)[1] if last else 1:02}"
        try:
            moment = parse_date(day)
        except InvalidInput as error:
            raise UsageError("dates: {problem}", problem=error.message) from None
        return f"{moment[:10]}T23:59:59Z" if last and _DAY.fullmatch(day) else moment
