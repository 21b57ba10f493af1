"""Pages of annotators and leads."""
