"""Requests and answers as a client reads them, whatever is asked: a chat, or vectors of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from postil.endpoint.chat import Answer, ErrorBody

__all__ = ["Asking", "Charged"]


class Charged(Protocol):
    """An answer, and the tokens that are paid for it."""

    @property
    def prompt_tokens(self) -> int | None:
        """Number of tokens of the request; None if not said."""

    @property
    def completion_tokens(self) -> int | None:
        """Number of tokens of the answer; None if not said."""


A = TypeVar("A", bound=Charged)


class Asking(Protocol[A]):
    """A request for an answer of one kind."""

    @property
    def path(self) -> str:
        """Path below the address of the endpoint."""

    @property
    def max_tokens(self) -> int:
        """Maximum number of tokens of the answer."""

    def at_least(self, tokens: int) -> Self:
        """Make the request for no fewer tokens.

        Args:
            tokens: Number of tokens.
        """

    def body(self, refused: Collection[str] = ()) -> bytes:
        """Body of the request.

        Args:
            refused: Options that the endpoint refuses, of `postil.endpoint.chat.SPARED`.
        """

    def options(self) -> frozenset[str]:
        """Options that an endpoint may refuse, and that the request can do without."""

    def key(self, refused: Collection[str] = ()) -> str:
        """Key of the request: equal ones are asked once.

        Args:
            refused: Options that the endpoint refuses.
        """

    def estimated_tokens(self, count: Callable[[str], int] | None = None) -> int:
        """Number of tokens of the request.

        Args:
            count: Function that counts the tokens of a text; by default they are estimated.
        """

    def read(self, data: bytes, refused: Collection[str]) -> A:
        """Read the body of a response.

        Args:
            data: The body.
            refused: Options that were not sent.

        Raises:
            ValueError: It is no answer, and another attempt may give one.
            Refused: It is an answer of no use, and another attempt would give the same.
        """

    def rejected(self, body: ErrorBody, refused: Collection[str]) -> A | None:
        """The answer that a refusal amounts to; None where it is none.

        Args:
            body: Body of the response.
            refused: Options that were not sent.
        """

    def recall(self, get: Callable[[str], Answer | None], refused: Collection[str] = ()) -> A | None:
        """The answer that is known; None where there is none.

        Args:
            get: Function that finds an answer by its key.
            refused: Options that the endpoint refuses.
        """

    def keep(self, put: Callable[[str, Answer], Answer], answer: A, refused: Collection[str]) -> A:
        """Keep an answer.

        Args:
            put: Function that stores an answer under its key, unless there is one, and returns the stored one.
            answer: The answer.
            refused: Options that the endpoint refuses.
        """
