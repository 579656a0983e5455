"""Migrations of all rooms."""
