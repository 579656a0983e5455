"""What a slave asks the main port of its master before it follows (broker/README.md#following-a-master)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from broker_core.broker.replication.plain_slave import FollowError, MasterLog
from broker_core.protocol import bodies
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.bodies.stats import TopicStatsTable
from broker_core.protocol.bodies.topics import TopicConfigSerializeWrapper
from broker_core.protocol.codes import STORE_ID_KEY, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.admin import GetBrokerConfigRequest, GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.messages import ViewMessageByIdRequest
from broker_core.protocol.headers.topics import GetAllTopicConfigRequest, GetTopicStatsInfoRequest
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.errors import RemotingError
from broker_core.store.consume_queue import QueueEnd

_TIMEOUT_MS: Final = 3_000
_SEGMENT_BYTES: Final = "mappedFileSizeCommitLog"


class MasterUnclear(FollowError):
    """Raised when the master does not answer, or not what is needed."""


@dataclass(frozen=True, slots=True)
class MasterFacts:
    """A master's log, and whether it is a broker of this kind."""

    log: MasterLog
    is_gantry: bool


async def ask_facts(remoting: RemotingClient, address: str) -> MasterFacts:
    """Return what a master says of itself; raises MasterUnclear."""
    settings = _lines(await ask(remoting, address, GetBrokerConfigRequest()))
    figures = bodies.decode(KVTable, await ask(remoting, address, GetBrokerRuntimeInfoRequest())).table
    try:
        log = MasterLog(
            segment_bytes=int(settings[_SEGMENT_BYTES]),
            begin=int(figures["commitLogMinOffset"]),
            end=int(figures["commitLogMaxOffset"]),
        )
    except (KeyError, ValueError) as error:
        raise MasterUnclear(f"the master {address} does not tell what its log is like: {error!r}") from error
    return MasterFacts(log, STORE_ID_KEY in figures)


async def ask_first_record(remoting: RemotingClient, address: str) -> bytes:
    """Return the record at log offset 0: a master sends its newest segment alone to a log that ends there.

    Raises MasterUnclear.
    """
    return await ask(remoting, address, ViewMessageByIdRequest(0))


async def find_record(remoting: RemotingClient, address: str, log_offset: int) -> bytes | None:
    """Return what a master has as the record at a log offset; None if it shows none there. Raises MasterUnclear."""
    answer = await _invoke(remoting, address, ViewMessageByIdRequest(log_offset))
    return answer.body if answer.code == ResponseCode.SUCCESS else None


async def ask_queue_ends(remoting: RemotingClient, address: str, log_begin: int) -> dict[tuple[str, int], QueueEnd]:
    """Return where the queues end of which the master's log, from `log_begin` on, has no message any more.

    RocketMQ tells that too: such a queue has a largest offset, and no time of its last message. Raises MasterUnclear.
    """
    topics = bodies.decode(TopicConfigSerializeWrapper, await ask(remoting, address, GetAllTopicConfigRequest()))
    found = {}
    for topic in sorted(topics.topic_config_table):
        answer = await _invoke(remoting, address, GetTopicStatsInfoRequest(topic))
        if answer.code == ResponseCode.TOPIC_NOT_EXIST:
            continue  # it was deleted meanwhile
        if answer.code != ResponseCode.SUCCESS:
            raise MasterUnclear(f"the master {address} does not tell of topic {topic}: {answer.code} {answer.remark}")
        for queue, told in bodies.decode(TopicStatsTable, answer.body).offset_table.items():
            if told.max_offset > 0 and told.last_update_timestamp <= 0:
                # Where its last message was nobody tells: it ended in front of what is left.
                found[topic, queue.queue_id] = QueueEnd(told.max_offset, log_begin - 1, 1)
    return found


async def ask(remoting: RemotingClient, address: str, header: object) -> bytes:
    """Return the body of a master's answer; raises MasterUnclear."""
    answer = await _invoke(remoting, address, header)
    if answer.code != ResponseCode.SUCCESS:
        raise MasterUnclear(f"the master {address} answers {answer.code}: {answer.remark}")
    return answer.body


async def _invoke(remoting: RemotingClient, address: str, header: object) -> Command:
    try:
        return await remoting.invoke(address, Command.request(header), _TIMEOUT_MS)
    except (RemotingError, ProtocolError) as error:
        raise MasterUnclear(str(error)) from error


def _lines(text: bytes) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.decode("utf-8", "replace").splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}
