"""The commands of `postil study`: both papers from end to end."""
