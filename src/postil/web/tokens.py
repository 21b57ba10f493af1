"""Tokens of the service: a file of hashes with scopes, and the token that a request presents.

Files of tokens and of secrets are read again when they change.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Generic, Literal, TypeVar

import msgspec

from postil.data.atomic_file import AtomicFile
from postil.data.escaping import visible
from postil.data.explain import explain
from postil.data.fields import parse_date
from postil.data.parts import OptionalPart
from postil.errors import InvalidInput, UnknownName, UsageError
from postil.options import Flag, options
from postil.results.base import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from postil.data.streams import FilePath

__all__ = [
    "PREFIX",
    "SCOPES",
    "AddTokenOptions",
    "Token",
    "TokenInfo",
    "Tokens",
    "TokensResult",
    "WatchedFile",
    "add_token",
    "list_tokens",
    "revoke_token",
    "secrets_of",
]

T = TypeVar("T")


class WatchedFile(Generic[T]):
    """Content of a file. One that cannot be read again does not end the service: what was read last stays valid.

    Args:
        path: The file.
        read: Function that reads it; it raises InvalidInput.
        said: Noun for the content, for warnings.
        on_message: Callback for warnings, once for each state of the file.

    Raises:
        InvalidInput: The file cannot be read.
    """

    def __init__(
        self, path: FilePath, read: Callable[[Path], T], said: str, on_message: Callable[[str], None] = lambda _: None
    ) -> None:
        self._path, self._read, self._said, self._on_message = Path(path), read, said, on_message
        self._state = self._file_state()
        self._content = read(self._path)

    def content(self) -> T:
        """The content of the file as it is now."""
        state = self._file_state()
        if state != self._state:
            self._state = state  # of before reading: what changes meanwhile is read the next time
            try:
                self._content = self._read(self._path)
            except InvalidInput as error:
                self._on_message(f"{error}; the {self._said} that were read last stay valid")
        return self._content

    def _file_state(self) -> tuple[int, int, int] | None:
        with suppress(OSError, ValueError):
            found = self._path.stat()
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None


def secrets_of(
    path: FilePath, parse: Callable[[str], bytes], on_message: Callable[[str], None] = lambda _: None
) -> WatchedFile[tuple[bytes, ...]]:
    """The secrets of a file, one per line; while a secret is being replaced, the old and the new one stand in it.

    Args:
        path: The file.
        parse: Function that makes a key of a line; it raises ValueError with what it expects.
        on_message: Callback for warnings.

    Raises:
        InvalidInput: The file cannot be read, or a line is no secret.
    """

    def read(path: Path) -> tuple[bytes, ...]:
        try:
            lines = path.read_text("utf-8").split("\n")
        except (OSError, ValueError) as error:
            raise InvalidInput(f"expected a file of secrets: {error}", where=str(path)) from None
        keys = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    keys.append(parse(line.strip()))
                except ValueError as error:
                    raise InvalidInput(f"expected {error}", where=str(path), line=number) from None
        if not keys:
            raise InvalidInput("expected a secret on a line, got an empty file", where=str(path))
        return tuple(keys)

    return WatchedFile(path, read, "secrets", on_message)


SCOPES: Final = ("suggest", "rank", "screen", "score", "interesting", "desk", "label", "read", "admin", "metrics")
"""Names of the rights that a token can have; the route table of the service says which one a route needs."""

PREFIX: Final = "postil_"
"""Beginning of every token, by which scanners for leaked secrets can find one."""

SECRET_BYTES: Final = 32
HASH_LENGTH: Final = 64
LONGEST_NAME: Final = 64


class Token(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token as the file has it: all but the token itself.

    Args:
        name: Its name.
        sha256: Its hash.
        scopes: Its rights; see `SCOPES`.
        created: Date of its making, in UTC.
        rate: Largest number of requests per minute; None for that of the service.
        expires: Date from which on it is refused; None for none.
        revoked: Date of its revocation; None if it was not revoked.
    """

    name: str
    sha256: str
    scopes: tuple[str, ...]
    created: str
    rate: int | None = None
    expires: str | None = None
    revoked: str | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        if len(self.sha256) != HASH_LENGTH or set(self.sha256) - set("0123456789abcdef"):
            raise InvalidInput("expected 64 hexadecimal digits in lower case", field="sha256")
        _check_scopes(self.scopes)
        if self.rate is not None and self.rate < 1:
            raise InvalidInput(f"expected at least 1 request per minute, got {self.rate}", field="rate")
        for name in ("created", "expires", "revoked"):
            if (date := getattr(self, name)) is not None and parse_date(date) != date:
                raise InvalidInput(f"expected a date such as {parse_date(date)}, got {visible(date)}", field=name)

    @property
    def state(self) -> Literal["valid", "expired", "revoked"]:
        """Its state now."""
        if self.revoked:
            return "revoked"
        return "expired" if self.expires and self.expires <= _now() else "valid"


class _File(msgspec.Struct, frozen=True):
    """The content of a file of tokens."""

    tokens: tuple[Token, ...]


class Tokens:
    """The valid tokens of a file, which is read again when it changes.

    A file that cannot be read does not end the service: the tokens that were read last stay valid, and a message says
    so, once for each state of the file.

    Args:
        path: The file that `add_token` writes.
        on_message: Callback for warnings.

    Raises:
        InvalidInput: The file is not there, or is no file of tokens.
    """

    def __init__(self, path: FilePath, on_message: Callable[[str], None] = lambda _: None) -> None:
        self._file = WatchedFile(path, _read, "tokens", on_message)

    def identify(self, bearer: str) -> Token | None:
        """Find the token that a request presents.

        Args:
            bearer: The text after ``Bearer`` in the header.

        Returns:
            The token; None if it is unknown, expired or revoked.
        """
        digest = hashlib.sha256(bearer.encode("utf-8", "surrogatepass")).hexdigest()
        found = None
        for known in self._file.content():  # all of them, so that the time tells nothing of a match
            if hmac.compare_digest(known.sha256, digest):
                found = known
        return found if found is not None and found.state == "valid" else None


@options
class AddTokenOptions:
    """Options of `postil tokens add`.

    Args:
        scopes: Right of the token: suggest, rank, screen, score, interesting, desk, label, read, admin or metrics;
            repeatable.
        rate: Largest number of requests per minute; by default that of the service.
        days: Number of days after which the token expires; by default it does not.
    """

    scopes: Annotated[tuple[str, ...], Flag("scope", metavar="SCOPE")]
    rate: Annotated[int | None, Flag(min=1)] = None
    days: Annotated[int | None, Flag(min=1, max=36_500)] = None

    def __post_init__(self) -> None:
        _check_scopes(self.scopes)


def add_token(path: FilePath, name: str, options: AddTokenOptions) -> str:
    """Make a token and add its hash to a file, which is made where there is none, for its owner alone.

    Args:
        path: The file.
        name: Name of the client that gets the token, as the audit log shows it; no two tokens share one.
        options: Rights and limits.

    Returns:
        The token, which is stored nowhere.

    Raises:
        UsageError: The name is taken, or cannot be one.
        InvalidInput: The file is no file of tokens.
        PostilError: The operating system reports an error.
    """
    try:
        _check_name(name)
    except InvalidInput as error:
        raise UsageError(str(error)) from None
    token = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    made = Token(
        name=name,
        sha256=hashlib.sha256(token.encode()).hexdigest(),
        scopes=tuple(scope for scope in SCOPES if scope in options.scopes),
        created=_now(),
        rate=options.rate,
        expires=None if options.days is None else _now(days=options.days),
    )
    with _changing(path) as stored:
        if any(one.name == name for one in stored):
            raise UsageError(f"{path}: there is a token '{name}' already; choose another name, such as '{name}-2'")
        _write(path, [*stored, made])
    return token


def revoke_token(path: FilePath, name: str) -> None:
    """Revoke a token; a service that runs refuses it from the next request on.

    Args:
        path: The file.
        name: The name of the token.

    Raises:
        UnknownName: There is no such token.
        UsageError: It was revoked before.
        InvalidInput: The file is no file of tokens.
        PostilError: The operating system reports an error.
    """
    with _changing(path) as stored:
        found = next((one for one in stored if one.name == name), None)
        if found is None:
            raise UnknownName("token", name, [one.name for one in stored])
        if found.revoked is not None:
            raise UsageError(f"{path}: the token '{name}' was revoked at {found.revoked}")
        revoked = msgspec.structs.replace(found, revoked=_now())
        _write(path, [revoked if one is found else one for one in stored])


class TokenInfo(OptionalPart, frozen=True, kw_only=True):
    """A token as the file of tokens has it, without its hash.

    Args:
        name: Its name.
        state: valid, expired or revoked.
        scopes: Its rights.
        created: Date of its making, in UTC.
        rate: Largest number of requests per minute; None for that of the service.
        expires: Date from which on it is refused; None for none.
        revoked: Date of its revocation; None if it was not revoked.
    """

    name: str
    state: Literal["valid", "expired", "revoked"]
    scopes: tuple[str, ...]
    created: str
    rate: int | None = None
    expires: str | None = None
    revoked: str | None = None


class TokensResult(Result, frozen=True, kw_only=True, tag="tokens"):
    """The tokens of a file.

    Args:
        tokens: The tokens, in the order of their making.
    """

    tokens: tuple[TokenInfo, ...]


def list_tokens(path: FilePath) -> TokensResult:
    """List the tokens of a file.

    Args:
        path: The file.

    Raises:
        InvalidInput: The file is not there, or is no file of tokens.
    """
    tokens = tuple(msgspec.convert(one, TokenInfo, from_attributes=True) for one in _read(Path(path)))
    return TokensResult(tokens=tokens)


def _now(*, days: int = 0) -> str:
    return parse_date(datetime.now(UTC) + timedelta(days=days))


def _check_name(name: str) -> None:
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise InvalidInput(f"expected 1 to {LONGEST_NAME} printable characters, got '{visible(name)}'", field="name")


def _check_scopes(scopes: Sequence[str]) -> None:
    for scope in scopes:
        UnknownName.check("scope", scope, SCOPES)
    if not scopes:
        raise UsageError(f"scopes: expected one of {', '.join(SCOPES)} at least")


def _read(path: Path) -> tuple[Token, ...]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        problem = "there is no such file; make it with postil tokens add FILE NAME --scope SCOPE"
        raise InvalidInput(problem, where=str(path)) from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot be read: {getattr(error, 'strerror', error)}", where=str(path)) from error
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"expected the JSON of postil tokens: {error}", where=str(path)) from None
    try:
        tokens = msgspec.convert(value, _File).tokens
    except (msgspec.ValidationError, UsageError, InvalidInput) as error:
        field, problem = explain(value, _File) or ("", str(error))
        raise InvalidInput(problem, where=str(path), field=field) from None
    for number, one in enumerate(tokens):
        if any(one.name == other.name for other in tokens[:number]):
            raise InvalidInput(f"expected every name once, got '{one.name}' twice", where=str(path))
    return tokens


def _write(path: FilePath, tokens: Sequence[Token]) -> None:
    with AtomicFile(os.path.realpath(path), private=True) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(_File(tuple(tokens))), indent=1) + b"\n")


@contextmanager
def _changing(path: FilePath) -> Iterator[tuple[Token, ...]]:
    """Read a file of tokens to write it anew, one process after the other: else a revocation could get lost."""
    file = Path(os.path.realpath(path))
    if not file.parent.is_dir():
        raise UsageError(f"{path}: parent folder {file.parent} does not exist")
    folder = None
    try:
        if os.name == "posix":
            import fcntl  # noqa: PLC0415 - there is none elsewhere

            folder = os.open(file.parent, os.O_RDONLY)
            with suppress(OSError):  # a file system without locks
                fcntl.flock(folder, fcntl.LOCK_EX)
        yield _read(file) if file.exists() else ()
    finally:
        if folder is not None:
            os.close(folder)
