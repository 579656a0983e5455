"""The begin of an epoch on this replica's disk, as soon as that has room (broker/replication/README.md#a-full-disk)."""

from __future__ import annotations

from typing import Final

from broker_core.broker.replication.replica_store import ReplicaStore
from broker_core.broker.replication.retrying import Retrying
from broker_core.store.errors import StoreFull

_FIRST_RETRY_SECONDS: Final = 0.2
_MOST_RETRY_SECONDS: Final = 2.0


class TakingOver:
    """Begins an epoch, and knows when to try again where the disk had no room for that."""

    def __init__(self, store: ReplicaStore) -> None:
        self._store = store
        self._retrying = Retrying(_FIRST_RETRY_SECONDS, _MOST_RETRY_SECONDS)
        self.trouble = ""
        """Why the epoch that this replica was elected for has not begun, for people; empty without one."""

    def begin(self, epoch: int, now: float) -> bool:
        """Finish the log and write down that an epoch begins; return whether it is. Raises StoreError for good."""
        store = self._store
        try:
            store.finish_tail()
            store.roll_epoch(epoch, store.end if store.epochs else store.begin)
        except StoreFull as error:
            self.trouble = f"epoch {epoch} cannot begin here: {error}"
            self._retrying.failed(now)
            return False
        self.forget()
        return True

    def is_due(self, now: float) -> bool:
        """Tell whether to try again what failed."""
        return bool(self.trouble) and self._retrying.is_due(now)

    def forget(self) -> None:
        """Note that there is nothing to try again."""
        self.trouble = ""
        self._retrying.worked()
