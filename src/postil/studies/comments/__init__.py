"""The study of article comments."""
