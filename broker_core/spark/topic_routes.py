"""Where the topics of a cluster are, told apart from topics that its name server does not know yet.

A name server keeps nothing: started again, it has no topic until the brokers have registered, which takes them seconds
after a crash, and up to half a minute if it alone was restarted.
"""

from __future__ import annotations

from broker_core.client.admin import Admin, BrokerAddress
from broker_core.client.errors import TopicNotFound
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.spark.errors import Unreachable, unknown_topic


async def route_of(admin: Admin, topic: str) -> tuple[MessageQueue, ...]:
    """Return the queues of a topic that may be read; raise UnknownOption if it does not exist, else Unreachable."""
    try:
        return (await admin.topics.route(topic)).read_queues
    except TopicNotFound:
        await brokers_of(admin)
    answers = await admin.topics.list()
    known = answers.found
    if answers.failed and topic not in known:
        raise next(iter(answers.failed.values()))
    if topic not in known:
        raise unknown_topic(topic, known)
    try:
        # It was registered meanwhile.
        return (await admin.topics.route(topic)).read_queues
    except TopicNotFound:
        who = ", ".join(sorted(known[topic].configs))
        raise Unreachable(f"topic {topic!r} exists on {who}, which has not told the name server of it yet") from None


async def brokers_of(admin: Admin) -> list[BrokerAddress]:
    """Return the brokers of the cluster; raise Unreachable while the name server knows none, and so no topic."""
    brokers = await admin.clusters.brokers()
    if not brokers:
        servers = ";".join(admin.session.name_servers.addresses)
        raise Unreachable(f"{servers}: the name server answers, but no broker has registered with it yet")
    return brokers
