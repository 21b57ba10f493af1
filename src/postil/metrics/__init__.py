"""Metrics of candidates against graded references; `postil.metrics.spec` is the one table of names."""
