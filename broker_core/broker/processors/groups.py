"""Settings of consumer groups."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

from broker_core.broker.errors import GroupNotFound, IllegalArgument
from broker_core.broker.groups import Groups
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.processors.deletions import Deletions
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.saving import Saver
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig, SubscriptionGroupList
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import groups as headers
from broker_core.remoting.connection import Connection

_CONSUME_TIMEOUT_MINUTES: Final = 15  # what 5.x sends if nobody asked for anything


class GroupProcessor:
    """Answers 200, 201, 207, 225 and 352; a change is answered when `known` says that slaves have it."""

    def __init__(
        self,
        *,
        groups: Groups,
        deletions: Deletions,
        saver: Saver,
        known: Callable[[], Awaitable[None]],
        limits: BrokerLimits,
        clock: Callable[[], int],
    ) -> None:
        self._groups = groups
        self._deletions = deletions
        self._saver = saver
        self._known = known
        self._limits = limits
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: self.put,
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: self.put_all,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: self.all,
            RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: self.one,
            RequestCode.DELETE_SUBSCRIPTIONGROUP: self.delete,
        }

    async def put(self, request: Command, _: Connection) -> Command:
        """Create a group or replace its settings."""
        return await self._put([body_of(SubscriptionGroupConfig, request, self._limits)])

    async def put_all(self, request: Command, _: Connection) -> Command:
        """Create several groups or replace their settings; if one of them is refused, nothing is changed."""
        return await self._put(body_of(SubscriptionGroupList, request, self._limits).group_config_list)

    async def _put(self, wanted: Sequence[SubscriptionGroupConfig]) -> Command:
        self._groups.put_all([_checked(config) for config in wanted], now=self._clock())
        await self._saver.save(self._groups)
        await self._known()
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
        self._deletions.clear_group(header.group_name, with_offsets=header.remove_offset or header.clean_offset)
        await self._saver.save(self._groups)
        await self._known()
        return Command.response(ResponseCode.SUCCESS)


def _checked(config: SubscriptionGroupConfig) -> SubscriptionGroupConfig:
    """Return settings without what 5.x sends if nobody asked for it; raise IllegalArgument for what is not served."""
    if not config.group_name.strip():
        raise IllegalArgument("the group has no name")
    name = config.group_name
    if config.group_retry_policy is not None and config.group_retry_policy.has_delays:
        raise IllegalArgument(f"groupRetryPolicy of group {name}: retries follow messageDelayLevel, for all groups")
    if config.consume_timeout_minute not in (None, _CONSUME_TIMEOUT_MINUTES):
        raise IllegalArgument(f"consumeTimeoutMinute of group {name}: clients decide how long a message may take")
    if config.group_sys_flag:
        raise IllegalArgument(f"groupSysFlag {config.group_sys_flag} of group {name} is not supported")
    if config.subscription_data_set:
        raise IllegalArgument(f"subscriptionDataSet of group {name}: its members say what they subscribe to")
    if config.attributes:
        raise IllegalArgument(f"unsupported attribute {min(config.attributes)!r} of group {name}")
    return replace(
        config,
        consume_message_orderly=config.consume_message_orderly or None,
        group_retry_policy=None,
        group_sys_flag=None,
        consume_timeout_minute=None,
        subscription_data_set=None,
        attributes=None,
    )
