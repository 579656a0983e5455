"""How much of a limit each account holds, so that none takes all of it from the others.

Whatever has a share counts by this class. Where no account is known nothing is counted: without access control, and
for trusted addresses. A connection has limits of its own there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from broker_core.broker.limits import BrokerLimits


class Shares:
    """What the accounts hold of one limit, at most `BrokerLimits.share` each."""

    def __init__(self, limits: BrokerLimits, limit: str) -> None:
        """`limit` is the name of a field of `limits`."""
        self._limits = limits
        self._limit = limit
        self._share = limits.share(limit)
        self._held: Counter[str] = Counter()

    def held_by(self, account: str) -> int:
        """Return how much an account holds."""
        return self._held[account]

    def has_room(self, account: str, news: int = 1) -> bool:
        """Return whether an account may hold so much more."""
        return not account or news <= 0 or self._held[account] + news <= self._share

    def check(self, account: str, news: int, what: str) -> None:
        """Raise LimitReached, which says `what` was refused, if an account may not hold so much more."""
        if not self.has_room(account, news):
            raise self._limits.refuse_share(self._limit, what)

    def add(self, account: str, count: int = 1) -> None:
        """Count what an account holds from now on."""
        if account:
            self._held[account] += count

    def remove(self, account: str, count: int = 1) -> None:
        """Count what an account no longer holds; it was added before."""
        if account:
            self._held[account] -= count
            if not self._held[account]:
                del self._held[account]


@dataclass(frozen=True, slots=True)
class CreatedBy:
    """What the file of a register holds in addition to RocketMQ's fields, which ignores it."""

    created_by: dict[str, str] = field(default_factory=dict)


class FirstUses:
    """Which account created a name by using it; it counts for that account until the name is deleted."""

    def __init__(self, limits: BrokerLimits, limit: str) -> None:
        self._limits = limits
        self._limit = limit
        self._shares = Shares(limits, limit)
        self._accounts: dict[str, str] = {}

    def check(self, account: str, known: int, what: str) -> None:
        """Raise LimitReached if an account may not create one more than are `known`."""
        self._limits.check_first_use(self._limit, known, what)
        self._shares.check(account, 1, what)

    def add(self, name: str, account: str) -> None:
        """Note who created a new name."""
        if account:
            self._accounts[name] = account
            self._shares.add(account)

    def account_of(self, name: str) -> str:
        """Return the account for which a name counts, empty if it counts for none."""
        return self._accounts.get(name, "")

    def forget(self, name: str) -> None:
        """Note that a name was deleted."""
        self._shares.remove(self._accounts.pop(name, ""))

    def table(self) -> CreatedBy:
        """Return what the file holds."""
        return CreatedBy(dict(self._accounts))

    def load(self, table: Mapping[str, str], known: Container[str]) -> None:
        """Count what a file told, of names that are known."""
        for name, account in table.items():
            if name in known:
                self.add(name, account)
