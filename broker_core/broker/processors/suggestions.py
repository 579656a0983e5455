"""Where a consumer should pull from next: the master, or a slave (broker/README.md#slave-reads)."""

from __future__ import annotations

import os
from struct import Struct
from typing import Final

from broker_core.broker.config import MASTER_ID, BrokerConfig
from broker_core.broker.groups import Groups
from broker_core.broker.settings import Settings
from broker_core.protocol.record import LOG_OFFSET_AT
from broker_core.store import GetResult, MessageStore

_MEMORY_BYTES: Final = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
_LOG_OFFSET: Final = Struct(">q")


class Suggestions:
    """Decides for each pull, by the settings of its group and by how old the messages are."""

    def __init__(self, *, store: MessageStore, groups: Groups, settings: Settings) -> None:
        self._store = store
        self._groups = groups
        settings.watch(self._follow)

    def _follow(self, config: BrokerConfig) -> None:
        self._is_on = config.replication.slave_read
        self._recent_bytes = _MEMORY_BYTES * config.pulls.in_memory_ratio

    def broker_for(self, group: str, found: GetResult) -> int:
        """Return the id of the broker that the group should ask next, 0 for the master."""
        config = self._groups.find(group) if self._is_on else None
        if config is None:
            return MASTER_ID
        return config.which_broker_when_consume_slowly if self._is_slow(found) else config.broker_id

    def _is_slow(self, found: GetResult) -> bool:
        """Return whether the messages are no longer in memory, if the log is larger than what is kept there."""
        first = found.joined or (found.records[0] if found.records else None)
        if first is None:
            return False
        (log_offset,) = _LOG_OFFSET.unpack_from(first, LOG_OFFSET_AT)
        return bool(self._store.appended_log_offset - log_offset > self._recent_bytes)
