"""What a send waits for before it is answered: the disk, a replica, or both (broker/README.md#waiting-sends).

Each of the two has a queue of its own, in the order of the log, so sends that wait for the same are answered in order.
One that waits for nobody, because no replica is near enough, overtakes those that still do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from broker_core.broker.durability import GroupCommit
from broker_core.broker.limits import BrokerLimits
from broker_core.protocol.codes import ResponseCode

OnAnswer = Callable[[ResponseCode], None]
"""Called once, with SUCCESS or with what is not known of the stored message."""

UNSURE: Final = {
    ResponseCode.FLUSH_DISK_TIMEOUT: "not known to be on the disk",
    ResponseCode.SLAVE_NOT_AVAILABLE: "no slave is near enough to be waited for",
    ResponseCode.FLUSH_SLAVE_TIMEOUT: "not known to be on a slave",
    ResponseCode.SYSTEM_ERROR: "[NOT_CONFIRMED] not known to be on all replicas in sync; a switch may take it back",
    ResponseCode.SERVICE_NOT_AVAILABLE: "another replica is the master now; it may have been taken back",
}
"""What each of these answers says of a message that is stored here."""


class ReplicaRule(Protocol):
    """When a message is on enough replicas."""

    @property
    def timeout_code(self) -> ResponseCode:
        """The answer when that is not known in time."""

    def position(self) -> int:
        """Everything before this log offset is on enough replicas."""

    def refusal(self, end: int) -> ResponseCode | None:
        """Return the answer to a send up to log offset `end` for which it makes no sense to wait."""


@dataclass(slots=True)
class _Waiter:
    end: int
    deadline: int
    answer: OnAnswer
    sends: int


class ReplicaWaits:
    """The sends that wait for replicas."""

    def __init__(self, rule: ReplicaRule, timeout_ms: Callable[[], int], *, are_for_all: bool = False) -> None:
        """`are_for_all`: also for sends whose message says WAIT=false."""
        self.are_for_all = are_for_all
        self._rule = rule
        self._timeout_ms = timeout_ms
        self._waiting: deque[_Waiter] = deque()  # ends increase from left to right
        self._sends = 0

    def __len__(self) -> int:
        """How many sends wait."""
        return self._sends

    def wait(self, end: int, answer: OnAnswer, *, now: int, sends: int = 1) -> None:
        """Call `answer` when everything before `end` is on enough replicas, will not be, or is not known to be."""
        if not self._waiting and end <= self._rule.position():
            answer(ResponseCode.SUCCESS)
        elif (refusal := self._rule.refusal(end)) is not None:
            answer(refusal)
        else:
            self._waiting.append(_Waiter(end, now + self._timeout_ms(), answer, sends))
            self._sends += sends

    def advance(self) -> None:
        """Answer the sends that are on enough replicas by now."""
        position = self._rule.position()
        while self._waiting and self._waiting[0].end <= position:
            self._answer_next(ResponseCode.SUCCESS)

    def expire(self, now: int) -> None:
        """Answer the sends whose time is over."""
        while self._waiting and self._waiting[0].deadline <= now:
            self._answer_next(self._rule.timeout_code)

    def give_up(self, code: ResponseCode | None = None) -> None:
        """Answer all that wait: nobody will learn of replicas here any more."""
        while self._waiting:
            self._answer_next(self._rule.timeout_code if code is None else code)

    def _answer_next(self, code: ResponseCode) -> None:
        waiter = self._waiting.popleft()
        self._sends -= waiter.sends
        waiter.answer(code)


class Waits:
    """All sends of one broker that wait."""

    def __init__(
        self, commit: GroupCommit, replicas: ReplicaWaits | None, *, flushes: bool, limits: BrokerLimits
    ) -> None:
        """`flushes`: a send waits for the disk; `replicas` is None if none waits for a replica."""
        self._commit = commit
        self._replicas = replicas
        self._flushes = flushes
        self._limits = limits

    @property
    def are_for_all(self) -> bool:
        """Whether senders wait that do not want to: what is answered must outlive a switch."""
        return self._replicas is not None and self._replicas.are_for_all

    @property
    def are_needed(self) -> bool:
        """Whether a send waits for anything, unless its sender does not want that."""
        return self._flushes or self._replicas is not None

    @property
    def room(self) -> int:
        """How many more sends may wait."""
        return max(0, self._limits.unflushed_waiters - max(len(self._commit), len(self._replicas or ())))

    def check_room(self) -> None:
        """Raise LimitReached when no further send may wait; called before the message is stored."""
        if not self.room:
            raise self._limits.refuse("unflushed_waiters", "the disk or the replica is slower than the senders")

    def wait(self, end: int, answer: OnAnswer, *, now: int, sends: int = 1) -> None:
        """Call `answer` when everything before log offset `end` is where it shall be, or that is not known in time.

        It answers so many sends at once. If both the disk and the replica fail it is told of the replica.
        """
        if self._replicas is None:
            self._commit.wait(end, partial(_by_flush, answer), now=now, sends=sends)
        elif not self._flushes:
            self._replicas.wait(end, answer, now=now, sends=sends)
        else:
            both = _Both(answer)
            self._commit.wait(end, both.flushed, now=now, sends=sends)
            self._replicas.wait(end, both.replicated, now=now, sends=sends)

    def expire(self, now: int) -> None:
        """Answer the sends whose time is over: their messages are stored."""
        self._commit.expire(now)
        if self._replicas is not None:
            self._replicas.expire(now)

    def give_up(self) -> None:
        """Answer the sends that wait for replicas: the broker stops."""
        if self._replicas is not None:
            self._replicas.give_up()


class _Both:
    """One send that waits for the disk and for a replica."""

    __slots__ = ("_answer", "_is_flushed", "_of_replica")

    def __init__(self, answer: OnAnswer) -> None:
        self._answer = answer
        self._is_flushed: bool | None = None
        self._of_replica: ResponseCode | None = None

    def flushed(self, is_flushed: bool) -> None:
        """The disk has answered."""
        self._is_flushed = is_flushed
        self._answer_if_settled()

    def replicated(self, code: ResponseCode) -> None:
        """The replicas have answered."""
        self._of_replica = code
        self._answer_if_settled()

    def _answer_if_settled(self) -> None:
        if self._is_flushed is None or self._of_replica is None:
            return
        if self._of_replica is ResponseCode.SUCCESS:
            _by_flush(self._answer, self._is_flushed)
        else:
            self._answer(self._of_replica)


def _by_flush(answer: OnAnswer, is_flushed: bool) -> None:
    answer(ResponseCode.SUCCESS if is_flushed else ResponseCode.FLUSH_DISK_TIMEOUT)
