"""The root of every error that `broker_core` raises on purpose."""


class GantryError(Exception):
    """Something that Gantry can name went wrong; each package derives its own tree from this."""
