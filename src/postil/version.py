"""The version, which stands in every signature."""

__all__ = ["VERSION"]

VERSION = "0.3.0"
