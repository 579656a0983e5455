"""The replicas of broker names, and their controllers in the name servers (controller/README.md#wire)."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Final

from broker_core.client.admin.requests import AdminRequests
from broker_core.client.answers import Answers
from broker_core.client.errors import (
    BrokerRefused,
    ClientError,
    MalformedAnswer,
    NotSupported,
    TimedOut,
    Unreachable,
)
from broker_core.protocol import fastjson
from broker_core.protocol.bodies.controller import NameState, decode_state
from broker_core.protocol.bodies.replicas import (
    BrokerReplicasInfo,
    ControllerInfo,
    EpochEntryCache,
    HaRuntimeInfo,
    Preview,
    ReplicasInfo,
)
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers import controller as headers
from broker_core.protocol.headers.replication import GetBrokerHaStatusRequest

__all__ = ["ControllerStatus", "KnownState", "Replication"]

_HAND_OVER_MS: Final = 10_000
"""A master may take seconds to let its successor catch up."""
_STATE_MS: Final = 2_000
_NEXT_SECONDS: Final = 0.5
"""How long one controller may be silent before the others are asked as well."""


@dataclass(frozen=True, slots=True)
class ControllerStatus:
    """A controller: whether it leads, who does as far as it knows, and what it tells of its engine."""

    is_leading: bool
    leader: str | None
    info: ControllerInfo


@dataclass(frozen=True, slots=True)
class KnownState:
    """The state of a name, and what the controller that told it thinks of it."""

    state: NameState
    is_set_back: bool
    stuck: str | None
    """Why it has no master and gets none by itself; None if it has or can have one."""
    age_ms: int


class Replication:
    """Asks the leading controller, or any other where that is enough.

    All methods raise NotSupported if no name server hosts a controller, Unreachable, and BrokerRefused with one of the
    codes 2000 to 2014.
    """

    def __init__(self, requests: AdminRequests) -> None:
        self._requests = requests
        self._first: str | None = None

    async def controllers(self, *, timeout_ms: int | None = None) -> Answers[ControllerStatus]:
        """Return all controllers by their addresses; a name server that hosts none is a failed answer."""
        return await self._requests.ask_each(self._addresses(), lambda addr: self._status(addr, timeout_ms))

    async def in_sync(
        self, names: list[str] | None = None, *, by: str | None = None, timeout_ms: int | None = None
    ) -> dict[str, ReplicasInfo]:
        """Return masters and replicas of these broker names, or of all (1006); a name that is unknown is left out.

        A controller tells what it read last, however long ago; `by` is the address of one that knows better.
        """
        asked = fastjson.dumps_strict(names) if names is not None else b""
        header = headers.GetSyncStateDataRequest()
        if by is None:
            address, answer = await self._ask(header, asked, timeout_ms=timeout_ms)
        else:
            address, answer = by, await self._requests.ask(by, header, asked, timeout_ms=timeout_ms)
        return self._requests.decode(BrokerReplicasInfo, answer, address).replicas_info_table

    async def state(self, name: str) -> KnownState:
        """Return the whole state of a broker name (9001); raise TimedOut if no controller tells it within 2 s."""
        address, answer = await self._ask_soon(headers.NameStateRequest(name))
        told = self._requests.read(headers.NameStateResponse, answer, address)
        return KnownState(_state_in(answer, address), told.set_back, told.stuck, told.age_ms)

    async def told_by(self, broker: str, name: str, *, timeout_ms: int | None = None) -> NameState:
        """Return the newest state of its name that the replica at an address knows (9001), without any controller."""
        answer = await self._requests.ask(broker, headers.NameStateRequest(name), timeout_ms=timeout_ms)
        return _state_in(answer, broker)

    async def elect(self, name: str, replica: int | None = None) -> headers.ElectMasterResponse:
        """Make a replica master, or any that can be where there is no living master (1002)."""
        address, answer = await self._ask(_election(name, replica), timeout_ms=_HAND_OVER_MS)
        return self._requests.read(headers.ElectMasterResponse, answer, address)

    async def preview_election(self, name: str, replica: int | None = None) -> Preview:
        """Return what `elect` would do."""
        return await self._preview(_election(name, replica, dry_run=True))

    async def remove(
        self, name: str, replicas: list[int], *, even_living: bool = False, forced: bool = False, dry_run: bool = False
    ) -> Preview:
        """Forget replicas (1011); `forced` even the last that has every acknowledged message."""
        ids = ";".join(map(str, replicas))
        header = headers.CleanBrokerDataRequest(
            name, None, ids, is_clean_living_broker=even_living, forced=forced, dry_run=dry_run
        )
        return await self._preview(header)

    async def set_policy(
        self, name: str, *, min_in_sync: int | None = None, unclean_allowed: bool | None = None, dry_run: bool = False
    ) -> Preview:
        """Change what operators decide for a name (9004); None stays as it is."""
        return await self._preview(headers.SetReplicaPolicyRequest(name, min_in_sync, unclean_allowed, dry_run=dry_run))

    async def accept_loss(self, name: str, replica: int, *, dry_run: bool = False) -> Preview:
        """Make a replica master that may lack acknowledged messages (9005)."""
        return await self._preview(headers.AcceptLossRequest(name, replica, dry_run=dry_run))

    async def adopt(self, name: str, cluster: str, replicas: list[int], *, dry_run: bool = False) -> Preview:
        """Go on from a state that was set back, with these replicas as the in-sync set (9006)."""
        ids = ";".join(map(str, replicas))
        return await self._preview(headers.AdoptStateRequest(name, cluster, ids, dry_run=dry_run))

    async def epochs(self, broker: str, *, timeout_ms: int | None = None) -> EpochEntryCache:
        """Return the epochs of the log of the broker at an address (1007)."""
        header = headers.GetBrokerEpochCacheRequest()
        return await self._requests.ask_for(EpochEntryCache, broker, header, timeout_ms=timeout_ms)

    async def streams(self, broker: str, *, timeout_ms: int | None = None) -> HaRuntimeInfo:
        """Return who copies the log of the broker at an address, or whose log it copies (907)."""
        return await self._requests.ask_for(HaRuntimeInfo, broker, GetBrokerHaStatusRequest(), timeout_ms=timeout_ms)

    async def _preview(self, header: object) -> Preview:
        address, answer = await self._ask(header)
        return self._requests.decode(Preview, answer, address)

    async def _status(self, address: str, timeout_ms: int | None) -> ControllerStatus:
        answer = await self._requests.ask(address, headers.GetMetadataInfoRequest(), timeout_ms=timeout_ms)
        told = self._requests.read(headers.GetMetadataInfoResponse, answer, address)
        info = self._requests.decode(ControllerInfo, answer, address)
        return ControllerStatus(told.is_leader, told.controller_leader_address or None, info)

    async def _ask(self, header: object, body: bytes = b"", *, timeout_ms: int | None = None) -> tuple[str, Command]:
        """Return the first controller that can answer, from the one that answered last on, and its answer."""
        failure: ClientError = Unreachable("name servers", "none configured")
        for address in self._in_turn():
            try:
                answer = await self._requests.ask(address, header, body, timeout_ms=timeout_ms)
            except (Unreachable, NotSupported) as error:
                failure = _worse(failure, error)
            except BrokerRefused as error:
                if error.code != ResponseCode.CONTROLLER_NOT_LEADER:
                    raise
                failure = error
            else:
                self._first = address
                return address, answer
        raise failure

    async def _ask_soon(self, header: object) -> tuple[str, Command]:
        """Return the same of a question that changes nothing: a controller that is silent keeps no other back."""
        go_on, addresses = asyncio.Event(), self._in_turn()

        async def ask(address: str) -> tuple[str, Command]:
            if address != addresses[0]:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(go_on.wait(), _NEXT_SECONDS)
            return address, await self._requests.ask(address, header, timeout_ms=_STATE_MS)

        failure: ClientError = Unreachable("name servers", "none configured")
        tasks = [asyncio.create_task(ask(each)) for each in addresses]
        try:
            async with asyncio.timeout(_STATE_MS / 1000):
                for first in asyncio.as_completed(tasks):
                    try:
                        found = await first
                    except (Unreachable, NotSupported, BrokerRefused) as error:
                        failure = _unless_told(failure, error)
                        go_on.set()
                    else:
                        self._first = found[0]
                        return found
        except TimeoutError:
            late = TimedOut(", ".join(addresses), _STATE_MS)
            late.at_name_server = True
            raise _worse(failure, late) from None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        raise failure

    def _in_turn(self) -> list[str]:
        return sorted(self._addresses(), key=lambda each: each != self._first)

    def _addresses(self) -> tuple[str, ...]:
        return self._requests.session.name_servers.addresses


def _state_in(answer: Command, address: str) -> NameState:
    try:
        return decode_state(answer.body)
    except ProtocolError as error:
        raise MalformedAnswer(address, str(error)) from error


def _election(name: str, replica: int | None, *, dry_run: bool = False) -> headers.ElectMasterRequest:
    return headers.ElectMasterRequest(
        broker_name=name,
        broker_id=-1 if replica is None else replica,
        designate_elect=replica is not None,
        dry_run=dry_run,
    )


def _unless_told(failure: ClientError, error: ClientError) -> ClientError:
    """Return the failure that tells more; raise a refusal that every controller would give."""
    if not isinstance(error, BrokerRefused) or isinstance(error, NotSupported):
        return _worse(failure, error)
    if error.code != ResponseCode.CONTROLLER_NOT_LEADER:
        raise error
    return error


def _worse(one: ClientError, other: ClientError) -> ClientError:
    """Return the failure that tells more: a refusal of a controller before one that there is none."""
    is_refusal = isinstance(one, BrokerRefused) and not isinstance(one, NotSupported)
    return one if is_refusal else other
