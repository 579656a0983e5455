"""A digest of an account's secret, by which brokers can be compared without anybody being told a secret."""

from __future__ import annotations

import hashlib
import hmac


def secret_digest(nonce: str, access_key: str, secret: str) -> str:
    """Return a text that is the same for the same account, secret and nonce alone.

    Whoever sees digests without their nonce cannot try secrets with them.
    """
    return hmac.new(nonce.encode(), f"{access_key}\0{secret}".encode(), hashlib.sha256).hexdigest()
