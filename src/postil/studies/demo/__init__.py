"""The demonstration on the bundled sample."""
