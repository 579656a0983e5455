"""What a replica in failover mode is asked: by slaves, controllers and tools (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from typing import Final

from broker_core.broker.config import Identity
from broker_core.broker.errors import NotMaster
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.replication.exchange import answer_to, exchange_of
from broker_core.broker.replication.failover import Failover
from broker_core.broker.replication.messages import Heard
from broker_core.broker.replication.rejoin import ends
from broker_core.broker.replication.views import address_of_master
from broker_core.protocol import bodies
from broker_core.protocol.bodies.controller import decode_state, encode_state
from broker_core.protocol.bodies.replicas import (
    EpochEntry,
    EpochEntryCache,
    HaClientRuntimeInfo,
    HaConnectionInfo,
    HaRuntimeInfo,
)
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.controller import HandOverRequest
from broker_core.remoting.connection import Connection

_LONGEST_HAND_OVER_MS: Final = 10_000
_NOBODY: Final = -1
"""The controller of a pushed state: what it tells does not depend on who it is, and nobody knows how old it is."""


class ReplicaProcessor:
    """Answers 906, 907, 1007, 1008 and 9001, and what controllers ask: 9001 and 9003."""

    def __init__(self, failover: Failover, identity: Identity) -> None:
        self._failover = failover
        self._identity = identity

    def handlers(self) -> Handlers:
        return {
            RequestCode.EXCHANGE_BROKER_HA_INFO: self.exchange,
            RequestCode.GET_BROKER_HA_STATUS: self.ha_status,
            RequestCode.GET_BROKER_EPOCH_CACHE: self.epochs,
            RequestCode.NOTIFY_BROKER_ROLE_CHANGED: self.role_changed,
            RequestCode.NAME_STATE: self.state,
        }

    def of_controllers(self) -> Handlers:
        """Return what controllers ask, over the connections that this broker opened to them."""
        return {RequestCode.NAME_STATE: self.pushed, RequestCode.HAND_OVER: self.hand_over}

    def exchange(self, request: Command, _: Connection) -> Command:
        """Tell a slave whether it may open a stream, and from where it can have the log."""
        asked = exchange_of(request)
        if asked is None:
            return Command.response(
                ResponseCode.ILLEGAL_OPERATION,
                remark="this broker speaks to replicas of its own kind only: the request names no replica and no epoch",
            )
        return answer_to(self._failover.exchange(asked))

    def epochs(self, _request: Command, _: Connection) -> Command:
        """Return the epochs of the log with where each ends."""
        store = self._failover.log
        starts = store.epochs
        entries = [
            EpochEntry(each.number, each.start, end) for each, end in zip(starts, ends(starts, store.end), strict=True)
        ]
        name = self._identity
        broker_id = self._failover.replica.identity.broker_id
        body = EpochEntryCache(name.cluster, name.name, broker_id, entries, store.end)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def ha_status(self, _request: Command, _: Connection) -> Command:
        """Return what a master knows of the replicas that are connected, or what another one has of the log."""
        replica, end = self._failover.replica, self._failover.log.end
        mastership = replica.mastership
        if mastership is None:
            master = address_of_master(replica.view) if replica.view is not None else None
            status = HaRuntimeInfo(master=False, ha_client_runtime_info=HaClientRuntimeInfo(master or "", end))
            return Command.response(ResponseCode.SUCCESS, body=bodies.encode(status))
        states = self._failover.slaves.states(end, mastership.acks())
        members = [
            HaConnectionInfo(
                addr=each.peer,
                slave_ack_offset=each.ack.log_offset,
                diff=each.lag,
                in_sync=each.ack.is_in_sync,
                transferred_byte_in_second=each.bytes_per_second,
                transfer_from_where=each.began_at,
                broker_id=each.ack.broker_id,
            )
            for each in states
        ]
        status = HaRuntimeInfo(True, end, sum(each.in_sync for each in members), members)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(status))

    def role_changed(self, _request: Command, _: Connection) -> Command:
        """Ask the controllers now: a hint that there is a newer state, which alone decides."""
        self._failover.look()
        return Command.response(ResponseCode.SUCCESS)

    def pushed(self, request: Command, connection: Connection) -> Command | None:
        """Take a state that a controller pushes; without one return the newest that this replica knows."""
        if not request.body:
            return self.state(request, connection)
        self._failover.heard(Heard(_NOBODY, float("-inf"), state=decode_state(request.body)))
        return None

    def state(self, request: Command, _: Connection) -> Command:
        """Return the newest state that this replica knows. One that is sent along is not believed: anybody may ask."""
        if request.body:
            return Command.response(
                ResponseCode.ILLEGAL_OPERATION,
                remark="a state of a broker name is taken from a controller only, over a connection to it",
            )
        view = self._failover.replica.view
        if view is None:
            raise NotMaster("this replica has not heard of a state of its name yet")
        return Command.response(ResponseCode.SUCCESS, body=encode_state(view))

    async def hand_over(self, request: Command, _: Connection) -> Command:
        """Take no more messages, and answer when another replica has all; sends go on if it is not elected then."""
        header = request.header(HandOverRequest)
        if header.epoch != self._failover.replica.epoch:
            raise NotMaster(f"the epoch here is {self._failover.replica.epoch}, not {header.epoch}")
        timeout_ms = min(header.timeout_ms, _LONGEST_HAND_OVER_MS)
        why_not = await self._failover.hand_over(header.to_broker_id, timeout_ms)
        if why_not is not None:
            raise NotMaster(why_not)
        return Command.response(ResponseCode.SUCCESS)
