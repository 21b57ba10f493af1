"""Filters of suggestions that are worth showing, learned from labels."""
