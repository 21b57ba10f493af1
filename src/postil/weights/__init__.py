"""Plans of which references to grade."""
