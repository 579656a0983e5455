"""What the binary header form tolerates and what it rejects."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import LanguageCode, header_binary, header_json
from broker_core.protocol.errors import MalformedHeader

HEAD = "0069 03 0199 00000007 00000000"


@pytest.mark.parametrize(
    ("text", "remark", "ext_fields"),
    [
        (HEAD + "00000000 00000000", None, {}),
        (HEAD + "00000002 6e6f 00000000", "no", {}),
        (HEAD + "00000000 00000007 0001 61 00000000", None, {}),  # an empty value counts as absent
        (HEAD + "00000000 0000000f 0001 61 00000001 78 0001 61 00000000", None, {"a": "x"}),
        (HEAD + "00000001 ff 00000000", "\ufffd", {}),  # not UTF-8
    ],
)
def test_headers_read_as_java_reads_them(text: str, remark: str | None, ext_fields: dict[str, str]) -> None:
    assert header_binary.decode(bytes.fromhex(text)) == (105, ext_fields, 7, 0, remark, 3, 409)


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEAD,
        HEAD + "00000000",
        HEAD + "7fffffff 00000000",  # a remark longer than the header
        HEAD + "ffffffff 00000000",
        HEAD + "00000000 0000000c 0001 61 00000001",  # the block is longer than the header
        HEAD + "00000000 00000008 0001 61 00000002 7879",  # a value that extends beyond the block
        HEAD + "00000000 00000007 ffff 61 00000000",  # a name of negative length
    ],
)
def test_what_is_not_a_header_is_refused(text: str) -> None:
    with pytest.raises(MalformedHeader):
        header_binary.decode(bytes.fromhex(text))


@pytest.mark.parametrize("field", ["0000 00000000", "0001 61 00000001 78"])
def test_a_header_of_too_many_fields_is_refused(field: str) -> None:
    def header(count: int) -> bytes:
        block = bytes.fromhex(field) * count
        return bytes.fromhex(HEAD + "00000000") + len(block).to_bytes(4, "big") + block

    header_binary.decode(header(header_json.MAX_FIELDS))
    with pytest.raises(MalformedHeader, match="more than the limit of 1000 fields"):
        header_binary.decode(header(header_json.MAX_FIELDS + 1))


def test_an_unknown_language_is_not_an_error() -> None:
    assert (
        header_binary.decode(bytes.fromhex("0069 7f 0199 00000007 00000000 00000000 00000000"))[5] == LanguageCode.OTHER
    )


@given(st.binary(max_size=120))
def test_no_bytes_crash_it(data: bytes) -> None:
    with suppress(MalformedHeader):
        header_binary.decode(data)
