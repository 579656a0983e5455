"""Commands: ``sampler``, ``bootstrap``, ``create_token``."""
