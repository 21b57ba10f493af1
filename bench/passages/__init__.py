"""How long the measures of passages take, beside a plain reading of their formulas and beside sparse matrices."""
