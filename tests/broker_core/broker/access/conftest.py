"""A started broker with access control."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.protocol.signature import Credentials
from tests.support.broker import Wire, started

ADMIN = Credentials("administrator", "secret-of-admin")
PRODUCER = Credentials("producer-account", "secret-of-producer")
CONSUMER = Credentials("consumer-account", "secret-of-consumer")
STRANGER = Credentials("stranger-account", "secret-of-stranger")

FILE = """\
accounts:
- {accessKey: administrator, secretKey: secret-of-admin, admin: true}
- {accessKey: producer-account, secretKey: secret-of-producer, topicPerms: [orders=PUB]}
- {accessKey: consumer-account, secretKey: secret-of-consumer, topicPerms: [orders=SUB], groupPerms: [billing=SUB]}
- {accessKey: stranger-account, secretKey: secret-of-stranger}
"""


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Wire]:
    """A broker with the topic orders; its client signs as the administrator."""
    config = tmp_path / "store" / "config"
    config.mkdir(parents=True)
    (config / "plain_acl.yml").write_text(FILE)
    async with started(tmp_path / "store", access_control=True) as wire:
        wire.credentials = ADMIN
        await wire.create_topic("orders")
        yield wire
