"""The journey of `postil correlate` and `postil.correlate`."""
