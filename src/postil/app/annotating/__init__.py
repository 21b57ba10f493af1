"""The journeys of `postil annotate`."""
