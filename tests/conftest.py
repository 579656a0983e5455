"""What holds for every test: quiet logs of the tools that tests use."""

from __future__ import annotations

import logging

logging.getLogger("httpx").setLevel(logging.WARNING)
# It speaks when the interpreter ends, after pytest has closed what it would write to.
logging.getLogger("py4j").setLevel(logging.WARNING)
