"""Metrics against human ratings: correlations, tests, audits."""
