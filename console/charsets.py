"""The charset of a Content-Type: JSON is read as UTF-8 alone (RFC 8259, 8.1). Knows no Django."""

from __future__ import annotations

import re
from typing import Final

_CHARSET: Final = re.compile(r""";[ \t]*charset=(?:"([^"]*)"|([^;\s]*))""", re.IGNORECASE)
_UTF_8: Final = ("utf-8", "utf8")


def charset_fault(content_type: str) -> str | None:
    """Return why a body of JSON with this Content-Type is not read, in words; None if it is UTF-8 or does not say."""
    for quoted, plain in _CHARSET.findall(content_type):
        if (quoted or plain).lower() not in _UTF_8:
            return f"JSON is read as UTF-8; the charset {(quoted or plain)[:60]!r} is not served."
    return None
