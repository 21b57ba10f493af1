"""Metrics of candidates against graded references; `postil.metrics.spec` is the one table of names."""

from postil.earlier import find as __getattr__  # noqa: F401 - names that it had in version 0.2
