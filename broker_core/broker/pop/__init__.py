"""Leased consumption: a message is lent to whoever asks, and comes again unless it is acknowledged in time."""
