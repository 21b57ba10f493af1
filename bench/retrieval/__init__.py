"""Speed of finding the most similar articles, beside SciPy, sparse_dot_topn and bm25s."""
