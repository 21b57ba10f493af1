"""Annotation campaigns: item assignment, the event log, quality control, exports."""
