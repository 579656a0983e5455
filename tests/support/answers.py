"""What a test reads of an answer of Django's test client."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync


def streamed(answer: Any) -> bytes:
    """Return all of an answer that is sent in pieces, which must not have to be in memory at once."""
    assert answer.is_async

    async def joined() -> bytes:
        return b"".join([part async for part in answer.streaming_content])

    return async_to_sync(joined)()
