"""Commands compared with bytes captured from RocketMQ, in both directions."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import Command, FrameReader, LanguageCode, ResponseCode
from broker_core.protocol.errors import FrameTooLarge, MalformedHeader, MissingField, ProtocolError
from broker_core.protocol.frame import Frame
from broker_core.protocol.headers.clients import NotifyConsumerIdsChangedRequest
from broker_core.protocol.headers.pop import PollingInfoRequest
from broker_core.protocol.headers.pull import PullMessageResponse
from broker_core.protocol.headers.routes import GetRouteInfoRequest
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request

JAVA, PYTHON = int(LanguageCode.JAVA), int(LanguageCode.PYTHON)

ROUTE_REQUEST = Command.request(GetRouteInfoRequest("T"))
ROUTE_REQUEST.opaque = 7

GOLDEN_FRAMES = [
    (
        replace(ROUTE_REQUEST, serializer=1),
        "00000025 01000021 0069 03 0199 00000007 00000000 00000000 0000000c 0005 746f706963 00000001 54",
    ),
    (
        ROUTE_REQUEST,
        "00000081 0000007d"
        + b'{"code":105,"extFields":{"topic":"T"},"flag":0,"language":"PYTHON","opaque":7,'.hex()
        + b'"serializeTypeCurrentRPC":"JSON","version":409}'.hex(),
    ),
]

GOLDEN_HEADERS = [
    (
        Command.response(
            ResponseCode.SUCCESS,
            SendMessageResponse("0A00000500002A9F0000000000001000", 0, 41, msg_region="DefaultRegion", trace_on=True),
        ),
        42,
        '{"code":0,"extFields":{"queueId":"0","TRACE_ON":"true","MSG_REGION":"DefaultRegion",'
        '"msgId":"0A00000500002A9F0000000000001000","queueOffset":"41"},"flag":1,"language":"JAVA","opaque":42,'
        '"serializeTypeCurrentRPC":"JSON","version":409}',
    ),
    (
        Command.response(ResponseCode.PULL_NOT_FOUND, PullMessageResponse(0, 17, 0, 17), remark="OFFSET_OVERFLOW_ONE"),
        43,
        '{"code":19,"extFields":{"suggestWhichBrokerId":"0","nextBeginOffset":"17","maxOffset":"17","minOffset":"0"},'
        '"flag":1,"language":"JAVA","opaque":43,"remark":"OFFSET_OVERFLOW_ONE","serializeTypeCurrentRPC":"JSON",'
        '"version":409}',
    ),
    (
        Command.request(NotifyConsumerIdsChangedRequest("billing"), one_way=True),
        5345,
        '{"code":40,"extFields":{"consumerGroup":"billing"},"flag":2,"language":"JAVA","opaque":5345,'
        '"serializeTypeCurrentRPC":"JSON","version":409}',
    ),
]

COMMANDS = st.builds(
    Command,
    code=st.integers(0, 32767),
    ext_fields=st.dictionaries(st.text(max_size=10), st.text(min_size=1, max_size=20), max_size=5),
    body=st.binary(max_size=50),
    opaque=st.integers(-(2**31), 2**31 - 1),
    flag=st.integers(0, 3),
    remark=st.none() | st.text(min_size=1, max_size=20),
    language=st.sampled_from([int(each) for each in LanguageCode]),
    version=st.integers(0, 32767),
    serializer=st.integers(0, 1),
)


def decoded(data: bytes) -> Command:
    [frame] = FrameReader().feed(data)
    return Command.decode(frame)


@pytest.mark.parametrize(("command", "text"), GOLDEN_FRAMES, ids=["binary", "json"])
def test_a_golden_frame_reads_and_writes_the_same(command: Command, text: str) -> None:
    data = bytes.fromhex(text)
    assert command.encode() == data
    assert decoded(data) == command
    assert decoded(data).header(GetRouteInfoRequest) == GetRouteInfoRequest("T")


@pytest.mark.parametrize(("command", "opaque", "text"), GOLDEN_HEADERS, ids=["sent", "nothing new", "members changed"])
def test_a_golden_header_reads_and_writes_the_same(command: Command, opaque: int, text: str) -> None:
    command = replace(command, opaque=opaque, language=JAVA)
    [frame] = FrameReader().feed(command.encode())
    assert json.loads(frame.header) == json.loads(text)
    assert Command.decode(Frame(0, text.encode(), b"")) == command


@given(COMMANDS)
def test_every_command_survives_the_wire(command: Command) -> None:
    assert decoded(command.encode()) == command


@given(st.integers(0, 1), st.binary(min_size=1, max_size=300))
def test_no_header_crashes_the_reader(serializer: int, header: bytes) -> None:
    with suppress(ProtocolError):
        Command.decode(Frame(serializer, header, b"")).encode()


def test_a_response_takes_number_and_form_of_its_request() -> None:
    request = replace(ROUTE_REQUEST, opaque=99, serializer=1)
    response = Command.response(ResponseCode.TOPIC_NOT_EXIST, remark="no").answering(request)
    assert (response.opaque, response.serializer, response.is_response) == (99, 1, True)
    assert decoded(response.encode()).remark == "no"


def test_flags_say_what_a_command_is() -> None:
    request = Command.request(NotifyConsumerIdsChangedRequest("g"), one_way=True)
    assert (request.is_response, request.is_one_way) == (False, True)
    assert Command.response(0).is_response


def test_one_header_may_serve_two_codes() -> None:
    header = SendMessageV2Request("Orders", 0, 0, 0, 0, batch=True)
    assert (Command.request(header).code, Command.request(header, code=320).code) == (310, 320)


def test_a_code_of_5x_does_not_fit_the_binary_form() -> None:
    command = replace(Command.request(PollingInfoRequest("g", "t", 0)), serializer=1)
    with pytest.raises(MalformedHeader, match="200055"):
        command.encode()


def test_a_header_without_a_needed_field_says_which() -> None:
    with pytest.raises(MissingField, match="topic"):
        Command.response(0).header(GetRouteInfoRequest)


def test_a_body_beyond_the_limit_is_not_sent() -> None:
    with pytest.raises(FrameTooLarge):
        replace(ROUTE_REQUEST, body=bytes(17 * 1024 * 1024)).encode()


@pytest.mark.parametrize("serializer", [0, 1])
@pytest.mark.parametrize("body", [b"", b"first "])
def test_views_are_the_rest_of_the_body(serializer: int, body: bytes) -> None:
    pieces = [memoryview(b"one two three")[4:7], memoryview(b" three")]
    lying = replace(Command.response(ResponseCode.SUCCESS, body=body), serializer=serializer, views=pieces)
    joined = replace(lying, views=(), body=body + b"two three")

    assert lying.encode() == joined.encode()
    assert lying.body_size == joined.body_size == len(body) + 9
    assert lying.encode_parts()[-1] is pieces[-1]
