"""Request signing compared with signatures of a RocketMQ client."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import Command
from broker_core.protocol.headers.messages import QueryMessageRequest
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.signature import is_signed_with, sign

SECRET = "SKdemo01"
KEY = "AKdemo01"


def send(body: bytes = b"hi") -> Command:
    header = SendMessageV2Request("Orders", 0, 0, 1700000000000, 0, "pg", "TBW102", 4, "TAGS\x01T")
    return Command.request(header, body)


def test_the_golden_signature() -> None:
    assert sign(send(), KEY, SECRET).ext_fields["Signature"] == "MoVRFbi1ptkWMzD3PeA8kit5dpQ="


def test_a_signed_request_is_recognised_and_a_changed_one_is_not() -> None:
    request = sign(send(), KEY, SECRET)
    assert is_signed_with(request, SECRET)
    assert not is_signed_with(request, "another key")
    request.body = b"ho"
    assert not is_signed_with(request, SECRET)
    assert not is_signed_with(send(), SECRET)


def test_a_query_is_good_with_the_ambiguous_field_and_without() -> None:
    query = Command.request(QueryMessageRequest("t", "k", 32, 0, 1, unique_key_query=True))
    assert is_signed_with(sign(query, KEY, SECRET), SECRET)
    plain = sign(Command.request(QueryMessageRequest("t", "k", 32, 0, 1)), KEY, SECRET)
    query.ext_fields["Signature"] = plain.ext_fields["Signature"]
    assert is_signed_with(query, SECRET)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5)), st.binary(max_size=20))
def test_every_request_can_be_signed(ext_fields: dict[str, str], body: bytes) -> None:
    assert is_signed_with(sign(Command(10, ext_fields, body), KEY, SECRET), SECRET)
