"""Human grades from several metrics."""
