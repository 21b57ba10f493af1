"""Splitters of sentences, compared on texts that were split by hand."""
