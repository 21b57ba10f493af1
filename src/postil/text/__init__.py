"""Tokenization, vocabularies, n-gram units, stemming, synonyms and word vectors."""

from postil.earlier import find as __getattr__  # noqa: F401 - names that it had in version 0.2
