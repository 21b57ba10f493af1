"""Rankings of graded passages: pools, nCG, summaries."""
