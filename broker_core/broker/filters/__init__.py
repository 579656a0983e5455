"""Filters of subscriptions."""
