"""Consumer groups of a cluster: settings, progress, members."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from broker_core.client.admin.requests import AdminRequests
from broker_core.client.admin.topics import check_name
from broker_core.client.answers import Answers, ask_all
from broker_core.client.errors import BrokerRefused, GroupOffline, NotSupported, Unreachable
from broker_core.errors import GantryError
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.groups import (
    Connection,
    ConsumerConnection,
    ConsumerOffsetSerializeWrapper,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
)
from broker_core.protocol.bodies.heartbeat import ConsumeFromWhere, ConsumeType, MessageModel, SubscriptionData
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ConsumerRunningInfo
from broker_core.protocol.bodies.stats import (
    ConsumeStats,
    ConsumeStatsList,
    OffsetWrapper,
    QueryConsumeTimeSpanBody,
    QueueTimeSpan,
)
from broker_core.protocol.headers.clients import GetConsumerRunningInfoRequest
from broker_core.protocol.headers.groups import (
    CreateSubscriptionGroupRequest,
    DeleteSubscriptionGroupRequest,
    GetAllSubscriptionGroupConfigRequest,
    GetBrokerConsumeStatsRequest,
    GetConsumerConnectionListRequest,
    GetConsumeStatsRequest,
    QueryConsumeTimeSpanRequest,
)
from broker_core.protocol.headers.replication import GetAllConsumerOffsetRequest
from broker_core.protocol.topics import BROWSING_GROUP, MAX_GROUP_NAME, SYSTEM_GROUP_PREFIX

_AT_ONCE: Final = 64

BUILT_IN_GROUPS: Final = frozenset(
    {
        BROWSING_GROUP, "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "CID_ONS-HTTP-PROXY", "CID_ONSAPI_PULL",
        "CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER", "CID_SYS_RMQ_TRANS", "SCHEDULE_CONSUMER", "__MONITOR_CONSUMER",
    }
)  # fmt: skip
"""Groups of the brokers themselves."""


def is_system_group(name: str) -> bool:
    """Return whether a group belongs to the brokers themselves."""
    return name in BUILT_IN_GROUPS or name.startswith(SYSTEM_GROUP_PREFIX)


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group: settings by broker name, and the topics in which it has offsets.

    A group that consumed without ever being configured has offsets and no settings.
    """

    name: str
    configs: dict[str, SubscriptionGroupConfig] = field(default_factory=dict)
    topics: tuple[str, ...] = ()

    @property
    def is_built_in(self) -> bool:
        """Whether the group belongs to the brokers themselves."""
        return is_system_group(self.name)

    @property
    def config(self) -> SubscriptionGroupConfig | None:
        """The settings on one of its brokers; they are equal on all unless someone changed a single broker."""
        return next(iter(self.configs.values()), None)


@dataclass(frozen=True, slots=True)
class GroupStats:
    """The progress of a group; brokers that did not answer are in `failed`, and their queues are not counted."""

    queues: dict[MessageQueue, OffsetWrapper] = field(default_factory=dict)
    consume_tps: float = 0.0
    failed: dict[str, GantryError] = field(default_factory=dict)

    @property
    def lag(self) -> int:
        """Messages stored and not yet consumed, over the known queues."""
        return sum(max(0, queue.broker_offset - queue.consumer_offset) for queue in self.queues.values())


@dataclass(frozen=True, slots=True)
class GroupConnections:
    """The members of a group on all brokers, possibly none; brokers that failed are in `failed`."""

    members: dict[str, Connection] = field(default_factory=dict)
    """By client id."""
    subscriptions: dict[str, SubscriptionData] = field(default_factory=dict)
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    consume_from_where: ConsumeFromWhere | None = None
    failed: dict[str, GantryError] = field(default_factory=dict)


TimeSpans: TypeAlias = list[QueueTimeSpan]
Configs: TypeAlias = dict[str, SubscriptionGroupConfig]
ByName: TypeAlias = dict[str, Group]
StatsByName: TypeAlias = dict[str, GroupStats]


class Groups:
    """Questions about consumer groups, and changes to them."""

    def __init__(self, requests: AdminRequests) -> None:
        self._requests = requests

    async def list(self) -> Answers[Group]:
        """Return all groups by name, with settings or offsets; `failed` has brokers by address, or name without one."""
        answers = await self._requests.ask_masters(self.on)
        configs: dict[str, dict[str, SubscriptionGroupConfig]] = {}
        topics: dict[str, set[str]] = {}
        for groups in answers.found.values():
            for name, group in groups.items():
                configs.setdefault(name, {}).update(group.configs)
                topics.setdefault(name, set()).update(group.topics)
        found = {name: Group(name, configs[name], tuple(sorted(topics[name]))) for name in sorted(configs)}
        return Answers(found, answers.failed)

    async def on(self, addr: str, broker_name: str, *, timeout_ms: int | None = None) -> ByName:
        """Return the groups of one broker by name, with settings or with offsets."""
        settings, offsets = await asyncio.gather(
            self._requests.ask_for(
                SubscriptionGroupWrapper, addr, GetAllSubscriptionGroupConfigRequest(), timeout_ms=timeout_ms
            ),
            self._requests.ask_for(
                ConsumerOffsetSerializeWrapper, addr, GetAllConsumerOffsetRequest(), timeout_ms=timeout_ms
            ),
        )
        configs, topics = settings.subscription_group_table, _topics_by_group(offsets)
        return {
            name: Group(
                name, {broker_name: configs[name]} if name in configs else {}, tuple(sorted(topics.get(name, ())))
            )
            for name in sorted(configs.keys() | topics.keys())
        }

    async def configs_on(self, addr: str, *, timeout_ms: int | None = None) -> Configs:
        """Return the settings of one broker's groups by name."""
        header = GetAllSubscriptionGroupConfigRequest()
        settings = await self._requests.ask_for(SubscriptionGroupWrapper, addr, header, timeout_ms=timeout_ms)
        return dict(settings.subscription_group_table)

    async def find(self, name: str) -> Group | None:
        """Return one group, None if no broker that answered knows it; raise if no broker answered."""
        return (await self.list()).raise_if_none().found.get(name)

    async def create(
        self,
        name: str,
        *,
        retry_max_times: int = 16,
        retry_queue_nums: int = 1,
        consume_enable: bool = True,
        consume_broadcast_enable: bool = True,
        brokers: Iterable[str] | None = None,
    ) -> Answers[None]:
        """Create the group, or replace its settings, on every master or those of `brokers`; answers by address.

        A broker without a master fails with NoMaster, by its name. Raises NameIllegal, and NoMaster if none has a
        master, before anything is sent.
        """
        check_name(name, longest=MAX_GROUP_NAME)
        config = SubscriptionGroupConfig(
            group_name=name,
            retry_max_times=retry_max_times,
            retry_queue_nums=retry_queue_nums,
            consume_enable=consume_enable,
            consume_broadcast_enable=consume_broadcast_enable,
        )
        body = coder.encode(config)

        async def send(addr: str, _: str) -> None:
            await self._requests.ask(addr, CreateSubscriptionGroupRequest(), body)

        return await self._requests.change_each(brokers, send)

    async def delete(self, name: str) -> Answers[None]:
        """Delete settings and offsets of the group on every master; its retry and dead letter topics stay.

        Fails for brokers without a master as `create` does.
        """

        header = DeleteSubscriptionGroupRequest(name, remove_offset=True, clean_offset=True)

        async def send(addr: str, _: str) -> None:
            await self._requests.ask(addr, header)

        return await self._requests.change_each(None, send)

    async def consume_stats(self, name: str, *, topic: str | None = None) -> GroupStats:
        """Return the group's progress in each queue of its topics, or of one topic; an unknown group has no queues."""
        header = GetConsumeStatsRequest(name, topic)
        answers = await self._requests.ask_masters(lambda addr, _: self._requests.ask_for(ConsumeStats, addr, header))
        return _merged(answers.found.values(), answers.failed)

    async def all_consume_stats(self) -> Answers[GroupStats]:
        """Return every group's progress, by name, with one request to each broker; `failed` has brokers by address.

        Groups missing from the bulk answer, and all groups of brokers without the bulk request, are queried one by one.
        """

        async def ask(addr: str, broker: str) -> StatsByName:
            return await self.all_consume_stats_on(addr, await self.on(addr, broker))

        answers = await self._requests.ask_masters(ask)
        parts: dict[str, list[GroupStats]] = {}
        for found in answers.found.values():
            for name, stats in found.items():
                parts.setdefault(name, []).append(stats)
        return Answers({name: _joined(each, answers.failed) for name, each in parts.items()}, answers.failed)

    async def all_consume_stats_on(
        self, addr: str, names: Iterable[str], *, timeout_ms: int | None = None
    ) -> StatsByName:
        """Return every group's progress on one broker, by name; those of `names` missing from its bulk answer (all of
        them, if it has no bulk request) are queried one by one."""
        header = GetBrokerConsumeStatsRequest()
        try:
            bulk = await self._requests.ask_for(ConsumeStatsList, addr, header, timeout_ms=timeout_ms)
        except NotSupported:
            bulk = ConsumeStatsList()
        by_name: dict[str, list[ConsumeStats]] = {}
        for entry in bulk.consume_stats_list:
            for name, stats in entry.items():
                by_name.setdefault(name, []).extend(stats)
        places = asyncio.Semaphore(_AT_ONCE)

        async def ask(name: str) -> GroupStats:
            async with places:
                return _merged([await self._requests.ask_for(ConsumeStats, addr, GetConsumeStatsRequest(name))], {})

        left_out = [name for name in names if name not in by_name]
        singles = dict(zip(left_out, await asyncio.gather(*map(ask, left_out)), strict=True))
        return {name: _merged(stats, {}) for name, stats in by_name.items()} | singles

    async def time_spans(self, name: str, topic: str) -> Answers[TimeSpans]:
        """Return the group's time lag in each queue of a topic, by broker address; raise TopicNotFound."""
        return await self._requests.ask_masters_of(
            topic, lambda addr, _: self.time_spans_on(addr, name, topic), cached=True
        )

    async def time_spans_on(self, addr: str, name: str, topic: str) -> TimeSpans:
        """Return the same for one broker; raise TopicNotFound if it does not have the topic."""
        header = QueryConsumeTimeSpanRequest(topic, name)
        return (await self._requests.ask_for(QueryConsumeTimeSpanBody, addr, header, topic=topic)).consume_time_span_set

    async def connections(self, name: str) -> GroupConnections:
        """Return the members of the group and their subscriptions."""
        brokers = [broker.addr for broker in await self._requests.brokers()]
        answers = await self._requests.ask_each(brokers, lambda addr: self.connections_on(addr, name))
        found = [answer for answer in answers.found.values() if answer.members]
        return joined_connections(found, answers.failed)

    async def connections_on(self, addr: str, name: str) -> GroupConnections:
        """Return the same for one broker; a group without members there is a normal answer."""
        try:
            answer = await self._requests.ask_for(ConsumerConnection, addr, GetConsumerConnectionListRequest(name))
        except GroupOffline:
            return GroupConnections()
        return connections_of(answer)

    async def running_info(self, name: str, client_id: str) -> ConsumerRunningInfo:
        """Return the inner state of one member, through any of its brokers; raise BrokerRefused or Unreachable."""
        header = GetConsumerRunningInfoRequest(name, client_id)
        failure: GantryError = GroupOffline(206, f"group {name} has no client {client_id}", "cluster")
        for broker in await self._requests.brokers():
            try:
                return await self._requests.ask_for(ConsumerRunningInfo, broker.addr, header)
            except (BrokerRefused, Unreachable) as error:
                # That one does not answer says more than that another one does not know the client.
                failure = failure if isinstance(failure, Unreachable) else error
        raise failure

    async def owners(self, name: str) -> dict[MessageQueue, str]:
        """Return which member reads which queue, as reported by the members."""
        members = (await self.connections(name)).members
        answers = await ask_all(members, lambda client_id: self.running_info(name, client_id))
        return {queue: client_id for client_id, info in answers.found.items() for queue in info.mq_table}


def connections_of(answer: ConsumerConnection) -> GroupConnections:
    """Return what one broker reports of a group."""
    return GroupConnections(
        members={member.client_id: member for member in answer.connection_set},
        subscriptions=dict(answer.subscription_table),
        consume_type=answer.consume_type,
        message_model=answer.message_model,
        consume_from_where=answer.consume_from_where,
    )


def joined_connections(answers: Sequence[GroupConnections], failed: dict[str, GantryError]) -> GroupConnections:
    """Return the members that several brokers report as one answer."""
    first = next((answer for answer in answers if answer.members), GroupConnections())
    return GroupConnections(
        members={client_id: member for answer in answers for client_id, member in answer.members.items()},
        subscriptions={topic: data for answer in answers for topic, data in answer.subscriptions.items()},
        consume_type=first.consume_type,
        message_model=first.message_model,
        consume_from_where=first.consume_from_where,
        failed=failed,
    )


def _topics_by_group(answer: ConsumerOffsetSerializeWrapper) -> dict[str, set[str]]:
    topics: dict[str, set[str]] = {}
    for key in answer.offset_table:
        topic, _, group = key.partition("@")
        if group:
            topics.setdefault(group, set()).add(topic)
    return topics


def _joined(parts: Iterable[GroupStats], failed: dict[str, GantryError]) -> GroupStats:
    queues: dict[MessageQueue, OffsetWrapper] = {}
    tps = 0.0
    for part in parts:
        queues.update(part.queues)
        tps += part.consume_tps
    return GroupStats(dict(sorted(queues.items())), tps, failed)


def _merged(answers: Iterable[ConsumeStats], failed: dict[str, GantryError]) -> GroupStats:
    queues: dict[MessageQueue, OffsetWrapper] = {}
    tps = 0.0
    for stats in answers:
        queues.update(stats.offset_table)
        tps += stats.consume_tps
    return GroupStats(dict(sorted(queues.items())), tps, failed)
