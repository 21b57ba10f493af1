"""Exact search of an index by similarity."""
