"""The reasons for which the broker refuses a request: one class per reason, with its values.

::

    BrokerError
    ├── CannotStart              the process stops before it serves
    │   └── BadConfigFile        neither a configuration file nor its backup can be read
    └── Refused                  a request is answered with a code and a remark (`answers.py` maps class to code)
        ├── IllegalTopicName     blank, too long, or with characters that are not allowed
        │   └── TopicNameTooLong … too long only
        ├── SystemTopic          administration of a topic that belongs to the broker
        ├── SendForbidden        a topic that clients may not send to
        ├── TopicUnknown         no such topic, and it may not be created
        ├── TopicUnreadable      the topic's permission has no read bit
        ├── TopicUnwritable      the topic's permission has no write bit
        ├── BrokerUnreadable     … the whole broker's permission
        ├── BrokerUnwritable     … the whole broker's permission
        ├── NotMaster            only the master of the broker name serves this
        │   ├── NotTaken         … or the in-sync set, which does not let the message in
        │   ├── NotChangedHere   … a change of topics or groups
        │   └── NotDecidedHere   … the end of a transaction
        ├── NotAnswered          the master did not answer what was forwarded to it; it may have done it
        ├── Unconfirmed          too much waits for the other replicas; retry a little later
        ├── IllegalQueue         a queue id outside the topic
        ├── IllegalArgument      a header field has a value outside its range
        ├── SettingUnknown       there is no such setting here
        ├── SettingIllegal       the text is not valid for the setting
        ├── SettingFixed         a setting that cannot be changed this way
        ├── GroupNotFound        no such consumer group, and it may not be created
        ├── GroupPaused          the group is not allowed to consume
        ├── GroupOffline         no member of the group is connected
        ├── NoMembers            a list of members was asked for, and there are none
        ├── OffsetUnknown        the group never stored an offset there
        ├── OffsetOutOfRange     a group cannot be reset to an offset outside the queue
        ├── StatisticUnknown     nothing was counted under that name and key
        ├── ClientUnreachable    a client to which a request is forwarded does not answer
        ├── ClientTooSlow        … not in time
        ├── ReplyLost            the client that waits for a reply is unknown or does not accept it
        ├── NotSubscribed        the group does not subscribe to the topic
        ├── SubscriptionTooOld   the request has a newer subscription than the broker
        ├── BadSubscription      the filter expression cannot be read
        ├── FilterUnsupported    a kind of filter that this broker does not support
        ├── MessageIllegal       a message, batch or property text that may not be stored
        ├── MessageGone          no message at that place
        ├── DiskFull             too little space on the disk to accept messages
        ├── LeaseLost            the lease of a message ended, or belongs to a later delivery
        ├── TransactionsRefused  this broker does not accept transactional messages
        ├── TransactionUnknown   no half message at that place, or one of another producer group
        ├── TransactionDecided   a transaction that ended otherwise
        ├── AccessRefused        the request has no account, a wrong signature, or lacks a right
        ├── AccountIllegal       an account or address that is not valid
        ├── AccountUnknown       no account has this access key
        ├── NothingFound         a look-up without a result
        ├── TimerDisabled        delivery times are switched off
        ├── AlreadyDelivered     a message that can no longer be taken back
        ├── IllegalHandle        a handle of a delayed message that cannot be read, or of another broker
        └── LimitReached         a named limit of `limits.py`
            ├── WaitingFull      … of waiting requests: retry a little later
            ├── PollingFull      … of long polls for leases
            └── TooManyLeases    … of messages on lease
"""

from __future__ import annotations

from broker_core.errors import GantryError


class BrokerError(GantryError):
    """A failure that the broker can name."""


class CannotStart(BrokerError):
    """Raised when the broker stops before it serves."""


class BadConfigFile(CannotStart):
    """Raised when a configuration file and its backup are both unreadable."""


class Refused(BrokerError):
    """A request that is answered with a response code and this remark."""


class IllegalTopicName(Refused):
    """Raised for a topic name that is blank, too long or has characters that are not allowed."""


class TopicNameTooLong(IllegalTopicName):
    """Raised for a topic name that is valid except for its length."""


class SystemTopic(Refused):
    """Raised when a request would change or delete a topic of the broker itself."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"The topic[{topic}] is conflict with system topic.")
        self.topic = topic


class SendForbidden(Refused):
    """Raised when a client sends to a topic that only the broker writes to."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"Sending message to topic[{topic}] is forbidden.")
        self.topic = topic


class TopicUnknown(Refused):
    """Raised when a topic is unknown and may not be created."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"topic[{topic}] not exist, apply first please!")
        self.topic = topic


class TopicUnreadable(Refused):
    """Raised when a topic's permission has no read bit."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"the topic[{topic}] pulling message is forbidden")
        self.topic = topic


class TopicUnwritable(Refused):
    """Raised when a topic's permission has no write bit."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"the topic[{topic}] sending message is forbidden")
        self.topic = topic


class BrokerUnreadable(Refused):
    """Raised when the whole broker's permission has no read bit."""

    def __init__(self, address: str) -> None:
        super().__init__(f"the broker[{address.rpartition(':')[0]}] pulling message is forbidden")


class BrokerUnwritable(Refused):
    """Raised when the whole broker's permission has no write bit."""

    def __init__(self, address: str) -> None:
        super().__init__(f"the broker[{address.rpartition(':')[0]}] sending message is forbidden")


class NotMaster(Refused):
    """Raised for a request that only the master of this broker name serves."""


class NotAnswered(Refused):
    """Raised when the master does not answer what a slave forwarded to it: whether it acted is unknown."""


class NotTaken(NotMaster):
    """Raised for a message that this replica must not store now: it is not the master, or the in-sync set is small."""


class Unconfirmed(Refused):
    """Raised for a message while too much waits for the other replicas."""


class NotChangedHere(NotMaster):
    """Raised when a slave is to change what it takes over from its master; the remark is Apache RocketMQ's."""

    def __init__(self) -> None:
        super().__init__(
            "Can't modify topic or subscription group from slave broker, please execute it from master broker."
        )


class NotDecidedHere(NotMaster):
    """Raised when a slave is to end a transaction."""


class IllegalQueue(Refused):
    """Raised when a queue id is not one of the topic's queues."""

    def __init__(self, topic: str, queue_id: int, queues: int) -> None:
        super().__init__(f"request queueId[{queue_id}] is illegal, topic:[{topic}] has {queues} queues")
        self.topic = topic
        self.queue_id = queue_id


class IllegalArgument(Refused):
    """Raised when a header field has a value outside its range."""


class SettingUnknown(Refused):
    """Raised when a request changes a setting that this broker does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(f"this broker has no setting {name[:80]!r}")
        self.name = name


class SettingIllegal(Refused):
    """Raised when the text for a setting is not valid."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"setting {name}: {reason}")
        self.name = name


class SettingFixed(Refused):
    """Raised for a change of a setting that is fixed or that the command line sets."""


class GroupNotFound(Refused):
    """Raised when a consumer group is unknown and may not be created."""

    def __init__(self, group: str) -> None:
        super().__init__(f"subscription group [{group}] does not exist; create it first")
        self.group = group


class GroupPaused(Refused):
    """Raised when consuming is switched off for a group."""

    def __init__(self, group: str) -> None:
        super().__init__(f"subscription group no permission, {group}")
        self.group = group


class GroupOffline(Refused):
    """Raised when no member of a group is connected to this broker."""


class NoMembers(Refused):
    """Raised when a request asks for the members of a group that has none connected."""


class OffsetUnknown(Refused):
    """Raised when a group that is to be reset has no offset."""


class OffsetOutOfRange(Refused):
    """Raised when a group is to be reset to an offset outside its queue."""

    def __init__(self, offset: int, low: int, high: int) -> None:
        super().__init__(f"Target offset {offset} not in consume queue range [{low}-{high}]")
        self.offset = offset


class StatisticUnknown(Refused):
    """Raised when nothing was counted under a name and key."""


class ClientUnreachable(Refused):
    """Raised when a client to which a request is forwarded is not connected, or its connection breaks."""


class ClientTooSlow(Refused):
    """Raised when such a client does not answer in time."""


class NotSubscribed(Refused):
    """Raised when a group does not subscribe to the topic it pulls from."""


class SubscriptionTooOld(Refused):
    """Raised when a pull has a newer subscription than the last heartbeat."""


class BadSubscription(Refused):
    """Raised when a filter expression cannot be read."""


class FilterUnsupported(Refused):
    """Raised for a kind of filter expression that this broker does not support: anything but tags."""

    def __init__(self, kind: str | None) -> None:
        super().__init__(f"The broker does not support consumer to filter message by {kind}")
        self.kind = kind


class ReplyLost(Refused):
    """Raised when the reply to a request does not reach the client that waits for it."""


class MessageIllegal(Refused):
    """Raised for a message, batch or property text that may not be stored."""


class MessageGone(Refused):
    """Raised when there is no message at the requested place."""


class DiskFull(Refused):
    """Raised when the disk has so little space left that messages are refused before the store fails."""


class LeaseLost(Refused):
    """Raised when a lease has ended or was replaced, or its message is done."""


class TransactionsRefused(Refused):
    """Raised for a transactional message, which this broker does not accept."""


class TransactionUnknown(Refused):
    """Raised for a decision on what is no half message, or not one of that producer group."""


class TransactionDecided(Refused):
    """Raised for a decision on a transaction that ended otherwise; `decision` says how, None if nothing tells."""

    def __init__(self, message_id: str, decision: str | None) -> None:
        super().__init__(f"the transaction of message {message_id[:80]} was {decision or 'decided'} before")


class AccessRefused(Refused):
    """Raised for a request that no account allows; clients recognise the name at the beginning of the remark."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"org.apache.rocketmq.acl.common.AclException: {reason}")
        self.reason = reason


class AccountIllegal(Refused):
    """Raised for an account, a right or an address that is not valid."""


class AccountUnknown(Refused):
    """Raised when there is no account with an access key."""

    def __init__(self, access_key: str) -> None:
        super().__init__(f"there is no account {access_key[:200]}")
        self.access_key = access_key


class NothingFound(Refused):
    """Raised for a look-up without a result."""


class TimerDisabled(Refused):
    """Raised for a delivery time while they are switched off."""

    def __init__(self) -> None:
        super().__init__("accurate timer message is not enabled, timerWheelEnable is false")


class AlreadyDelivered(Refused):
    """Raised when a message that is to be recalled or rescheduled was delivered before."""

    def __init__(self, topic: str, message_id: str) -> None:
        super().__init__(f"message {message_id[:80]} of topic[{topic}] does not wait any more: it was delivered")


class RecallsRefused(Refused):
    """Raised where `recallMessageEnable` is off."""

    def __init__(self) -> None:
        super().__init__("recall failed, operation is forbidden: recallMessageEnable is off")


class IllegalHandle(Refused):
    """Raised for a recall handle that cannot be read, or that belongs to another topic or broker."""


class LimitReached(Refused):
    """Raised when a named limit is reached; nothing was changed."""

    def __init__(self, limit: str, value: int, what: str) -> None:
        super().__init__(f"limit {limit}={value} reached: {what}")
        self.limit = limit
        self.value = value


class WaitingFull(LimitReached):
    """Raised when no more requests may wait."""


class PollingFull(LimitReached):
    """Raised when no more long polls for leases may wait."""


class TooManyLeases(LimitReached):
    """Raised when a group has too many messages on lease and must settle some first."""
