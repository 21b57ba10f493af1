"""Meta-evaluation: metrics against human ratings, and agreement of the ratings."""
