"""Neural networks of the commenters; the only package that imports torch."""
