"""Definitions: topics, groups, roles, schedules and alert rules as one file."""
