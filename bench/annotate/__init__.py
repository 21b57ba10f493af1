"""How many people can grade at once, and whether a grade that was acknowledged can be lost."""
