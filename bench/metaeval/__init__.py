"""Run time of meta-evaluation, beside the same numbers by a loop over SciPy."""
