"""How far groups are: offsets, lag and times."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.groups import Groups
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.progress import GroupProgress
from broker_core.broker.stats import Stats
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import ConsumeStats, ConsumeStatsList, OffsetWrapper, QueryConsumeTimeSpanBody
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import groups as headers
from broker_core.remoting.connection import Connection


class ConsumeStatsProcessor:
    """Answers 208, 303 and 317."""

    def __init__(
        self,
        *,
        progress: GroupProgress,
        topics: Topics,
        groups: Groups,
        stats: Stats,
        address: str,
        clock: Callable[[], int],
    ) -> None:
        self._progress = progress
        self._topics = topics
        self._groups = groups
        self._stats = stats
        self._address = address
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.GET_CONSUME_STATS: self.stats,
            RequestCode.GET_BROKER_CONSUME_STATS: self.all_stats,
            RequestCode.QUERY_CONSUME_TIME_SPAN: self.time_span,
        }

    def stats(self, request: Command, _: Connection) -> Command:
        """Return, for each queue that a group reads, its offset and the queue's end; an unknown group reads nothing."""
        header = request.header(headers.GetConsumeStatsRequest)
        table: dict[MessageQueue, OffsetWrapper] = {}
        tps = 0.0
        for topic in self._progress.topics(header.consumer_group, header.topic):
            table.update(self._progress.offsets(header.consumer_group, topic, topic.read_queue_nums))
            tps += self._stats.consume_tps(header.consumer_group, topic.topic_name)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ConsumeStats(table, tps)))

    def all_stats(self, request: Command, _: Connection) -> Command:
        """Return the same of every group, by topic."""
        ordered_only = request.header(headers.GetBrokerConsumeStatsRequest).is_order
        groups: list[dict[str, list[ConsumeStats]]] = []
        total = 0
        for config in self._groups.all():
            group = config.group_name
            found = []
            for topic in self._progress.topics(group):
                if ordered_only and not topic.order:
                    continue
                table = dict(self._progress.offsets(group, topic, topic.write_queue_nums))
                total += sum(each.broker_offset - each.consumer_offset for each in table.values())
                found.append(ConsumeStats(table, self._stats.consume_tps(group, topic.topic_name)))
            groups.append({group: found})
        body = ConsumeStatsList(groups, self._address, total)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def time_span(self, request: Command, _: Connection) -> Command:
        """Return, per queue, its range in time and how late a group is there."""
        header = request.header(headers.QueryConsumeTimeSpanRequest)
        topic = self._topics.get(header.topic)
        now = self._clock()
        spans = [self._progress.span(header.group, topic, queue_id, now) for queue_id in range(topic.write_queue_nums)]
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(QueryConsumeTimeSpanBody(spans)))
