"""What the JSON header form tolerates and what it rejects."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import LanguageCode, header_json
from broker_core.protocol.errors import MalformedHeader

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("text", "ext_fields"),
    [
        (
            '{"extFields":{"queueId":0,"unitMode":false,"batch":true}}',
            {"queueId": "0", "unitMode": "false", "batch": "true"},
        ),
        (
            '{"extFields":{"a":1e20,"b":3.0,"c":1.5,"d":-7}}',
            {"a": "100000000000000000000", "b": "3", "c": "1.5", "d": "-7"},
        ),
        ('{"extFields":{"a":null,"b":"x"}}', {"b": "x"}),
        ('{"extFields":null}', {}),
        ("{}", {}),
        ("{code:11,extFields:{'a':'b',},}", {"a": "b"}),
        ('{"extFields":{"p":"TAGS\\u0001a\\u0002"}}', {"p": "TAGS\x01a\x02"}),
    ],
)
def test_fields_become_text_as_java_would_make_it(text: str, ext_fields: dict[str, str]) -> None:
    assert header_json.decode(text.encode())[1] == ext_fields


@pytest.mark.parametrize(
    ("language", "number"),
    [('"GO"', 9), ('"KLINGON"', LanguageCode.OTHER), ("3", 3), ("99", LanguageCode.OTHER), ("null", LanguageCode.JAVA)],
)
def test_an_unknown_language_is_not_an_error(language: str, number: int) -> None:
    assert header_json.decode(f'{{"language":{language}}}'.encode())[5] == number


@pytest.mark.parametrize(
    "text",
    ["", "[]", "7", "null", '{"code":', '{"extFields":[]}', '{"extFields":{"a":{}}}', '{"opaque":4294967296}',
     '{"code":"x"}', '{"code":[]}', '{"opaque":1e300}', "[" * 100_000, '{"a":' * 100_000],
)  # fmt: skip
def test_what_is_not_a_header_is_refused(text: str) -> None:
    with pytest.raises(MalformedHeader):
        header_json.decode(text.encode())


def test_numbers_may_be_text() -> None:
    code, _, opaque, flag, _, _, version = header_json.decode(
        b'{"code":"11","opaque":"-1","flag":null,"version":"409"}'
    )
    assert (code, opaque, flag, version) == (11, -1, 0, 409)


def test_a_long_header_is_read_only_as_strict_json() -> None:
    long = "x" * header_json.LOOSE_BYTES
    assert header_json.decode(f'{{"extFields":{{"a":"{long}"}}}}'.encode())[1] == {"a": long}
    with pytest.raises(MalformedHeader, match="bytes that are not strict JSON, of which at most 16384 are read"):
        header_json.decode(f"{{'extFields':{{'a':'{long}'}}}}".encode())


def test_a_long_header_with_text_in_another_encoding_is_read() -> None:
    strict = header_json.encode(10, {"i": "x" * header_json.LOOSE_BYTES + "KEYS"}, 1, 0, None, 2, 1)
    fields = header_json.decode(strict.replace(b"KEYS", "订单".encode("gbk")))[1]
    assert fields["i"].strip("\ufffd") == "x" * header_json.LOOSE_BYTES


@pytest.mark.parametrize("value", ['"1"', "1"])
def test_a_header_of_too_many_fields_is_refused(value: str) -> None:
    def header(count: int) -> bytes:
        names = ",".join(f'"{number}":{value}' for number in range(count))
        return f'{{"code":34,"extFields":{{{names}}},"flag":0,"language":"GO","opaque":1,"version":1}}'.encode()

    assert len(header_json.decode(header(header_json.MAX_FIELDS))[1]) == header_json.MAX_FIELDS
    with pytest.raises(MalformedHeader, match="more than the limit of 1000 fields"):
        header_json.decode(header(header_json.MAX_FIELDS + 1))


@given(
    st.dictionaries(st.sampled_from(["code", "opaque", "flag", "version", "remark", "language", "extFields"]), TREES)
)
def test_no_json_crashes_it(tree: dict[str, object]) -> None:
    try:
        parts = header_json.decode(json.dumps(tree).encode())
    except MalformedHeader:
        return
    assert all(type(text) is str for pair in parts[1].items() for text in pair)


def test_half_of_a_surrogate_pair_cannot_be_written() -> None:
    with pytest.raises(MalformedHeader):
        header_json.encode(1, {"a": "\ud800"}, 0, 0, None, 0, 0)
