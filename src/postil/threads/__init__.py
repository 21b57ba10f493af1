"""Threads: orders of an article's comments, what they are made of, and how good they are."""
