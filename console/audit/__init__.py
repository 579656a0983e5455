"""Room: the record of every change."""
