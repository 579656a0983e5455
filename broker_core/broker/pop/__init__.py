"""Leased consumption: a message is lent to a client, and delivered again unless it is acknowledged in time."""
