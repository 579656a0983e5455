"""Sends dead letters of a group again; a program of its own, without Spark (redrive/README.md)."""
