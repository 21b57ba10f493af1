"""The outcome of every command: one tagged struct each, which is what Python gets and what JSON holds.

The structs of a kind have a module, which is loaded when one of its names is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from postil.records.results.base import Backend, Result, Views, register_views, replace, to_json
from postil.records.results.kinds import MODULE_OF as _MODULE_OF

if TYPE_CHECKING:
    from postil.records.results.agreement import *  # noqa: F403
    from postil.records.results.audit import *  # noqa: F403
    from postil.records.results.budget import *  # noqa: F403
    from postil.records.results.calibration import *  # noqa: F403
    from postil.records.results.combination import *  # noqa: F403
    from postil.records.results.commenters import *  # noqa: F403
    from postil.records.results.comparison import *  # noqa: F403
    from postil.records.results.corpus import *  # noqa: F403
    from postil.records.results.correlation import *  # noqa: F403
    from postil.records.results.correlations import *  # noqa: F403
    from postil.records.results.estimate import *  # noqa: F403
    from postil.records.results.forget import *  # noqa: F403
    from postil.records.results.interest import *  # noqa: F403
    from postil.records.results.interleaving import *  # noqa: F403
    from postil.records.results.judge import *  # noqa: F403
    from postil.records.results.length import *  # noqa: F403
    from postil.records.results.parts import *  # noqa: F403
    from postil.records.results.passages import *  # noqa: F403
    from postil.records.results.plan import *  # noqa: F403
    from postil.records.results.preferences import *  # noqa: F403
    from postil.records.results.quality import *  # noqa: F403
    from postil.records.results.score import *  # noqa: F403
    from postil.records.results.service import *  # noqa: F403
    from postil.records.results.study import *  # noqa: F403
    from postil.records.results.threads import *  # noqa: F403
    from postil.records.results.training import *  # noqa: F403
    from postil.records.results.vectors import *  # noqa: F403
    from postil.records.results.weights_plan import *  # noqa: F403
    from postil.records.results.wmt import *  # noqa: F403

__all__ = ["Backend", "Result", "Views", "register_views", "replace", "to_json"]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)
