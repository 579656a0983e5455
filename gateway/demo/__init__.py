"""`make demo`: fills a running Gantry with life, through its public API and the Python client alone."""
