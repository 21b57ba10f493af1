"""Interesting passages of a page: features of passages, linear models of them, and their fits to ratings."""
