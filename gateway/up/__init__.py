"""`make up`: everything on one machine, started in order, watched, and stopped together."""
