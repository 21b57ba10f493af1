"""The journeys of `postil corpus`."""
