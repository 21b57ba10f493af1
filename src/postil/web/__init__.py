"""Campaign server: pages of annotators and leads."""
