"""Requirements of `gateway.message_filter`."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage
from gateway.message_filter import BadPath, Condition, MessageFilter, Operator, parse_path
from gateway.sql_filter import parse_sql

BODY = b'{"id":"A17","amount":1.10,"paid":true,"n":1,"note":null,"items":[{"sku":"x"},{"sku":"y"}],"odd name":[1,2]}'


def message(body: bytes = BODY, **properties: str) -> StoredMessage:
    return StoredMessage(
        topic="orders",
        queue_id=0,
        queue_offset=QueueOffset(0),
        log_offset=LogOffset(0),
        body=body,
        properties=properties,
        flag=0,
        sys_flag=0,
        born_timestamp=0,
        born_host="10.0.0.5:5",
        store_timestamp=0,
        store_host="10.0.0.5:10911",
        reconsume_times=0,
        prepared_transaction_offset=0,
        body_crc=0,
        store_size=0,
    )


def holds(path: str, operator: Operator, value: Any = None, body: bytes = BODY) -> bool:
    return MessageFilter(fields=[(parse_path(path), Condition(operator, value))]).matches(message(body))


@pytest.mark.parametrize(
    ("path", "operator", "value", "wanted"),
    [
        ("$.id", "eq", "A17", True),
        ("id", "prefix", "A1", True),
        ("id", "contains", "17", True),
        ("$.amount", "eq", Decimal("1.1"), True),
        ("$.amount", "gt", 1, True),
        ("$.amount", "lt", 1, False),
        ("$.paid", "eq", True, True),
        ("$.n", "eq", True, False),
        ("$.n", "eq", 1, True),
        ("$.id", "gt", 1, False),
        ("$.items[1].sku", "eq", "y", True),
        ("$.items[*].sku", "eq", "y", True),
        ("$.items[*].sku", "eq", "z", False),
        ("$.items[7].sku", "exists", None, False),
        ('$["odd name"]', "contains", 2, True),
        ("$.note", "exists", None, True),
        ("$.note", "eq", None, True),
        ("$.missing", "ne", 1, False),
        ("$.missing", "absent", None, True),
        ("$.id", "absent", None, False),
    ],
)
def test_a_field_of_the_body_decides(path: str, operator: Operator, value: Any, wanted: bool) -> None:
    assert holds(path, operator, value) is wanted


def test_a_body_that_is_not_json_has_no_fields() -> None:
    assert not holds("$.id", "exists", body=b"plain")
    assert not holds("$.id", "ne", 1, body=b"\xff")
    assert holds("$.id", "absent", body=b"plain")


def test_all_conditions_must_hold() -> None:
    wanted = MessageFilter(
        tags=frozenset({"paid", "sent"}),
        key="A17",
        text=b'"A17"',
        properties=[("source", Condition("prefix", "we")), ("trace", Condition("absent"))],
    )
    assert wanted.matches(message(TAGS="paid", KEYS="A17 B2", source="web"))
    assert not wanted.matches(message(TAGS="new", KEYS="A17", source="web"))
    assert not wanted.matches(message(TAGS="paid", KEYS="A1", source="web"))
    assert not wanted.matches(message(TAGS="paid", KEYS="A17", source="app"))
    assert not wanted.matches(message(TAGS="paid", KEYS="A17", source="web", trace="1"))
    assert not wanted.matches(message(b"{}", TAGS="paid", KEYS="A17", source="web"))
    assert MessageFilter().matches(message(b""))


@pytest.mark.parametrize(
    ("expression", "properties", "passes"),
    [
        ("amount > 100", {"amount": "250"}, True),
        ("amount > 100", {"amount": "50"}, False),
        ("amount > 100", {"amount": "many"}, False),
        ("amount > 100", {}, False),
        ("NOT (amount > 100)", {}, False),
        ("amount IS NULL AND TAGS = 'paid'", {}, True),
        ("KEYS CONTAINS 'A17'", {"KEYS": "A17 B2"}, True),
    ],
)
def test_sql_is_tested_as_a_broker_does(expression: str, properties: dict[str, str], passes: bool) -> None:
    wanted = MessageFilter(sql=parse_sql(expression))
    stored = replace(message(), properties={"TAGS": "paid", **properties})
    assert wanted.reads_contents
    assert wanted.matches(stored) is passes
    assert not replace(wanted, tags=frozenset({"sent"})).matches(stored)


@pytest.mark.parametrize("text", ["", "$..a", "$.a[", "a b", "$.a[-1]", "$[?(@.a)]", "$" + ".a" * 33])
def test_what_is_not_a_path_is_refused(text: str) -> None:
    with pytest.raises(BadPath):
        parse_path(text)


@given(st.binary(max_size=64), st.sampled_from(["$", "$.a", "$[0]", "$[*].a", '$["\\u0000"]']))
def test_no_body_breaks_a_filter(body: bytes, path: str) -> None:
    assert isinstance(holds(path, "eq", "x", body), bool)
