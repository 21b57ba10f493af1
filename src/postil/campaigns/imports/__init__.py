"""Exports of other annotation tools."""
