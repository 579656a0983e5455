"""Lines of the log for refused requests: without them only the clients would know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from broker_core.broker.errors import AccessRefused
from broker_core.logs import get_logger
from broker_core.protocol.command import Command
from broker_core.protocol.signature import ACCESS_KEY
from broker_core.remoting.connection import Connection

PERIOD_MS: Final = 300_000
TOLD_APART: Final = 1_000
"""How many kinds of refusals have lines of their own at a time: their names come from whoever is refused."""
_SHOWN: Final = 200

_log: Final = get_logger(__name__)

Check = Callable[[Command, Connection], None]


class _Kind(NamedTuple):
    account: str
    address: str
    reason: str


@dataclass(slots=True)
class _Told:
    at: int
    since: int = 0
    """Refusals since the last line."""


class Refusals:
    """One warning for each account, address and reason at its first refusal, then one each five minutes with how many.

    `clock` returns milliseconds.
    """

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._kinds: dict[_Kind, _Told] = {}
        self._others = 0

    def of(self, check: Check) -> Check:
        """Return a check that does the same and has its refusals logged."""

        def checked(request: Command, connection: Connection) -> None:
            try:
                check(request, connection)
            except AccessRefused as refusal:
                account = request.ext_fields.get(ACCESS_KEY, "")
                self.add(account, connection.peer.rpartition(":")[0], refusal.reason)
                raise

        return checked

    def add(self, account: str, address: str, reason: str) -> None:
        """Count a refusal; the first of its kind is logged at once."""
        kind = _Kind(_shown(account), address, _shown(reason))
        told = self._kinds.get(kind)
        if told is not None:
            told.since += 1
        elif len(self._kinds) < TOLD_APART:
            self._kinds[kind] = _Told(self._clock())
            _log.warning("account=%s address=%s: refused: %s", *kind)
        else:
            self._others += 1

    def step(self, now: int) -> None:
        """Log how often the kinds that were logged five minutes ago came again; those that did not are forgotten."""
        for kind, told in [*self._kinds.items()]:
            if now - told.at < PERIOD_MS:
                continue
            if told.since:
                _log.warning("account=%s address=%s: refused %d more times: %s", kind[0], kind[1], told.since, kind[2])
                self._kinds[kind] = _Told(now)
            else:
                del self._kinds[kind]
        if self._others and len(self._kinds) < TOLD_APART:
            _log.warning(
                "%d more requests were refused, of other accounts or addresses or for other reasons", self._others
            )
            self._others = 0


def _shown(text: str) -> str:
    """Return a text of a client as one line of limited length."""
    return "".join(each if each.isprintable() else "?" for each in text[:_SHOWN]) or "-"
