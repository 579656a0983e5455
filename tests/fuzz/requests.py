"""Requests of every code, mostly valid: close enough to real ones to get deep into their handlers before they fail."""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random
from typing import Any, Final

from broker_core.protocol import bodies
from broker_core.protocol import fields as ext
from broker_core.protocol.batch import encode_batch
from broker_core.protocol.codes import FLAG_ONE_WAY, RequestCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.protocol.headers.send import SendMessageRequest, SendMessageV2Request
from broker_core.protocol.host import encode_host
from broker_core.protocol.message_id import format_offset_id
from tests.fuzz import samples
from tests.fuzz.mutations import mutate, mutate_text

TOPIC: Final = "orders"
GROUP: Final = "group-a"
MOST_WAIT_MS: Final = 200
"""Longer waits are shortened to this: a request parked for a minute is not a hang, but would delay the test."""

_SHARED: Final[dict[int, type]] = {
    int(RequestCode.SEND_BATCH_MESSAGE): SendMessageV2Request,
    int(RequestCode.SEND_REPLY_MESSAGE): SendMessageRequest,
    int(RequestCode.SEND_REPLY_MESSAGE_V2): SendMessageV2Request,
    int(RequestCode.LITE_PULL_MESSAGE): PullMessageRequest,
}
_KINDS: Final[dict[int, type]] = {
    int(kind.CODE): kind for kind in samples.header_kinds() if hasattr(kind, "CODE")
} | _SHARED


_BODIES: Final[dict[int, type]] = {
    RequestCode.HEART_BEAT: bodies.HeartbeatData,
    RequestCode.CHECK_CLIENT_CONFIG: bodies.CheckClientRequestBody,
    RequestCode.LOCK_BATCH_MQ: bodies.LockBatchRequestBody,
    RequestCode.UNLOCK_BATCH_MQ: bodies.UnlockBatchRequestBody,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: bodies.SubscriptionGroupConfig,
    RequestCode.REGISTER_BROKER: bodies.RegisterBrokerBody,
    RequestCode.BATCH_ACK_MESSAGE: bodies.BatchAckMessageRequestBody,
    RequestCode.QUERY_ASSIGNMENT: bodies.QueryAssignmentRequestBody,
    RequestCode.SET_MESSAGE_REQUEST_MODE: bodies.SetMessageRequestModeRequestBody,
}
_CONFIG: Final = b"autoCreateTopicEnable=true\nfileReservedTime=72\ndefaultTopicQueueNums=8\n"
_WAITS: Final = ("suspendTimeoutMillis", "pollTime")
_LIKELY: Final[dict[str, tuple[Any, ...]]] = {
    "topic": (TOPIC,),
    "group": (GROUP,),
    "consumer_group": (GROUP,),
    "producer_group": (GROUP,),
    "queue_id": (0, 1, 3),
    "sys_flag": (0, 1, 2, 4, 7),
    "max_msg_nums": (1, 32),
    "exp_type": ("TAG", None),
    "expression_type": ("TAG", None),
    "invisible_time": (1000,),
    "default_topic": ("TBW102",),
    "topic_filter_type": ("SINGLE_TAG",),
    "read_queue_nums": (4,),
    "write_queue_nums": (4,),
    "perm": (6,),
    "key": ("k7",),
    "offset": (0, 1, 5),
    "queue_offset": (0, 5, 40),
    "start_offset": (0,),
    "begin_timestamp": (0,),
    "end_timestamp": ((1 << 63) - 1,),
    "client_id": ("client-a",),
    "msg_id": (format_offset_id(encode_host("127.0.0.1", 10911), 0),),
}
_PASSING: Final = frozenset((RequestCode.DELETE_TOPIC_IN_BROKER, RequestCode.DELETE_SUBSCRIPTIONGROUP))
"""Names that belong to these codes only, though others match by their prefix."""


def sound(random: Random, code: int) -> Command:
    """Return a plausible request with a code."""
    kind = _KINDS.get(code)
    if kind is None:
        return Command(code, {}, _body(random, code))
    header = samples.sample(random, kind)
    header = ext.encode(header if code in _PASSING else _likely(random, header))
    if code in _PASSING:
        header |= {name: "gone" for name, value in header.items() if value in (TOPIC, GROUP)}
    return Command(code, header, _body(random, code))


def damaged(random: Random, code: int) -> Command:
    """Return such a request with some of its fields, or its body, damaged."""
    request = sound(random, code)
    for name, value in list(request.ext_fields.items()):
        chance = random.random()
        if chance < 0.15:
            request.ext_fields[name] = mutate_text(random, value, samples.TEXTS)
        elif chance < 0.2:
            del request.ext_fields[name]
    if random.random() < 0.5:
        request.body = mutate(random, request.body)
    if random.random() < 0.05:
        request.flag = FLAG_ONE_WAY
    for name in _WAITS:
        text = request.ext_fields.get(name, "")
        if text.strip().lstrip("+").isdecimal():
            request.ext_fields[name] = text[:2]
    return request


def _likely(random: Random, header: Any) -> Any:
    known = {each.name: _LIKELY[each.name] for each in fields(header) if each.name in _LIKELY}
    return replace(header, **{name: random.choice(values) for name, values in known.items() if random.random() < 0.8})


def _body(random: Random, code: int) -> bytes:
    if code in _BODIES:
        return bodies.encode(samples.sample(random, _BODIES[code]))
    if code == RequestCode.SEND_BATCH_MESSAGE:
        return encode_batch(samples.message(random) for _ in range(random.randrange(1, 3)))
    if code in (RequestCode.UPDATE_BROKER_CONFIG, RequestCode.UPDATE_NAMESRV_CONFIG):
        return _CONFIG
    return random.choice((b"", b"hi", b"[]", b"{}", random.randbytes(20)))
