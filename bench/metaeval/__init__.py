"""How long judging metrics against people takes, beside the same numbers by a loop over SciPy."""
