"""The members of etcd, and which of them answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.clock import now_ms
from broker_core.controller.decisions import MemberStatus


class Members:
    """What is known of each member, by all who ask them."""

    def __init__(self, endpoints: Sequence[str], clock: Callable[[], int] = now_ms) -> None:
        self.endpoints = tuple(endpoints)
        self._known = {endpoint: MemberStatus(endpoint, None, None) for endpoint in endpoints}
        self._clock = clock

    @property
    def statuses(self) -> tuple[MemberStatus, ...]:
        """Which members answer, and since when that is so."""
        return tuple(self._known.values())

    def note(self, endpoint: str, *, reached: bool) -> bool:
        """Note whether a member answered; return whether that is news."""
        if self._known[endpoint].reached is reached:
            return False
        self._known[endpoint] = MemberStatus(endpoint, reached, self._clock())
        return True


class Turn:
    """The member that one user of etcd asks: the same as long as it answers, then the next one."""

    def __init__(self, endpoints: Sequence[str], first: int = 0) -> None:
        self._endpoints = tuple(endpoints)
        self._at = first % len(self._endpoints)

    @property
    def now(self) -> str:
        """The member to ask."""
        return self._endpoints[self._at]

    def move_on(self, failed: str) -> None:
        """Turn to the next member, unless another call has done so since `failed` was asked."""
        if failed == self.now:
            self._at = (self._at + 1) % len(self._endpoints)
