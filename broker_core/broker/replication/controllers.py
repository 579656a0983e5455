"""The connections of a replica to all of its controllers (broker/replication/README.md#the-rim).

A heartbeat goes to every controller over a connection of its own, and one that does not answer delays no other: each
has its own task, which tells the newest heartbeat when the one before is answered or given up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from broker_core.broker.replication.controller_words import (
    Place,
    answered,
    command_request,
    heard,
    heartbeat_request,
)
from broker_core.broker.replication.messages import Answered, Ask, Heard, Hold, NextId, Outcome, Register, SendHeartbeat
from broker_core.logs import get_logger
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.errors import RemotingError

_BEAT_TIMEOUT_MS: Final = 1_000
_COMMAND_TIMEOUT_MS: Final = 5_000
_SAY_AGAIN_SECONDS: Final = 600.0
"""A replica that controllers refuse asks for ever; the same refusal is told again after so long."""

_log: Final = get_logger(__name__)


class Told(Protocol):
    """Who takes what controllers tell."""

    def heard(self, message: Heard) -> None:
        """Take an answer to a heartbeat, or a pushed state."""

    def answered(self, message: Answered) -> None:
        """Take the answer to a command."""


class Controllers:
    """Asks controllers, and tells what they say."""

    def __init__(
        self,
        addresses: Sequence[str],
        place: Place,
        told: Told,
        make_client: Callable[[], RemotingClient],
        clock: Callable[[], float],
    ) -> None:
        """The clients that `make_client` returns serve what controllers ask over the same connections."""
        self._place = place
        self._told = told
        self._clock = clock
        self._links = [_Link(number, address, make_client(), self.beat) for number, address in enumerate(addresses)]
        self._refusal = ""
        self._said_at = 0.0
        self._commands: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Tell heartbeats until cancelled; then close the connections."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for link in self._links:
                    tasks.create_task(link.run(), name=f"controller {link.address}")
        finally:
            for task in self._commands:
                task.cancel()
            await asyncio.gather(*(link.client.close() for link in self._links))

    def send(self, beat: SendHeartbeat) -> None:
        """Tell every controller a heartbeat; one that has not answered the last one gets only the newest."""
        for link in self._links:
            link.want(beat)

    def ask(self, ask: Ask) -> None:
        """Send a command; its answer is told, unless none comes."""
        task = asyncio.get_running_loop().create_task(self._ask(ask), name=f"command {ask.number}")
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)

    async def _ask(self, ask: Ask) -> None:
        link = self._links[ask.controller]
        request = command_request(self._place, ask.command)
        try:
            answer = await link.client.invoke(link.address, request, _COMMAND_TIMEOUT_MS)
            message = answered(ask.number, ask.command, answer)
        except RemotingError:
            message = Answered(ask.number, Outcome.ASK_ANOTHER)
        except ProtocolError as error:
            _log.warning("controller=%s: its answer to %s cannot be read: %s", link.address, ask.command, error)
            return
        else:
            self._note_refusal(link, ask, answer, message)
        self._told.answered(message)

    def _note_refusal(self, link: _Link, ask: Ask, answer: Command, message: Answered) -> None:
        """Log a refused command; one without which this replica takes no part is warned of, and rarely again."""
        if not isinstance(ask.command, Register | NextId):
            if message.outcome is Outcome.REFUSED:
                _log.info("controller=%s refused %s: %s", link.address, ask.command, answer.remark)
            return
        if message.outcome is Outcome.DONE:
            self._refusal = ""
        held, now = message.held, self._clock()
        if held is None or (held.reason == self._refusal and now - self._said_at < _SAY_AGAIN_SECONDS):
            return
        self._refusal, self._said_at = held.reason, now
        what = "empty the folder of this replica, or stop it" if held.why is Hold.REMOVED else "it takes no part"
        _log.warning("controller=%s: %s; %s", link.address, held.reason, what)

    async def beat(self, link: _Link, beat: SendHeartbeat) -> None:
        """Tell one controller a heartbeat, and tell what it answers. Raises RemotingError."""
        sent_at = self._clock()
        answer = await link.client.invoke(link.address, heartbeat_request(self._place, beat), _BEAT_TIMEOUT_MS)
        if answer.code == ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED:
            return  # which is under way
        if answer.code != ResponseCode.SUCCESS:
            link.note_failure(f"code {answer.code}: {answer.remark}")
            return
        try:
            message = heard(link.number, sent_at, answer)
        except ProtocolError as error:
            link.note_failure(str(error))
            return
        link.note_success()
        self._told.heard(message)


class _Link:
    """One controller."""

    def __init__(
        self,
        number: int,
        address: str,
        client: RemotingClient,
        tell: Callable[[_Link, SendHeartbeat], Awaitable[None]],
    ) -> None:
        self.number = number
        self.address = address
        self.client = client
        self._tell = tell
        self._beat: SendHeartbeat | None = None
        self._is_wanted = asyncio.Event()
        self._trouble = ""

    def want(self, beat: SendHeartbeat) -> None:
        self._beat = beat
        self._is_wanted.set()

    async def run(self) -> None:
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            assert self._beat is not None
            try:
                await self._tell(self, self._beat)
            except RemotingError as error:
                self.note_failure(str(error))

    def note_failure(self, trouble: str) -> None:
        if not self._trouble:
            _log.warning("controller=%s: %s", self.address, trouble)
        self._trouble = trouble

    def note_success(self) -> None:
        if self._trouble:
            _log.info("controller=%s: reachable again", self.address)
        self._trouble = ""
