"""Agreement and competence of raters."""
