"""Request signing compared with signatures of a RocketMQ client."""

from __future__ import annotations

import base64
import hashlib
import hmac

from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import Command
from broker_core.protocol.headers.messages import QueryMessageRequest
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.signature import Credentials, is_signed_with

SECRET = "SKdemo01"
ACCOUNT = Credentials("AKdemo01", SECRET)


def send(body: bytes = b"hi") -> Command:
    header = SendMessageV2Request("Orders", 0, 0, 1700000000000, 0, "pg", "TBW102", 4, "TAGS\x01T")
    return Command.request(header, body)


def test_the_golden_signature() -> None:
    assert ACCOUNT.sign(send()).ext_fields["Signature"] == "MoVRFbi1ptkWMzD3PeA8kit5dpQ="


def test_a_signed_request_is_recognised_and_a_changed_one_is_not() -> None:
    request = ACCOUNT.sign(send())
    assert is_signed_with(request, SECRET)
    assert not is_signed_with(request, "another key")
    request.body = b"ho"
    assert not is_signed_with(request, SECRET)
    assert not is_signed_with(send(), SECRET)


def test_a_query_is_good_with_the_ambiguous_field_and_without() -> None:
    query = Command.request(QueryMessageRequest("t", "k", 32, 0, 1, unique_key_query=True))
    assert is_signed_with(ACCOUNT.sign(query), SECRET)
    plain = ACCOUNT.sign(Command.request(QueryMessageRequest("t", "k", 32, 0, 1)))
    query.ext_fields["Signature"] = plain.ext_fields["Signature"]
    assert is_signed_with(query, SECRET)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5)), st.binary(max_size=20))
def test_every_request_can_be_signed(ext_fields: dict[str, str], body: bytes) -> None:
    assert is_signed_with(ACCOUNT.sign(Command(10, ext_fields, body)), SECRET)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5)), st.binary(max_size=20))
def test_the_text_that_is_signed(ext_fields: dict[str, str], body: bytes) -> None:
    """An independent reading of the rule: values in the order of their names as Java has it, and the body."""
    signed = ACCOUNT.sign(Command(10, dict(ext_fields), body))
    fields = {name: value for name, value in (ext_fields | {"AccessKey": "AKdemo01"}).items() if name != "Signature"}
    units = {name: [int.from_bytes(pair, "big") for pair in _pairs(name)] for name in fields}
    text = "".join(fields[name] for name in sorted(fields, key=units.__getitem__)).encode("utf-8", "replace") + body
    digest = hmac.new(SECRET.encode(), text, hashlib.sha1)
    assert base64.b64decode(signed.ext_fields["Signature"]) == digest.digest()


def _pairs(name: str) -> list[bytes]:
    data = name.encode("utf-16-be", "replace")
    return [data[place : place + 2] for place in range(0, len(data), 2)]


def test_a_change_of_one_value_is_noticed() -> None:
    request = ACCOUNT.sign(send())
    for name in set(request.ext_fields) - {"Signature"}:
        changed = Command(request.code, request.ext_fields | {name: request.ext_fields[name] + "1"}, request.body)
        assert not is_signed_with(changed, SECRET), name


def test_a_token_is_signed_too() -> None:
    account = Credentials("AKdemo01", SECRET, "token")
    request = account.sign(send())
    assert request.ext_fields["SecurityToken"] == "token"
    assert is_signed_with(request, SECRET)
    request.ext_fields["SecurityToken"] = "another"
    assert not is_signed_with(request, SECRET)


def test_secrets_are_not_shown() -> None:
    assert "SKdemo01" not in repr(ACCOUNT)
