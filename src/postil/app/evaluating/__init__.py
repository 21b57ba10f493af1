"""The journey of `postil evaluate`."""
