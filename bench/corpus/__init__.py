"""How fast a corpus is built, beside cutting the same texts into words and nothing else."""
