"""The data plane: produce, and consume by lease, over raw ASGI; no framework on the hot path."""
