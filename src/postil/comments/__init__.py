"""Commenters: what suggests comments on an article."""
