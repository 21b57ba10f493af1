"""Pages that show documents with their best passages highlighted, and an index of several of them."""
