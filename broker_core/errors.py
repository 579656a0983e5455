"""The base class of all errors that `broker_core` raises deliberately."""


class GantryError(Exception):
    """A failure that Gantry can name; each package derives its own errors from this class."""
