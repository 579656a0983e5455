"""The JSON dialect of Java peers."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import fastjson
from broker_core.protocol.errors import LooseJsonTooLong, MalformedBody

QUEUE = (("brokerName", "b"), ("queueId", 0), ("topic", "t"))

TREES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)

GOLDEN = [
    ({"a": {0: "x", 1: "y"}}, '{"a":{0:"x",1:"y"}}', '{"a":{"0":"x","1":"y"}}'),
    (
        {"t": {QUEUE: 5}},
        '{"t":{{"brokerName":"b","queueId":0,"topic":"t"}:5}}',
        '{"t":{"{\\"brokerName\\":\\"b\\",\\"queueId\\":0,\\"topic\\":\\"t\\"}":5}}',
    ),
    ([{1: [{QUEUE: {"n": None}}]}], '[{1:[{{"brokerName":"b","queueId":0,"topic":"t"}:{"n":null}}]}]', None),
]


@pytest.mark.parametrize(("tree", "text", "strict"), GOLDEN)
def test_trees_are_written_in_both_dialects(tree: Any, text: str, strict: str | None) -> None:
    assert fastjson.dumps(tree).decode() == text
    if strict is not None:
        assert fastjson.dumps_strict(tree).decode() == strict
        json.loads(strict)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('{0:"a",1:"b"}', {"0": "a", "1": "b"}),
        ('{{"topic":"t","queueId":0,"brokerName":"b"}:5}', {QUEUE: 5}),
        ("{a:1,'b':'x',}", {"a": 1, "b": "x"}),
        ("[1,,2,]", [1, 2]),
        (" { a : [ true , false , null ] } ", {"a": [True, False, None]}),
        ("{a:-1.5e3,b:.5,c:+7}", {"a": -1500.0, "b": 0.5, "c": 7}),
        (r"{a:'\u4E2D\n\'\ud83d\ude00\ud800'}", {"a": "中\n'😀\ufffd"}),
        ("{a:'" + "x" * 100_000 + "'}", {"a": "x" * 100_000}),
        ("[1 2,,'a\\n'3[]{}4]", [1, 2, "a\n", 3, [], {}, 4]),
        ("{a:1,b:{c:2},d:3 e:'4'}", {"a": 1, "b": {"c": 2}, "d": 3, "e": "4"}),
        ("{true:true,'x\\n':null,{a:1}:2,b:3}", {"true": True, "x\n": None, (("a", 1),): 2, "b": 3}),
    ],
)
def test_the_dialect_is_read(text: str, tree: Any) -> None:
    assert fastjson.loads(text.encode()) == tree


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1", "{a}", "{a:}", "{:1}", "'open", "{a:1}x", "abc", "{a:--1}", "{{a:{}}:1}", "{a:1e9999}",
     "[a]", "[1:2]", "[1}", "{a:1]", "{a,:1}", "{a:,1}", "{a:1e999}",
     "\x00", "[" * 100_000, "{a:" * 100_000, "{" * 100_000],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(MalformedBody):
        fastjson.loads(text.encode())


def test_strict_json_in_another_encoding_is_read_as_strict_json() -> None:
    text = '{"a":"中文"}'.encode("gbk")
    assert fastjson.loads(text, loose_bytes=1) == {"a": "\ufffd\ufffd\ufffd\ufffd"}


@pytest.mark.parametrize(
    "text", [b"{'a':%s}" % (b"1" * 18), b'{"a":1,"b":{"$ref":"$.a"}}', b'{"a":[1,1,1,1,1,1,1,1,1],}']
)
def test_a_text_that_takes_long_to_read_is_limited(text: bytes) -> None:
    assert fastjson.loads(text, loose_bytes=len(text)) == fastjson.loads(text)
    with pytest.raises(LooseJsonTooLong, match=f"^{len(text)} bytes that are not strict JSON, of which at most 20 are"):
        fastjson.loads(text, loose_bytes=20)


def test_strict_json_is_read_at_any_length() -> None:
    assert fastjson.loads(b'{"a":"long enough"}', loose_bytes=1) == {"a": "long enough"}


def test_a_reference_is_replaced_by_its_target() -> None:
    text = b'{"sets":[{"subs":[{"topic":"t"}]},{"subs":[{"$ref":"$.sets[0].subs[0]"}]}]}'
    assert fastjson.loads(text) == {"sets": [{"subs": [{"topic": "t"}]}, {"subs": [{"topic": "t"}]}]}


@pytest.mark.parametrize("path", ["$", "$.no", "$.a[9]", "$.a[0", "..", "", "@", "$.a.b"])
def test_a_reference_that_leads_nowhere_stays(path: str) -> None:
    assert fastjson.loads(json.dumps({"a": [], "x": {"$ref": path}}).encode())["x"] == {"$ref": path}


def test_references_cannot_blow_a_small_text_up() -> None:
    big = {"big": list(range(2000)), "all": [{"$ref": "$.big"}] * 2000}
    with pytest.raises(MalformedBody, match="references"):
        fastjson.loads(json.dumps(big).encode())


def test_a_deep_text_with_a_reference_is_refused() -> None:
    with pytest.raises(MalformedBody, match="levels"):
        fastjson.loads(b"[" * 500 + b'{"$ref":"$"}' + b"]" * 500)


@given(TREES)
def test_strict_trees_survive_both_dialects(tree: Any) -> None:
    assert fastjson.loads(fastjson.dumps(tree)) == tree
    assert fastjson.loads(fastjson.dumps_strict(tree)) == tree


@given(st.binary(max_size=200) | st.text(alphabet="{}[]:,'\"\\u0a1 -.e$ref", max_size=80).map(str.encode))
def test_no_bytes_crash_it(data: bytes) -> None:
    with suppress(MalformedBody):
        fastjson.loads(data)
