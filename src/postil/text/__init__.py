"""Tokenization, vocabularies, n-gram units, stemming, synonyms and word vectors."""
