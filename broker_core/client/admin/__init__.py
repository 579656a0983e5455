"""Administration of a cluster, by resource: answers of several brokers name those that failed."""

from __future__ import annotations

from broker_core.client.admin.accounts import Accounts, BrokerAccess
from broker_core.client.admin.clusters import BrokerRuntime, Clusters
from broker_core.client.admin.groups import Group, GroupConnections, Groups, GroupStats
from broker_core.client.admin.maintenance import Maintenance
from broker_core.client.admin.messages import BrowsePage, Messages, PlacedMessage, SearchResult
from broker_core.client.admin.offsets import Offsets, Reset
from broker_core.client.admin.progress import Progress
from broker_core.client.admin.replication import ControllerStatus, KnownState, Replication
from broker_core.client.admin.requests import AdminRequests, BrokerAddress
from broker_core.client.admin.settled import Mastership, NotSettled, Settled
from broker_core.client.admin.timers import TimerLimits, Timers
from broker_core.client.admin.topics import Topic, TopicKind, Topics, TopicStats
from broker_core.client.admin.transactions import HalfMessage, OpenTransaction, Transactions
from broker_core.client.session import Session

__all__ = [
    "Admin",
    "BrokerAccess",
    "BrokerAddress",
    "BrokerRuntime",
    "BrowsePage",
    "ControllerStatus",
    "Group",
    "GroupConnections",
    "GroupStats",
    "HalfMessage",
    "KnownState",
    "Mastership",
    "NotSettled",
    "OpenTransaction",
    "PlacedMessage",
    "Replication",
    "Reset",
    "SearchResult",
    "TimerLimits",
    "Topic",
    "TopicKind",
    "TopicStats",
]


class Admin:
    """All administration of a cluster over one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        requests = AdminRequests(session)
        self.clusters = Clusters(requests)
        self.topics = Topics(requests)
        self.groups = Groups(requests)
        self.offsets = Offsets(requests)
        self.progress = Progress(requests)
        self.maintenance = Maintenance(requests)
        self.replication = Replication(requests)
        self.accounts = Accounts(requests, self.maintenance)
        self.timers = Timers(requests, self.maintenance)
        self.transactions = Transactions(requests, self.offsets)
        self.messages = Messages(requests, self.topics, self.groups)
        self.settled = Settled(requests, self.clusters, self.messages)
