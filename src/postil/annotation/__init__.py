"""Grading by people: who grades what, where the grades are kept, and how they come out."""
