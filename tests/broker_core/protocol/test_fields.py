"""Header dataclasses and their text form."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol import RequestCode, headers
from broker_core.protocol import fields as coder
from broker_core.protocol.errors import HeaderError, MalformedHeader, MissingField
from broker_core.protocol.fields import I32
from broker_core.protocol.headers.clients import UnregisterClientRequest
from broker_core.protocol.headers.messages import QueryMessageRequest
from broker_core.protocol.headers.offsets import GetMaxOffsetRequest, ResetOffsetRequest, SearchOffsetRequest
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.protocol.headers.send import (
    PushReplyMessageToClientRequest,
    SendMessageRequest,
    SendMessageResponse,
    SendMessageV2Request,
    send_header_kind,
)
from broker_core.protocol.unsupported import REASONS

SEND = SendMessageRequest("Orders", 0, 0, 1700000000000, 0, "pg", "TBW102", 4, "TAGS\x01T", 0, False, None, False, None)
SHORT_SEND = SendMessageV2Request(
    "Orders", 0, 0, 1700000000000, 0, "pg", "TBW102", 4, "TAGS\x01T", 0, False, None, False, None
)

GOLDEN = [
    (
        SHORT_SEND,  # the fields of the signature's vector
        {"a": "pg", "b": "Orders", "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1700000000000", "h": "0",
         "i": "TAGS\x01T", "j": "0", "k": "false", "m": "false"},
    ),
    (
        SEND,
        {"producerGroup": "pg", "topic": "Orders", "defaultTopic": "TBW102", "defaultTopicQueueNums": "4",
         "queueId": "0", "sysFlag": "0", "bornTimestamp": "1700000000000", "flag": "0", "properties": "TAGS\x01T",
         "reconsumeTimes": "0", "unitMode": "false", "batch": "false"},
    ),
    (
        SendMessageResponse("0A", 3, 41, msg_region="DefaultRegion", trace_on=False),
        {"msgId": "0A", "queueId": "3", "queueOffset": "41", "MSG_REGION": "DefaultRegion", "TRACE_ON": "false"},
    ),
    (UnregisterClientRequest("10.0.0.9@4711", consumer_group="g"), {"clientID": "10.0.0.9@4711", "consumerGroup": "g"}),
    (
        QueryMessageRequest("t", "k", 32, 0, 2**63 - 1, unique_key_query=True),
        {"topic": "t", "key": "k", "maxNum": "32", "beginTimestamp": "0", "endTimestamp": "9223372036854775807",
         "_UNIQUE_KEY_QUERY": "true"},
    ),
    (
        ResetOffsetRequest("t", "g", -1, is_force=True),
        {"topic": "t", "group": "g", "timestamp": "-1", "isForce": "true"},
    ),
]  # fmt: skip


def header_kinds() -> list[type]:
    modules = [
        importlib.import_module(f"{headers.__name__}.{each.name}") for each in pkgutil.iter_modules(headers.__path__)
    ]
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__
    ]


KINDS = header_kinds()


def values(kind: type) -> st.SearchStrategy[Any]:
    """Return headers of a class, generated from its annotations."""
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(min_size=1, max_size=8),
        bool: st.booleans(),
        coder.I32: st.integers(-(2**31), 2**31 - 1),
        coder.I64: st.integers(-(2**63), 2**63 - 1),
    }
    drawn = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        options = [plain[hint]] if hint in plain else [plain.get(each, st.none()) for each in get_args(hint)]
        drawn[name] = st.one_of(options)
    return st.builds(kind, **{each.name: drawn[each.name] for each in fields(kind)})


@pytest.mark.parametrize(("header", "text"), GOLDEN, ids=lambda each: type(each).__name__)
def test_a_golden_header_reads_and_writes_the_same(header: object, text: dict[str, str]) -> None:
    assert coder.encode(header) == text
    assert coder.decode(type(header), text) == header


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=5)
@given(data=st.data())
def test_every_header_survives_its_text_form(kind: type, data: st.DataObject) -> None:
    header = data.draw(values(kind))
    assert coder.decode(kind, coder.encode(header)) == header


@settings(max_examples=100)
@given(kind=st.sampled_from(KINDS), data=st.data())
def test_no_text_form_crashes_a_header(kind: type, data: st.DataObject) -> None:
    text = data.draw(st.dictionaries(st.sampled_from([*coder.wire_names(kind).values(), "x"]), st.text(max_size=30)))
    try:
        header: object = coder.decode(kind, text)
    except HeaderError:
        return
    assert coder.decode(kind, coder.encode(header)) == header


def test_every_request_code_has_a_header() -> None:
    without_one = {
        "QUERY_BROKER_OFFSET", "GET_TOPIC_CONFIG_LIST", "GET_TOPIC_NAME_LIST", "TRIGGER_DELETE_FILES",
        "SUSPEND_CONSUMER", "RESUME_CONSUMER", "RESET_CONSUMER_OFFSET_IN_CONSUMER", "RESET_CONSUMER_OFFSET_IN_BROKER",
        "ADJUST_CONSUMER_THREAD_POOL", "WHO_CONSUME_THE_MESSAGE", "REGISTER_FILTER_SERVER",
        "REGISTER_MESSAGE_FILTER_CLASS", "GET_CLIENT_CONFIG",  # no broker supports them
        "SEND_BATCH_MESSAGE", "SEND_REPLY_MESSAGE", "SEND_REPLY_MESSAGE_V2", "LITE_PULL_MESSAGE",  # header of another
    }  # fmt: skip
    marked = {RequestCode(coder.code_of(kind)).name for kind in KINDS if hasattr(kind, "CODE")}
    refused = {RequestCode(code).name for code in REASONS}
    assert {each.name for each in RequestCode} - marked == without_one | (refused - marked)


def test_no_two_requests_share_a_code() -> None:
    codes = [coder.code_of(kind) for kind in KINDS if hasattr(kind, "CODE")]
    assert len(codes) == len(set(codes))


def test_both_forms_of_a_send_have_the_same_attributes() -> None:
    assert [each.name for each in fields(SendMessageRequest)] == [each.name for each in fields(SendMessageV2Request)]
    assert {code: send_header_kind(code) for code in (10, 310, 320, 324, 325)} == {
        10: SendMessageRequest, 310: SendMessageV2Request, 320: SendMessageV2Request,
        324: SendMessageRequest, 325: SendMessageV2Request,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ({"topic": "t"}, MissingField, "queueId"),
        ({"queueId": "0"}, MissingField, "topic"),
        ({"topic": "t", "queueId": "x"}, MalformedHeader, "queueId is 'x', not a 32-bit integer"),
        ({"topic": "t", "queueId": ""}, MalformedHeader, "queueId"),
        ({"topic": "t", "queueId": "2147483648"}, MalformedHeader, "32-bit"),
        ({"topic": "t", "queueId": "1_0"}, MalformedHeader, "queueId is '1_0', not a 32-bit integer"),
        ({"topic": "t", "queueId": " 1 "}, MalformedHeader, "queueId is ' 1 '"),
        ({"topic": "t", "queueId": "9" * 5000}, MalformedHeader, "32-bit"),
    ],
)
def test_a_wrong_field_is_named(text: dict[str, str], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        coder.decode(GetMaxOffsetRequest, text)


def test_a_wrong_optional_number_is_named_too() -> None:
    text = coder.encode(PullMessageRequest("g", "t", 0, 0, 32, 0)) | {"maxMsgBytes": "2147483648"}
    with pytest.raises(MalformedHeader, match="maxMsgBytes"):
        coder.decode(PullMessageRequest, text)
    with pytest.raises(MalformedHeader, match="timestamp is '9223372036854775808', not a 64-bit"):
        coder.decode(SearchOffsetRequest, {"topic": "t", "queueId": "0", "timestamp": "9223372036854775808"})


@pytest.mark.parametrize(("text", "value"), [("true", True), ("TRUE", True), ("yes", False), ("", False), ("1", False)])
def test_a_bool_is_true_by_its_name_alone(text: str, value: bool) -> None:
    read = coder.decode(ResetOffsetRequest, {"topic": "t", "group": "g", "timestamp": "0", "isForce": text})
    assert read.is_force is value


def test_unknown_fields_are_ignored() -> None:
    assert coder.decode(GetMaxOffsetRequest, {"topic": "t", "queueId": "1", "AccessKey": "x"}).queue_id == 1


def test_headers_are_what_other_dataclasses_with_slots_are() -> None:
    header = GetMaxOffsetRequest("t", queue_id=1)
    with pytest.raises(AttributeError):
        header.other = "t"  # type: ignore[attr-defined]
    assert type(header) is GetMaxOffsetRequest
    assert header == GetMaxOffsetRequest(topic="t", queue_id=1)
    assert replace(header, queue_id=2) == GetMaxOffsetRequest("t", 2)
    assert pickle.loads(pickle.dumps(header)) == copy.deepcopy(header) == header
    assert repr(header) == "GetMaxOffsetRequest(topic='t', queue_id=1, bname=None)"
    with pytest.raises(TypeError):
        GetMaxOffsetRequest("t")  # type: ignore[call-arg]


def test_a_class_that_is_not_a_header_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Odd:
        names: list[str]

    with pytest.raises(TypeError, match="names"):
        coder.encode(Odd([]))
    with pytest.raises(TypeError, match="not the header of a request"):
        coder.code_of(Odd)
    with pytest.raises(TypeError, match="not the header of a request"):
        coder.code_of(type(SendMessageResponse("0A", 0, 0)))


def test_a_pushed_reply_has_both_hosts() -> None:
    header = PushReplyMessageToClientRequest("t", 0, 0, 1, 0, "10.0.0.9:1", "10.0.0.5:2", 2)
    text = coder.encode(header)
    assert (text["bornHost"], text["storeHost"], text["storeTimestamp"]) == ("10.0.0.9:1", "10.0.0.5:2", "2")


def test_an_integer_mark_is_struct_s_letter() -> None:
    assert get_args(I32) == (int, "i")
