"""Flags that several commands have."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

__all__ = [
    "AddressOption",
    "EngineOption",
    "FormatOption",
    "JobsOption",
    "SeedOption",
    "StemOption",
    "StopOption",
]

AddressOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="With --engine ray: of a running cluster, or auto.")
]
EngineOption: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME", help="Where the work is done: local, or ray; the results do not depend on it.")
]
FormatOption: TypeAlias = Annotated[
    str, typer.Option(metavar="FORMAT", help="table, json, jsonl, csv, markdown or latex.")
]
JobsOption: TypeAlias = Annotated[
    int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Threads; the numbers do not depend on it.")
]
SeedOption: TypeAlias = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of all that is random.")]
StemOption: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="none, or a stemmer such as porter.")]
StopOption: TypeAlias = Annotated[str, typer.Option(metavar="LANG", help="none, or a list of stop words such as en.")]
