"""The console has words for every action of the audit: its list is what the code can write."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rest_framework.views import APIView

from console.jobs.models import JobType
from tests.support.gantry import ROOT

ACTIONS: Final[list[str]] = json.loads(
    (ROOT / "frontend" / "src" / "testing" / "audit-actions.json").read_text(encoding="utf-8")
)
# What else has a point between two words: files, modules, loggers, messages of ASGI, fields.
_ENDS: Final = frozenset(
    {"conf", "cut", "html", "json", "jsonl", "key", "lock", "new", "part", "properties", "py", "sock", "token", "yml"}
)
_BEGINS: Final = frozenset({"broker_core", "console", "django", "gateway", "http", "websocket"})
_FIELDS: Final = frozenset({"job.state", "limits.max_minutes", "problem.detail", "user.username"})
# What a right was missing for: a request of HTTP, or of the data plane by its own name.
_REQUESTS: Final = ("produce", "receive", "ack", "nack", "extend", "commit", "rollback", "send", "subscribe")


def texts(file: Path) -> Iterator[str]:
    """Yield the texts of a module; `{}` stands for what is filled in."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def is_action(text: str) -> bool:
    noun, _, verb = text.partition(".")
    return (
        re.fullmatch(r"[a-z_]+|{}", noun) is not None
        and re.fullmatch(r"[a-z_]+", verb) is not None
        and verb not in _ENDS
        and noun not in _BEGINS
        and text not in _FIELDS
    )


def written() -> Iterator[str]:
    """Yield every action that the code can write."""
    files = [file for part in ("console", "gateway") for file in (ROOT / part).rglob("*.py")]
    for text in {text for file in files if "migrations" not in file.parts for text in texts(file) if is_action(text)}:
        noun, _, verb = text.partition(".")
        yield from (f"{job}.{verb}" for job in JobType.values) if noun == "{}" else [text]
    yield from (f"access.{method}" for method in {*APIView.http_method_names, *_REQUESTS} - {"trace"})


def test_the_console_knows_every_action_that_is_written() -> None:
    assert sorted({*written()}) == ACTIONS
