"""Screens learned from moderators' decisions, beside other ways to screen."""
