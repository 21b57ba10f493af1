"""Readers and writers of other people's files, one format a file."""
