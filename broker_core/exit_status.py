"""The exit statuses of broker and name server. After the first, a supervisor need not try again."""

from __future__ import annotations

from typing import Final

REFUSED: Final = 2
"""Settings or files that are refused as they are."""
STORE_LOCKED: Final = 71
PORT_TAKEN: Final = 72
SYSTEM: Final = 74
"""The system refused something, such as a folder that is not mounted yet."""
