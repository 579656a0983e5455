"""The requests that the broker serves: one file per subject, named as in `protocol/headers`.

A processor takes its dependencies by keyword; `handlers()` maps each request code to one of its methods. Handlers on
the hot path are plain functions; they refuse a request by raising an error, which `answers.py` translates.
"""
