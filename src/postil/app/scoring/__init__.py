"""The journey of `postil score` and `postil.score`."""
