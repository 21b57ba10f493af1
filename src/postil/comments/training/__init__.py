"""Training of commenters: `postil train`."""
