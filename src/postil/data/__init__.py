"""Rows, weights and scales, and the files that hold them."""
