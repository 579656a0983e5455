"""Compiled frames, headers and property text equal the results of their Python twins, for any input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from broker_core.broker import sent_text
from broker_core.protocol import fields, frame, header_json
from broker_core.protocol.codes import RequestCode
from broker_core.protocol.errors import MalformedHeader
from broker_core.protocol.fields import I32, I64, header
from broker_core.protocol.frame import Frame, frame_parts, frame_prefix
from broker_core.protocol.headers.send import SendMessageV2Request
from tests.broker_core.native.twins import I32 as ANY_I32
from tests.broker_core.native.twins import LANGUAGES, TEXT, TEXTS, WRITTEN, compiled


@given(
    st.lists(st.tuples(st.integers(0, 1), st.binary(min_size=1, max_size=30), st.binary(max_size=30)), max_size=5),
    st.binary(max_size=12),
    st.integers(0, 200),
)
def test_frames(parts: list[tuple[int, bytes, bytes]], rest: bytes, cut: int) -> None:
    data = (b"".join(b"".join(frame_parts(*each)) for each in parts) + rest)[cut % 50 :]
    ours: list[Frame] = []
    theirs: list[Frame] = []
    for max_frame, max_header in ((1 << 24, 1 << 24), (60, 20)):
        end = compiled.cut_frames(Frame, data, max_frame, max_header, theirs)
        assert end == frame._cut_frames(Frame, data, max_frame, max_header, ours)
    assert theirs == ours
    assert all(type(each) is Frame for each in theirs)


HEADER_PARTS: Final = st.tuples(
    ANY_I32,
    st.dictionaries(TEXT, TEXT, max_size=5),
    ANY_I32,
    ANY_I32,
    st.none() | TEXT,
    st.sampled_from(sorted(LANGUAGES)),
    ANY_I32,
)


def _python_head(code: int, fields: dict[str, str], opaque: int, flag: int, *rest: Any, body_size: int) -> bytes:
    """Return the head of a frame from the Python code."""
    remark, language, version = rest
    header = header_json.encode(code, fields, opaque, flag, remark, LANGUAGES[language], version)
    return frame_prefix(0, len(header), body_size) + header


@given(HEADER_PARTS, st.integers(0, 1 << 20))
def test_header_written(parts: tuple[int, dict[str, str], int, int, str | None, str, int], body_size: int) -> None:
    assert compiled.encode_frame_head(*parts, body_size) == _python_head(*parts, body_size=body_size)


@given(HEADER_PARTS)
def test_header_read(parts: tuple[int, dict[str, str], int, int, str | None, str, int]) -> None:
    code, fields, opaque, flag, remark, language, version = parts
    data = header_json.encode(code, fields, opaque, flag, remark, LANGUAGES[language], version)
    expected = (code, fields, opaque, flag, remark, LANGUAGES[language], version)
    assert header_json._decode(data) == expected
    assert compiled.decode_header(data, LANGUAGES) == expected


@given(
    st.lists(
        st.tuples(
            st.integers(0, len(WRITTEN)),
            st.integers(0, 3),
            st.binary(max_size=3)
            | st.sampled_from(
                TOKENS := [
                    b'"',
                    b"\\",
                    b"\\u",
                    b"{",
                    b"}",
                    b",",
                    b":",
                    b"null",
                    b" ",
                    b"\0",
                    b"-",
                    b"0",
                    b"1.5",
                    b"\\ud83d\\udc0d",
                    b"\xc3\xa9",
                    b"\xff",
                    b'"flag":1,',
                    b"2147483648",
                    b"/",
                    b"\\/",
                ]
            ),
        ),
        min_size=1,
        max_size=3,
    )
)
@example([(0, 0, b"\0")])
@example([(len(WRITTEN), 0, b"\0")])
def test_header_read_as_python_reads_it_or_left_to_it(edits: list[tuple[int, int, bytes]]) -> None:
    data = WRITTEN
    for at, gone, new in edits:
        data = data[:at] + new + data[at + gone :]
    parts = compiled.decode_header(data, LANGUAGES)
    if parts is not None:
        assert parts == header_json._decode(data)


def test_usual_headers_are_not_left_to_python() -> None:
    spaced = b' {"code":10,\n"extFields" : { "a":"b\\u0001c\\n" , "d":"" },"flag":0,"language":"JAVA","opaque":-1,'
    spaced += b'"remark":null,"serializeTypeCurrentRPC":"JSON","version":399}\r\n'
    parts = (10, {"a": "b\x01c\n", "d": ""}, -1, 0, None, 0, 399)
    assert compiled.decode_header(spaced, LANGUAGES) == parts
    assert header_json.decode(spaced) == parts


@pytest.mark.parametrize(
    "text", [b"", b"{", b'{"code":10}', b"[]", b'{"code":01}', b'{"a":', b'"', b'{"extFields":{"a']
)
def test_odd_headers_are_left_to_python(text: bytes) -> None:
    assert compiled.decode_header(text, LANGUAGES) is None
    assert compiled.decode_header(WRITTEN.replace(b"JAVA", b"NEW"), LANGUAGES) is None


def test_what_has_no_form_is_an_error() -> None:
    for each in ({"a": "\ud800"}, {"\ud800": "a"}):
        with pytest.raises(MalformedHeader):
            header_json.frame_head(1, each, 0, 0, None, 0, 0, 0)
    with pytest.raises(MalformedHeader):
        header_json.frame_head(1 << 70, {}, 0, 0, None, 0, 0, 0)
    with pytest.raises(MalformedHeader):
        header_json.frame_head(1, {"a": 1}, 0, 0, None, 0, 0, 0)  # type: ignore[dict-item]


# -- fields


@header()
class Header:
    """One field of each kind, and one of each that may be absent."""

    text: str
    small: I32
    large: I64
    is_so: bool
    later: str | None = None
    many: I32 = 4
    more: I64 | None = None
    maybe: bool = True


NUMBERS: Final = st.integers(-(1 << 66), 1 << 66).map(str)
VALUES: Final = st.one_of(
    st.sampled_from(["true", "false", "TRUE", "1.5", "", "-", "-0", "007", "+5", " 5", "1_0", "٣", "2147483648"]),
    NUMBERS,
    TEXT,
)


@given(
    st.fixed_dictionaries(
        {"text": TEXT, "small": VALUES, "large": NUMBERS, "isSo": st.sampled_from(["true", "false", "True", "x"])},
        optional={"later": TEXT, "many": VALUES, "more": VALUES, "maybe": VALUES, "other": TEXT},
    ),
)
def test_fields_read_as_python_reads_them_or_left_to_it(values: dict[str, str]) -> None:
    form = fields._form_of(Header)
    header = compiled.decode_fields(Header, form.plans, values)
    if header is not None:
        assert header == fields._decode(Header, form, values)


def test_usual_fields_are_not_left_to_python() -> None:
    values = {"b": "topic", "e": "-1", "f": "0", "g": "1700000000000", "h": "2147483647", "k": "true", "m": "false"}
    plans = fields._form_of(SendMessageV2Request).plans
    header = compiled.decode_fields(SendMessageV2Request, plans, values)
    assert header == SendMessageV2Request("topic", -1, 0, 1_700_000_000_000, 2147483647, unit_mode=True)
    assert type(header) is SendMessageV2Request
    for odd in ({"e": "1.0"}, {"e": "2147483648"}, {"g": ""}, {"k": "TRUE"}):
        assert compiled.decode_fields(SendMessageV2Request, plans, values | odd) is None
    assert compiled.decode_fields(SendMessageV2Request, plans, {}) is None


@given(st.builds(Header, TEXT, ANY_I32, st.integers(-(1 << 63), (1 << 63) - 1), st.booleans(), st.none() | TEXT))
def test_usual_fields_are_written_as_python_writes_them(header: Header) -> None:
    form = fields._form_of(Header)
    written = compiled.encode_fields(header, form.plans)
    assert written == fields._encode(header, form)
    assert list(written) == [each.wire for each in form.fields if getattr(header, each.name) is not None]


def test_odd_values_are_left_to_python_to_write() -> None:
    form = fields._form_of(Header)
    odd: tuple[dict[str, Any], ...] = (
        {"text": 5}, {"text": RequestCode.PULL_MESSAGE}, {"small": True}, {"small": RequestCode.PULL_MESSAGE},
        {"large": "7"}, {"is_so": 1}, {"later": 2.5},
    )  # fmt: skip
    for values in odd:
        header = replace(Header("t", 1, 2, is_so=True), **values)
        assert compiled.encode_fields(header, form.plans) is None
        assert fields.encode(header) == fields._encode(header, form)
    assert compiled.encode_fields(object.__new__(Header), form.plans) is None


def test_plans_of_another_class_are_not_followed() -> None:
    plans = (("topic", getattr(SendMessageV2Request, "topic"), "s", ...),)  # noqa: B009 - it is a slot
    assert compiled.decode_fields(Header, plans, {"topic": "t"}) is None
    with pytest.raises(TypeError):
        compiled.decode_fields(int, plans, {"topic": "t"})
    assert compiled.encode_fields(Header("t", 1, 2, is_so=True), plans) is None
    assert compiled.encode_fields(7, plans) is None


# -- property text


@given(TEXTS, TEXT)
@example("WAIT\x01true\x02", "CLUSTER\x01c")
@example("WAIT\x01false", "CLUSTER\x01c")
@example("a\x01b\x02WAIT\x01\x02", "")
@example("WAIT\x01true\x02WAIT\x01false\x02a\x01b\x02a\x01c", "CLUSTER\x01c")
def test_text_to_be_stored(text: str, pair: str) -> None:
    settled = compiled.settle_text(text, pair)
    if settled is not None:
        assert settled == sent_text._settle(text, pair)
    assert sent_text.settle(text, pair) == sent_text._settle(text, pair)
