"""The rules of ``Idempotency-Key``, shared by the data plane and the control plane."""

from __future__ import annotations

from typing import Final

KEEP_MS: Final = 24 * 3600 * 1000
# Longer than any request takes: 30 s at the broker plus overhead.
RUNNING_MS: Final = 60_000
MAX_KEY: Final = 255
REPLAYED_HEADER: Final = "Idempotency-Replayed"
MISMATCH: Final = "This key was used for another request in the last 24 hours."
RUNNING: Final = "The first request with this key is still running."


def length_fault(key: str | bytes) -> str | None:
    """Return what is wrong with the length of a key, or None."""
    if 0 < len(key) <= MAX_KEY:
        return None
    return f"The key has {len(key)} characters; it must have 1 to {MAX_KEY}."
