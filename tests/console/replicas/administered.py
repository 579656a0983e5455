"""An admin client of a name server, without the console's own connections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session


@asynccontextmanager
async def administered(*name_servers: str) -> AsyncIterator[Admin]:
    """Yield what asks the cluster of these name servers."""
    session = Session(ClientConfig(name_servers=name_servers))
    await session.start()
    try:
        yield Admin(session)
    finally:
        await session.close()
