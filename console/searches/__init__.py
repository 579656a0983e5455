"""Saved searches: what somebody looks for again, by name."""
