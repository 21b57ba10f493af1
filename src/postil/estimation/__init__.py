"""Mean human grades of systems from few ratings and many scores."""
