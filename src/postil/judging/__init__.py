"""Language models as judges: prompts with graded examples, and grades read from probabilities or samples."""
