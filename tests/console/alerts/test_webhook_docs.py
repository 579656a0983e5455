"""Requirement of the documentation: what it gives receivers of webhooks accepts our signatures, and no others."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from console.alerts.webhook import Posting

DOCS = Path(__file__).resolve().parents[3] / "docs/http-api.md"


def test_the_documented_receiver_knows_a_genuine_body() -> None:
    (code,) = re.findall(r"```python\n(import hashlib\n.*?)```", DOCS.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    is_genuine, now = names["is_genuine"], int(time.time())
    sent = Posting("https://example.org/hook", ("choose one", "former"), b'{"event": "test"}', "d1", "test")
    header = sent.headers(now)["Gantry-Signature"]
    assert is_genuine("choose one", header, sent.body)
    assert is_genuine("former", header, sent.body)
    assert not is_genuine("another", header, sent.body)
    assert not is_genuine("choose one", header, sent.body + b" ")
    assert not is_genuine("choose one", sent.headers(now - 600)["Gantry-Signature"], sent.body)
