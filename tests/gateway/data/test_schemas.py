"""Requirements of `gateway.data.schemas`."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.data.schemas import ProduceRequest, ReceiveRequest, decode, decoder, pointer
from gateway.problems import ProblemError

PRODUCE = decoder(ProduceRequest)
RECEIVE = decoder(ReceiveRequest)

BODY = b'{"encoding":"text","data":"x"}'


@pytest.mark.parametrize(
    ("data", "pointer", "words"),
    [
        (b'{"messages":[{"delay_ms":"soon"}]}', "#/messages/0/delay_ms", "Expected `int"),
        (b'{"messages":[{},{"tags":1}]}', "#/messages/1", "unknown field `tags`"),
        (b'{"messages":[]}', "#/messages", "length >= 1"),
        (b'{"keys":["a",5]}', "#/keys/1", "Expected `str`"),
        (b'{"properties":{"a":5}}', "#/properties", "Expected `str`"),
        (b'{"body":{"encoding":"hex","data":1}}', "#/body/encoding", "Invalid enum value"),
        (b'{"body":{"encoding":"json"}}', "#/body", "missing required field `data`"),
        (b'{"options":{"timeout_ms":0}}', "#/options/timeout_ms", ">= 1"),
        (b"[]", "#", "Expected `object`"),
        (b"null", "#", "Expected `object`"),
    ],
)
def test_a_fault_of_shape_is_told_at_its_pointer(data: bytes, pointer: str, words: str) -> None:
    with pytest.raises(ProblemError) as caught:
        decode(PRODUCE, data)
    (error,) = caught.value.errors
    assert caught.value.kind.status == 422
    assert error.pointer == pointer
    assert words in error.detail


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b"{}{}", b'{"keys":["\\ud800"]}', b'{"body":{"encoding":"json","data":' + b"[" * 100_000],
)
def test_what_is_no_json_is_malformed(data: bytes) -> None:
    with pytest.raises(ProblemError) as caught:
        decode(PRODUCE, data)
    assert (caught.value.kind.status, caught.value.kind.code) == (400, "MALFORMED")


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


@pytest.mark.parametrize(
    ("place", "expected"),
    [("", "#"), ("$", "#"), ("$.a", "#/a"), ("$.a[3].b", "#/a/3/b"), ("$.a[...].b", "#/a"), ("$[0]", "#/0")],
)
def test_places_become_json_pointers(place: str, expected: str) -> None:
    assert pointer(place) == expected
