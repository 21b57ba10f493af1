"""A process that changes model folders, so that neither its memory nor its end is the service's."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from postil.calibration.calls import CalibrateOptions, calibrate_model
from postil.data.fields import plain_id
from postil.data.suggestions import Label  # noqa: TC001 - msgspec reads annotations
from postil.erasure.calls import ForgetOptions, find_comments, forget_while_served
from postil.service.worker_loop import answer_all, taken_streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["CalibrateWork", "Comments", "ForgetWork", "serve"]

NICENESS: Final = 10
"""Priority below that of the workers."""


class CalibrateWork(msgspec.Struct, frozen=True, kw_only=True):
    """Request to fit the filter of a model.

    Args:
        model: Folder of the model.
        labels: The labels.
        seed: Random seed.
        resamples: Number of resamples.
    """

    model: str
    labels: list[Label]
    seed: int
    resamples: int


class ForgetWork(msgspec.Struct, frozen=True, kw_only=True):
    """Request to find or to erase comments.

    Args:
        models: Folders of models.
        comments: Ids of article and comment of each comment.
        same_text: True to take other comments with the same text as well.
        store: Folder of the store of the service; empty for none.
    """

    models: list[str]
    comments: list[tuple[str, str]]
    same_text: bool
    store: str


class Comments(msgspec.Struct, frozen=True, kw_only=True):
    """Comments that were found.

    Args:
        comments: Ids of article and comment of each comment.
        texts: Their texts, without differences of case and spaces.
    """

    comments: list[tuple[str, str]]
    texts: list[str]


def serve() -> None:
    """Answer requests until the service ends; see `postil.service.worker_loop`."""
    inbox, results = taken_streams()
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    answer_all(lambda name, request: WORK[name](request), inbox, results)


def _calibrate(request: bytes) -> bytes:
    work = msgspec.json.decode(request, type=CalibrateWork)
    options = CalibrateOptions(seed=work.seed, resamples=work.resamples)
    return calibrate_model(work.model, work.labels, {}, options, where="the stored labels").to_json().encode()


def _find(request: bytes) -> bytes:
    work = msgspec.json.decode(request, type=ForgetWork)
    with _options(work) as options:
        chosen, texts = find_comments(work.models, options, work.store)
    return msgspec.json.encode(Comments(comments=sorted(chosen.comments), texts=list(texts)), enc_hook=plain_id)


def _forget(request: bytes) -> bytes:
    work = msgspec.json.decode(request, type=ForgetWork)
    with _options(work) as options:
        return forget_while_served(work.models, options, work.store).to_json().encode()


@contextmanager
def _options(work: ForgetWork) -> Iterator[ForgetOptions]:
    """Options that name the comments in a file of rows, since an id may have a colon."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "comments.jsonl")
        listed.write_bytes(
            b"\n".join(
                msgspec.json.encode({"article": one, "comment": two}, enc_hook=plain_id) for one, two in work.comments
            )
        )
        yield ForgetOptions(listed=str(listed), same_text=work.same_text)


WORK: Final[Mapping[str, Callable[[bytes], bytes]]] = MappingProxyType(
    {"calibrate": _calibrate, "find": _find, "forget": _forget}
)
"""The operations by name."""
