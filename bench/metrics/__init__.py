"""Speed of the metrics, beside the packages that compute the same numbers."""
