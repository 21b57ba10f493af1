"""Options of `postil annotate serve`, and the address under which people reach the pages of a campaign."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from postil.data.escaping import visible
from postil.data.options import ListenOptions
from postil.errors import UsageError
from postil.messages import Setting
from postil.options import Flag, options

__all__ = ["ServeOptions", "checked_base_url"]


@options
class ServeOptions(ListenOptions):
    """Options of `postil annotate serve`.

    Args:
        base_url: URL where people reach the pages; invitations begin with it. It gives the host name too, and https://
            means that a reverse proxy speaks HTTPS, as with --https.
        tokens: File of tokens, as postil tokens add makes it: programs on other machines read /metrics with one of the
            scope metrics.
        backup: Folder for a copy of the campaign every day, NAME-YYYY-MM-DD.db; for a campaign in an SQLite file.
        keep: Number of copies that are kept there.
    """

    base_url: Annotated[str | None, Flag(metavar="URL")] = None
    tokens: Annotated[str | None, Flag(metavar="FILE")] = None
    backup: Annotated[str | None, Flag(metavar="FOLDER")] = None
    keep: Annotated[int, Flag(metavar="N", min=1)] = 7

    def __post_init__(self) -> None:
        if self.base_url is not None:
            address = checked_base_url(self.base_url)
            if self.https and address.startswith("http://"):
                raise UsageError(
                    "{base_url}: expected https:// with {https}, got {got}",
                    base_url=Setting("base_url"),
                    https=Setting("https"),
                    got=visible(self.base_url),
                )

    @property
    def address(self) -> str:
        """URL where people reach the pages."""
        if self.base_url is not None:
            return checked_base_url(self.base_url)
        return f"https://{(*self.name, 'localhost')[0]}" if self.https else f"http://localhost:{self.port}"

    @property
    def names(self) -> tuple[str, ...]:
        """Host names of the server, besides localhost."""
        return self.name if self.base_url is None else (*self.name, urlsplit(self.address).hostname or "")

    @property
    def secure(self) -> bool:
        """True if the server is behind a reverse proxy that speaks HTTPS."""
        return self.https or self.address.startswith("https://")


def checked_base_url(url: str) -> str:
    """Check the URL where people reach the pages of a campaign.

    Args:
        url: Scheme and host, and the port where it is not that of the scheme.

    Returns:
        The URL without a slash at its end.

    Raises:
        UsageError: It is no such URL.

    >>> checked_base_url("https://Grading.example.org/")
    'https://grading.example.org'
    """
    try:
        parts = urlsplit(url.strip())
        rest = parts._replace(scheme="", netloc="").geturl()
        sound = parts.scheme in {"http", "https"} and parts.port != 0 and "@" not in parts.netloc and rest in {"", "/"}
    except ValueError:  # a port that is no number, or brackets that do not match
        sound = False
    if not sound or not parts.hostname:
        raise UsageError(
            "{base_url}: expected http:// or https:// and a host name, without a path, such as {example}; got {got}",
            base_url=Setting("base_url"),
            example="https://grading.example.org",
            got=visible(url),
        )
    return f"{parts.scheme}://{parts.netloc.lower()}"
