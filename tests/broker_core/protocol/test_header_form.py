"""Headers cut where they differ: the pieces and values are the header, and a form matches what differs only there."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.native import native
from broker_core.protocol import header_json
from broker_core.protocol.codes import LanguageCode
from broker_core.protocol.header_form import MOST_BYTES, cut_answer, cut_send

_TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def _header(queue_id: int, born: int, properties: str, opaque: int, **others: str) -> bytes:
    fields = {"a": "group", "b": "topic", "e": str(queue_id), "g": str(born), "i": properties, "k": "false"} | others
    return header_json.encode(310, fields, opaque, 0, None, int(LanguageCode.JAVA), 435)


def _of(queue_id: int = 3, born: int = 1_700_000_000_000, properties: str = "TAGS\x01a", opaque: int = 7) -> bytes:
    return _header(queue_id, born, properties, opaque)


_I32: Final = st.integers(0, (1 << 31) - 1)
_MS: Final = st.integers(0, 10**17)


@given(_I32, _MS, _TEXT, _I32)
def test_pieces_and_values_make_the_header(queue_id: int, born: int, properties: str, opaque: int) -> None:
    header = _of(queue_id, born, properties, opaque)
    cut = cut_send(header)
    assert cut is not None
    between = [cut.values[bytes([letter])] for letter in cut.form.cuts] + [b""]
    assert b"".join(piece + value for piece, value in zip(cut.form.pieces, between, strict=True)) == header
    assert (int(cut.values[b"q"]), int(cut.values[b"t"]), int(cut.values[b"o"])) == (queue_id, born, opaque)
    assert cut.form == cut_send(_of()).form  # type: ignore[union-attr]


@pytest.mark.skipif(native is None, reason="only the compiled functions compare headers")
@given(_I32, _MS, _TEXT, _I32, st.sampled_from((b"", b" ", b"0", b'"', b"}")), st.integers(0, 400))
def test_a_form_matches_what_differs_only_at_the_cuts(
    queue_id: int, born: int, properties: str, opaque: int, more: bytes, at: int
) -> None:
    cut = cut_send(_of())
    assert cut is not None
    assert native is not None
    header = _of(queue_id, born, properties, opaque)
    assert native.header_matches(*cut.form, header)
    changed = header[:at] + more + header[at:]
    if native.header_matches(*cut.form, changed):
        again = cut_send(changed)
        assert again is not None, "what matches is read as the header of a send is"
        assert again.form == cut.form


@pytest.mark.parametrize(
    "header",
    [
        _of().replace(b'"e":', b'"e": '),
        _of().replace(b'"e":"3"', b'"e":3'),
        _of().replace(b'"e":"3"', b'"e":"-3"'),
        _of().replace(b'"e":"3"', b'"e":"3","e":"3"'),
        _of().replace(b'"e":"3"', b'"e":"3","\\u0065":"4"'),
        _of().replace(b'"i"', b'"x"'),
        _header(3, 5, "a", 7, b='to"p'),
        _of(properties="a" * MOST_BYTES),
        b"",
        b"{}",
    ],
)
def test_unusual_headers_are_not_cut(header: bytes) -> None:
    assert cut_send(header) is None


def test_an_answer_is_cut_at_what_differs() -> None:
    fields = {"msgId": "7F00", "queueId": "3", "queueOffset": "44", "MSG_REGION": "r"}
    cut = cut_answer(header_json.encode(0, fields, 9, 1, None, int(LanguageCode.PYTHON), 435))
    assert cut is not None
    assert cut.values == {b"i": b"7F00", b"q": b"3", b"n": b"44", b"o": b"9"}
