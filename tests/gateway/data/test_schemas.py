"""Requirements of `gateway.data.schemas`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway.data.schemas import Body, NackRequest, ProduceRequest, ReceiveRequest, decode, decoder
from gateway.data.stream_produce import SendFrame
from gateway.problems import ProblemError

ROOT = Path(__file__).resolve().parents[3]
PRODUCE = decoder(ProduceRequest)
RECEIVE = decoder(ReceiveRequest)

BODY = b'{"encoding":"text","data":"x"}'


@pytest.mark.parametrize(
    ("data", "pointer", "words"),
    [
        (
            b'{"messages":[{"delay_ms":"soon"}]}',
            "#/messages/0/delay_ms",
            "a whole number or null, not a string.",
        ),
        (b'{"messages":[{},{"tags":1}]}', "#/messages/1/tags", "'tags' is not a field here; known: body, delay_ms,"),
        (b'{"a/b~":1}', "#/a~1b~0", "is not a field here"),
        (b'{"%s":1}' % (b"x" * 999), "#", "is not a field here"),
        (b'{"messages":[]}', "#/messages", "Must not be empty."),
        (b'{"keys":["a",5]}', "#/keys/1", "Must be a string, not a whole number."),
        (b'{"tag":"%s"}' % (b"x" * 256), "#/tag", "Must have at most 255 characters."),
        (b'{"properties":{"a":"b","c/d":5}}', "#/properties/c~1d", "Must be a string, not a whole number."),
        (b'{"messages":[{"properties":{"a":[]}}]}', "#/messages/0/properties/a", "Must be a string, not a list."),
        (b'{"properties":{"a":5},,', "#/properties", "Must be a string, not a whole number."),
        (b'{"body":{"encoding":"TEXT","data":1}}', "#/body/encoding", "Must be 'base64', 'json' or 'text'."),
        (b'{"options":{"flush":"never"}}', "#/options/flush", "Must be 'async' or 'sync'."),
        (b'{"body":{"encoding":"json"}}', "#/body/data", "The field 'data' is required."),
        (b'{"options":{"timeout_ms":0}}', "#/options/timeout_ms", "Must be at least 1."),
        (b'{"options":{"timeout_ms":30001}}', "#/options/timeout_ms", "Must be at most 30,000."),
        (b"[]", "#", "Must be an object, not a list."),
        (b"null", "#", "Must be an object, not null."),
    ],
)
def test_a_fault_of_shape_is_told_at_its_pointer(data: bytes, pointer: str, words: str) -> None:
    with pytest.raises(ProblemError) as caught:
        decode(PRODUCE, data)
    (error,) = caught.value.errors
    assert caught.value.kind.status == 422
    assert error.pointer == pointer
    assert words in error.detail


def test_each_member_that_is_wrong_is_told() -> None:
    data = b'{"wait_ms":-1,"max_messages":99,"order":"none","nonsense":1,"filter":{"type":"xpath"},"lease_ms":1000}'
    with pytest.raises(ProblemError) as caught:
        decode(RECEIVE, data)
    pointers = ["#/wait_ms", "#/max_messages", "#/nonsense", "#/filter/type"]
    assert [each.pointer for each in caught.value.errors] == pointers
    with pytest.raises(ProblemError) as caught:
        decode(decoder(NackRequest), b'{"delay_ms":-1,"dead_letter":0}')
    assert {each.pointer for each in caught.value.errors} == {"#/delay_ms", "#/dead_letter"}
    with pytest.raises(ProblemError) as caught:
        decode(RECEIVE, b"{%b}" % b",".join(b'"a%d":1' % number for number in range(1_000)))
    assert len(caught.value.errors) == 16


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The body is empty."),
        (b" \n", "The body is empty."),
        (b"{", "The body is not JSON: it ends too early."),
        (b"{}{}", "The body is not JSON: trailing characters (byte 3)."),
        (b'{"tag":"\xff"}', "The body is not UTF-8: invalid start byte."),
        (b'{"keys":["\\ud800"]}', "half of a surrogate pair"),
        (b'{"tag":"\\ud83dabcdef"}', "half of a surrogate pair"),
        (b'{"body":{"encoding":"text","data":"\\udc00"}}', "half of a surrogate pair"),
        (b'{"tag":"\\\\ud800"', "it ends too early."),
        (b'{"body":{"encoding":"json","data":' + b"[" * 100_000, "The body is nested too deeply."),
    ],
)
def test_what_is_no_json_is_malformed_and_says_why(data: bytes, words: str) -> None:
    with pytest.raises(ProblemError) as caught:
        decode(PRODUCE, data)
    assert (caught.value.kind.status, caught.value.kind.code) == (400, "MALFORMED")
    assert words in caught.value.detail


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_a_problem(data: bytes) -> None:
    with suppress(ProblemError):
        decode(PRODUCE, data)
    with suppress(ProblemError):
        decode(RECEIVE, data)


def test_an_empty_receive_request_has_the_documented_defaults() -> None:
    wanted = decode(RECEIVE, b"{}")
    assert (wanted.max_messages, wanted.wait_ms, wanted.lease_ms) == (16, 0, 30_000)
    assert (wanted.filter.type, wanted.filter.expression, wanted.body_encoding) == ("tag", "*", "auto")


@pytest.mark.parametrize(
    ("field", "low", "high"), [("max_messages", 1, 32), ("wait_ms", 0, 30_000), ("lease_ms", 1000, 43_200_000)]
)
def test_the_bounds_of_a_receive_request_are_those_of_the_contract(field: str, low: int, high: int) -> None:
    for value in (low, high):
        assert getattr(decode(RECEIVE, f'{{"{field}":{value}}}'.encode()), field) == value
    for value in (low - 1, high + 1):
        with pytest.raises(ProblemError) as caught:
            decode(RECEIVE, f'{{"{field}":{value}}}'.encode())
        assert caught.value.errors[0].pointer == f"#/{field}"


def test_the_last_of_a_repeated_member_counts_as_the_page_says() -> None:
    assert "the last of a repeated member counts" in (ROOT / "docs/http-api.md").read_text()
    wanted = decode(PRODUCE, b'{"tag":"a","body":%s,"tag":"b","body":{"encoding":"json","data":1}}' % BODY)
    assert (wanted.tag, wanted.body) == ("b", Body("json", Raw(b"1")))
    frame = decode(decoder(SendFrame), b'{"type":"send","topic":"a","topic":"b","body":%s}' % BODY)
    assert frame.topic == "b"
