"""Says in the log why a replica does not do its part: once for each reason, and when it does again."""

from __future__ import annotations

from typing import Final

from broker_core.broker.replication.replica import Replica
from broker_core.logs import get_logger

_log: Final = get_logger(__name__)


class TroubleLog:
    """Looks at a replica again and again."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self._said = ""

    def look(self, end: int) -> None:
        """Say what has changed; `end` is where the log ends."""
        trouble, following = self._replica.trouble, self._replica.following
        if trouble:
            self._say(trouble)
        elif following is None or not self._said:
            self._said = ""
        elif following.is_following:
            self._said = ""
            _log.info("master=%s: followed, the log ends at %d", following.target.ha, end)

    def _say(self, trouble: str) -> None:
        if trouble == self._said:
            return
        self._said, following = trouble, self._replica.following
        if self._replica.held is not None:
            return  # it is said where it happens
        if following is not None:
            _log.warning("master=%s: not followed: %s", following.target.ha, trouble)
        elif self._replica.taking_over.trouble:
            _log.error("replica: elected, but it waits for room on its disk: %s", trouble)
