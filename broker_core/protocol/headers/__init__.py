"""The header of every request and response, one file per subject."""
