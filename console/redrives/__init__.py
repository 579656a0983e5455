"""Redrives: dead letters that jobs have sent again."""
