"""Settings of consumer groups."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.errors import GroupNotFound, IllegalArgument
from broker_core.broker.groups import Groups
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.processors.deletions import Deletions
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.saving import Saver
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import groups as headers
from broker_core.remoting.connection import Connection


class GroupProcessor:
    """Answers 200, 201, 207 and 352."""

    def __init__(
        self, *, groups: Groups, deletions: Deletions, saver: Saver, limits: BrokerLimits, clock: Callable[[], int]
    ) -> None:
        self._groups = groups
        self._deletions = deletions
        self._saver = saver
        self._limits = limits
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: self.put,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: self.all,
            RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: self.one,
            RequestCode.DELETE_SUBSCRIPTIONGROUP: self.delete,
        }

    async def put(self, request: Command, _: Connection) -> Command:
        """Create a group or replace its settings."""
        config = body_of(SubscriptionGroupConfig, request, self._limits)
        if not config.group_name.strip():
            raise IllegalArgument("the group has no name")
        self._groups.put(config, now=self._clock())
        await self._saver.save(self._groups)
        return Command.response(ResponseCode.SUCCESS)

    def all(self, _request: Command, _: Connection) -> Command:
        """Return the settings of all groups."""
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(self._groups.wrapper()))

    def one(self, request: Command, _: Connection) -> Command:
        """Return the settings of one group."""
        name = request.header(headers.GetSubscriptionGroupConfigRequest).group
        group = self._groups.find(name)
        if group is None:
            raise GroupNotFound(name)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(group))

    async def delete(self, request: Command, _: Connection) -> Command:
        """Delete a group's settings and leases, and its offsets if requested; nothing happens for an unknown group."""
        header = request.header(headers.DeleteSubscriptionGroupRequest)
        self._groups.delete(header.group_name, now=self._clock())
        self._deletions.clear_group(header.group_name, with_offsets=header.remove_offset)
        await self._saver.save(self._groups)
        return Command.response(ResponseCode.SUCCESS)
