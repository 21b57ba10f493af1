"""Speed of building a corpus, beside cutting the same texts into words and nothing else."""
