"""WebSocket tickets: valid for a minute and one handshake, so that no token has to appear in a URL."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

import orjson
import redis

from console.errors import RedisUnreachable
from console.redis_client import loop_store, store

KEEP_SECONDS: Final = 60
_KEY: Final = "gantry:ticket:"
_MAX_LENGTH: Final = 64


@dataclass(frozen=True, slots=True)
class Ticket:
    """Who asked for the ticket: a user, and the token or the session of the request."""

    user_id: int
    token_id: int | None
    session: str | None = None


def make(ticket: Ticket) -> str:
    """Keep the ticket for a minute; return its text. Raises RedisUnreachable."""
    text = secrets.token_urlsafe(32)
    try:
        store().set(_KEY + text, orjson.dumps([ticket.user_id, ticket.token_id, ticket.session]), ex=KEEP_SECONDS)
    except redis.RedisError as error:
        raise RedisUnreachable from error
    return text


async def redeem(text: str) -> Ticket | None:
    """Return the holder of the ticket and invalidate it; None if it was used, has expired or never existed."""
    if not text or len(text) > _MAX_LENGTH:
        return None
    async with loop_store() as here:
        kept = await here.getdel(_KEY + text)
    if kept is None:
        return None
    return Ticket(*orjson.loads(kept))
