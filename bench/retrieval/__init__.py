"""How fast the most similar articles are found, beside SciPy, sparse_dot_topn and bm25s."""
