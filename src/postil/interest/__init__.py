"""Interesting passages of documents."""
