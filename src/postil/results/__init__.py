"""Results of every command: one tagged struct each, with tables, files and data frames of it."""
