"""The errors of the client.

::

    ClientError
    ├── ClientClosed             the session was closed, or never started
    ├── GroupTaken               this session already has a consumer of the group
    ├── NameIllegal              an invalid name
    ├── TopicNotFound            no broker of the cluster has this topic
    ├── NoRoute                  the topic is known, but none of its brokers can serve this request
    │   ├── NoMaster             … because no master of a broker is known: nothing was sent to it
    │   │   └── TopicsUnknown    … nor what topics there are (also a TopicNotFound)
    │   ├── TopicReadOnly        … because none of its queues is writable
    │   └── TopicPaused          … because none of its queues is readable
    ├── MessageTooLarge          refused before it was sent
    ├── MessageRefused           a batch or message that no broker would accept
    ├── SendUncertain            sent without an answer: it is unknown whether it was stored
    ├── LeaseExpired             the lease of a message has ended or was replaced
    ├── MembersConnected         the offsets of a group cannot be moved while its members are connected
    ├── OffsetsDamaged           the file with a broadcasting consumer's offsets cannot be read
    ├── MalformedAnswer          an answer whose content does not match its code
    ├── Unreachable              no connection, or it was lost before the answer
    │   └── TimedOut             … no answer in time
    └── BrokerRefused            the broker answered with an error code
        ├── NotConfirmed         done, but not known to stay: a crash or a switch may take it back (1, 10, 11, 12, 14)
        ├── TransactionUnknown   no half message of the producer group at that place (1)
        ├── TransactionDecided   the transaction ended otherwise before (1)
        ├── MessageIllegal       the message is one that the broker does not accept (13)
        ├── ParameterIllegal     a parameter of the request is (29)
        ├── BrokerBusy           try again a little later (2, 215)
        ├── BrokerUnavailable    cannot store now: slave, disk full, shutting down (14; 11 to a decision)
        ├── NoPermission         not allowed by topic, group or broker (16)
        │   ├── GroupPaused      … because consuming is switched off for the group
        │   └── AccessDenied     … by access control: no account, a wrong secret, or a right that the account lacks (1)
        ├── GroupNotFound        the consumer group does not exist there (26)
        ├── GroupOffline         no client of the group is connected there (206)
        ├── AccountRefused       a change of accounts that the broker does not accept (209, 210, 211)
        ├── SubscriptionRefused  expression or subscription not accepted (23, 24, 25, 27, 28)
        └── NotSupported         the broker does not support this request (3)
            └── FilterNotServed  … because it filters by tags alone (1)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from broker_core.errors import GantryError
from broker_core.protocol.codes import ResponseCode

_PAUSED: Final = "subscription group no permission"
"""How brokers begin to say that a group is switched off; the code alone stands for topic and broker as well."""
_NO_TRANSACTION: Final = (
    "Find prepared transaction message failed",
    "The producer group wrong",
    "The transaction state table offset wrong",
    "The commit log offset wrong",
)
"""How brokers, those of Apache RocketMQ too, say that a decision names no half message."""
_DONE: Final = ("stored, but", "done, but")
"""How brokers of Gantry begin to say what they do not know of what they did."""
_NOT_CONFIRMED: Final = "[NOT_CONFIRMED]"
"""In the remark of what replicas in sync are not known to have, or of what was passed on to a master that is silent."""
_DECIDED: Final = re.compile(r"the transaction of message .* was (committed|rolled back|given up|decided) before")

_ACCESS: Final = "AclException:"
"""What brokers of 4.9 and of Gantry begin with if access control refuses; the code is that of any failure."""
_NO_FILTER: Final = "The broker does not support consumer to filter message by"
"""What brokers begin with if they do not serve a kind of filter; the code is that of any failure."""
_LACKING: Final = (
    (re.compile(r"No accessKey is configured"), "it requires an access key"),
    (re.compile(r"No acl config for (.*)"), "it knows no account {}"),
    (re.compile(r"Check signature failed for accessKey=(.*)"), "the secret key of account {} is wrong"),
    (
        re.compile(r"Need admin permission for request code=(\d+), but accessKey=(.*) is not"),
        "account {1} is not an administrator, which request {0} requires",
    ),
    (re.compile(r"No default permission for (topic|group):(.*)"), "the account has no right for {} {}"),
)


class ClientError(GantryError):
    """The base class of all client errors."""

    of_name_server = False
    """Whether a name server failed or refused what any other of them answers as well, such as a route."""
    at_name_server = False
    """Whether what failed or refused is a name server, with the controller that it may host, rather than a broker."""
    broker_name: str | None = None
    """The name of the broker that failed or refused, as far as the session knows who is at its address."""


class ClientClosed(ClientError):
    """Raised when a session is used before it started or after it was closed."""


class GroupTaken(ClientError):
    """Raised for a second consumer of a group in one client: members with one client id would share their queues."""


class NameIllegal(ClientError):
    """Raised for an invalid topic or group name (protocol/README.md#names); nothing was sent."""


class TopicNotFound(ClientError):
    """No broker of the cluster has this topic."""

    def __init__(self, topic: str) -> None:
        super().__init__(f"topic {topic!r} does not exist")
        self.topic = topic


class NoRoute(ClientError):
    """The topic is known, but none of its brokers can serve this request now."""

    def __init__(self, topic: str, reason: str = "its route names no reachable broker") -> None:
        super().__init__(f"topic {topic!r}: {reason}")
        self.topic = topic


class NoMaster(NoRoute):
    """No master of these brokers is known, so nothing was sent to them; none of a cluster's if no name is given."""

    def __init__(self, *broker_names: str, topic: str = "") -> None:
        ClientError.__init__(self, _without_master(broker_names))
        self.topic = topic
        self.broker_names = broker_names
        self.broker_name = broker_names[0] if len(broker_names) == 1 else None


class TopicsUnknown(NoMaster, TopicNotFound):
    """The name servers know no topic, since no master has told them yet: this one may exist, and nothing was sent."""


class TopicReadOnly(NoRoute):
    """None of the topic's queues is writable."""

    def __init__(self, topic: str) -> None:
        super().__init__(topic, "none of its queues is writable")


class TopicPaused(NoRoute):
    """None of the topic's queues is readable: its delivery is stopped, while the broker itself answers."""

    def __init__(self, topic: str) -> None:
        super().__init__(topic, "its delivery is paused: none of its queues is readable")


class MessageTooLarge(ClientError):
    """The body, or the whole batch, is larger than brokers accept; nothing was sent."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"message of {size} bytes is larger than the limit of {limit} bytes")
        self.size = size
        self.limit = limit


class MessageRefused(ClientError):
    """No broker would accept this message or batch; the text says why. Nothing was sent."""


class SendUncertain(ClientError):
    """The message was sent and no answer arrived: it is unknown whether it was stored."""

    def __init__(self, topic: str, addr: str, reason: str, *, broker_name: str | None = None) -> None:
        peer = addr if broker_name is None else f"{broker_name} at {addr}"
        super().__init__(f"topic {topic!r}: sent to {peer}, state unknown: {reason}")
        self.topic = topic
        self.addr = addr
        self.broker_name = broker_name


class LeaseExpired(ClientError):
    """The lease of a message has ended or was replaced, or the message is done; the reason is the broker's own text."""

    def __init__(self, topic: str, queue_id: int, queue_offset: int, reason: str = "") -> None:
        where = f"topic {topic!r} queue {queue_id} offset {queue_offset}"
        super().__init__(f"{where}: {reason}" if reason else f"the lease of {where} has ended")
        self.topic = topic
        self.queue_id = queue_id
        self.queue_offset = queue_offset


class OffsetsDamaged(ClientError):
    """The file with a broadcasting consumer's offsets cannot be read: repair it, or delete it to start over."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


class MalformedAnswer(ClientError):
    """The content of a peer's answer does not match its code."""

    def __init__(self, addr: str, reason: str) -> None:
        super().__init__(f"{addr}: {reason}")
        self.addr = addr


class Unreachable(ClientError):
    """There is no connection to the peer, or it was lost before the answer."""

    def __init__(self, addr: str, reason: str, *, was_sent: bool = False) -> None:
        super().__init__(f"{addr}: {reason}")
        self.addr = addr
        self.was_sent = was_sent
        """Whether the request may have reached the peer."""


class OtherBroker(Unreachable):
    """Another broker than the one that was known there answers at the address; nothing was sent to it."""

    def __init__(self, addr: str) -> None:
        super().__init__(addr, "another broker answers there")


class TimedOut(Unreachable):
    """The peer did not answer in time; the operation may have been carried out if `was_sent`."""

    def __init__(self, addr: str, timeout_ms: int, *, was_sent: bool = True) -> None:
        what = "no answer" if was_sent else "not sent"
        super().__init__(addr, f"{what} within {timeout_ms} ms", was_sent=was_sent)
        self.timeout_ms = timeout_ms


class MembersConnected(ClientError):
    """A broker of RocketMQ 4.9 cannot take connected members to an offset, and they would overwrite it."""

    def __init__(self, broker_name: str) -> None:
        super().__init__(
            f"{broker_name} cannot take connected members to an offset: stop the members of the group first"
        )
        self.broker_name = broker_name


class BrokerRefused(ClientError):
    """A broker or name server answered with an error code (protocol/README.md#response-codes)."""

    def __init__(self, code: int, remark: str | None, addr: str) -> None:
        super().__init__(f"{addr}: {_code_name(code)}: {remark or 'no remark'}")
        self.code = code
        self.remark = remark
        self.addr = addr


class NotConfirmed(BrokerRefused):
    """The broker did it, or may have, and does not know that it stays: asked again it says so, or does it once more."""


class TransactionUnknown(BrokerRefused):
    """The broker has no half message of that producer group at that place."""


class TransactionDecided(BrokerRefused):
    """The transaction ended otherwise before."""

    @property
    def decision(self) -> str | None:
        """How it ended: "committed", "rolled back" or "given up"; None if the broker does not know any more."""
        found = _DECIDED.search(self.remark or "")
        return None if found is None or found[1] == "decided" else found[1]


class MessageIllegal(BrokerRefused):
    """The broker does not accept this message, and would not a second time; `remark` says why."""


class ParameterIllegal(BrokerRefused):
    """The broker does not accept a parameter of this request; `remark` says why."""


class BrokerBusy(BrokerRefused):
    """The broker sheds load; the same request may succeed a little later."""


class BrokerUnavailable(BrokerRefused):
    """The broker cannot store now: it is a slave, its disk is full, or it is shutting down."""


class NoPermission(BrokerRefused):
    """The topic, the group or the broker does not allow this."""


class GroupPaused(NoPermission):
    """Consuming is switched off for the group on this broker."""

    @property
    def group(self) -> str:
        """The name of the group."""
        return (self.remark or "").removeprefix(_PAUSED).lstrip(", ")


class AccessDenied(NoPermission):
    """Access control refused the request: it has no account or a wrong signature, or the account lacks a right."""

    @property
    def reason(self) -> str:
        """What is lacking, in words."""
        text = (self.remark or "").partition(_ACCESS)[2].partition(", org.apache.")[0].strip()
        for pattern, words in _LACKING:
            if (found := pattern.fullmatch(text)) is not None:
                return words.format(*found.groups())
        return text


class GroupNotFound(BrokerRefused):
    """The consumer group does not exist on this broker."""


class GroupOffline(BrokerRefused):
    """No client of the group is connected to this broker."""


class AccountRefused(BrokerRefused):
    """The broker does not accept a change of its accounts; `remark` says why."""


class SubscriptionRefused(BrokerRefused):
    """The filter expression is wrong, or the group is not subscribed (yet) on this broker."""


class NotSupported(BrokerRefused):
    """The broker does not support this request code."""


class FilterNotServed(NotSupported):
    """The broker filters by tags alone: of Apache RocketMQ's, one without `enablePropertyFilter`."""


_BY_CODE: Final[dict[int, type[BrokerRefused]]] = {
    ResponseCode.MESSAGE_ILLEGAL: MessageIllegal,
    ResponseCode.INVALID_PARAMETER: ParameterIllegal,
    ResponseCode.SYSTEM_BUSY: BrokerBusy,
    ResponseCode.FLOW_CONTROL: BrokerBusy,
    ResponseCode.SERVICE_NOT_AVAILABLE: BrokerUnavailable,
    ResponseCode.NO_PERMISSION: NoPermission,
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: GroupNotFound,
    ResponseCode.CONSUMER_NOT_ONLINE: GroupOffline,
    ResponseCode.SUBSCRIPTION_PARSE_FAILED: SubscriptionRefused,
    ResponseCode.SUBSCRIPTION_NOT_EXIST: SubscriptionRefused,
    ResponseCode.SUBSCRIPTION_NOT_LATEST: SubscriptionRefused,
    ResponseCode.FILTER_DATA_NOT_EXIST: SubscriptionRefused,
    ResponseCode.FILTER_DATA_NOT_LATEST: SubscriptionRefused,
    ResponseCode.REQUEST_CODE_NOT_SUPPORTED: NotSupported,
}


def refusal(code: int, remark: str | None, addr: str, *, topic: str | None = None) -> ClientError:
    """Return the error for the response code `code` of the peer at `addr`."""
    if is_unconfirmed(remark):
        return NotConfirmed(code, remark, addr)
    if code == ResponseCode.TOPIC_NOT_EXIST and topic is not None:
        return TopicNotFound(topic)
    if code == ResponseCode.NO_PERMISSION and (remark or "").startswith(_PAUSED):
        return GroupPaused(code, remark, addr)
    if code == ResponseCode.SYSTEM_ERROR and _ACCESS in (remark or ""):
        return AccessDenied(code, remark, addr)
    if code == ResponseCode.SYSTEM_ERROR and (remark or "").startswith(_NO_FILTER):
        return FilterNotServed(code, remark, addr)
    return _BY_CODE.get(code, BrokerRefused)(code, remark, addr)


def is_unconfirmed(remark: str | None) -> bool:
    """Return whether a broker says by the remark of a refusal that it did what was asked, or may have."""
    return (remark or "").startswith(_DONE) or _NOT_CONFIRMED in (remark or "")


def refused_decision(code: int, remark: str | None, addr: str) -> ClientError:
    """Return the error for the answer to a decision on a transaction, which says by its remark what is wrong."""
    if code == ResponseCode.SYSTEM_ERROR and _DECIDED.search(remark or ""):
        return TransactionDecided(code, remark, addr)
    if code == ResponseCode.SYSTEM_ERROR and (remark or "").startswith(_NO_TRANSACTION):
        return TransactionUnknown(code, remark, addr)
    if code == ResponseCode.SLAVE_NOT_AVAILABLE:
        return BrokerUnavailable(code, remark, addr)
    return refusal(code, remark, addr)


def _without_master(names: tuple[str, ...]) -> str:
    if not names:
        return "the name servers list no broker"
    return f"no master of broker{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))} is known"


def _code_name(code: int) -> str:
    try:
        return f"{ResponseCode(code).name}({code})"
    except ValueError:
        return f"code {code}"
