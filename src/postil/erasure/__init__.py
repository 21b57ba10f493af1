"""Erasure of comments from models, corpora and answers."""
