"""Options that several commands share; a command's own class extends these."""

from __future__ import annotations

from typing import Annotated

from postil.options import Flag, options

__all__ = ["EngineOptions", "PluginOptions", "ResamplingOptions", "SeedOptions", "ThreadOptions"]


@options
class SeedOptions:
    """Options of what draws at random.

    Args:
        seed: Random seed.
    """

    seed: Annotated[int, Flag(min=0)] = 20181


@options
class ThreadOptions:
    """Options of what runs in threads.

    Args:
        jobs: Number of threads; the numbers do not depend on it.
    """

    jobs: Annotated[int, Flag(("--jobs", "-j"), min=1)] = 1


@options
class EngineOptions(ThreadOptions):
    """Options of what can run on a cluster.

    Args:
        engine: Engine that does the work: local or ray; the results do not depend on it.
        address: Address of a running Ray cluster, or auto, with --engine ray.
    """

    engine: Annotated[str, Flag(metavar="NAME")] = "local"
    address: Annotated[str | None, Flag(metavar="ADDRESS")] = None


@options
class PluginOptions:
    """Options of what can score by own metrics.

    Args:
        plugins: Python code with own metrics to import: a .py file, or the name of a module; repeatable.
    """

    plugins: Annotated[tuple[str, ...], Flag(("--plugin",), metavar="MODULE")] = ()


@options
class ResamplingOptions(SeedOptions):
    """Options of intervals and tests.

    Args:
        resamples: Number of resamples of the items, for confidence intervals.
        permutations: Number of permutations, for tests.
    """

    resamples: Annotated[int, Flag(min=1)] = 1000
    permutations: Annotated[int, Flag(min=1)] = 10_000
