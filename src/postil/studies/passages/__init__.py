"""The study of interesting passages."""
