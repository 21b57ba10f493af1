"""Pages: results as one HTML file that opens from disk, and their tables as CSV and LaTeX."""
