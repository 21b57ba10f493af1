"""Metrics of meaning: the kernel beside matrix products, and whole commands beside tokenization alone."""
