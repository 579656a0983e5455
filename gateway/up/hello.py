"""The topic that the printed curl line sends to: made once, so that the line works as pasted."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

from gateway.up.config import UpConfig
from gateway.up.first_run import TOKEN_FILE

TOPIC = "hello"
_CREATED, _EXISTS_ALREADY = 201, 409


def ensure_topic(config: UpConfig) -> str | None:
    """Create the topic unless it is there; return None, or what went wrong."""
    token = (config.data / TOKEN_FILE).read_text(encoding="ascii").strip()
    request = urllib.request.Request(  # noqa: S310 - our own http address
        f"{config.console_url}/api/v1/clusters/local/topics",
        data=json.dumps({"name": TOPIC}).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - the same
            return None if answer.status == _CREATED else f"status {answer.status}"
    except urllib.error.HTTPError as error:
        return None if error.code == _EXISTS_ALREADY else error.read(2000).decode(errors="replace")
    except OSError as error:
        return str(error)
