"""Requirements of `gateway.data.bodies`."""

from __future__ import annotations

import base64
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from gateway.data.bodies import JSON_TYPE, body_bytes, present
from gateway.data.schemas import Body, Encoding, encode
from gateway.problems import ProblemError


def body(encoding: str, data: str) -> Body:
    return msgspec.json.decode(f'{{"encoding":"{encoding}","data":{data}}}'.encode(), type=Body)


def shown(shape: Body) -> tuple[str, object]:
    value = json.loads(encode(shape))
    return value["encoding"], value["data"]


@pytest.mark.parametrize(
    ("encoding", "data", "stored"),
    [
        ("json", '{"n":1.0,"a": 12345678901234567890123}', b'{"n":1.0,"a": 12345678901234567890123}'),
        ("json", '"hi"', b'"hi"'),
        ("json", "null", b"null"),
        ("text", '"a\\n\\u00f6"', "a\nö".encode()),
        ("base64", '"3q2+7w=="', b"\xde\xad\xbe\xef"),
        ("text", '""', b""),
    ],
)
def test_a_body_is_stored_as_the_bytes_it_stands_for(encoding: str, data: str, stored: bytes) -> None:
    assert body_bytes(body(encoding, data), "#/body")[0] == stored


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("text", "5"), ("text", "{}"), ("base64", '"not base64!"'), ("base64", '"YQ"'), ("base64", "null")],
)
def test_data_that_does_not_fit_its_encoding_is_told_at_its_pointer(encoding: str, data: str) -> None:
    with pytest.raises(ProblemError) as caught:
        body_bytes(body(encoding, data), "#/messages/4/body")
    assert caught.value.errors[0].pointer == "#/messages/4/body/data"


@pytest.mark.parametrize("encoding", ["json", "text"])
@pytest.mark.parametrize("data", [b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"'])
def test_what_is_not_utf8_is_malformed(encoding: Encoding, data: bytes) -> None:
    with pytest.raises(ProblemError) as caught:
        body_bytes(Body(encoding, Raw(data)), "#/body")
    assert caught.value.kind.code == "MALFORMED"


@pytest.mark.parametrize(
    ("data", "content_type", "wanted", "expected"),
    [
        (b'{"a":1}', None, "auto", ("json", {"a": 1})),
        (b"[1]", None, "auto", ("json", [1])),
        (b"5", None, "auto", ("text", "5")),
        (b"5", JSON_TYPE, "auto", ("json", 5)),
        (b"{broken", None, "auto", ("text", "{broken")),
        (b'{"a":"\xff"}', JSON_TYPE, "auto", ("base64", base64.b64encode(b'{"a":"\xff"}').decode())),
        (b'{"a":1}', "text/plain", "auto", ("text", '{"a":1}')),
        ("ö".encode(), None, "auto", ("text", "ö")),
        (b"\xff\xfe", None, "auto", ("base64", "//4=")),
        (b"\xff\xfe", None, "text", ("base64", "//4=")),
        (b"hi", None, "base64", ("base64", "aGk=")),
        (b'{"a":1}', None, "text", ("text", '{"a":1}')),
        (b"hi", None, "json", ("base64", "aGk=")),
        (b"[" * 100_000, None, "auto", ("text", "[" * 100_000)),
        (b"", None, "auto", ("text", "")),
    ],
    ids=range(15),
)
def test_stored_bytes_are_shown_as_what_they_are(
    data: bytes, content_type: str | None, wanted: str, expected: tuple[str, object]
) -> None:
    assert shown(present(data, content_type, wanted)) == expected  # type: ignore[arg-type]


@given(st.binary(max_size=300), st.sampled_from([None, JSON_TYPE, "text/plain"]), st.sampled_from(["auto", "base64"]))
def test_whatever_is_shown_stands_for_the_same_bytes(data: bytes, content_type: str | None, wanted: str) -> None:
    presented = present(data, content_type, wanted)  # type: ignore[arg-type]
    again = msgspec.json.decode(encode(presented), type=Body)
    back, _ = body_bytes(again, "#")
    assert back == data.strip(b" \t\r\n") if presented.encoding == "json" else back == data
