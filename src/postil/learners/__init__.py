"""Learners on arrays: logistic regression and boosted trees, kept as arrays."""
