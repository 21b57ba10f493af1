"""Benchmarks: speed measured, not tested."""
