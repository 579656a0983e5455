"""Compiled property texts and batch bodies equal those of their Python twins, byte for byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import batch, properties
from broker_core.protocol.errors import MalformedProperties
from tests.broker_core.native.twins import I32, compiled

WORD = st.one_of(st.sampled_from(["", "KEYS", "A17", "\0", "\x01", "\x02", "é", "\ud800"]), st.text(max_size=6))
TAG = st.one_of(
    st.none(), st.sampled_from(["*", "a b", " a", "a ", "a|b", "\x7f", "é"]), st.text("az*|~ {}", max_size=3)
)
PLAIN = st.tuples(
    st.one_of(st.binary(max_size=20), st.text(st.characters(max_codepoint=127), max_size=20).map(str.encode)),
    st.lists(st.one_of(WORD, st.just("A17")), max_size=3),
    TAG,
    st.just("7F00"),
)
LIMITS = batch.PlainLimits(keys=2, characters=8, body=16)
PAIRS = st.dictionaries(WORD, WORD, max_size=5)
ENTRY = st.tuples(I32, st.binary(max_size=40), st.text(max_size=20))


@given(PAIRS)
def test_property_text(pairs: dict[str, str]) -> None:
    text = compiled.format_properties(pairs)
    try:
        expected = properties._format_properties(pairs)
    except MalformedProperties:
        expected = None
    assert text is None or text == expected
    plain = all(word.isalnum() and word.isascii() for pair in pairs.items() for word in pair)
    assert text is not None or not plain, "the usual case is not left to Python"


def test_a_property_text_of_other_types_is_left_to_python() -> None:
    odd: list[object] = [{"a": 1}, {1: "a"}, {b"a": "b"}, [("a", "b")]]
    assert [compiled.format_properties(pairs) for pairs in odd] == [None] * 4  # type: ignore[arg-type]


@given(st.lists(ENTRY, max_size=5))
def test_batch_body(entries: list[tuple[int, bytes, str]]) -> None:
    body = compiled.encode_entries(entries)
    try:
        expected = batch._encode_entries(entries)
    except UnicodeEncodeError:
        assert body is None
        return
    assert body == expected


def test_a_batch_that_does_not_fit_is_left_to_python() -> None:
    long = "x" * (properties.MAX_PROPERTIES_BYTES + 1)
    odd: list[object] = [(0, b"", long), (0, bytearray(b"a"), ""), (0, "a", ""), (2**31, b"", ""), (0, b""), "abc"]
    assert [compiled.encode_entries([(0, b"a", ""), each]) for each in odd] == [None] * 6  # type: ignore[list-item]
    assert compiled.encode_entries([(0, b"", long[1:])]) == batch._encode_entries([(0, b"", long[1:])])


@given(st.lists(PLAIN, max_size=3), st.sampled_from(["", "CONTENT_TYPE\x01application/json"]))
def test_plain_batch(messages: list[tuple[bytes, list[str], str | None, str]], common: str) -> None:
    bodies, keys, tags, ids = (list(each) for each in zip(*messages, strict=True)) if messages else ([], [], [], [])
    body = compiled.encode_plain(bodies, keys, tags, ids, common, *LIMITS)
    expected = batch._encode_plain(bodies, keys, tags, ids, common, LIMITS)
    assert body == expected


def test_a_plain_batch_of_other_types_is_left_to_python() -> None:
    def encoded(*parts: object) -> bytes | None:
        return compiled.encode_plain(*parts, "", *LIMITS)  # type: ignore[arg-type, call-arg]

    assert encoded([memoryview(b"a")], [["k"]], ["t"], ["7F"]) == encoded([b"a"], [["k"]], ["t"], ["7F"]) is not None
    odd = ([["a"], [[]], [None], ["7F"]], [[b"a"], [("k",)], [None], ["7F"]], [[b"a"], [[1]], [None], ["7F"]],
           [[b"a"], [[]], [b"t"], ["7F"]], [[b"a"], [[]], [None], []], [(b"a",), [[]], [None], ["7F"]])  # fmt: skip
    assert [encoded(*parts) for parts in odd] == [None] * 6
