"""Corpora of articles with comments: imports, builds, statistics."""
