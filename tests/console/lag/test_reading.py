"""Requirements of `console.lag.reading` and `watching`: what is known of a cluster, and which brokers are missing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol import bodies
from broker_core.protocol.bodies import MessageQueue, SubscriptionData
from broker_core.protocol.bodies.running import ConsumerRunningInfo, ProcessQueueInfo
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.clients import GetConsumerRunningInfoRequest
from broker_core.protocol.message import Message
from console.clusters.memory import RememberedBroker, RememberedProcess
from console.lag.broker_watch import Portions, Shown
from console.lag.reading import Reader
from console.lag.state import ClusterState, StateBuilder
from tests.console.lag.figures import Figures, InProcess, known
from tests.support.cluster import create_topic, several_brokers
from tests.support.scripted import Cluster, in_turn, refuse, say_nothing, scripted_cluster, succeed
from tests.support.wait import eventually

# Long enough for every answer of a test; a step ends with the last answer.
PATIENT = 20.0
BRIEF = 0.3


class Followed:
    """A cluster that the test reads step by step."""

    def __init__(self, session: Session, memory: InProcess, patience: float, portions: Portions | None = None) -> None:
        self.reader = Reader(Admin(session), memory, portions=portions, patience=patience, first_patience=PATIENT)
        self.builder = StateBuilder()
        self.now = time.time_ns() // 1_000_000

    async def step(self, seconds: float = 1, shown: Shown | None = None) -> ClusterState:
        self.now += int(seconds * 1_000)
        return self.builder.step(await self.reader.step(self.now, shown or Shown()))


@asynccontextmanager
async def following(
    name_server: str, memory: InProcess | None = None, *, patience: float = PATIENT, portions: Portions | None = None
) -> AsyncIterator[Followed]:
    async with Session(ClientConfig([name_server])) as session:
        followed = Followed(session, memory or InProcess(), patience, portions)
        try:
            yield followed
        finally:
            await followed.reader.close()


async def fill(name_server: str, brokers: int = 2) -> None:
    """Create the topic ``orders`` with a queue of three messages on each broker, and a group that consumed none."""
    async with Session(ClientConfig([name_server])) as session:
        await create_topic(session, "orders", queues=1)
        admin = Admin(session)
        await eventually(lambda: _has_brokers(admin, brokers))
        producer = Producer(session)
        await producer.start()
        queues = (await session.routes.get("orders")).write_queues
        for queue in queues:
            for number in range(3):
                await producer.send(Message("orders", str(number).encode()), queue=queue)
        await producer.close()
        await admin.groups.create("billing")
        await admin.offsets.set("billing", dict.fromkeys(queues, 0))


async def _has_brokers(admin: Admin, count: int) -> bool:
    return len((await admin.session.routes.refresh("orders")).write_queues) == count


async def test_a_broker_that_leaves_the_route_takes_no_truth_with_it(tmp_path: Path) -> None:
    memory = InProcess()
    async with several_brokers(tmp_path) as cluster:
        address = f"127.0.0.1:{cluster.name_server.port}"
        await fill(address)
        async with following(address, memory) as first:
            assert (await first.step()).overview.total_lag == 6
            await eventually(lambda: memory.known.keys() == {"broker-a", "broker-b"})
            # When one broker stops and the name server forgets it
            await cluster.stop("broker-b")
            await eventually(lambda: _listed(first, 1))
            shown = await first.step()
            # Then its content is unknown, and its name is known, although the name server lists only the other broker
            expect_broker_b_missing(shown)
            assert known(shown.groups["billing"].last_known).lag == 6
            assert shown.overview.missing[0].since == shown.overview.at
        # And this holds for a process that never saw it
        async with following(address, memory) as second:
            shown = await second.step()
            expect_broker_b_missing(shown)
            # Until an operator removes it
            del memory.known["broker-b"]
            shown = await second.step(10)
            assert (shown.overview.missing, shown.overview.total_lag) == ([], 3)


def expect_broker_b_missing(shown: ClusterState) -> None:
    overview, group = shown.overview, shown.groups["billing"]
    assert [each.broker for each in overview.missing] == ["broker-b"]
    assert "refused the connection" in overview.missing[0].reason
    assert (overview.total_lag, overview.dead_letters) == (None, None)
    assert (overview.brokers_answering, len(overview.brokers)) == (1, 2)
    assert (group.lag, group.state) == (None, "unknown")
    assert [(row.broker, row.lag) for row in group.queues] == [("broker-a", 3), ("broker-b", None)]
    assert (shown.topics["orders"].messages, shown.topics["orders"].max_lag) == (None, None)


async def _listed(followed: Followed, count: int) -> bool:
    return len(await followed.reader._admin.clusters.brokers()) == count


async def test_one_outage_has_one_beginning_whatever_it_is_called_on_the_way(tmp_path: Path) -> None:
    async with several_brokers(tmp_path) as cluster:
        address = f"127.0.0.1:{cluster.name_server.port}"
        await fill(address)
        async with following(address) as followed:
            await followed.step()
            port = int(cluster.brokers["broker-b"].address.rpartition(":")[2])
            await cluster.stop("broker-b")
            await eventually(lambda: _listed(followed, 1))
            (first,) = (await followed.step(30)).overview.missing
            # When another broker takes its address
            await cluster.start("broker-c", port=port)
            await eventually(lambda: _listed(followed, 2))
            (then,) = (await followed.step(120)).overview.missing
    assert "refused the connection" in first.reason
    assert then.reason != first.reason
    assert then.since == first.since


async def test_a_slave_that_leaves_the_route_stays_until_it_is_forgotten() -> None:
    async with scripted_cluster("broker-a") as cluster:
        Figures(written={"orders": 5}).tell(cluster["broker-a"])
        memory, seen = InProcess(), datetime(2026, 5, 1, tzinfo=UTC)
        slave = RememberedProcess(1, "127.0.0.1:1", seen)
        memory.known["broker-a"] = RememberedBroker("broker-a", {1: slave.address}, seen, seen, processes=[slave])
        async with following(cluster.name_server.addr, memory) as followed:
            for _ in range(2):  # also after the master was written down
                shown = (await followed.step()).overview
                assert [(each.broker_id, each.role, each.reachable) for each in shown.brokers] == [
                    (0, "master", True), (1, "slave", False),
                ]  # fmt: skip
                assert (shown.missing, shown.brokers_answering) == ([], 1)
            memory.known["broker-a"] = RememberedBroker("broker-a", {}, seen, seen)
            assert len((await followed.step(10)).overview.brokers) == 1


async def test_a_fresh_name_server_takes_no_broker_away(tmp_path: Path) -> None:
    async with several_brokers(tmp_path) as cluster:
        port = cluster.name_server.port
        await fill(f"127.0.0.1:{port}")
        async with following(f"127.0.0.1:{port}") as followed:
            assert (await followed.step()).overview.total_lag == 6
            # When the name server has stopped, its brokers still answer
            await cluster.name_server.close()
            away = await followed.step(2)
            assert (away.overview.total_lag, away.overview.missing) == (6, [])
            # And when it has started again and lists no broker yet, or one of them
            fresh = NameServer(NameServerConfig(port=port, settings_file=tmp_path / "fresh.json"))
            await fresh.start()
            try:
                await eventually(lambda: _listed_at_most(followed, 1))
                for _ in range(3):
                    assert (await followed.step()).overview.total_lag == 6
            finally:
                await fresh.close()


async def _listed_at_most(followed: Followed, count: int) -> bool:
    followed.reader._admin.clusters._requests._asked_at = 0.0
    return len(await followed.reader._admin.clusters.brokers()) <= count


async def test_an_empty_route_table_is_no_answer() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = Figures(written={"orders": 18_800}, consumed={"billing": ("orders", 0)})
        figures.tell(cluster["broker-a"])
        memory = InProcess()
        async with following(cluster.name_server.addr, memory) as followed:
            assert (await followed.step()).overview.total_lag == 18_800
            await eventually(lambda: memory.known)
        # When broker and name server start again, the name server first
        await cluster["broker-a"].stop()
        cluster.brokers.clear()
        for again in (memory, InProcess()):
            async with following(cluster.name_server.addr, again) as followed:
                shown = await followed.step()
                # Then the cluster is not reported as empty
                assert (shown.overview.total_lag, shown.overview.unknown_reason is None) == (None, False)
                if again is memory:
                    assert (shown.groups["billing"].lag, shown.overview.topics) == (None, 1)
                else:
                    assert (shown.overview.topics, shown.overview.groups) == (None, None)


async def test_what_is_declared_of_a_topic_outlives_its_broker() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = Figures(written={"orders": 5, "plain": 5}, declared={"orders": "FIFO"})
        figures.tell(cluster["broker-a"])
        memory = InProcess()
        async with following(cluster.name_server.addr, memory) as followed:
            # Given topics of which no group reads one: then it has no largest lag
            assert (await followed.step()).topics["orders"].groups == 0
            await eventually(lambda: memory.known)
            await cluster["broker-a"].stop()
            cluster.brokers.clear()
            await eventually(lambda: _is_missing(followed, "broker-a"))
            shown = (await followed.step()).topics["orders"]
            assert (shown.messages, known(shown.last_known).messages, known(shown.last_known).max_lag) == (
                None,
                5,
                None,
            )
            topics = (await followed.reader.step(followed.now)).topics
            assert (topics["orders"].message_type, topics["plain"].message_type) == ("FIFO", None)


async def _is_missing(followed: Followed, broker: str) -> bool:
    return [each.broker for each in (await followed.step()).overview.missing] == [broker]


async def test_a_topic_that_was_deleted_on_purpose_is_forgotten() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = Figures(written={"orders": 5, "old": 5})
        figures.tell(cluster["broker-a"])
        async with following(cluster.name_server.addr) as followed:
            assert {"orders", "old"} <= (await followed.step()).topics.keys()
            del figures.written["old"]
            shown = await followed.step(60)
            assert ("old" in shown.topics, "orders" in shown.topics) == (False, True)
            assert shown.overview.missing == []


async def test_the_first_step_waits_for_answers_and_those_after_it_go_on() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = Figures(written={"orders": 7}, consumed={"billing": ("orders", 0)})
        figures.tell(cluster["broker-a"])
        may_answer = asyncio.Event()

        async def late(request: Command, _: object) -> Command:
            await may_answer.wait()
            return Command.response(ResponseCode.SUCCESS, body=bodies.encode(figures.lags(request)))

        cluster["broker-a"].on(RequestCode.GET_BROKER_CONSUME_STATS, late)
        async with following(cluster.name_server.addr, patience=0.01) as followed:
            first = asyncio.create_task(followed.step())
            await eventually(lambda: cluster["broker-a"].asked(RequestCode.GET_BROKER_CONSUME_STATS))
            may_answer.set()
            assert (await first).overview.total_lag == 7
            may_answer.clear()
            assert (await followed.step()).overview.total_lag == 7
            may_answer.set()


async def test_a_hanging_consumer_holds_nothing_back() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = Figures(written={"orders": 7}, consumed={"billing": ("orders", 0)}, members={"billing": ["c1"]})
        figures.tell(cluster["broker-a"])
        cluster["broker-a"].on(RequestCode.GET_CONSUMER_RUNNING_INFO, say_nothing())
        async with following(cluster.name_server.addr) as followed:
            await followed.step()
            await eventually(lambda: cluster["broker-a"].asked(RequestCode.GET_CONSUMER_RUNNING_INFO))
            # While its question is open, steps continue
            for seconds in range(3):
                figures.written["orders"] += 1
                assert (await followed.step()).groups["billing"].lag == 8 + seconds
            assert len(cluster["broker-a"].asked(RequestCode.GET_CONSUMER_RUNNING_INFO)) == 1
            assert (await followed.step()).groups["billing"].clients == 1


async def test_a_slow_broker_holds_no_other_back_and_is_not_asked_twice() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        figures = {
            name: Figures(name, written={name: 7}, consumed={f"of-{name}": (name, 0)}) for name in cluster.brokers
        }
        for name, each in figures.items():
            each.tell(cluster[name])
        async with following(cluster.name_server.addr, patience=BRIEF) as followed:
            await eventually(lambda: _has_lag(followed, 14))
            # When one broker is frozen
            for code in (RequestCode.GET_BROKER_RUNTIME_INFO, RequestCode.GET_BROKER_CONSUME_STATS):
                cluster["broker-b"].on(code, say_nothing())
            asked = len(cluster["broker-b"].asked(RequestCode.GET_BROKER_CONSUME_STATS))
            for seconds in range(3):
                figures["broker-a"].written["broker-a"] += 1
                # Then the other one stays current while the question to the frozen one is open
                await eventually(lambda lag=8 + seconds: _group_has_lag(followed, "of-broker-a", lag))
            assert len(cluster["broker-b"].asked(RequestCode.GET_BROKER_CONSUME_STATS)) <= asked + 1
            # And finally it is missing, with the reason
            await eventually(lambda: _has_reason(followed, "did not answer within"))


async def _group_has_lag(followed: Followed, group: str, lag: int) -> bool:
    return bool((await followed.step(0.01)).groups[group].lag == lag)


async def _has_lag(followed: Followed, lag: int) -> bool:
    return bool((await followed.step()).overview.total_lag == lag)


async def _has_reason(followed: Followed, words: str) -> bool:
    missing = (await followed.step()).overview.missing
    return any(each.broker == "broker-b" and words in each.reason for each in missing)


async def test_another_broker_at_an_old_address_is_not_taken_for_the_one_that_was_there() -> None:
    async with scripted_cluster("broker-a") as cluster:
        Figures(written={"orders": 5}).tell(cluster["broker-a"])
        memory = InProcess()
        async with following(cluster.name_server.addr, memory) as followed:
            await followed.step()
            await eventually(lambda: memory.known)
            # When the name server no longer lists it and another one listens there
            Figures("broker-z", written={"orders": 1}).tell(cluster["broker-a"])
            cluster.brokers.clear()
        async with following(cluster.name_server.addr, memory) as followed:
            shown = await followed.step()
            assert "another broker answers" in shown.overview.missing[0].reason
            assert shown.topics["orders"].messages is None


async def test_a_broker_of_the_same_name_at_an_old_address_is_another_one_by_its_identity() -> None:
    async with scripted_cluster("broker-a") as cluster:
        name_server = cluster.name_server.addr
        Figures(written={"orders": 5}, store_id="mine").tell(cluster["broker-a"])
        memory = InProcess()
        peers = dict(cluster.brokers)
        async with following(name_server, memory) as followed:
            await followed.step()
            await eventually(lambda: memory.known)
            # When no name server lists it and one of the same name listens there, with another identity or without
            cluster.brokers.clear()
            await eventually(lambda: _listed_at_most(followed, 0))
            await followed.step(2)
            for other in ("theirs", ""):
                Figures(written={"payments": 1}, store_id=other).tell(peers["broker-a"])
                expect_another(await followed.step(2))
                # Then this also holds for the first answers of a process that never saw the right one
                async with following(name_server, memory) as restarted:
                    expect_another(await restarted.step())
            # And when the right one is back, it is known again, though no name server lists it yet
            Figures(written={"orders": 6}, store_id="mine").tell(peers["broker-a"])
            assert (await followed.step(6)).topics["orders"].messages == 6
        # A listed one may have another identity: its data folder was replaced. It is remembered
        cluster.brokers.update(peers)
        Figures(written={"fresh": 1}, store_id="new").tell(peers["broker-a"])
        async with following(name_server, memory) as followed:
            shown = await followed.step()
            assert (shown.overview.missing, "fresh" in shown.topics) == ([], True)
            await eventually(lambda: memory.known["broker-a"].store_id == "new")


def expect_another(shown: ClusterState) -> None:
    [missing] = shown.overview.missing
    assert "another broker answers at" in missing.reason
    assert (shown.topics["orders"].messages, "payments" in shown.topics) == (None, False)


# Many topics and groups


def crowd(cluster: Cluster, count: int) -> Figures:
    """Give a broker this many topics, and a group that is behind in each."""
    names = [f"t{number:03}" for number in range(count)]
    figures = Figures(written=dict.fromkeys(names, 5), consumed={f"g{name[1:]}": (name, 0) for name in names})
    figures.tell(cluster["broker-a"])
    return figures


SMALL = Portions(topics=8, delays=8, members=8)


async def test_every_topic_and_group_comes_to_its_turn() -> None:
    async with scripted_cluster("broker-a") as cluster:
        crowd(cluster, 60)
        async with following(cluster.name_server.addr, portions=SMALL) as followed:
            shown = await followed.step()
            # At first little is known, and the reading says so
            assert sum(topic.messages is None for topic in shown.topics.values()) > 50
            overview = shown.overview
            assert (overview.total_lag, overview.oldest_unconsumed_ms) == (300, None)
            assert (overview.groups_behind, overview.groups_timed) == (60, 8)
            for _ in range(12):
                shown = await followed.step()
            assert all(topic.messages == 5 for name, topic in shown.topics.items() if name.startswith("t"))
            assert all(group.time_lag_ms is not None for group in shown.groups.values())
            assert all(group.clients == 0 for group in shown.groups.values())
            assert (shown.overview.groups_timed, shown.overview.oldest_unconsumed_ms is None) == (60, False)
            # Old figures show their age
            assert len({topic.measured_at for topic in shown.topics.values()}) > 5


async def test_what_is_known_to_stand_still_is_not_asked_again() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = crowd(cluster, 20)
        async with following(cluster.name_server.addr, portions=SMALL) as followed:
            for _ in range(10):
                before = await followed.step()
            assert {figures.asked[group] for group in figures.consumed} == {1}
            later = await followed.step(5)
            age = known(later.groups["g007"].time_lag_ms) - known(before.groups["g007"].time_lag_ms)
            assert age == 5_000, "it grows by itself"
            figures.consumed["g007"] = ("t007", 2)
            await followed.step()
            await followed.step()
            assert figures.asked["g007"] == 2


async def test_what_moves_is_measured_with_every_step() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = crowd(cluster, 60)
        figures.written["alone"] = 0
        async with following(cluster.name_server.addr, portions=SMALL) as followed:
            for _ in range(12):
                await followed.step()
            # When messages arrive in a topic that a group reads, and in one without readers
            for _ in range(12):
                figures.written["t033"] += 17
                figures.written["alone"] += 17
                shown = await followed.step()
            before = figures.asked["t033"], figures.asked["alone"]
            for _ in range(5):
                figures.written["t033"] += 17
                figures.written["alone"] += 17
                shown = await followed.step()
            assert (figures.asked["t033"], figures.asked["alone"]) == (before[0] + 5, before[1] + 5)
            assert shown.topics["t033"].messages == figures.written["t033"]
            assert 10 < known(shown.topics["alone"].in_rate) <= 17


async def test_a_quiet_topic_that_begins_to_move_is_found_before_its_turn() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = crowd(cluster, 500)
        async with following(cluster.name_server.addr, portions=SMALL) as followed:
            await followed.step()
            figures.written["quiet"] = 0
            figures.fresh.add("quiet")
            asked = 0
            # Each topic is read once in 62 steps
            for _ in range(24):
                figures.written["quiet"] += 17
                shown = await followed.step()
                asked = sum(count for name, count in figures.asked.items() if name.startswith("t"))
            assert shown.topics["quiet"].in_rate is not None
            assert shown.topics["quiet"].messages == figures.written["quiet"]
            # And after it is found, the portions are small again
            for _ in range(3):
                await followed.step()
            after = sum(count for name, count in figures.asked.items() if name.startswith("t"))
            assert after - asked <= 3 * SMALL.topics


async def test_what_is_shown_is_measured_at_once() -> None:
    async with scripted_cluster("broker-a") as cluster:
        crowd(cluster, 60)
        async with following(cluster.name_server.addr, portions=SMALL) as followed:
            names = Shown(frozenset({"t059"}), frozenset({"g058"}))
            shown = await followed.step(shown=names)
            assert shown.topics["t059"].messages == 5
            assert shown.groups["g058"].time_lag_ms is not None
            assert shown.groups["g058"].clients == 0


async def test_a_queue_in_which_nothing_was_committed_is_late_by_nothing_that_is_known() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = crowd(cluster, 2)
        figures.uncommitted.add("g000")
        async with following(cluster.name_server.addr) as followed:
            shown = await followed.step()
            assert (shown.groups["g000"].time_lag_ms, shown.groups["g000"].lag) == (None, 5)
            assert 5_000 <= known(shown.groups["g001"].time_lag_ms) < 3_600_000
            assert shown.overview.oldest_group == "g001"


async def test_a_topic_that_a_broker_refuses_to_tell_of_keeps_no_other_back() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = crowd(cluster, 3)
        cluster["broker-a"].on(RequestCode.GET_TOPIC_STATS_INFO, in_turn(refuse(1), figures.tell_ends))
        async with following(cluster.name_server.addr) as followed:
            shown = await followed.step()
            assert sum(topic.messages is not None for topic in shown.topics.values()) == 3
            assert shown.overview.missing == []
            assert all(each.messages is not None for each in (await followed.step()).topics.values())


async def test_lists_are_read_seldom_and_at_once_for_a_new_group() -> None:
    async with scripted_cluster("broker-a") as cluster:
        figures = crowd(cluster, 3)

        def lists() -> int:
            return len(cluster["broker-a"].asked(RequestCode.GET_ALL_TOPIC_CONFIG))

        async with following(cluster.name_server.addr) as followed:
            for _ in range(4):
                await followed.step()
            assert lists() == 1
            figures.consumed["new"] = ("t000", 2)
            await followed.step()
            assert (await followed.step()).groups["new"].lag == 3
            # A group that is in no list is searched once
            figures.hidden.add("ghost")
            figures.consumed["ghost"] = ("t000", 2)
            before = lists()
            for _ in range(4):
                await followed.step(0.1)
            assert lists() <= before + 1


async def test_who_reads_which_queue_is_told_by_the_members() -> None:
    async with scripted_cluster("broker-a") as cluster:
        crowd(cluster, 1).members["g000"] = ["c1"]
        inside = ConsumerRunningInfo(mq_table={MessageQueue("t000", "broker-a", 0): ProcessQueueInfo()})
        answer = Command.response(ResponseCode.SUCCESS, body=bodies.encode(inside))
        cluster["broker-a"].on(RequestCode.GET_CONSUMER_RUNNING_INFO, succeed(lambda _: answer))
        async with following(cluster.name_server.addr) as followed:
            await eventually(lambda: _has_owner(followed, "c1"))


async def _has_owner(followed: Followed, client_id: str) -> bool:
    return bool((await followed.step()).groups["g000"].queues[0].client == client_id)


async def test_members_that_subscribe_to_different_things_are_seen_until_they_agree() -> None:
    wanted = {"c1": "paid", "c2": "sent"}

    def inside(request: Command) -> Command:
        told = SubscriptionData("t000", wanted[request.header(GetConsumerRunningInfoRequest).client_id])
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ConsumerRunningInfo(subscription_set=[told])))

    async with scripted_cluster("broker-a") as cluster:
        crowd(cluster, 1).members["g000"] = list(wanted)
        cluster["broker-a"].on(RequestCode.GET_CONSUMER_RUNNING_INFO, succeed(inside))
        async with following(cluster.name_server.addr) as followed:

            async def is_inconsistent() -> bool:
                return (await followed.step()).groups["g000"].state == "inconsistent"

            async def is_consistent() -> bool:
                return not await is_inconsistent()

            await eventually(is_inconsistent)
            wanted["c2"] = "paid"
            await eventually(is_consistent)
