"""Who copies this broker's log, and how far (907 of 5.x; broker/replication/README.md#static-master)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.replication.slaves import SlaveState
from broker_core.broker.role import Roles
from broker_core.broker.settings import Settings
from broker_core.protocol import bodies
from broker_core.protocol.bodies.replicas import HaClientRuntimeInfo, HaConnectionInfo, HaRuntimeInfo
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore

States = Callable[[], Iterable[SlaveState]]
"""Returns what is known of each slave that is connected."""


class HaStatusProcessor:
    """Answers 907."""

    def __init__(self, *, store: MessageStore, slaves: States, roles: Roles, settings: Settings) -> None:
        self._store = store
        self._slaves = slaves
        self._roles = roles
        self._settings = settings

    def handlers(self) -> Handlers:
        return {RequestCode.GET_BROKER_HA_STATUS: self.read}

    def read(self, _request: Command, _: Connection) -> Command:
        """Return what a master knows of its slaves, or what a slave has of its master's log."""
        role, end = self._roles.now, int(self._store.appended_log_offset)
        if not role.is_master:
            of_slave = HaClientRuntimeInfo(role.master or "", end)
            return _answer(HaRuntimeInfo(master=False, ha_client_runtime_info=of_slave))
        most = self._settings.config.replication.fall_behind_bytes
        connections = [_connection(state, most) for state in self._slaves() if state.lag is not None]
        return _answer(
            HaRuntimeInfo(
                master=True,
                master_commit_log_max_offset=end,
                in_sync_slave_nums=sum(each.in_sync for each in connections),
                ha_connection_info=connections,
            )
        )


def _connection(state: SlaveState, most: int) -> HaConnectionInfo:
    assert state.acked is not None
    assert state.lag is not None
    return HaConnectionInfo(
        state.peer, state.acked, state.lag, state.lag < most, state.bytes_per_second, state.began_at or 0
    )


def _answer(status: HaRuntimeInfo) -> Command:
    return Command.response(ResponseCode.SUCCESS, body=bodies.encode(status))
