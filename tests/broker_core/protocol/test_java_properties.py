"""The text form of Java properties, in both directions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import java_properties
from broker_core.protocol.errors import MalformedBody


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("fileReservedTime=48\ndeleteWhen=04\n", {"fileReservedTime": "48", "deleteWhen": "04"}),
        ("messageDelayLevel=1s 5s  10s", {"messageDelayLevel": "1s 5s  10s"}),
        ("  a =  b \r\nc: d\re\tf", {"a": "b ", "c": "d", "e": "f"}),
        ("# no\n! no\n\na=b", {"a": "b"}),
        ("a=one,\\\n   two\nb=3", {"a": "one,two", "b": "3"}),
        ("a=b\\", {"a": "b"}),
        ("a\\=b\\ c=d", {"a=b c": "d"}),
        ("a=\\t\\n\\r\\f\\x\\\\", {"a": "\t\n\r\fx\\"}),
        ("a=\\u4e2d\\ud83d\\ude00", {"a": "中😀"}),
        ("a=中", {"a": "中"}),
        ("a=1\na=2", {"a": "2"}),
        ("a", {"a": ""}),
        ("", {}),
    ],
)
def test_what_java_reads_is_read(text: str, pairs: dict[str, str]) -> None:
    assert java_properties.parse(text.encode()) == pairs


@pytest.mark.parametrize("body", [b"a=\xff", b"a=\\u12", b"a=\\ud800"])
def test_what_is_not_text_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedBody):
        java_properties.parse(body)


def test_settings_are_written_as_rocketmq_writes_them() -> None:
    assert java_properties.dump({"storePathRootDir": "/data/store", "messageDelayLevel": "1s 5s"}) == (
        b"storePathRootDir=/data/store\nmessageDelayLevel=1s 5s\n"
    )


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_what_is_written_reads_back_the_same(pairs: dict[str, str]) -> None:
    assert java_properties.parse(java_properties.dump(pairs)) == pairs


def test_a_file_in_another_encoding_is_read_as_java_reads_it() -> None:
    content = "# 队列数\nname=café\n".encode("gbk", "replace")
    with pytest.raises(MalformedBody):
        java_properties.parse(content)
    assert java_properties.parse_file("# café\nname=café\n".encode("latin-1")) == [("name", "café")]
    assert java_properties.parse_file(content.partition(b"\n")[0] + b"\nname=x") == [("name", "x")]
    assert java_properties.parse_file("name=队列".encode()) == [("name", "队列")]


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    assert java_properties.parse_file("name=x\n".encode("utf-8-sig")) == [("name", "x")]


def test_an_escape_that_is_refused_is_told_with_its_key() -> None:
    with pytest.raises(MalformedBody, match=r"^maxMessageSize: \\u without four"):
        java_properties.parse_file(b"a=b\nmaxMessageSize=\\u12\n")
