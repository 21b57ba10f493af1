"""The commands of `postil corpus`."""
