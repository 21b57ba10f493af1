"""Scores of systems against weighted references."""
