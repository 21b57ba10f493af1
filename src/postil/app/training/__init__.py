"""The journeys of `postil train`."""
