"""Readers of documents: HTML, Markdown, PDF, wikitext and plain text become blocks of one text, and these passages."""

from __future__ import annotations

from postil.documents.passages import DocumentPassage, document_passages
from postil.documents.reading import DocumentKind, kind_of, read_document

__all__ = ["DocumentKind", "DocumentPassage", "document_passages", "kind_of", "read_document"]
