"""The text of tokens: creating it, parsing it, and the hash that is stored."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Final

_FORM: Final = re.compile(r"gty_([a-z0-9]{12})_[A-Za-z0-9_-]{32,64}")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_KEY_LENGTH: Final = 12


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token: its text is known only now."""

    text: str
    key: str
    digest: str


def make() -> NewToken:
    """Return a new token with 256 random bits."""
    key = "".join(secrets.choice(_ALPHABET) for _ in range(_KEY_LENGTH))
    text = f"gty_{key}_{secrets.token_urlsafe(32)}"
    return NewToken(text=text, key=key, digest=digest(text))


def find_key(text: str) -> str | None:
    """Return the key that finds the token's row, or None if `text` does not have the form of a token."""
    match = _FORM.fullmatch(text)
    return None if match is None else match[1]


def digest(text: str) -> str:
    """Return the hash that is stored for a token. It has 256 random bits, so a plain hash cannot be reversed."""
    return hashlib.sha256(text.encode()).hexdigest()
