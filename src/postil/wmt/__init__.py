"""Metrics of a WMT test set against its human scores."""
