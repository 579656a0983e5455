"""Leased consumption: a message is leased to a client, and delivered again unless it is acknowledged in time."""
