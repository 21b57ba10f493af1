"""The study of other uses of a corpus."""
