"""Comparison of systems by scores, choices and clicks."""
