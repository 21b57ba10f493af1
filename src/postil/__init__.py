"""Reference-based evaluation with quality-weighted references, and meta-evaluation against human ratings.

>>> import postil
>>> result = postil.score(
...     ["the cat sat on the mat", "a dog"],
...     [["the cat sat on a mat", "the cat lay there"], ["a dog barked", "dogs bark"]],
...     weights=[[1.0, 0.5], [0.75, 0.25]],
...     metrics=["rouge-l", "w-rouge-l"],
... )
>>> {spec: round(score, 4) for spec, score in result.corpus.items()}
{'rouge-l': 0.8027, 'w-rouge-l': 0.7062}

Names are loaded when they are first used, so that ``import postil`` stays light. Those of a capability stand in its
folder; type checkers read all of them in ``__init__.pyi``, which ``tools/write_stub.py`` writes.
"""

from __future__ import annotations

import sys
from importlib import import_module

from postil.version import VERSION as __version__  # noqa: F401, N811 - the name that Python gives it

_HOMES = {
    "postil.data.grades": "Scale",
    "postil.data.rows": "Article Comment",
    "postil.errors": "InvalidInput PostilError Undefined UsageError",
    "postil.metrics.background": "DocumentFrequencies",
    "postil.metrics.controls": "ControlOptions",
    "postil.metrics.result": "ScoreResult",
    "postil.metrics.spec": "parse_metric register_metric",
    "postil.results.base": "Result read_result",
    "postil.results.json_schema": "results_schema",
    "postil.text.tokenizers": "tokenizer",
}
"""Public names of what is below the capabilities, by module."""

_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    if name in _MODULES:
        value: object = getattr(import_module(_MODULES[name]), name)
    elif name.startswith("_"):
        raise AttributeError(f"module 'postil' has no attribute '{name}'")
    else:
        from postil.capabilities import public  # noqa: PLC0415 - most programs use a few names

        try:
            value = public(name)
        except KeyError:
            raise AttributeError(f"module 'postil' has no attribute '{name}'") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from postil.capabilities import public_names  # noqa: PLC0415 - see above

    return sorted(("__version__", *_MODULES, *public_names()))


class _Earlier:
    """Finder of modules of version 0.2, asked where no other one finds them."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> object:  # noqa: ARG004 - see importlib
        """See `importlib.abc.MetaPathFinder`."""
        if not name.startswith("postil."):
            return None
        from postil.earlier import spec  # noqa: PLC0415 - few ask for them

        return spec(name)


sys.meta_path.append(_Earlier)  # type: ignore[arg-type]
