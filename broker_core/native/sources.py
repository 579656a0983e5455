"""The sources of the compiled functions, and a digest of them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).parent / "src"


def sources_digest() -> str:
    """Return a word that changes with the sources; a compiled file states that of its own."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
