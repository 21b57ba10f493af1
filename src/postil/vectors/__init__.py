"""Vectors of words and subwords: training, conversion, import."""
