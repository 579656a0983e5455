"""Requirements of `broker_core.key_lines`."""

from __future__ import annotations

import codecs

import pytest

from broker_core.key_lines import KeysMalformed, keys_of


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_byte_order_mark_is_no_part_of_the_first_key(end: str) -> None:
    data = codecs.BOM_UTF8 + end.join(["A1", "", " Ключ ", "A1", "B2"]).encode()
    assert keys_of(data) == ["A1", "Ключ", "B2"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "has no key"),
        (codecs.BOM_UTF8, "has no key"),
        ("A1".encode("utf-16"), "is in UTF-16; save it in UTF-8"),
        (codecs.BOM_UTF16_BE + "A1".encode("utf-16-be"), "is in UTF-16; save it in UTF-8"),
        ("A1\n".encode("utf-16-le"), "line 1 has U\\+0000, as a file in UTF-16"),
        (b"A1\nB\xe4r\n", "is not in UTF-8: line 2 has the byte 0xe4"),
        (b"A1\nB 2\n", "line 2 has a space"),
    ],
)
def test_what_is_no_file_of_keys_is_refused_by_its_fault(data: bytes, why: str) -> None:
    with pytest.raises(KeysMalformed, match=why):
        keys_of(data)
