"""Topics: settings and deletion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from broker_core.broker.errors import IllegalArgument
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.processors.deletions import Deletions
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.registration import Registration
from broker_core.broker.saving import Saver
from broker_core.broker.topics import Topics, check_name
from broker_core.protocol import bodies, topic_attributes
from broker_core.protocol.bodies.topics import CreateTopicListRequestBody, TopicConfig, TopicList
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import topics as headers
from broker_core.remoting.connection import Connection

_FILTER_TYPES = ("SINGLE_TAG", "MULTI_TAG")


class TopicProcessor:
    """Answers 17, 18, 21, 215, 305 and 351; a change is answered when `known` says that slaves have it."""

    def __init__(
        self,
        *,
        topics: Topics,
        deletions: Deletions,
        registration: Registration,
        saver: Saver,
        known: Callable[[], Awaitable[None]],
        limits: BrokerLimits,
        clock: Callable[[], int],
    ) -> None:
        self._topics = topics
        self._deletions = deletions
        self._registration = registration
        self._saver = saver
        self._known = known
        self._limits = limits
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.UPDATE_AND_CREATE_TOPIC: self.put,
            RequestCode.UPDATE_AND_CREATE_TOPIC_LIST: self.put_all,
            RequestCode.GET_ALL_TOPIC_CONFIG: self.all,
            RequestCode.GET_TOPIC_CONFIG: self.one,
            RequestCode.DELETE_TOPIC_IN_BROKER: self.delete,
            RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: self.system_topics,
        }

    async def put(self, request: Command, _: Connection) -> Command:
        """Create a topic or replace its settings; the name servers know it before the answer is sent."""
        return await self._put([request.header(headers.CreateTopicRequest)])

    async def put_all(self, request: Command, _: Connection) -> Command:
        """Create or replace several topics; if one of them is refused, nothing is changed."""
        body = body_of(CreateTopicListRequestBody, request, self._limits)
        return await self._put([_request_of(config) for config in body.topic_config_list])

    async def _put(self, wanted: Sequence[headers.CreateTopicRequest]) -> Command:
        self._topics.put_all([self._checked(each) for each in wanted], now=self._clock())
        await self._saver.save(self._topics)
        await self._known()
        # Register all changes: topics created at once share a version, and name servers ignore a version they have.
        await self._registration.wait()
        return Command.response(ResponseCode.SUCCESS)

    def _checked(self, header: headers.CreateTopicRequest) -> TopicConfig:
        check_name(header.topic)
        self._topics.check_is_not_system(header.topic)
        self._limits.check_queues(readQueueNums=header.read_queue_nums, writeQueueNums=header.write_queue_nums)
        return _config_of(header, self._topics.find(header.topic))

    def all(self, _request: Command, _: Connection) -> Command:
        """Return the settings of all topics."""
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(self._topics.wrapper()))

    def one(self, request: Command, _: Connection) -> Command:
        """Return the settings of one topic."""
        topic = self._topics.get(request.header(headers.GetTopicConfigRequest).topic)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(topic))

    async def delete(self, request: Command, _: Connection) -> Command:
        """Delete a topic with its queues, and the offsets and leases of groups there."""
        topic = request.header(headers.DeleteTopicRequest).topic
        check_name(topic)
        self._topics.check_is_not_system(topic)
        self._topics.delete(topic, now=self._clock())
        self._registration.want()
        await self._deletions.clear_topic(topic)
        await self._saver.save(self._topics)
        await self._known()
        return Command.response(ResponseCode.SUCCESS)

    def system_topics(self, _request: Command, _: Connection) -> Command:
        """Return the names of the topics that belong to the broker."""
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(TopicList(self._topics.system_names())))


def _request_of(config: TopicConfig) -> headers.CreateTopicRequest:
    """Return the request that creates one topic of a list."""
    return headers.CreateTopicRequest(
        config.topic_name,
        config.read_queue_nums,
        config.write_queue_nums,
        config.perm,
        config.topic_filter_type,
        topic_sys_flag=config.topic_sys_flag,
        attributes=topic_attributes.text_of(config.attributes),
    )


def _config_of(header: headers.CreateTopicRequest, before: TopicConfig | None) -> TopicConfig:
    if header.topic_filter_type not in _FILTER_TYPES:
        raise IllegalArgument(f"topicFilterType {header.topic_filter_type!r} is not one of {', '.join(_FILTER_TYPES)}")
    try:
        attributes = topic_attributes.changed(None if before is None else before.attributes, header.attributes)
    except ValueError as error:
        raise IllegalArgument(str(error)) from error
    return TopicConfig(
        header.topic,
        header.read_queue_nums,
        header.write_queue_nums,
        header.perm,
        header.topic_filter_type,
        header.topic_sys_flag,
        before is not None and before.order,  # the flag in the header is ignored
        attributes,
    )
