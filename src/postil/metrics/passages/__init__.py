"""Measures of passages and their pools."""
