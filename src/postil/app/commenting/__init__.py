"""The journeys of `postil comment` and `postil rank-comments`."""
