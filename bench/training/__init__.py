"""How fast generators are trained and how fast they write."""
