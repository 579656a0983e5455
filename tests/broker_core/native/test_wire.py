"""Compiled: frames, headers and property text have the results of their Python twins, whatever they are given."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from broker_core.broker import sent_text
from broker_core.protocol import frame, header_json
from broker_core.protocol.errors import MalformedHeader
from broker_core.protocol.frame import Frame, frame_parts
from tests.broker_core.native.twins import I32, LANGUAGES, TEXT, TEXTS, WRITTEN, compiled


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
    I32, st.dictionaries(TEXT, TEXT, max_size=5), I32, I32, st.none() | TEXT, st.sampled_from(sorted(LANGUAGES)), I32
)


@given(HEADER_PARTS, st.integers(0, 1 << 20))
def test_header_written(parts: tuple[int, dict[str, str], int, int, str | None, str, int], body_size: int) -> None:
    assert compiled.encode_frame_head(*parts, body_size) == header_json._frame_head(*parts, body_size)


@given(HEADER_PARTS)
def test_header_read(parts: tuple[int, dict[str, str], int, int, str | None, str, int]) -> None:
    data = header_json._encode(*parts)
    code, fields, opaque, flag, remark, language, version = parts
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
    for fields in ({"a": "\ud800"}, {"\ud800": "a"}):
        with pytest.raises(MalformedHeader):
            header_json.frame_head(1, fields, 0, 0, None, 0, 0, 0)
    with pytest.raises(MalformedHeader):
        header_json.frame_head(1 << 70, {}, 0, 0, None, 0, 0, 0)
    with pytest.raises(MalformedHeader):
        header_json.frame_head(1, {"a": 1}, 0, 0, None, 0, 0, 0)  # type: ignore[dict-item]


# -- property text


@given(TEXTS, TEXT)
@example("WAIT\x01true\x02", "CLUSTER\x01c")
@example("WAIT\x01false", "CLUSTER\x01c")
@example("a\x01b\x02WAIT\x01\x02", "")
def test_text_to_be_stored(text: str, pair: str) -> None:
    settled = compiled.settle_text(text, pair)
    if settled is not None:
        assert settled == sent_text._settle(text, pair)
    else:
        assert sent_text._settle(text, pair) is None or text.count("WAIT\x01") > 1
