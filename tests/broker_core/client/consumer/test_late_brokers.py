"""Requirements of `broker_core.client.consumer.late_brokers`."""

from __future__ import annotations

from broker_core.client.config import ClientConfig
from broker_core.client.consumer.late_brokers import LATE_SECONDS, LateBrokers
from broker_core.client.errors import TimedOut
from broker_core.client.session import Session
from broker_core.protocol.codes import RequestCode
from tests.support.scripted import say_nothing, scripted_cluster
from tests.support.wait import eventually


async def test_a_broker_is_left_out_until_it_answers_and_then_gets_more_time() -> None:
    async with scripted_cluster("broker-a") as cluster:
        addr = cluster["broker-a"].addr
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            late = LateBrokers(session, "billing")
            assert late.patience(addr) == LATE_SECONDS

            late.note(addr, "orders", TimedOut(addr, 1_000))
            assert list(late.errors) == [addr]
            await eventually(lambda: not late.errors)
            assert late.patience(addr) == 2 * LATE_SECONDS


async def test_one_that_is_down_is_asked_like_all_others() -> None:
    async with scripted_cluster("broker-a") as cluster:
        addr = cluster["broker-a"].addr
        cluster["broker-a"].on(RequestCode.POLLING_INFO, say_nothing())
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            late = LateBrokers(session, "billing")
            late.note(addr, "orders", TimedOut(addr, 1_000))
            await eventually(lambda: cluster["broker-a"].asked(RequestCode.POLLING_INFO))
            assert late.errors

            await cluster["broker-a"].stop()
            await eventually(lambda: not late.errors)
