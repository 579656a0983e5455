"""Comparing two sides key by key: what each side is, the hashes of its rows, and the verdict on each key."""
