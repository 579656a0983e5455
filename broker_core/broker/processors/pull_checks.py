"""Whether a pull may be served, and which messages its group wants."""

from __future__ import annotations

from typing import Final

from broker_core.broker.clients import Clients
from broker_core.broker.errors import (
    FilterUnsupported,
    GroupPaused,
    IllegalQueue,
    NotSubscribed,
    SubscriptionTooOld,
)
from broker_core.broker.filters.tags import accept_codes, accept_expression
from broker_core.broker.processors.rights import ReadRights
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.codes import PULL_SUBSCRIPTION
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.remoting.connection import Connection
from broker_core.store.fetch import AcceptTag

_TAG: Final = "TAG"


class PullChecks:
    """Asks the permissions, then takes the filter of the request or that of the group's last heartbeat."""

    def __init__(self, *, rights: ReadRights, clients: Clients[Connection]) -> None:
        self._rights = rights
        self._clients = clients

    def accept(self, header: PullMessageRequest, now: int) -> AcceptTag | None:
        """Return the filter of a pull that may be served; raise what is wrong with it (broker/README.md#pulling)."""
        self._rights.check_broker()
        group = self._rights.get_group(header.consumer_group, now=now)
        topic = self._rights.get_topic(header.topic)
        if not 0 <= header.queue_id < topic.read_queue_nums:
            raise IllegalQueue(header.topic, header.queue_id, topic.read_queue_nums)
        if header.sys_flag & PULL_SUBSCRIPTION:
            if (header.expression_type or _TAG) != _TAG:
                raise FilterUnsupported(header.expression_type)
            return accept_expression(header.subscription)
        return self._accept_of_heartbeat(header, group)

    def _accept_of_heartbeat(self, header: PullMessageRequest, config: SubscriptionGroupConfig) -> AcceptTag | None:
        group = self._clients.find_consumers(header.consumer_group)
        if group is None:
            raise NotSubscribed("the consumer's group info not exist")
        if group.is_broadcasting and not config.consume_broadcast_enable:
            raise GroupPaused(header.consumer_group)
        subscription = group.subscriptions.get(header.topic)
        if subscription is None:
            raise NotSubscribed("the consumer's subscription not exist")
        if subscription.sub_version < header.sub_version:
            raise SubscriptionTooOld("the consumer's subscription not latest")
        if subscription.expression_type not in (_TAG, ""):
            raise FilterUnsupported(subscription.expression_type)
        return accept_codes(subscription.code_set)
