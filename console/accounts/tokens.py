"""The text of tokens: making one, reading one, and what is kept of it."""

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
    """A token that was just made: the only time that its text is known."""

    text: str
    key: str
    digest: str


def make() -> NewToken:
    """Return a new token with 256 bits of chance in it."""
    key = "".join(secrets.choice(_ALPHABET) for _ in range(_KEY_LENGTH))
    text = f"gty_{key}_{secrets.token_urlsafe(32)}"
    return NewToken(text=text, key=key, digest=digest(text))


def find_key(text: str) -> str | None:
    """Return the key by which the token's row is found, or None when `text` is not of the form of a token."""
    match = _FORM.fullmatch(text)
    return None if match is None else match[1]


def digest(text: str) -> str:
    """Return what is kept of a token. Its chance is 256 bits, so a plain hash cannot be searched backwards."""
    return hashlib.sha256(text.encode()).hexdigest()
