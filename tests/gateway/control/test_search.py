"""Requirements of `gateway.control.search` where a broker does not answer."""

from __future__ import annotations

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.host import encode_host
from broker_core.protocol.record import MessageOrigin, encode, encode_topic, size_of
from gateway.control.search import search_page
from tests.support.scripted import say_nothing, scripted_cluster, succeed


def record(stored_at: int) -> bytes:
    topic, body, properties = encode_topic("orders"), b"paid", b"KEYS\x01A17"
    origin = MessageOrigin(stored_at, encode_host("10.0.0.9", 51234), stored_at, encode_host("10.0.0.5", 10911))
    return encode(topic, body, properties, origin, size_of(topic, body, properties, origin), 0, 1, stored_at)


def answered(*times: int) -> Command:
    return Command.response(ResponseCode.SUCCESS, body=b"".join(map(record, times)))


async def test_what_the_other_broker_has_is_a_page_after_one_question_to_a_silent_one() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.QUERY_MESSAGE, succeed(lambda _: answered(5_000, 9_000)))
        cluster["broker-b"].on(RequestCode.QUERY_MESSAGE, say_nothing())
        async with Session(ClientConfig([cluster.name_server.addr], admin_timeout_ms=300)) as session:
            page = await search_page(Admin(session), "orders", "A17", begin=0, upper=10_000, after=None, limit=20)
        assert [each.message.store_timestamp for each in page.messages] == [9_000, 5_000]
        assert (page.complete, list(page.failed)) == (False, [cluster["broker-b"].addr])
        assert len(cluster["broker-b"].asked(RequestCode.QUERY_MESSAGE)) == 1
        assert len(cluster["broker-a"].asked(RequestCode.QUERY_MESSAGE)) == 1


async def test_the_questions_for_more_go_to_those_that_answer() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        full = list(range(1_000_000, 1_000_000 + 64 * 60_000, 60_000))
        answers = iter((answered(*full), answered(5_000)))
        cluster["broker-a"].on(RequestCode.QUERY_MESSAGE, succeed(lambda _: next(answers)))
        cluster["broker-b"].on(RequestCode.QUERY_MESSAGE, say_nothing())
        async with Session(ClientConfig([cluster.name_server.addr], admin_timeout_ms=300)) as session:
            page = await search_page(Admin(session), "orders", "A17", begin=0, upper=max(full), after=None, limit=100)
        assert len(page.messages) == 64
        assert (page.complete, page.next_start) == (False, None)
        assert len(cluster["broker-b"].asked(RequestCode.QUERY_MESSAGE)) == 1
