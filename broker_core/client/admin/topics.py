"""Topics of a cluster: settings, queues, producers and consumer groups."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeAlias

from broker_core.client.admin.replica_reads import at_replica
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.admin.topic_facts import Topic as Topic
from broker_core.client.admin.topic_facts import TopicChange as TopicChange
from broker_core.client.admin.topic_facts import TopicKind as TopicKind
from broker_core.client.admin.topic_facts import TopicProducer as TopicProducer
from broker_core.client.admin.topic_facts import TopicStats as TopicStats
from broker_core.client.admin.topic_facts import check_name as check_name
from broker_core.client.admin.topic_facts import kind_of as kind_of
from broker_core.client.admin.topic_facts import own_names as own_names
from broker_core.client.answers import Answers, ask_all
from broker_core.client.errors import NameIllegal as NameIllegal
from broker_core.client.errors import NotSupported, TopicNotFound
from broker_core.client.routes import Route
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import GroupList, ProducerTableInfo, TopicProducersBody
from broker_core.protocol.bodies.progress import Progress
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import TopicOffset, TopicStatsTable
from broker_core.protocol.bodies.topics import QueueOffsets, TopicConfig, TopicConfigSerializeWrapper, TopicList
from broker_core.protocol.codes import PERM_READ, PERM_WRITE
from broker_core.protocol.headers.groups import (
    GetAllProducerInfoRequest,
    ListTopicProducersRequest,
    QueryTopicConsumeByWhoRequest,
)
from broker_core.protocol.headers.progress import GetProgressRequest
from broker_core.protocol.headers.routes import DeleteTopicInNameServerRequest, GetAllTopicListRequest
from broker_core.protocol.headers.topics import (
    CreateTopicRequest,
    DeleteTopicRequest,
    GetAllTopicConfigRequest,
    GetTopicConfigRequest,
    GetTopicStatsInfoRequest,
    PurgeTopicRequest,
)
from broker_core.protocol.topic_attributes import MessageType, declare

_AT_ONCE: Final = 64


Names: TypeAlias = list[str]
Configs: TypeAlias = dict[str, TopicConfig]
Ends: TypeAlias = dict[MessageQueue, TopicOffset]
Producers: TypeAlias = list[TopicProducer]


class Topics:
    """Questions about topics, and changes to them."""

    def __init__(self, requests: AdminRequests) -> None:
        self._requests = requests

    async def names(self) -> Names:
        """Return the names of all topics that a name server knows; raise Unreachable."""
        answer = await self._requests.session.ask_name_server(GetAllTopicListRequest())
        return sorted(set(self._requests.decode(TopicList, answer, "name server").topic_list))

    async def list(self) -> Answers[Topic]:
        """Return all topics by name; `failed` has the brokers that did not answer, by address, or name without one."""

        async def ask(addr: str, broker: str) -> tuple[str, Configs]:
            return broker, await self.on(addr)

        answers = await self._requests.ask_masters(ask)
        configs: dict[str, dict[str, TopicConfig]] = {}
        for broker, table in answers.found.values():
            for name, config in table.items():
                configs.setdefault(name, {})[broker] = config
        own = own_names(await self._requests.brokers())
        found = {name: Topic(name, kind_of(name, own), by_broker) for name, by_broker in sorted(configs.items())}
        return Answers(found, answers.failed)

    async def on(self, addr: str, *, timeout_ms: int | None = None) -> Configs:
        """Return the settings of all topics on one broker, by name."""
        header = GetAllTopicConfigRequest()
        wrapper = await self._requests.ask_for(TopicConfigSerializeWrapper, addr, header, timeout_ms=timeout_ms)
        return dict(wrapper.topic_config_table)

    async def version_on(self, addr: str) -> str | None:
        """Return what changes with the settings of one broker's topics; None if the broker, Apache's, does not tell."""
        try:
            answer = await self._requests.ask_for(Progress, addr, GetProgressRequest(limit=0))
        except NotSupported:
            return None
        return f"{answer.session} {answer.topics_version}"

    async def get(self, name: str) -> Topic:
        """Return one topic from the name servers and its brokers; raise TopicNotFound or Unreachable."""
        route = await self._requests.session.routes.refresh(name)
        configs = {
            queue.broker_name: TopicConfig(
                topic_name=name,
                read_queue_nums=queue.read_queue_nums,
                write_queue_nums=queue.write_queue_nums,
                perm=queue.perm,
                topic_sys_flag=queue.topic_sys_flag,
                order=bool(route.data.order_topic_conf),
            )
            for queue in route.data.queue_datas
        }
        return Topic(name, kind_of(name, own_names(await self._requests.brokers())), configs)

    async def route(self, name: str) -> Route:
        """Return where the topic is; raise TopicNotFound or Unreachable."""
        return await self._requests.session.routes.refresh(name)

    async def create(
        self,
        name: str,
        *,
        read_queues: int = 4,
        write_queues: int = 4,
        perm: int = PERM_READ | PERM_WRITE,
        order: bool = False,
        message_type: MessageType | None = None,
        brokers: Iterable[str] | None = None,
    ) -> Answers[None]:
        """Create the topic, or replace its settings, on every master or those of `brokers`; answers by address.

        Queue counts are per broker. A broker that keeps no message types fails with NotSupported if one is given, and
        is not changed; one without a master fails with NoMaster, by its name. Raises NameIllegal, and NoMaster if none
        has a master, before anything is sent.
        """
        check_name(name)
        attributes = None if message_type is None else declare(message_type)
        header = CreateTopicRequest(name, read_queues, write_queues, perm, order=order, attributes=attributes)

        async def send(addr: str, _: str) -> None:
            if message_type is not None:
                # Brokers before 5.x ignore the attributes without a word; these do not know this question either.
                with suppress(TopicNotFound):
                    await self._config_on(addr, name)
            await self._requests.ask(addr, header)

        return await self._requests.change_each(brokers, send)

    async def described(self, name: str) -> Topic:
        """Return one topic with the attributes that its brokers tell; raise TopicNotFound or Unreachable.

        Brokers before 5.x tell none; nor is anything known of one that does not answer.
        """
        topic = await self.get(name)
        masters = await self._requests.masters_among(topic.configs)
        answers = await self._requests.ask_each(masters, lambda addr: self._config_on(addr, name))
        told = {masters[addr]: config.attributes for addr, config in answers.found.items()}
        configs = {broker: replace(config, attributes=told.get(broker)) for broker, config in topic.configs.items()}
        return replace(topic, configs=configs)

    async def _config_on(self, addr: str, name: str) -> TopicConfig:
        return await self._requests.ask_for(TopicConfig, addr, GetTopicConfigRequest(name), topic=name)

    async def update(
        self,
        name: str,
        *,
        read_queues: int | None = None,
        write_queues: int | None = None,
        perm: int | None = None,
    ) -> Answers[None]:
        """Change the given settings and keep the others, on each broker of the topic.

        Raises TopicNotFound, and NoMaster as `create` does.
        """
        topic = await self.get(name)
        return await self._change(topic, dict.fromkeys(topic.configs, TopicChange(read_queues, write_queues, perm)))

    async def update_on(self, name: str, changes: Mapping[str, TopicChange]) -> Answers[None]:
        """Change the topic on the brokers with these names and keep it on the others.

        Brokers that do not have the topic are left out. Raises TopicNotFound, also if none of them has it, and NoMaster
        as `create` does.
        """
        return await self._change(await self.get(name), changes)

    async def _change(self, topic: Topic, changes: Mapping[str, TopicChange]) -> Answers[None]:
        async def change(addr: str, broker: str) -> None:
            await self._requests.ask(addr, changes[broker].request(topic.configs[broker]))

        chosen = topic.configs.keys() & changes.keys()
        if not chosen:
            raise TopicNotFound(topic.name)
        answers = await self._requests.change_each(chosen, change)
        self._requests.session.routes.forget(topic.name)
        return answers

    async def delete(self, name: str, *, brokers: Iterable[str] | None = None) -> Answers[None]:
        """Delete the topic with its messages: first on each broker, which would otherwise register it again, then on
        each name server. Answers by address.

        `brokers` are the names of those that have it, by default those of the route. Raises TopicNotFound without a
        route, and NoMaster as `create` does.
        """

        async def delete(addr: str, _: str) -> None:
            await self._requests.ask(addr, DeleteTopicRequest(name))

        async def forget(addr: str) -> None:
            await self._requests.ask(addr, DeleteTopicInNameServerRequest(name))

        holders = (await self.get(name)).brokers if brokers is None else brokers
        deleted = await self._requests.change_each(holders, delete)
        forgotten = await self._requests.ask_each(self._requests.session.name_servers.addresses, forget)
        self._requests.session.routes.forget(name)
        return Answers({**deleted.found, **forgotten.found}, {**deleted.failed, **forgotten.failed})

    async def purge(self, name: str, before: Mapping[str, Mapping[int, int]]) -> Answers[Mapping[int, int]]:
        """Make the messages before a queue offset unreadable, by broker name and queue id; the offsets go on.

        Answers by address: where each queue begins now. Brokers of Apache RocketMQ fail with NotSupported. Raises
        NoMaster as `create` does.
        """
        header = PurgeTopicRequest(name)

        async def purge(addr: str, broker: str) -> Mapping[int, int]:
            body = bodies.encode(QueueOffsets(dict(before[broker])))
            return (await self._requests.ask_for(QueueOffsets, addr, header, body, topic=name)).offset_table

        return await self._requests.change_each(before, purge)

    async def stats(self, name: str, *, with_slaves: bool = False) -> TopicStats:
        """Return the contents of each queue; raise TopicNotFound if no broker has the topic.

        `with_slaves` a slave is asked in the place of a master that is away; brokers that failed are then named by
        their names.
        """
        if with_slaves:
            return await self._stats_with_slaves(name)
        answers = await self._requests.ask_masters_of(name, lambda addr, _: self.stats_on(addr, name), cached=True)
        return self._stats_of(name, answers)

    async def _stats_with_slaves(self, name: str) -> TopicStats:
        route = await self._requests.session.routes.get(name)
        answers = await self._requests.ask_each(
            {*route.masters, *route.leaderless},
            lambda broker: at_replica(self._requests, broker, lambda addr: self.stats_on(addr, name)),
        )
        ends = Answers({broker: found for broker, (found, _) in answers.found.items()}, answers.failed)
        slaves = {slave.broker_name: slave for _, slave in answers.found.values() if slave is not None}
        return replace(self._stats_of(name, ends), slaves=slaves)

    def _stats_of(self, name: str, answers: Answers[Ends]) -> TopicStats:
        queues = {queue: offset for table in answers.found.values() for queue, offset in table.items()}
        if not answers.found and any(isinstance(error, TopicNotFound) for error in answers.failed.values()):
            self._requests.session.routes.forget(name)
            raise TopicNotFound(name)
        return TopicStats(dict(sorted(queues.items())), answers.failed)

    async def stats_on(self, addr: str, name: str) -> Ends:
        """Return the contents of each queue on one broker; raise TopicNotFound if it does not have the topic."""
        return dict((await self.table_on(addr, name)).offset_table)

    async def table_on(self, addr: str, name: str) -> TopicStatsTable:
        """Return the same with the bytes that the broker keeps, if it tells them."""
        return await self._requests.ask_for(TopicStatsTable, addr, GetTopicStatsInfoRequest(name), topic=name)

    async def stats_of(self, names: Iterable[str]) -> Answers[TopicStats]:
        """Return the stats of many topics by name; `failed` is by name too."""
        places = asyncio.Semaphore(_AT_ONCE)

        async def ask(name: str) -> TopicStats:
            async with places:
                return await self.stats(name)

        return await ask_all(names, ask)

    async def groups(self, name: str, *, timeout_ms: int | None = None) -> Answers[Names]:
        """Return the consumer groups of the topic, online or with offsets, by broker address; raise TopicNotFound."""
        header = QueryTopicConsumeByWhoRequest(name)

        async def ask(addr: str, _: str) -> Names:
            return sorted((await self._requests.ask_for(GroupList, addr, header, timeout_ms=timeout_ms)).group_list)

        return await self._requests.ask_masters_of(name, ask)

    async def producers(self, name: str) -> Answers[Producers]:
        """Return the producers connected to each broker of the topic, by address; raise TopicNotFound.

        Members of a group are known without their topics, so these are the producers that may send to the topic;
        `sending_producers` are those that do.
        """

        async def ask(addr: str, _: str) -> Producers:
            table = await self._requests.ask_for(ProducerTableInfo, addr, GetAllProducerInfoRequest())
            return [TopicProducer(group, info) for group, infos in sorted(table.data.items()) for info in infos]

        return await self._requests.ask_masters_of(name, ask)

    async def sending_producers(self, name: str) -> Answers[TopicProducersBody]:
        """Return the producers whose messages each broker stored in the topic, by address; raise TopicNotFound.

        Those that have left are among them. Brokers of Apache RocketMQ fail with NotSupported.
        """
        header = ListTopicProducersRequest(name)
        return await self._requests.ask_masters_of(
            name, lambda addr, _: self._requests.ask_for(TopicProducersBody, addr, header, topic=name)
        )
