"""Time that documents take from the file to the highlighted page."""
