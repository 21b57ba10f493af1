"""`postil tokens`: flags, and what is printed."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from postil.cli.command import Argument, FormatOption, Group
from postil.cli.output import emit, say
from postil.web.tokens import AddTokenOptions, add_token, list_tokens, revoke_token

__all__ = ["tokens"]


tokens = Group("tokens", "Make and revoke the tokens that clients of postil serve present.")

FileArgument: TypeAlias = Annotated[
    str, Argument(metavar="FILE", help="File of tokens, as for postil serve --tokens; it holds hashes alone.")
]
NameArgument: TypeAlias = Annotated[str, Argument(metavar="NAME", help="Name of the token, as the audit log shows it.")]


@tokens.add()
def add(file: FileArgument, name: NameArgument, options: AddTokenOptions) -> None:
    """Make a token and print it, once; the file gets its hash.

    Example: postil tokens add tokens.json cms --scope suggest --scope interesting --rate 600
    """
    token = add_token(file, name, options)
    say(f"{file}: added '{name}'; the token is not shown again:")
    emit(f"{token}\n")


@tokens.add("list")
def list_(file: FileArgument, format: FormatOption = "table") -> None:  # noqa: A002
    """List tokens with their scopes, limits and states.

    Example: postil tokens list tokens.json
    """
    from postil.results.views import show  # noqa: PLC0415

    emit(show(format, list_tokens(file)), format)


@tokens.add()
def revoke(file: FileArgument, name: NameArgument) -> None:
    """Revoke a token; a service that runs refuses it from the next request on.

    Example: postil tokens revoke tokens.json cms
    """
    revoke_token(file, name)
    say(f"{file}: revoked '{name}'")
