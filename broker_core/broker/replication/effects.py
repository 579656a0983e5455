"""What a replica wants done: in order, or not at all (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from broker_core.broker.replication.messages import Effect
from broker_core.broker.replication.retrying import Retrying
from broker_core.store.errors import StoreFull

_FIRST_RETRY_SECONDS: Final = 0.2
_MOST_RETRY_SECONDS: Final = 5.0


class WaitsForRoom(Exception):
    """Raised by an action that did nothing, for want of room on the disk, and may be called again."""

    def __init__(self, cause: StoreFull) -> None:
        super().__init__(str(cause))


class Effects:
    """Carries effects out. What one of them brings about comes behind those that are left.

    Those behind one that fails count on it: none of them is carried out. Those behind one that waits for room on the
    disk wait with it.
    """

    def __init__(
        self,
        actions: Mapping[type[Any], Callable[[Any], None]],
        *,
        on_wait: Callable[[str], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        """`on_wait` is called with the reason when one begins to wait, and with an empty one when it is carried out.

        `on_failure` gets the error of the first one that fails.
        """
        self.have_failed = False
        """Whether one failed; none is carried out any more then."""
        self.waits_for_room = ""
        """Why the first one is not carried out yet; empty while nothing waits."""
        self._actions = actions
        self._on_wait = on_wait
        self._on_failure = on_failure
        self._left: deque[Effect] = deque()
        self._is_carrying = False
        self._retrying = Retrying(_FIRST_RETRY_SECONDS, _MOST_RETRY_SECONDS)

    def do(self, effects: Sequence[Effect], now: float) -> None:
        """Carry these out behind what is left; `now` in seconds."""
        if self.have_failed:
            return
        self._left.extend(effects)
        if not self.waits_for_room and not self._is_carrying:
            self._carry_out(now)

    def retry(self, now: float) -> None:
        """Go on with what waits for room, if it is time to try."""
        if self.waits_for_room and self._retrying.is_due(now):
            self._carry_out(now)

    def _carry_out(self, now: float) -> None:
        self._is_carrying = True
        try:
            while self._left:
                self._actions[type(self._left[0])](self._left[0])
                self._left.popleft()
                if self.waits_for_room:
                    self._end_waiting()
        except WaitsForRoom as reason:
            self._wait(str(reason), now)
        except Exception as error:  # noqa: BLE001 - the top of the effects: whoever drives them ends with it
            self._left.clear()
            self.have_failed = True
            self._on_failure(error)
        finally:
            self._is_carrying = False

    def _end_waiting(self) -> None:
        self.waits_for_room = ""
        self._retrying.worked()
        self._on_wait("")

    def _wait(self, reason: str, now: float) -> None:
        self._retrying.failed(now)
        is_first, self.waits_for_room = not self.waits_for_room, reason
        if is_first:
            self._on_wait(reason)
