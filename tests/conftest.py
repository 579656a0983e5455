"""What holds for every test: quiet logs of the tools that tests use."""

from __future__ import annotations

import logging

logging.getLogger("httpx").setLevel(logging.WARNING)
