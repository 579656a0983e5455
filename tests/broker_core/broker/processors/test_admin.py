"""Figures and settings of a running broker over a real socket."""

from __future__ import annotations

from broker_core.protocol import bodies
from broker_core.protocol.bodies.clusters import BrokerStatsData
from broker_core.protocol.bodies.groups import DelayOffsetSerializeWrapper
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import admin as headers
from tests.support.broker import TIMEOUT_MS, Wire


async def plain(wire: Wire, code: int) -> Command:
    return await wire.client.invoke(wire.address, Command(code), TIMEOUT_MS)


async def test_dashboards_find_the_figures_they_read(wire: Wire) -> None:
    await wire.send("orders", b"x")
    await wire.pull("orders", 0)

    table = await wire.runtime_info()

    assert table["brokerVersionDesc"] == "V4_9_8"
    assert (table["msgPutTotalTodayNow"], table["msgGetTotalTodayNow"]) == ("1", "1")
    for name in ("putTps", "getTransferedTps", "getTransferredTps", "getTotalTps", "getFoundTps", "getMissTps"):
        assert len([float(rate) for rate in table[name].split(" ")]) == 3
    assert 0 < float(table["commitLogDiskRatio"]) < 1
    assert int(table["commitLogMaxOffset"]) == wire.broker.store.appended_log_offset
    assert table["runtime"].startswith("[ 0 days, 0 hours, 0 minutes, ")
    assert len(table["gantryStoreId"]) == 32


async def test_tools_of_5_find_that_the_broker_is_active_and_acknowledges_at_once(wire: Wire) -> None:
    table = await wire.runtime_info()

    assert table["brokerActive"] == "true"
    assert table["ackThreadPoolQueueSize"] == table["ackThreadPoolQueueHeadWaitTimeMills"] == "0"


async def test_a_statistic_is_reported_once_something_was_counted(wire: Wire) -> None:
    header = headers.ViewBrokerStatsDataRequest("TOPIC_PUT_NUMS", "orders")
    unknown = await wire.ask(header)
    await wire.send("orders", b"x")
    known = await wire.ask(header)

    assert (unknown.code, unknown.remark) == (
        ResponseCode.SYSTEM_ERROR,
        "The stats <TOPIC_PUT_NUMS> <orders> not exist",
    )
    assert bodies.decode(BrokerStatsData, known.body).stats_minute.sum == 0


async def test_the_progress_of_delay_levels_is_reported(wire: Wire) -> None:
    await wire.send("orders", b"x", properties={"DELAY": "5"})

    answer = await plain(wire, RequestCode.GET_ALL_DELAY_OFFSET)

    assert bodies.decode(DelayOffsetSerializeWrapper, answer.body).offset_table == {5: 0}
    assert (await wire.runtime_info())["scheduleMessageOffset_5"] == "0,1"


async def test_housekeeping_can_be_asked_for(wire: Wire) -> None:
    await wire.send("orders", b"x")
    for code in (
        RequestCode.DELETE_EXPIRED_COMMITLOG,
        RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE,
        RequestCode.CLEAN_UNUSED_TOPIC,
    ):
        assert (await plain(wire, code)).code == ResponseCode.SUCCESS
    assert len(await wire.pull("orders", 0)) == 1


async def test_a_code_that_is_not_served_is_answered_so(wire: Wire) -> None:
    answer = await plain(wire, RequestCode.GET_TOPIC_NAME_LIST)

    assert (answer.code, answer.remark) == (
        ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        " request type 23 not supported",
    )
