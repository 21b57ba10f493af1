"""Readers of documents, one format a file: the name of the file is that of the format."""
