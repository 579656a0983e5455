"""The unmodified Java client and tools 5.3.3 against Gantry: consuming by lease, and what `mqadmin` 5.x asks for."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import pytest

from broker_core.clock import now_ms
from broker_core.protocol.codes import RequestCode, ResponseCode
from tests.compat.driver import ANSWER_SECONDS, Behaviour, Driver, JavaError, JavaObject, PushConsumer, started_driver
from tests.compat.java_build import CLIENT5
from tests.compat.java_values import JavaMessage, Queue, Received, in_json, made, sql
from tests.compat.sending import OVER_29, numbers_of, send_amounts, send_numbers
from tests.compat.servers import started
from tests.compat.test_transactions import send_in_transaction, transaction_producer
from tests.support.cluster import RunningBroker
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

_CLIENT: Final = "org.apache.rocketmq.client"
_REMOTING: Final = "org.apache.rocketmq.remoting"
_COMMIT: Final = "getDefaultMQPushConsumerImpl.persistConsumerOffset"
_THREE_DAYS_MS: Final = 3 * 24 * 3_600_000


@pytest.fixture(scope="module")
def gantry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with started("gantry", tmp_path_factory.mktemp("gantry"), {}) as running:
        assert isinstance(running, RunningBroker)
        yield running


@pytest.fixture(scope="module")
def jvm(_java_build: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    CLIENT5.build()
    with started_driver(tmp_path_factory.mktemp("driver5"), project=CLIENT5) as driver:
        yield driver


@pytest.fixture
def driver5(jvm: Driver) -> Iterator[Driver]:
    yield jvm
    jvm.shutdown_clients()


def popping(
    driver: Driver,
    gantry: RunningBroker,
    topic: str,
    group: str,
    behaviour: Behaviour | None = None,
    selector: str | dict[str, str] = "*",
) -> PushConsumer:
    """Start a push consumer whose queues the broker shares out, of a group that is to pop."""
    driver.mqadmin("updateSubGroup", "-n", gantry.name_server, "-b", gantry.address, "-g", group)
    driver.mqadmin(
        "setConsumeMode",
        "-n",
        gantry.name_server,
        "-b",
        gantry.address,
        "-t",
        topic,
        "-g",
        group,
        "-m",
        "POP",
        "-q",
        "8",
    )
    return driver.push_consumer(
        gantry.name_server, group, {topic: selector}, behaviour=behaviour, clientRebalance=False
    )


def lag_of(driver: Driver, gantry: RunningBroker, group: str) -> int:
    text = driver.mqadmin("consumerProgress", "-n", gantry.name_server, "-g", group)
    return int(text.rpartition("Consume Diff Total:")[2].split()[0])


def test_a_push_consumer_in_pop_mode_gets_each_message_once(driver5: Driver, gantry: RunningBroker) -> None:
    producer = driver5.producer(gantry.name_server)
    send_numbers(producer, "popped", range(40))

    members = [popping(driver5, gantry, "popped", "popping") for _ in range(2)]

    wait_until(lambda: sum(len(member.received) for member in members) >= 40)
    wait_until(lambda: lag_of(driver5, gantry, "popping") == 0)
    assert sorted(number for member in members for number in numbers_of(member.received)) == list(range(40))


def test_a_push_consumer_in_pop_mode_selects_by_properties(driver5: Driver, gantry: RunningBroker) -> None:
    send_amounts(driver5.producer(gantry.name_server), "popped-by-sql", range(40))

    consumer = popping(driver5, gantry, "popped-by-sql", "popping-by-sql", selector=sql(OVER_29))

    wait_until(lambda: len(consumer.received) >= 5)
    wait_until(lambda: lag_of(driver5, gantry, "popping-by-sql") == 0)
    assert sorted(numbers_of(consumer.received)) == [30, 32, 34, 36, 38]


def test_a_message_that_fails_in_pop_mode_comes_again(driver5: Driver, gantry: RunningBroker) -> None:
    producer = driver5.producer(gantry.name_server)
    send_numbers(producer, "failing", [1])
    consumer = popping(driver5, gantry, "failing", "failing-group", Behaviour("later", times=1))

    wait_until(lambda: len(consumer.received) >= 2)

    assert [message.reconsume_times for message in consumer.received] == [0, 1]


def test_the_tools_read_topics_groups_and_figures(driver5: Driver, gantry: RunningBroker, tmp_path: Path) -> None:
    send_numbers(driver5.producer(gantry.name_server), "looked-at", range(5))

    status = driver5.mqadmin("topicStatus", "-n", gantry.name_server, "-t", "looked-at")
    exported = driver5.mqadmin("exportMetrics", "-n", gantry.name_server, "-c", "test", "-f", str(tmp_path))

    assert "Topic Put TPS" in status
    assert "success" in exported
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["evaluateReport"]["broker-a"]["runtimeQuota"]["tps"]["normalOutTps"] >= 0


def test_one_queue_of_a_group_goes_back_alone(driver5: Driver, gantry: RunningBroker) -> None:
    where = ("-n", gantry.name_server, "-b", gantry.address)
    driver5.mqadmin("updateTopic", *where, "-t", "rewound", "-r", "4", "-w", "4")
    send_numbers(driver5.producer(gantry.name_server), "rewound", range(20))
    consumer = driver5.push_consumer(gantry.name_server, "rewinding", {"rewound": "*"})
    wait_until(lambda: len(consumer.received) == 20)
    # The client does not wait for its listener: what it ends with may lag behind what it received.
    wait_until(lambda: lag_of(driver5, gantry, "rewinding") == 0)
    consumer.shutdown()

    driver5.mqadmin("resetOffsetByTime", *where, "-g", "rewinding", "-t", "rewound", "-q", "0", "-o", "2", "-s", "now")

    in_queue = [message for message in consumer.received if message.queue.id == 0]
    assert lag_of(driver5, gantry, "rewinding") == len(in_queue) - 2


# -- topics and groups


def test_a_topic_keeps_the_message_type_that_it_was_given(driver5: Driver, gantry: RunningBroker) -> None:
    where = ("-n", gantry.name_server, "-b", gantry.address)
    driver5.mqadmin("updateTopic", *where, "-t", "typed", "-a", "+message.type=FIFO")
    driver5.mqadmin("updateTopic", *where, "-t", "typed", "-r", "4", "-w", "4")
    admin = driver5.admin(gantry.name_server)

    config = admin.call("examineTopicConfig", gantry.address, "typed")

    assert (config["attributes"], config["readQueueNums"]) == ({"message.type": "FIFO"}, 4)
    for attribute, reason in (("+message.type=ROUND", "only NORMAL or FIFO"), ("+colour=red", "unsupported attribute")):
        with pytest.raises(JavaError) as refused:
            driver5.mqadmin("updateTopic", *where, "-t", "typed", "-a", attribute)
        assert (refused.value.code, reason in str(refused.value)) == (29, True)


def test_several_topics_and_groups_are_created_from_a_file(
    driver5: Driver, gantry: RunningBroker, tmp_path: Path
) -> None:
    where = ("-n", gantry.name_server, "-b", gantry.address)
    topics, groups = tmp_path / "topics.json", tmp_path / "groups.json"
    topics.write_text(
        json.dumps([{"topicName": f"listed-{number}", "writeQueueNums": number, "perm": 6} for number in (1, 2)])
    )
    groups.write_text(json.dumps([{"groupName": f"listed-{number}", "retryMaxTimes": number} for number in (1, 2)]))

    driver5.mqadmin("updateTopicList", *where, "-f", str(topics))
    driver5.mqadmin("updateSubGroupList", *where, "-f", str(groups))

    admin = driver5.admin(gantry.name_server)
    assert admin.call("examineTopicConfig", gantry.address, "listed-2")["writeQueueNums"] == 2
    assert admin.call("examineSubscriptionGroupConfig", gantry.address, "listed-1")["retryMaxTimes"] == 1


def test_an_ordered_group_is_shown_so_and_its_own_retry_policy_is_refused(
    driver5: Driver, gantry: RunningBroker
) -> None:
    where = ("-n", gantry.name_server, "-b", gantry.address)
    driver5.mqadmin("updateSubGroup", *where, "-g", "in-order", "-o", "true", "-r", "3")

    shown = driver5.mqadmin("getConsumerConfig", "-n", gantry.name_server, "-g", "in-order")

    assert ["consumeMessageOrderly", "=", "true"] in [line.split() for line in shown.splitlines()]
    with pytest.raises(JavaError, match="groupRetryPolicy of group in-order") as refused:
        driver5.mqadmin(
            "updateSubGroup", *where, "-g", "in-order", "-p", '{"type":"EXPONENTIAL","exponentialRetryPolicy":{}}'
        )
    assert refused.value.code == 29


def test_the_topics_and_subscriptions_of_a_group(driver5: Driver, gantry: RunningBroker) -> None:
    send_numbers(driver5.producer(gantry.name_server), "known", range(4))
    consumer = driver5.push_consumer(gantry.name_server, "knowing", {"known": "even || odd"})
    wait_until(lambda: len(consumer.received) == 4)
    consumer.call(_COMMIT)
    admin = driver5.admin(gantry.name_server)

    topics = admin.call("queryTopicsByConsumer", "knowing")["topicList"]
    subscription = admin.call("querySubscription", "knowing", "known")

    assert "known" in topics
    assert subscription["subString"] == "even || odd"


def test_a_group_without_members_goes_back_to_a_time(driver5: Driver, gantry: RunningBroker) -> None:
    send_numbers(driver5.producer(gantry.name_server), "timed", range(8))
    consumer = driver5.push_consumer(gantry.name_server, "timing", {"timed": "*"})
    wait_until(lambda: len(consumer.received) == 8)
    consumer.shutdown()
    where = ("-n", gantry.name_server, "-g", "timing", "-t", "timed")

    driver5.mqadmin("resetOffsetByTime", *where, "-s", "0")
    to_the_begin = lag_of(driver5, gantry, "timing")
    driver5.mqadmin("resetOffsetByTime", *where, "-b", gantry.address, "-q", "1", "-s", "now")

    assert (to_the_begin, lag_of(driver5, gantry, "timing")) == (8, 6)


def test_a_group_is_deleted_with_its_offsets_if_that_is_asked(driver5: Driver, gantry: RunningBroker) -> None:
    where = ("-n", gantry.name_server, "-b", gantry.address, "-g", "leaving")
    driver5.mqadmin("updateTopic", *where[:4], "-t", "left", "-r", "4", "-w", "4")
    driver5.mqadmin("updateSubGroup", *where)
    consumer = driver5.push_consumer(gantry.name_server, "leaving", {"left": "*"})
    send_numbers(driver5.producer(gantry.name_server), "left", range(3))
    wait_until(lambda: len(consumer.received) == 3)
    consumer.shutdown()
    admin = driver5.admin(gantry.name_server)
    assert "left" in admin.call("queryTopicsByConsumer", "leaving")["topicList"]

    driver5.mqadmin("deleteSubGroup", *where, "-r", "true")

    assert "left" not in admin.call("queryTopicsByConsumer", "leaving")["topicList"]


# -- consumers


def test_a_consumer_with_short_heartbeats_stays_a_member(driver5: Driver, gantry: RunningBroker) -> None:
    producer = driver5.producer(gantry.name_server)
    send_numbers(producer, "beaten", range(4))
    consumer = driver5.push_consumer(gantry.name_server, "beating", {"beaten": "odd"}, useHeartbeatV2=True)
    wait_until(lambda: len(consumer.received) == 2)
    for _ in range(3):
        assert consumer.call("getDefaultMQPushConsumerImpl.getmQClientFactory.sendHeartbeatToAllBrokerWithLock")

    send_numbers(producer, "beaten", range(4, 8))

    wait_until(lambda: len(consumer.received) == 4)
    shown = driver5.mqadmin("consumerConnection", "-n", gantry.name_server, "-g", "beating")
    assert re.search(r"beaten\s.*odd", shown), shown


def take(consumer: JavaObject, count: int) -> list[Received]:
    """Poll until so many messages have come."""
    found: list[Received] = []

    def have_come() -> bool:
        found.extend(map(Received.of, consumer.call("poll", 1000)))
        return len(found) >= count

    wait_until(have_come)
    return found


def test_a_lite_consumer_subscribes(driver5: Driver, gantry: RunningBroker) -> None:
    send_numbers(driver5.producer(gantry.name_server), "lite", range(8))
    consumer = driver5.lite_consumer(
        gantry.name_server, "liting", consumeFromWhere="CONSUME_FROM_FIRST_OFFSET", autoCommit=False
    )
    consumer.call("subscribe", "lite", "even")
    consumer.call("start")

    found = take(consumer, 4)
    consumer.call("commitSync")

    assert sorted(numbers_of(found)) == [0, 2, 4, 6]


def test_a_lite_consumer_is_assigned_queues_and_seeks(driver5: Driver, gantry: RunningBroker) -> None:
    send_numbers(driver5.producer(gantry.name_server), "assigned", range(8))
    consumer = driver5.lite_consumer(gantry.name_server, "assigning", autoCommit=False)
    consumer.call("start")
    queue = Queue("assigned", 3)
    consumer.call("assign", [queue])
    consumer.call("seek", queue, 1)

    assert numbers_of(take(consumer, 1)) == [7]
    consumer.call("seekToBegin", queue)
    assert numbers_of(take(consumer, 2)) == [3, 7]


class Popper:
    """The part of the Java client by which proxies pop, at one broker and for one group and topic."""

    def __init__(self, driver: Driver, gantry: RunningBroker, topic: str) -> None:
        arguments = [made(f"{_CLIENT}.ClientConfig"), made(f"{_REMOTING}.netty.NettyClientConfig"), None, None]
        self._api = driver.new(f"{_CLIENT}.impl.mqclient.MQClientAPIExt", *arguments, settings={})
        self._api.call("start")
        self._addr, self._topic = gantry.address, topic

    def pop(self, *, attempt: str | None = None, order: bool = True, lease_ms: int = 60_000) -> list[Received]:
        """Lease up to 8 messages of queue 0; an answer without any is an empty list."""
        header = made(
            f"{_REMOTING}.protocol.header.PopMessageRequestHeader",
            consumerGroup=f"{self._topic}-group", topic=self._topic, queueId=0, maxMsgNums=8, invisibleTime=lease_ms,
            pollTime=0, bornTime=0, initMode=0, expType="TAG", exp="*", order=order, attemptId=attempt,
        )  # fmt: skip
        return list(map(Received.of, self._api.call("popMessageAsync", self._addr, "broker-a", header, 30_000)))

    def _settling(self, kind: str, message: Received, **more: int) -> dict[str, Any]:
        return made(
            f"{_REMOTING}.protocol.header.{kind}RequestHeader", consumerGroup=f"{self._topic}-group",
            topic=self._topic, queueId=0, extraInfo=message.properties["POP_CK"], offset=message.queue_offset, **more,
        )  # fmt: skip

    def ack(self, message: Received) -> None:
        answer = self._api.call("ackMessageAsync", self._addr, self._settling("AckMessage", message), 30_000)
        assert answer["status"] == "OK"

    def ack_all(self, messages: list[Received]) -> None:
        receipts = [message.properties["POP_CK"] for message in messages]
        group = f"{self._topic}-group"
        answer = self._api.call("batchAckMessageAsync", self._addr, self._topic, group, receipts, 30_000)
        assert answer["status"] == "OK"

    def give_back(self, message: Received) -> None:
        header = self._settling("ChangeInvisibleTime", message, invisibleTime=1)
        answer = self._api.call("changeInvisibleTimeAsync", self._addr, "broker-a", header, 30_000)
        assert answer["status"] == "OK"


def popped(popper: Popper, **how: Any) -> list[Received]:
    """Pop until there is something."""
    found: list[Received] = []

    def has_come() -> bool:
        found.extend(popper.pop(**how))
        return bool(found)

    wait_until(has_come)
    return found


def test_an_ordered_pop_repeats_what_failed_before_anything_new(driver5: Driver, gantry: RunningBroker) -> None:
    producer = driver5.producer(gantry.name_server)
    send_numbers(producer, "fifo", range(0, 12, 4))  # all of them in queue 0
    popper = Popper(driver5, gantry, "fifo")

    first = popper.pop(attempt="one")
    again = popper.pop(attempt="one")

    assert numbers_of(first) == numbers_of(again) == [0, 4, 8]
    assert popper.pop(attempt="two") == []
    popper.ack(first[0])
    popper.ack(first[2])
    popper.give_back(first[1])
    send_numbers(producer, "fifo", [12])
    found = popped(popper, attempt="three")
    assert [(int(message.body), message.reconsume_times) for message in found] == [(4, 1), (12, 0)]


def test_many_messages_are_acknowledged_at_once(driver5: Driver, gantry: RunningBroker) -> None:
    send_numbers(driver5.producer(gantry.name_server), "together", range(0, 20, 4))
    popper = Popper(driver5, gantry, "together")
    leased = popper.pop(order=False, lease_ms=1000)

    popper.ack_all([message for message in leased if int(message.body) != 8])

    assert numbers_of(popped(popper, order=False)) == [8]


# -- producers


def test_a_producer_that_gathers_messages_by_itself_sends_them_all(driver5: Driver, gantry: RunningBroker) -> None:
    producer = driver5.producer(gantry.name_server, autoBatch=True)
    driver5.mqadmin("updateTopic", "-n", gantry.name_server, "-b", gantry.address, "-t", "gathered")
    calls = [
        driver5.later(
            "call", producer.name, method="send", arguments=[in_json(JavaMessage("gathered", b"%d" % number))]
        )
        for number in range(20)
    ]

    assert {call.result(ANSWER_SECONDS)["status"] for call in calls} == {"SEND_OK"}
    consumer = driver5.push_consumer(gantry.name_server, "gathering", {"gathered": "*"})
    wait_until(lambda: sorted(numbers_of(consumer.received)) == list(range(20)))


# -- delivery times


def test_messages_come_at_their_times_from_clients_of_4_and_5(
    driver: Driver, driver5: Driver, gantry: RunningBroker
) -> None:
    consumer = driver5.push_consumer(gantry.name_server, "waiting", {"waited": "*"})
    older, newer = driver.producer(gantry.name_server), driver5.producer(gantry.name_server)
    dues: dict[bytes, int] = {}
    for number, (producer, name, value, due) in enumerate(
        (
            (older, "TIMER_DELIVER_MS", now_ms() + 2_000, now_ms() + 2_000),
            (older, "TIMER_DELAY_MS", 1_500, now_ms() + 1_500),
            (newer, "TIMER_DELIVER_MS", now_ms() + 1_200, now_ms() + 1_200),
            (newer, "TIMER_DELAY_MS", 300, now_ms() + 300),
            (newer, "TIMER_DELAY_SEC", 1, now_ms() + 1_000),
        )
    ):
        message = JavaMessage("waited", b"%d" % number, properties={name: str(value)})
        assert producer.call("send", message)["status"] == "SEND_OK"
        dues[message.body] = due

    wait_until(lambda: len(consumer.received) == len(dues))

    assert [message.body for message in consumer.received if message.stored_at < dues[message.body]] == []


def test_a_waiting_message_is_recalled_and_a_delivered_one_is_not(driver5: Driver, gantry: RunningBroker) -> None:
    consumer = driver5.push_consumer(gantry.name_server, "recalling", {"recalled": "*"})
    producer = driver5.producer(gantry.name_server)

    def sent(body: bytes, delay_ms: int) -> dict[str, Any]:
        message = JavaMessage("recalled", body, properties={"TIMER_DELAY_MS": str(delay_ms)})
        return cast("dict[str, Any]", producer.call("send", message))

    gone, stays = sent(b"gone", _THREE_DAYS_MS), sent(b"stays", 200)
    assert producer.call("recallMessage", "recalled", gone["recallHandle"]) == gone["msgId"]
    wait_until(lambda: consumer.bodies == [b"stays"])

    with pytest.raises(JavaError) as refused:
        producer.call("recallMessage", "recalled", stays["recallHandle"])
    assert refused.value.code == ResponseCode.ILLEGAL_OPERATION


@pytest.mark.parametrize("value", [str(_THREE_DAYS_MS + 60_000), "soon"])
def test_a_time_that_cannot_be_kept_is_refused(driver5: Driver, gantry: RunningBroker, value: str) -> None:
    producer = driver5.producer(gantry.name_server)

    with pytest.raises(JavaError) as refused:
        producer.call("send", JavaMessage("never", properties={"TIMER_DELAY_MS": value}))

    assert refused.value.code == ResponseCode.MESSAGE_ILLEGAL


def test_ha_status_tells_that_nobody_copies_the_log(driver5: Driver, gantry: RunningBroker) -> None:
    told = driver5.mqadmin("haStatus", "-n", gantry.name_server, "-b", gantry.address)

    assert re.search(r"#SlaveNum\s+0\b", told), told


# -- what is refused


def test_transactions_end_as_the_listener_says_now_or_when_it_is_asked(driver5: Driver, gantry: RunningBroker) -> None:
    topic, at_once = "paid", {"CHECK_IMMUNITY_TIME_IN_SECONDS": "1"}
    driver5.mqadmin("updateTopic", "-n", gantry.name_server, "-b", gantry.address, "-t", topic, "-r", "1", "-w", "1")
    producer = transaction_producer(driver5, gantry, "payers5")
    consumer = driver5.push_consumer(gantry.name_server, "paid-readers", {topic: "*"})

    send_in_transaction(producer, topic, "committed", execute="COMMIT_MESSAGE")
    send_in_transaction(producer, topic, "rolled back", execute="ROLLBACK_MESSAGE")
    send_in_transaction(producer, topic, "asked", execute="UNKNOW", check="COMMIT_MESSAGE", **at_once)

    wait_until(lambda: sorted(consumer.bodies) == [b"asked", b"committed"])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("createUser", "-u", "alice", "-p", "secret"), "accounts are those of RocketMQ 4.9"),
        (("getColdDataFlowCtrInfo",), "not throttled by group"),
        (("exportPopRecord",), "no pop records to export"),
    ],
)
def test_what_is_not_served_says_why(
    driver5: Driver, gantry: RunningBroker, words: tuple[str, ...], reason: str
) -> None:
    try:
        told = driver5.mqadmin(words[0], "-n", gantry.name_server, "-b", gantry.address, *words[1:])
    except JavaError as refused:  # some commands print what the broker said, others throw it
        told = str(refused)

    assert reason in told


def test_the_table_of_request_codes_is_that_of_the_java_client() -> None:
    (jar,) = (CLIENT5.target / "lib").glob("rocketmq-remoting-5.*.jar")
    told = subprocess.run(
        ["javap", "-constants", "-cp", str(jar), f"{_REMOTING}.protocol.RequestCode"],
        capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip

    of_java = {name: int(code) for name, code in re.findall(r"int (\w+) = (\d+);", told)}

    assert len(of_java) > 100
    assert of_java == {name: code for name, code in RequestCode.__members__.items() if name in of_java}
