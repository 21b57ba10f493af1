"""Readers of documents: HTML, Markdown, PDF, wikitext and plain text become blocks of one text, and these passages."""
