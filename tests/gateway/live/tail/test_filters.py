"""Requirements of `gateway.live.tail.filters`."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage
from gateway.live.tail.filters import Judge, Judgement, TailFilter

ORDER = StoredMessage(
    topic="orders", queue_id=0, queue_offset=QueueOffset(7), log_offset=LogOffset(70),
    body=b'{"status":"paid","amount":214.5,"lines":[{"sku":"A"}],"open":true,"note":null}',
    properties={"TAGS": "paid", "KEYS": "A17 A18", "UNIQ_KEY": "AC11", "tenant": "east"},
    flag=0, sys_flag=0, born_timestamp=1, born_host="127.0.0.1:1", store_timestamp=2, store_host="127.0.0.1:2",
    reconsume_times=0, prepared_transaction_offset=0, body_crc=0, store_size=200,
)  # fmt: skip


def judge(text: str, message: StoredMessage = ORDER) -> Judgement:
    return Judge(msgspec.json.decode(text, type=TailFilter)).judge(message)


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("{}", True),
        ('{"tags":["paid","refunded"]}', True),
        ('{"tags":["refunded"]}', False),
        ('{"key":"A18"}', True),
        ('{"key":"AC11"}', True),
        ('{"key":"A1"}', False),
        ('{"text":"\\"paid\\""}', True),
        ('{"text":"PAID"}', False),
        ('{"properties":[{"name":"tenant","operator":"eq","value":"east"}]}', True),
        ('{"properties":[{"name":"tenant","operator":"ne","value":"east"}]}', False),
        ('{"properties":[{"name":"zone","operator":"exists"}]}', False),
        ('{"fields":[{"path":"$.amount","operator":"gt","value":100}]}', True),
        ('{"fields":[{"path":"$.amount","operator":"gt","value":"100"}]}', False),
        (
            '{"fields":[{"path":"$.amount","operator":"eq","value":214.5},{"path":"$.status","operator":"eq","value":"open"}]}',
            False,
        ),
        ('{"fields":[{"path":"$.lines[0].sku","operator":"eq","value":"A"}]}', True),
        ('{"fields":[{"path":"$.lines[1].sku","operator":"exists"}]}', False),
        ('{"fields":[{"path":"$.status","operator":"contains","value":"ai"}]}', True),
        ('{"fields":[{"path":"$.open","operator":"eq","value":1}]}', False),
        ('{"fields":[{"path":"$.note","operator":"eq","value":null}]}', True),
        ('{"tags":["paid"],"fields":[{"path":"$.amount","operator":"lt","value":100}]}', False),
        ('{"sql":"tenant = \'east\'"}', True),
        ('{"sql":"tenant = \'east\' AND zone > 1"}', False),
        ('{"sql":"zone IS NULL","tags":["refunded"]}', False),
    ],
)
def test_a_message_passes_if_all_that_is_given_holds(text: str, passes: bool) -> None:
    assert judge(text).passes is passes


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ('{"path":"$.amount","operator":"ge","value":true}', "ge compares with a number or a text"),
        ('{"path":"$.amount","operator":"lt","value":null}', "lt compares with a number or a text"),
        ('{"path":"$.amount","operator":"prefix","value":2}', "prefix takes a text"),
    ],
)
def test_a_condition_that_could_never_hold_is_refused(condition: str, words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.json.decode(f'{{"fields":[{condition}]}}', type=TailFilter)


def test_what_cannot_be_judged_is_shown_with_the_reason_unless_something_else_fails() -> None:
    plain = replace(ORDER, body=b"plain")
    by_field = '"fields":[{"path":"$.amount","operator":"gt","value":1}]'
    judged = judge(f"{{{by_field}}}", plain)
    assert judged.passes
    assert judged.unjudged == "$.amount cannot be read: the body is not JSON"
    assert not judge(f'{{"tags":["refunded"],{by_field}}}', plain).passes
    assert "damaged" in (judge(f"{{{by_field}}}", replace(plain, damage="zlib")).unjudged or "")


@pytest.mark.parametrize("path", ["", "$.", "$..a", "$[x]", "$.a b"])
def test_a_path_that_is_not_served_is_refused(path: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"fields": [{"path": path, "operator": "exists"}]}, TailFilter)


@pytest.mark.parametrize("condition", ['"operator":"exists","value":1', '"operator":"gt"'])
def test_a_comparison_has_a_value_and_existence_has_none(condition: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="value"):
        judge(f'{{"fields":[{{"path":"$.a",{condition}}}]}}')


@given(st.binary(max_size=60))
def test_any_body_can_be_judged(body: bytes) -> None:
    judge('{"fields":[{"path":"$.a[0].b","operator":"contains","value":"x"}]}', replace(ORDER, body=body))
