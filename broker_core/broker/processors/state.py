"""What a master's slaves ask for beside the log (broker/replication/README.md#state-beside-the-log)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from broker_core.broker.errors import NotMaster
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.replication.failover import Failover
from broker_core.broker.replication.state_book import StateBook
from broker_core.protocol import bodies
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.controller import MetadataChangesRequest, MetadataChangesResponse
from broker_core.remoting.connection import Connection

_LONGEST_WAIT_MS: Final = 10_000


class StateProcessor:
    """Answers 9002."""

    def __init__(self, book: StateBook, failover: Failover, has_begun: Callable[[], bool]) -> None:
        """`has_begun`: this broker knows all that earlier masters left, so that what it lacks is really gone."""
        self._has_begun = has_begun
        self._book = book
        self._failover = failover

    def handlers(self) -> Handlers:
        return {RequestCode.METADATA_CHANGES: self.changes}

    async def changes(self, request: Command, _: Connection) -> Command:
        """Return what changed since an answer; raises NotMaster for another epoch, or a replica that is not known."""
        header = request.header(MetadataChangesRequest)
        self._check(header)
        wait_ms = min(max(header.wait_ms, 0), _LONGEST_WAIT_MS)
        number, state = await self._book.changes(header.broker_id, header.life, header.after, wait_ms)
        self._check(header)
        return Command.response(
            ResponseCode.SUCCESS, MetadataChangesResponse(header.epoch, number), body=bodies.encode(state)
        )

    def _check(self, header: MetadataChangesRequest) -> None:
        replica = self._failover.replica
        if replica.mastership is None or replica.mastership.epoch != header.epoch:
            raise NotMaster(f"this replica is not the master of epoch {header.epoch}")
        if not self._has_begun():
            raise NotMaster("what earlier masters left is not confirmed yet")
        known = None if replica.view is None else replica.view.replicas.get(header.broker_id)
        if known is None or known.life != header.life:
            raise NotMaster(f"life {header.life[:80]} of replica {header.broker_id} is not the one that is registered")
