"""The slaves that are connected to a master, and what they have (broker/replication/README.md#static-master)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from broker_core.broker.config import ReplicationSettings
from broker_core.broker.replication.pace import ByteRate
from broker_core.broker.replication.plain_master import Parts, PlainMaster, ReadableLog
from broker_core.protocol.codes import ResponseCode


@dataclass(frozen=True, slots=True)
class SlaveState:
    """What is known of one connection; log offsets, and bytes of the log."""

    peer: str
    acked: int | None
    lag: int | None
    began_at: int | None
    sent_bytes: int
    bytes_per_second: int
    """Of the log, sent in the last second."""


class Slaves:
    """All connections of slaves; the rule by which a SYNC_MASTER answers sends.

    An acknowledgement counts as long as its connection lives, and for that connection alone: in RocketMQ one number
    for all outlives the slave, and any stranger, that told it.
    """

    timeout_code = ResponseCode.FLUSH_SLAVE_TIMEOUT

    def __init__(self, log: ReadableLog, settings: Callable[[], ReplicationSettings], clock: Callable[[], int]) -> None:
        """`clock` returns the ms by which the connections are served."""
        self._log = log
        self._settings = settings
        self._clock = clock
        self._connected: dict[SlaveSpeaker, None] = {}
        self._watchers: list[Callable[[], None]] = []

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` whenever a slave has reported."""
        self._watchers.append(watcher)

    def note_report(self) -> None:
        """Tell that a slave has reported."""
        for watcher in self._watchers:
            watcher()

    def connect(self, peer: str) -> SlaveSpeaker:
        """Return the speaker for a new connection."""
        master = PlainMaster(self._log, self._settings, now=self._clock())
        speaker = SlaveSpeaker(peer, master, self)
        self._connected[speaker] = None
        return speaker

    def forget(self, speaker: SlaveSpeaker) -> None:
        """Count a connection no longer."""
        self._connected.pop(speaker, None)

    def states(self) -> Iterator[SlaveState]:
        """Yield what is known of each connection, the oldest first."""
        end = self._log.appended_log_offset
        for speaker in self._connected:
            master = speaker.master
            lag = None if master.acked is None else end - master.acked
            rate = speaker.bytes_per_second
            yield SlaveState(speaker.peer, master.acked, lag, master.began_at, master.sent_bytes, rate)

    def lag(self) -> int | None:
        """Return how many bytes the nearest slave lacks; None without one that has reported."""
        return min((each.lag for each in self.states() if each.lag is not None), default=None)

    def __len__(self) -> int:
        """How many slaves are connected."""
        return len(self._connected)

    # ---- the rule ----------------------------------------------------------------------------------------------------

    def position(self) -> int:
        """Return up to where some slave has the log; 0 without one that has reported."""
        return max((each.master.acked or 0 for each in self._connected), default=0)

    def refusal(self, end: int) -> ResponseCode | None:
        """Return why nobody needs to wait for a slave to have everything before `end`: none is near enough."""
        nearest = max((each.master.acked for each in self._connected if each.master.acked is not None), default=None)
        if nearest is None or end - nearest >= self._settings().fall_behind_bytes:
            return ResponseCode.SLAVE_NOT_AVAILABLE
        return None


class SlaveSpeaker:
    """The master at one connection, for `ha_listener.py`."""

    def __init__(self, peer: str, master: PlainMaster, slaves: Slaves) -> None:
        self.peer = peer
        self.master = master
        self._slaves = slaves
        self._rate = ByteRate()
        self._counted = 0

    def receive(self, data: bytes, now: int) -> None:
        """Take what has arrived."""
        if self.master.receive(data, now):
            self._slaves.note_report()

    def next_parts(self, now: int) -> Parts:
        """Return the next frame."""
        return self.master.next_parts(now)

    def check(self, now: int) -> None:
        """End the connection of a slave that is silent."""
        self.master.check(now)
        self._rate.count(self.master.sent_bytes - self._counted)
        self._counted = self.master.sent_bytes
        self._rate.step(now)

    @property
    def bytes_per_second(self) -> int:
        """Of the log, sent in the last second."""
        return self._rate.per_second

    def leave(self) -> None:
        """Count no longer."""
        self._slaves.forget(self)
