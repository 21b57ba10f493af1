"""The journeys of `postil study`: both papers from end to end."""
