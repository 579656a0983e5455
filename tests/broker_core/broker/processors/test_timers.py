"""Delivery times on the wire: sent with the properties of 5.x, recalled by handle, listed, moved and counted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from broker_core.clock import now_ms
from broker_core.protocol import bodies
from broker_core.protocol.bodies.timers import TimerList, TimerSummary
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.errors import MalformedHandle
from broker_core.protocol.headers.admin import UpdateBrokerConfigRequest
from broker_core.protocol.headers.timers import (
    ListTimersRequest,
    RecallMessageRequest,
    RecallMessageResponse,
    RescheduleMessageRequest,
    RescheduleMessageResponse,
    SummarizeTimersRequest,
)
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.recall_handle import RecallHandle
from tests.support.broker import Wire, started
from tests.support.wait import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOUR = 3_600_000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wire(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wire]:
    folder: Path = tmp_path_factory.mktemp("broker")
    async with started(folder / "store") as wire:
        yield wire


async def listed(wire: Wire, **wanted: object) -> TimerList:
    answer = await wire.ask(ListTimersRequest(**wanted))  # type: ignore[arg-type]
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    return bodies.decode(TimerList, answer.body)


async def coming(wire: Wire, topic: str, queue_id: int = 0) -> list[StoredMessage]:
    """Return the messages of a topic as soon as there are some."""
    return await wire.pull(topic, 0, queue_id=queue_id, wait_ms=30_000)


async def park(wire: Wire, topic: str, *ids: str, delay_ms: int = HOUR) -> list[str]:
    """Send messages that wait; return their handles."""
    handles = []
    for each in ids:
        properties = {"TIMER_DELAY_MS": str(delay_ms), "UNIQ_KEY": each, "KEYS": f"key-{each} all", "TAGS": "late"}
        sent = await wire.send(topic, each.encode(), properties=properties)
        assert sent.recall_handle is not None
        handles.append(sent.recall_handle)
    return handles


@pytest.mark.parametrize(
    "properties", [{"TIMER_DELAY_MS": "120"}, {"TIMER_DELIVER_MS": "soon"}, {"TIMER_DELIVER_MS": "1"}]
)
async def test_a_message_comes_when_it_is_due(wire: Wire, properties: dict[str, str]) -> None:
    topic = f"due{properties.get('TIMER_DELIVER_MS', '')}"
    await wire.create_topic(topic, queues=2)
    due = now_ms() + 120 if properties != {"TIMER_DELIVER_MS": "1"} else 0
    if properties == {"TIMER_DELIVER_MS": "soon"}:
        properties = {"TIMER_DELIVER_MS": str(due)}

    await wire.send(topic, b"x", queue_id=1, properties=properties | {"UNIQ_KEY": "A"})

    (message,) = await coming(wire, topic, queue_id=1)
    assert message.body == b"x"
    assert message.store_timestamp >= due
    assert properties.items() <= message.properties.items()


async def test_a_recalled_message_is_gone_and_recalling_again_succeeds(wire: Wire) -> None:
    (handle,) = await park(wire, "recalled", "R1")
    for _ in range(2):
        answer = await wire.ask(RecallMessageRequest("recalled", handle))
        assert answer.header(RecallMessageResponse).msg_id == "R1"
    assert (await listed(wire, topic="recalled")).messages == []


async def test_a_message_that_was_delivered_cannot_be_recalled(wire: Wire) -> None:
    (handle,) = await park(wire, "gone", "G1", delay_ms=1)
    await coming(wire, "gone")

    answer = await wire.ask(RecallMessageRequest("gone", handle))

    assert answer.code == ResponseCode.ILLEGAL_OPERATION
    assert "it was delivered" in str(answer.remark)


@pytest.mark.parametrize(
    ("handle", "code"),
    [
        ("no handle", ResponseCode.INVALID_PARAMETER),
        (RecallHandle("strangers", "broker-a", 1, "X").text, ResponseCode.INVALID_PARAMETER),
        (RecallHandle("handles", "broker-z", 1, "X").text, ResponseCode.INVALID_PARAMETER),
        (RecallHandle("handles", "broker-a", 1, "X").text, ResponseCode.QUERY_NOT_FOUND),
    ],
)
async def test_a_handle_of_nothing_here_is_refused(wire: Wire, handle: str, code: ResponseCode) -> None:
    await wire.create_topic("handles")
    assert (await wire.ask(RecallMessageRequest("handles", handle))).code == code


async def test_waiting_messages_are_listed_by_topic_key_id_and_time_and_paged(wire: Wire) -> None:
    before = now_ms()
    await park(wire, "list", "L1", "L2", "L3")
    await park(wire, "list", "L0", delay_ms=HOUR // 2)

    first = await listed(wire, topic="list", limit=3)
    rest = await listed(wire, topic="list", limit=3, after_due=first.after_due, after_seq=first.after_seq)

    assert [each.msg_id for each in first.messages] == ["L0", "L1", "L2"]
    assert ([each.msg_id for each in rest.messages], first.is_last, rest.is_last) == (["L3"], False, True)
    one = rest.messages[0]
    assert (one.topic, one.keys, one.tags, one.body_size) == ("list", "key-L3 all", "late", 2)
    assert before + HOUR <= one.due <= now_ms() + HOUR
    assert [each.msg_id for each in (await listed(wire, key="key-L2")).messages] == ["L2"]
    assert [each.msg_id for each in (await listed(wire, key="L2")).messages] == ["L2"]
    assert [each.msg_id for each in (await listed(wire, msg_id="L1", topic="list")).messages] == ["L1"]
    assert [each.msg_id for each in (await listed(wire, topic="list", end=before + HOUR)).messages] == ["L0"]


async def test_a_message_is_moved_to_another_time(wire: Wire) -> None:
    await park(wire, "moved", "M1")

    answer = await wire.ask(RescheduleMessageRequest("moved", "M1", now_ms() + 2 * HOUR))
    due = answer.header(RescheduleMessageResponse).deliver_ms
    assert (await listed(wire, topic="moved")).messages[0].due == due

    await wire.ask(RescheduleMessageRequest("moved", "M1", 0))
    assert [message.body for message in await coming(wire, "moved")] == [b"M1"]


async def test_the_figures_tell_how_many_wait_and_that_none_is_late(wire: Wire) -> None:
    waited = int((await wire.runtime_info())["timerMessages"])
    await park(wire, "figures", "F1", delay_ms=HOUR)

    async def has_followed() -> bool:
        figures = await wire.runtime_info()
        return (figures["timerCongestNum"], figures["timerOffsetBehind"]) == (str(waited + 1), "0")

    await eventually(has_followed)
    assert (await wire.runtime_info())["timerReadBehind"] == "0"


async def test_waiting_messages_are_counted_by_topic_and_time(wire: Wire) -> None:
    begin = now_ms()
    await park(wire, "count", "C1", "C2", delay_ms=HOUR)
    await park(wire, "count", "C3", delay_ms=10 * HOUR)

    answer = await wire.ask(SummarizeTimersRequest(begin, begin + 5 * HOUR, HOUR // 2))
    summary = bodies.decode(TimerSummary, answer.body)

    (topic,) = [each for each in summary.topics if each.topic == "count"]
    assert topic.waiting == 3
    assert topic.last_due - topic.first_due >= 9 * HOUR
    assert [(each.begin - begin, each.due) for each in summary.buckets if each.topic == "count"] == [(HOUR, 2)]
    assert (summary.max_delay_ms, summary.is_partial) == (72 * HOUR, False)


async def test_delivery_times_can_be_switched_off_and_limited(wire: Wire) -> None:
    await wire.create_topic("limits")
    try:
        await wire.ask(UpdateBrokerConfigRequest(), b"timerMaxDelaySec=60")
        far = await wire.try_send("limits", b"x", properties={"TIMER_DELAY_SEC": "61"})
        await wire.ask(UpdateBrokerConfigRequest(), b"timerWheelEnable=false")
        off = await wire.try_send("limits", b"x", properties={"TIMER_DELAY_SEC": "1"})
    finally:
        await wire.ask(UpdateBrokerConfigRequest(), b"timerWheelEnable=true\ntimerMaxDelaySec=259200")

    assert (far.code, off.code) == (ResponseCode.MESSAGE_ILLEGAL, ResponseCode.SYSTEM_ERROR)
    assert "timerMaxDelaySec=60" in str(far.remark)
    assert "timerWheelEnable" in str(off.remark)


@pytest.mark.parametrize("text", ["", "djE", "djEgYSBi", "é", "djEgdCBiIHggaQ=="])
async def test_text_that_is_no_handle_is_said_to_be_none(text: str) -> None:
    with pytest.raises(MalformedHandle):
        RecallHandle.parse(text)


async def test_a_handle_is_that_of_5_x() -> None:
    handle = RecallHandle("orders", "broker-a", 1700000000001, "7F000001")
    assert handle.text == "djEgb3JkZXJzIGJyb2tlci1hIDE3MDAwMDAwMDAwMDEgN0YwMDAwMDE="
    assert RecallHandle.parse(handle.text) == handle == RecallHandle.parse(handle.text.rstrip("="))
