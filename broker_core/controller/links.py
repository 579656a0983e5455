"""The connections over which replicas are heard: told of changes, and asked (controller/README.md#telling-replicas)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from broker_core.protocol import Command
from broker_core.protocol.bodies.controller import NameState, decode_state, encode_state
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.headers.controller import HandOverRequest, NameStateRequest
from broker_core.remoting import Connection, RemotingError

ASK_MS: Final = 1_000
HAND_OVER_MS: Final = 3_000


@dataclass(frozen=True, slots=True)
class _Link:
    life: str
    connection: Connection


class Links:
    """One connection for each replica that is heard; `closed` is called with name, id and life when one closes."""

    def __init__(self, closed: Callable[[str, int, str], None]) -> None:
        self._closed = closed
        self._links: dict[str, dict[int, _Link]] = {}
        self._replicas: dict[Connection, tuple[str, int]] = {}

    def heard(self, name: str, replica: int, life: str, connection: Connection) -> None:
        """Note over which connection a life is heard; a connection is that of one replica, the last it told of."""
        told_before = self._replicas.get(connection)
        if told_before is None:
            connection.on_close(self._forget)
        elif told_before != (name, replica):
            self._remove(*told_before, connection)
        if not connection.is_closing:
            self._replicas[connection] = (name, replica)
            self._links.setdefault(name, {})[replica] = _Link(life, connection)

    def tell(self, state: NameState) -> None:
        """Tell the replicas of a name its state; one that is not told learns it by its heartbeats."""
        text = encode_state(state)
        for link in list(self._links.get(state.name, {}).values()):
            if link.connection.has_room:
                link.connection.send(Command.request(NameStateRequest(state.name), text))

    async def ask_states(self, name: str) -> dict[int, NameState]:
        """Return the states that the replicas of a name tell when they are asked, by id."""
        asked = list(self._links.get(name, {}).items())
        told = await asyncio.gather(*(self._ask_state(name, link.connection) for _, link in asked))
        return {replica: state for (replica, _), state in zip(asked, told, strict=True) if state is not None}

    async def hand_over(self, name: str, master: int, epoch: int, to: int) -> tuple[bool, str | None]:
        """Ask the master to wait until `to` has its end; return whether it has, and why not if the master refuses.

        A master that cannot say has not.
        """
        link = self._links.get(name, {}).get(master)
        if link is None:
            return False, None
        request = Command.request(HandOverRequest(name, epoch, to, HAND_OVER_MS))
        try:
            answer = await link.connection.invoke(request, HAND_OVER_MS + ASK_MS)
        except RemotingError:
            return False, None
        if answer.code in (ResponseCode.SUCCESS, ResponseCode.REQUEST_CODE_NOT_SUPPORTED):
            return answer.code == ResponseCode.SUCCESS, None
        return False, answer.remark or f"the master answered with code {answer.code}"

    async def _ask_state(self, name: str, connection: Connection) -> NameState | None:
        try:
            answer = await connection.invoke(Command.request(NameStateRequest(name)), ASK_MS)
            return decode_state(answer.body) if answer.code == ResponseCode.SUCCESS and answer.body else None
        except (RemotingError, MalformedBody):
            return None

    def _forget(self, closed: Connection) -> None:
        name, replica = self._replicas.pop(closed)
        link = self._remove(name, replica, closed)
        if link is not None:
            self._closed(name, replica, link.life)

    def _remove(self, name: str, replica: int, connection: Connection) -> _Link | None:
        of_name = self._links.get(name, {})
        link = of_name.get(replica)
        if link is None or link.connection is not connection:
            return None
        del of_name[replica]
        if not of_name:
            del self._links[name]
        return link
