"""The role of this process for its broker name: master or slave, and how a change is told (broker/README.md#roles)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from broker_core.broker.config import MASTER_ID
from broker_core.logs import get_logger

_log = get_logger(__name__)


class RoleKind(StrEnum):
    """What a process does for its broker name."""

    MASTER = "master"
    SLAVE = "slave"
    FENCED = "fenced"
    """It does not know yet, or any more, what it is, and serves nothing."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role under an id; `master` is the main port of another process, `epoch` the number of the mastership.

    Without automatic failover there is no epoch.
    """

    kind: RoleKind
    broker_id: int
    master: str | None = None
    epoch: int | None = None

    @classmethod
    def of_id(cls, broker_id: int) -> Role:
        """Return the role of a broker whose id is given once and for all: 0 is the master, as in RocketMQ."""
        return cls(RoleKind.MASTER if broker_id == MASTER_ID else RoleKind.SLAVE, broker_id)

    @property
    def is_master(self) -> bool:
        """Whether it takes messages, and does what only one process of a name may do."""
        return self.kind is RoleKind.MASTER


Watcher = Callable[[Role], None]


class Roles:
    """The present role; who depends on it asks at the moment of use, or watches."""

    def __init__(self, first: Role) -> None:
        self.now = first
        self.changes = 0
        """How often it became master, or ceased to be, or was fenced."""
        self._watchers: list[Watcher] = []

    def watch(self, watcher: Watcher) -> None:
        """Call `watcher` with the role, now and after every change."""
        self._watchers.append(watcher)
        watcher(self.now)

    def become(self, role: Role) -> None:
        """Take another role; nothing happens if it is the present one."""
        if role == self.now:
            return
        if (role.kind, role.broker_id, role.epoch) != (self.now.kind, self.now.broker_id, self.now.epoch):
            _log.info("role=%s id=%d epoch=%s: it was %s", role.kind, role.broker_id, role.epoch, self.now.kind)
        self.changes += role.kind is not self.now.kind
        self.now = role
        for watcher in self._watchers:
            watcher(role)

    def follow(self, master: str) -> None:
        """Note where the master is, unless this is the master."""
        if not self.now.is_master:
            self.become(replace(self.now, master=master))
