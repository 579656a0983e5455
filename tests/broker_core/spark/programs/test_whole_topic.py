"""Whether a job reads a topic from files or over the wire: never only a part of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.message import Message
from broker_core.spark.errors import Unreachable
from broker_core.spark.options import SourceOptions
from broker_core.spark.places import Places
from broker_core.spark.programs.requests import ProgramRequest, SourcePlace, SparkPlace
from broker_core.spark.programs.whole_topic import whole_topic
from broker_core.spark.wire import close_sessions
from tests.support.cluster import SeveralBrokers, create_topic, several_brokers


@pytest.fixture(autouse=True)
def no_session_is_left() -> Iterator[None]:
    yield
    close_sessions()


def request(place: SourcePlace, master: str = "local[2]") -> ProgramRequest:
    spark = SparkPlace(master=master, cache="/nowhere")
    return ProgramRequest(
        job_id="j", type="export", cluster="local", created_by="ann", attempt=1, request_hash="h", asked={},
        source=place, spark=spark,
    )  # fmt: skip


def place(running: SeveralBrokers, *folders: str) -> SourcePlace:
    stores = {name: str(running.data / name) for name in folders}
    first = folders[0]
    server = f"127.0.0.1:{running.name_server.port}"
    return SourcePlace(store=stores.pop(first), broker=first, name_servers=(server,), more_stores=stores)


async def send_to_both(session: Session, topic: str) -> None:
    await create_topic(session, topic, queues=2)
    producer = Producer(session)
    for number in range(20):
        await producer.send(Message(topic, b"%d" % number))


def messages_in(options: SourceOptions) -> int:
    return sum(reach.end - reach.begin for reach in Places(options).reaches().values())


async def test_the_files_of_all_brokers_of_this_machine_are_read(tmp_path: Path) -> None:
    async with several_brokers(tmp_path) as running, running.session() as session:
        await send_to_both(session, "orders")

        options = await asyncio.to_thread(whole_topic, request(place(running, "broker-a", "broker-b")), "orders")

        assert dict(zip(options.brokers, options.stores, strict=True)) == {
            name: tmp_path / name for name in ("broker-a", "broker-b")
        }
        await running.stop("broker-b")  # its files are still there
        again = await asyncio.to_thread(whole_topic, request(place(running, "broker-a", "broker-b")), "orders")
        assert again == options
        assert await asyncio.to_thread(messages_in, options) == 20


async def test_a_topic_that_is_on_a_broker_elsewhere_too_is_read_over_the_wire(tmp_path: Path) -> None:
    async with several_brokers(tmp_path) as running, running.session() as session:
        await send_to_both(session, "orders")

        options = await asyncio.to_thread(whole_topic, request(place(running, "broker-a")), "orders")

        assert not options.stores
        assert options.name_servers
        assert await asyncio.to_thread(messages_in, options) == 20


def test_where_nobody_tells_who_else_has_the_topic_nothing_is_read(tmp_path: Path) -> None:
    nobody = SourcePlace(store=str(tmp_path), broker="broker-a", name_servers=("127.0.0.1:1",))

    with pytest.raises(Unreachable):
        whole_topic(request(nobody), "orders")
