"""Training of commenters and of models of interest."""
