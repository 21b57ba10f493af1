"""The pages where people grade texts, and where their lead sees how it goes."""
